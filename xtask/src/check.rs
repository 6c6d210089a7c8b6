//! `cargo xtask check`: every question a machine can answer before a person reads the change.
//!
//! All steps run, so that one round shows everything there is to mend.

use std::path::Path;
use std::time::Instant;

use crate::command::{self, Outcome, Workspace};
use crate::faults::WITH_FAULTS;
use crate::{policy, tidy};

type Step = fn(&Workspace) -> Outcome<bool>;

const STEPS: &[(&str, Step)] = &[
    ("fmt", fmt),
    ("clippy", clippy),
    ("tidy", tidy::run),
    ("dependencies", policy::run),
    ("doc", doc),
];

/// Runs every step; `true` when all of them passed.
pub(crate) fn run(workspace: &Workspace) -> bool {
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        println!("check: {name} ...");
        let start = Instant::now();
        let passed = step(workspace).unwrap_or_else(|error| {
            eprintln!("{error}");
            false
        });
        let verdict = if passed { "ok" } else { "FAILED" };
        println!("check: {name} {verdict} ({:.1} s)", start.elapsed().as_secs_f64());
        if !passed {
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        println!("check: all {} steps passed", STEPS.len());
    } else {
        println!("check: failed: {}", failed.join(", "));
    }
    failed.is_empty()
}

fn fmt(workspace: &Workspace) -> Outcome<bool> {
    command::succeeds(&mut workspace.cargo(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Outcome<bool> {
    let clippy = |selection: &[&str]| {
        let (before, after) = (["clippy", "--quiet", "--all-targets"], ["--", "-Dwarnings"]);
        command::succeeds(&mut workspace.cargo([&before, selection, &after].concat()))
    };
    Ok(clippy(&["--workspace"])? && clippy(&WITH_FAULTS)?)
}

/// Documents libraries and programs apart: `evergraph` is the name of one of each, and their pages
/// would overwrite each other. What is built on the way is shared.
fn doc(workspace: &Workspace) -> Outcome<bool> {
    let target = workspace.target();
    let doc = |targets, pages: &Path| {
        let mut doc = workspace.cargo(["doc", "--quiet", "--workspace", "--no-deps", targets]);
        doc.env("RUSTDOCFLAGS", "-Dwarnings").env("CARGO_BUILD_BUILD_DIR", &target);
        command::succeeds(doc.env("CARGO_TARGET_DIR", pages))
    };
    let libraries = doc("--lib", &target)?;
    let programs = doc("--bins", &target.join("programs"))?;
    Ok(libraries && programs)
}
