//! What `evergraph bench` measures: a library that a command line mounts.
//!
//! Give [`Args`] to the command-line parser and what it parsed to [`run`], with a writer for the
//! results and a [`Reporter`] for the progress. Nothing is printed but through these two. What
//! each figure means is told in `docs/benchmarks.md`.
//!
//! # How
//!   A graph is read or made and put into a random order (`input.rs`). Threads commit single-edge
//!   transactions (`crew.rs`, `live.rs`); kernels run on the live graph and on its static twin in
//!   turns, and their answers are compared (`kernel.rs`, `twin.rs`). Each file under `measure/`
//!   does one command and adds rows to the report (`report.rs`).
#![forbid(unsafe_code)]

// What is asked for.
mod args;
mod error;
mod progress;

// What is worked on.
mod crew;
mod input;
mod kernel;
mod live;
mod sum;
mod twin;

// What is measured.
mod machine;
mod measure;
mod samples;

// What comes out.
mod output;
mod plot;
mod report;
mod table;
mod targets;

use std::io::{self, Write};

pub use args::{Args, Relaunch, What};
pub use error::{Error, Result};
pub use input::{Edge, Input};
pub use kernel::Kernel;
pub use live::{Action, Live, wait_settled};
pub use machine::{Process, cores};
pub use measure::{WorkerSpec, parts};
pub use output::Output;
pub use progress::{Reporter, Terminal};
pub use report::{Report, Row, State};
pub use samples::{Pairs, Samples};

/// Measures what the arguments ask for. The results go to `out`: a table, or the rows as JSON if
/// that is asked for. After an error what was measured before it is written all the same.
pub fn run(args: &Args, out: &mut dyn Write, progress: &dyn Reporter) -> Result<()> {
    if let Some(spec) = &args.worker {
        return measure::serve(spec, &mut io::stdin().lock(), out);
    }
    let output = Output::prepare(args.json.as_deref(), args.plot.as_deref())?;
    let mut session = measure::Session::new(args, progress);
    let measured = session.measure();
    let written = output.write(&session.report, out);
    measured.and(written)
}
