//! `cargo xtask tsan`: the store's concurrent tests under `ThreadSanitizer`, on the stable toolchain.
//!
//! The sanitizer sees only what was built with it, so the standard library is built along. It does
//! not understand fences that stand alone: it takes none of them for an order. What the store
//! reads without atomics it gets by Acquire from Release, so nothing has to be suppressed; the
//! queues of rayon have a form for the sanitizer of their own (`crossbeam_sanitize_thread`).

use std::path::Path;

use crate::command::{self, Outcome, Workspace};

/// Where the standard library's sources lie in the folder of a toolchain.
const SOURCES: &str = "lib/rustlib/src/rust/library/Cargo.lock";
const FLAGS: &str = "-Zsanitizer=thread --cfg crossbeam_sanitize_thread";
/// What the sanitizer prints for each race.
const REPORT: &str = "WARNING: ThreadSanitizer";
/// Threads that meet all the time, and the clients that go wrong.
const USUAL: &[&str] = &["--test", "concurrent", "--test", "clients"];

/// Runs the tests that `args` select for `cargo test`, or the usual ones; `true` if all passed
/// without a report.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Outcome<bool> {
    let mut rustc = workspace.command("rustc");
    let sysroot = command::output(rustc.args(["--print", "sysroot"]))?;
    if !Path::new(sysroot.trim()).join(SOURCES).exists() {
        return Err("the standard library has to be built along; install its sources by \
                    `rustup component add rust-src`"
            .into());
    }
    let host = command::output(workspace.command("rustc").args(["--print", "host-tuple"]))?;
    let args = if args.is_empty() { USUAL } else { args };
    let test = ["test", "--package", "evergraph-store", "-Zbuild-std", "--target", host.trim()];
    let mut cargo = workspace.cargo([&test[..], &["--no-fail-fast"], args].concat());
    cargo
        .env("CARGO_TARGET_DIR", workspace.target().join("tsan"))
        .env("RUSTFLAGS", FLAGS)
        // The sanitizer and the building of `std` are no stable features.
        .env("RUSTC_BOOTSTRAP", "1");
    let mut reports = 0;
    let status = command::each_line(cargo, |line| {
        reports += usize::from(line.contains(REPORT));
        println!("{line}");
    })?;
    println!("tsan: {reports} reports");
    Ok(status.success() && reports == 0)
}
