//! The Python package: built as a wheel, tried in environments of its own.
//!
//! # Where
//!   Everything lies under `python/` in the build folder: `venv/` has the versions of
//!   `python/requirements.txt` and the wheel, `clean/` the wheel and what it depends on, nothing
//!   else. `venv.done` holds the requirements that `venv/` was made with; when they change, it is
//!   made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, Outcome, Workspace};
use crate::libtest::{Report, Show};

const REQUIREMENTS: &str = "python/requirements.txt";
const SOURCES: &str = "python/evergraph";
const TESTS: &str = "python/tests";

/// The filter that asks for Python's tests, all of them.
const FILTER: &str = "python";

/// The parts of NetworkX's own suite that hold what the backend computes.
const NETWORKX: &[&str] = &[
    "networkx.algorithms.components",
    "networkx.algorithms.link_analysis",
    "networkx.algorithms.shortest_paths",
    "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.tree.tests.test_mst",
];

/// Tests of NetworkX that ask for more than it promises, each with the reason.
const NOT_PROMISED: &[&str] = &[
    // It names a component by its place in the order in which they come, which no documentation fixes.
    "test_condensation_mapping_and_members",
];

/// Whether these filters ask for Python's tests and no others.
pub(crate) fn is_all_of(filter: &[&str]) -> bool {
    !filter.is_empty() && filter.iter().all(|&name| name == FILTER)
}

/// Builds, installs and tests the package; `true` when all of it went well.
pub(crate) fn test(workspace: &Workspace, report: &mut Report, filter: &[&str]) -> Outcome<bool> {
    if !filter.is_empty() && !filter.contains(&FILTER) {
        return Ok(true);
    }
    let home = Home::of(workspace);
    println!("test: making the environments of Python ...");
    home.make_venv()?;
    println!("test: building the wheel ...");
    let wheel = home.build_wheel()?;
    home.install(&home.venv, &["--no-deps", "--force-reinstall", text(&wheel)?])?;
    println!("test: running python tests ...");
    let mut passed = home.check_sources()?;
    passed &= home.pytest(report, "tests", &[TESTS])?;
    passed &= home.pytest(report, "doc", &["--doctest-modules", "--pyargs", "evergraph"])?;
    passed &= home.networkx(report)?;
    passed &= home.try_clean(&wheel)?;
    Ok(passed)
}

/// The folders of the Python package.
struct Home<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    venv: PathBuf,
}

impl<'a> Home<'a> {
    fn of(workspace: &'a Workspace) -> Self {
        let folder = workspace.target().join("python");
        let venv = folder.join("venv");
        Self { workspace, folder, venv }
    }

    /// A program of the environment.
    fn program(&self, name: &str) -> Command {
        let mut command = self.workspace.command(self.venv.join("bin").join(name));
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Makes the environment, unless it was made with the same requirements.
    fn make_venv(&self) -> Outcome<()> {
        let wanted = fs::read_to_string(self.workspace.root().join(REQUIREMENTS))?;
        let done = self.folder.join("venv.done");
        if fs::read_to_string(&done).is_ok_and(|made| made == wanted) {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.new_venv(&self.venv)?;
        self.install(&self.venv, &["--requirement", REQUIREMENTS])?;
        Ok(fs::write(done, wanted)?)
    }

    fn new_venv(&self, venv: &Path) -> Outcome<()> {
        let mut make = self.workspace.command("python3");
        must(make.args(["-m", "venv", "--clear"]).arg(venv))
    }

    fn install(&self, venv: &Path, what: &[&str]) -> Outcome<()> {
        let mut pip = self.workspace.command(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        must(pip.args(what))
    }

    /// Builds the wheel as the tests of Rust are built: soon, and with checks on.
    fn build_wheel(&self) -> Outcome<PathBuf> {
        let wheels = self.folder.join("wheels");
        if wheels.exists() {
            fs::remove_dir_all(&wheels)?;
        }
        let mut maturin = self.program("maturin");
        maturin.args(["build", "--quiet", "--profile", "dev", "--out"]).arg(&wheels);
        must(maturin.env("CARGO_TARGET_DIR", self.workspace.target()))?;
        let wheel = fs::read_dir(&wheels)?.next().ok_or("maturin made no wheel")??;
        Ok(wheel.path())
    }

    /// Form and types of the sources, and that the stubs say what the native half has.
    fn check_sources(&self) -> Outcome<bool> {
        let mut ruff = self.program("ruff");
        let mut passed =
            command::succeeds(ruff.args(["check", "--quiet", "--no-cache", "python"]))?;
        let mut format = self.program("ruff");
        let format = format.args(["format", "--quiet", "--no-cache", "--check", "python"]);
        passed &= command::succeeds(format)?;
        let cache = self.folder.join("mypy");
        let mut mypy = self.program("mypy");
        mypy.args(["--no-error-summary", "--cache-dir"]).arg(&cache);
        passed &= command::succeeds(mypy.args([SOURCES, "python/examples"]))?;
        let mut stubs = self.program("stubtest");
        let stubs = stubs.args(["evergraph._native", "--concise", "--ignore-disjoint-bases"]);
        passed &= command::succeeds(stubs)?;
        Ok(passed)
    }

    fn pytest(&self, report: &mut Report, suite: &str, args: &[&str]) -> Outcome<bool> {
        let mut pytest = self.program("pytest");
        pytest.args(["-p", "no:cacheprovider", "-p", "cargo_report", "--quiet", "-rfE"]);
        // A test that hangs is a failure too.
        pytest.args(["--timeout", "120"]).args(args);
        pytest.env("PYTHONPATH", self.workspace.root().join(TESTS)).env("SUITE", suite);
        if suite == "networkx" {
            pytest.env("NETWORKX_TEST_BACKEND", "evergraph").env("NETWORKX_FALLBACK_TO_NX", "True");
        }
        // A suite that cannot even start prints no result, which counts as a failure.
        let status = command::each_line(pytest, |line| {
            if report.line(line) == Show::Yes {
                println!("{line}");
            }
        })?;
        Ok(status.success())
    }

    /// NetworkX's own tests, with every graph converted to ours.
    fn networkx(&self, report: &mut Report) -> Outcome<bool> {
        let mut args = vec!["--pyargs"];
        args.extend(NETWORKX);
        let not_promised = format!("not {}", NOT_PROMISED.join(" and not "));
        args.extend(["-k", &not_promised]);
        self.pytest(report, "networkx", &args)
    }

    /// The wheel by itself, in an environment that has nothing else.
    fn try_clean(&self, wheel: &Path) -> Outcome<bool> {
        let clean = self.folder.join("clean");
        self.new_venv(&clean)?;
        self.install(&clean, &[text(wheel)?])?;
        let mut python = self.workspace.command(clean.join("bin/python"));
        command::succeeds(python.arg(format!("{TESTS}/clean.py")))
    }
}

/// Runs a program that must succeed.
fn must(command: &mut Command) -> Outcome<()> {
    if command::succeeds(command)? {
        return Ok(());
    }
    Err(format!("{} failed", command.get_program().to_string_lossy()).into())
}

fn text(path: &Path) -> Outcome<&str> {
    Ok(path.to_str().ok_or("the build folder has a name that is no text")?)
}
