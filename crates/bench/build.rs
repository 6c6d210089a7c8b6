//! Tells the crate which commit it is built from, so that every row can say it.
//!
//! A source that differs from the commit adds `-dirty`. Without git the commit is unknown, and the
//! rows say that.

use std::path::Path;
use std::process::Command;

fn main() {
    if let Some(commit) = git(&["describe", "--always", "--dirty", "--abbrev=12"]) {
        println!("cargo:rustc-env=EVERGRAPH_COMMIT={commit}");
    }
    // What can change the answer: a commit, and the sources.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    let watched = [log.as_deref(), Some("../../Cargo.lock"), Some("..")];
    for path in watched.into_iter().flatten().filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
}

/// What git answers, if it is there and does.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !answer.trim().is_empty()).then(|| answer.trim().to_owned())
}
