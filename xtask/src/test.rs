//! `cargo xtask test`: every test of the workspace, then the store again where schedules are tried, the
//! Python package, and a few faults that the tests must find.
//!
//! Each of these builds swaps the synchronisation types of the whole store by a `--cfg`, so it has
//! a build folder of its own. What they are for is said in `docs/design/testing.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{self, Outcome, Workspace};
use crate::libtest::{Report, Show};
use crate::{faults, python};

/// What the usual build is called in the report.
pub(crate) const UNIT: &str = "unit";

/// A build of the store in which schedules are tried.
struct Schedules {
    /// What it is built with, and the name of its build folder.
    cfg: &'static str,
    /// What the names of its tests begin with, if they are not those of ordinary tests.
    prefix: Option<&'static str>,
    selection: &'static [&'static str],
}

const SCHEDULES: &[Schedules] = &[
    // Optimised, because models explore millions of schedules.
    Schedules {
        cfg: "loom",
        prefix: Some("loom_"),
        selection: &["--package", "evergraph-store", "--lib", "--release"],
    },
    Schedules {
        cfg: "shuttle",
        prefix: Some("shuttle_"),
        selection: &["--package", "evergraph-store", "--test", "shuttle"],
    },
    Schedules {
        cfg: "torture",
        prefix: None,
        selection: &[
            "--package",
            "evergraph-store",
            "--test",
            "model",
            "--test",
            "concurrent",
            "--test",
            "isolation",
        ],
    },
];

/// Runs all tests whose name contains one of `filter`, or all; `true` when all passed.
pub(crate) fn run(workspace: &Workspace, filter: &[&str]) -> Outcome<bool> {
    // What the tests need from the machine; the script says what is missing and how to get it.
    if !command::succeeds(workspace.command("bash").arg(".ci/prepare"))? {
        return Ok(false);
    }
    let mut report = Report::default();
    let mut passed = python::is_all_of(filter) || test_rust(workspace, &mut report, filter)?;
    passed &= python::test(workspace, &mut report, filter)?;
    if filter.is_empty() {
        println!("test: planting faults ...");
        passed &= faults::run_quick(workspace, &faults::SAMPLE)?;
    }
    println!("\n{report}\n{}", report.closing_line());
    if passed && report.is_empty() {
        return Err("no test ran".into());
    }
    Ok(passed && !report.has_failures())
}

/// The tests of the workspace, then the store where schedules are tried.
fn test_rust(workspace: &Workspace, report: &mut Report, filter: &[&str]) -> Outcome<bool> {
    let mut passed =
        test(report, UNIT, &["--workspace"], filter, |args| workspace.cargo(args.iter().copied()))?;
    for build in SCHEDULES {
        if let Some(filter) = build.filter(filter) {
            let cargo = |args: &[&str]| build.cargo(workspace, args);
            passed &= test(report, build.cfg, build.selection, &filter, cargo)?;
        }
    }
    Ok(passed)
}

/// Builds what `selection` names, runs it, and shows every line as it comes.
fn test(
    report: &mut Report,
    title: &str,
    selection: &[&str],
    filter: &[&str],
    cargo: impl Fn(&[&str]) -> Command,
) -> Outcome<bool> {
    println!("test: building {title} tests ...");
    let build = ["--no-run", "--message-format=json-render-diagnostics"];
    match command::output(&mut cargo(&[&["test"], selection, &build].concat())) {
        Ok(messages) => name_programs(report, title, &messages),
        Err(error) => {
            eprintln!("test: {error}");
            return Ok(false);
        }
    }
    println!("test: running {title} tests ...");
    // Captured output is shown, because a test without data says so there.
    let args = [&["test"], selection, &["--no-fail-fast", "--", "--show-output"], filter].concat();
    let status = command::each_line(cargo(&args), |line| {
        if report.line(line) == Show::Yes {
            println!("{line}");
        }
    })?;
    Ok(status.success())
}

impl Schedules {
    /// The same `cargo`, for this build; without the link-time optimisation that only measurements
    /// need.
    fn cargo(&self, workspace: &Workspace, args: &[&str]) -> Command {
        let mut command = workspace.cargo(args.iter().copied());
        command
            .env("CARGO_TARGET_DIR", workspace.target().join(self.cfg))
            .env("RUSTFLAGS", format!("--cfg {}", self.cfg))
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
        command
    }

    /// Which tests to run: all without a filter; of a filter, those that name tests of this build.
    fn filter<'a>(&self, filter: &[&'a str]) -> Option<Vec<&'a str>> {
        if filter.is_empty() {
            return Some(self.prefix.into_iter().collect());
        }
        let prefix = self.prefix?;
        let own: Vec<&str> = filter.iter().copied().filter(|name| name.contains(prefix)).collect();
        (!own.is_empty()).then_some(own)
    }
}

/// The same `cargo`, for the build of the models.
pub(crate) fn model(workspace: &Workspace, args: &[&str]) -> Command {
    SCHEDULES[0].cargo(workspace, args)
}

/// Reads cargo's build messages for the test programs and names each by its package and target:
/// the line that cargo prints before running one names no package.
fn name_programs(report: &mut Report, title: &str, messages: &str) {
    for message in messages.lines() {
        if let Some(program) = Program::built(message)
            && let Some(file) = program.file.file_name()
        {
            report.name_program(file.to_string_lossy().into_owned(), program.name(title));
        }
    }
}

/// A program that cargo built.
pub(crate) struct Program {
    pub(crate) file: PathBuf,
    /// The folder of its package, from the root of the workspace.
    pub(crate) package: String,
    target: String,
    kind: String,
}

impl Program {
    /// Reads a build message of cargo; `None` if it is about no program.
    pub(crate) fn built(message: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(message).ok()?;
        let manifest = message["manifest_path"].as_str()?;
        Some(Self {
            file: message["executable"].as_str()?.into(),
            package: Path::new(manifest).parent()?.file_name()?.to_str()?.to_owned(),
            target: message["target"]["name"].as_str()?.to_owned(),
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
        })
    }

    /// What it is called in reports; `title` says which build it belongs to.
    pub(crate) fn name(&self, title: &str) -> String {
        let Self { package, target, kind, .. } = self;
        match &**kind {
            "test" if title == UNIT => format!("{package} tests/{target}"),
            "test" => format!("{package} tests/{target} ({title})"),
            "lib" => format!("{package} ({title})"),
            _ => format!("{package} {kind} {target} ({title})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_program_is_named_by_package_and_target() {
        let message = |kind: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"a/crates/store/Cargo.toml",
                "target":{{"kind":["{kind}"],"name":"crash"}},"executable":"target/x-1"}}"#
            )
            .replace('\n', "")
        };
        let named = |kind| Program::built(&message(kind)).map(|program| program.name("unit"));
        assert_eq!(named("test").as_deref(), Some("store tests/crash"));
        assert_eq!(named("lib").as_deref(), Some("store (unit)"));
        let tortured = Program::built(&message("test")).map(|program| program.name("torture"));
        assert_eq!(tortured.as_deref(), Some("store tests/crash (torture)"));
        assert_eq!(named("bin").as_deref(), Some("store bin crash (unit)"));
    }

    #[test]
    fn a_filter_that_names_a_model_builds_only_its_kind() {
        let builds = |filter: &[&str]| {
            let of = |build: &&Schedules| build.filter(filter).is_some();
            SCHEDULES.iter().filter(of).map(|build| build.cfg).collect::<Vec<_>>()
        };
        assert_eq!(builds(&[]), ["loom", "shuttle", "torture"]);
        assert_eq!(builds(&["loom_pin", "clock"]), ["loom"]);
        assert!(builds(&["clock"]).is_empty());
    }

    #[test]
    fn a_message_without_a_program_is_passed_over() {
        assert!(Program::built(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(Program::built("not json").is_none());
    }
}
