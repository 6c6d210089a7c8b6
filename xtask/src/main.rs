//! The developers' commands, run as `cargo xtask COMMAND`.
//!
//! `check` asks whether a change may be merged, `test` whether it works, `tidy` is the part of
//! `check` that knows the house rules no other tool knows, `compare` measures other people's stores
//! and libraries beside ours.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line talks to people")]

mod check;
mod command;
mod faults;
mod fuzz;
mod libtest;
mod policy;
mod python;
mod test;
mod tidy;
mod tsan;

use std::process::ExitCode;

use command::{Outcome, Workspace};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check             formatting, clippy, tidy, dependency policy, documentation
  test [-- FILTER]  every test, then the store under tried schedules, the Python package, and a few
                    faults that must be found; counts at the end
  tsan [-- ARGS]    the store's concurrent tests under ThreadSanitizer; says what it needs
  tidy              the house rules of STYLE.md alone
  verify [OPTION]   proofs of isolation and durability in rounds, as long as --minutes says; --help for more
  verify --only faults [--quick | FAULT ..]
                    tests of the tests: every suite against each fault that can be planted
  fuzz [--minutes M] [TARGET]
                    inputs guided by coverage for the readers of files: log, checkpoint, text
  compare ARGS      the same work on other stores and libraries; `compare --help` tells more";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = Workspace::find().and_then(|workspace| run(&workspace, &args));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command; `false` means it ran and found something wrong.
fn run(workspace: &Workspace, args: &[&str]) -> Outcome<bool> {
    match args {
        ["check"] => Ok(check::run(workspace)),
        ["test"] => test::run(workspace, &[]),
        ["test", "--", filter @ ..] => test::run(workspace, filter),
        ["tsan"] => tsan::run(workspace, &[]),
        ["tsan", "--", args @ ..] => tsan::run(workspace, args),
        ["tidy"] => tidy::run(workspace),
        ["fuzz", args @ ..] => fuzz::run(workspace, args),
        ["verify", "--only", "faults", "--quick"] => faults::run_quick(workspace, &[]),
        ["verify", "--only", "faults", names @ ..] => faults::run(workspace, names),
        ["verify", args @ ..] => start(workspace, &["--package", "evergraph-verify"], args),
        ["compare", args @ ..] => {
            start(workspace, &["--release", "--package", "evergraph-bench-compare"], args)
        }
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => Err(USAGE.into()),
    }
}

/// Builds a program that is no part of the usual build, and runs it.
fn start(workspace: &Workspace, program: &[&str], args: &[&str]) -> Outcome<bool> {
    command::succeeds(&mut workspace.cargo([&["run", "--quiet"], program, &["--"], args].concat()))
}
