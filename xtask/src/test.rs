//! `cargo xtask test`: every test of the workspace, then the models of the concurrent parts.
//!
//! The models are unit tests of the store whose names contain `loom_`. They are built with
//! `--cfg loom`, which swaps the synchronisation types of the whole crate, so they have a build
//! folder of their own and nothing else runs in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{self, Outcome, Workspace};
use crate::faults;
use crate::libtest::{Report, Show};

/// The crate that has models, the word in their names, and where they are built.
const MODEL_PACKAGE: &str = "evergraph-store";
const MODEL_SOURCES: &str = "crates/store/src";
const MODEL_PREFIX: &str = "loom_";
const MODEL_TARGET: &str = "loom";

/// Runs all tests whose name contains one of `filter`, or all; `true` when all passed.
pub(crate) fn run(workspace: &Workspace, filter: &[&str]) -> Outcome<bool> {
    // What the tests need from the machine; the script says what is missing and how to get it.
    if !command::succeeds(workspace.command("bash").arg(".ci/prepare"))? {
        return Ok(false);
    }
    let mut report = Report::default();
    let mut passed = test(&mut report, "unit", &["--workspace"], filter, |args| {
        workspace.cargo(args.iter().copied())
    })?;
    if let Some(filter) = model_filter(workspace, filter)? {
        let package = ["--package", MODEL_PACKAGE, "--lib", "--release"];
        passed &= test(&mut report, "loom", &package, &filter, |args| model(workspace, args))?;
    }
    if filter.is_empty() && passed {
        passed &= faults::run_quick(workspace)?;
    }
    println!("\n{report}\n{}", report.closing_line());
    if passed && report.is_empty() {
        return Err("no test ran".into());
    }
    Ok(passed && !report.has_failures())
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

/// The same `cargo`, for the models: optimised, because they explore millions of schedules, but
/// without the link-time optimisation that only measurements need.
pub(crate) fn model(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = workspace.cargo(args.iter().copied());
    command
        .env("CARGO_TARGET_DIR", workspace.target().join(MODEL_TARGET))
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command
}

/// Which models to run: all without a filter, none while the store has none or the filter asks for
/// something else.
fn model_filter<'a>(workspace: &Workspace, filter: &[&'a str]) -> Outcome<Option<Vec<&'a str>>> {
    if !filter.is_empty() {
        let models = filter.iter().copied().filter(|name| name.contains(MODEL_PREFIX));
        let models: Vec<&str> = models.collect();
        return Ok((!models.is_empty()).then_some(models));
    }
    let mut grep = workspace.command("git");
    grep.args(["grep", "--quiet", "--untracked", "--extended-regexp"]);
    grep.args([&format!("(fn|mod) {MODEL_PREFIX}"), "--", MODEL_SOURCES]);
    Ok(command::succeeds(&mut grep)?.then_some(vec![MODEL_PREFIX]))
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
            "test" => format!("{package} tests/{target}"),
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
        assert_eq!(named("bin").as_deref(), Some("store bin crash (unit)"));
    }

    #[test]
    fn a_message_without_a_program_is_passed_over() {
        assert!(Program::built(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(Program::built("not json").is_none());
    }
}
