//! `cargo xtask fuzz`: inputs guided by coverage, for the readers of files.
//!
//! libFuzzer looks for inputs that reach code nobody reached before; where, it is told by what the
//! compiler puts in. The stable compiler can do that, by the name of the pass.

use std::fs;

use crate::command::{self, Outcome, Workspace};

/// The programs, by the name of the target.
const TARGETS: [&str; 3] = ["log", "checkpoint", "text"];

/// Each branch is counted, and what is compared is told.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Minutes for each target, if it is not said.
const MINUTES: u64 = 1;

const USAGE: &str = "usage: cargo xtask fuzz [--minutes M] [log | checkpoint | text]";

/// Runs the target that is named, or all, each for so many minutes; `true` if none did harm.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Outcome<bool> {
    let (minutes, args) = match args {
        ["--minutes", minutes, args @ ..] => (minutes.parse().map_err(|_| USAGE)?, args),
        args => (MINUTES, args),
    };
    let targets = match args {
        [] => &TARGETS[..],
        [name] => {
            let place = TARGETS.iter().position(|target| target == name).ok_or(USAGE)?;
            &TARGETS[place..=place]
        }
        _ => return Err(USAGE.into()),
    };
    let host = command::output(workspace.command("rustc").args(["--print", "host-tuple"]))?;
    let target = workspace.target().join("fuzz");
    let mut build = workspace.cargo(["build", "--package", "evergraph-fuzz", "--bins"]);
    // With a target named, what runs while building is not instrumented.
    build.args(["--features", "libfuzzer", "--target", host.trim()]);
    if !command::succeeds(build.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", FLAGS))? {
        return Ok(false);
    }
    let mut good = true;
    for name in targets {
        let (found, harm) = (target.join("corpus").join(name), target.join("harm").join(name));
        fs::create_dir_all(&found)?;
        fs::create_dir_all(&harm)?;
        let program = target.join(host.trim()).join("debug").join(format!("fuzz-{name}"));
        let seeds = workspace.root().join("crates/fuzz/corpus").join(name);
        let mut fuzz = workspace.command(program);
        fuzz.arg(format!("-max_total_time={}", 60 * minutes))
            .arg(format!("-artifact_prefix={}/", harm.display()))
            .args(["-print_final_stats=1", "-max_len=4096", "-timeout=20"])
            .args([found, seeds]);
        println!(
            "fuzz: {name}, {minutes} minutes; an input that does harm is left in {}",
            harm.display()
        );
        good &= command::succeeds(&mut fuzz)?;
    }
    println!("fuzz: {}", if good { "no input did harm" } else { "an input did harm, see above" });
    Ok(good)
}
