//! `bench-compare`: the same work on other stores and libraries, beside Evergraph, on this machine.
//!
//! # How
//!   Every peer is a process of its own (`child.rs`) that gets requests and gives answers, a line
//!   each (`protocol.rs`). Python and Java peers lie under `peers/`; those in Rust, and Evergraph
//!   itself, are this program again (`worker/`). `setup.rs` fetches what they need. A peer and
//!   Evergraph work in turns, on the same files (`work.rs`), and their answers are compared
//!   (`answer.rs`) before a time counts: kernels in `kernels.rs`, changes in `updates.rs`.
#![forbid(unsafe_code)]

// What is asked for.
mod args;
mod error;
mod peer;

// How peers are spoken with.
mod child;
mod protocol;
mod setup;
mod work;
mod worker;

// What is measured.
mod answer;
mod kernels;
mod session;
mod updates;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use evergraph_bench::{Output, Terminal};

use args::{Args, What};
use error::{Error, Result};
use session::Session;

/// The allocator of the command line, so that figures are the same.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, there is nobody to tell.
            drop(writeln!(io::stderr().lock(), "error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if let Some(peer) = args.serve {
        return worker::serve(peer, args.thread_count());
    }
    let peers = args.chosen()?;
    let output = Output::prepare(args.json.as_deref(), None)?;
    let terminal = Terminal::new();
    let mut session = Session::prepare(args, &terminal)?;
    let measured = match args.what() {
        What::Kernels => kernels::measure(&mut session, &peers),
        What::Updates => updates::measure(&mut session, &peers),
    };
    let written = output.write(&session.report, &mut io::stdout().lock());
    measured.and(written.map_err(Error::from))?;
    session.check_complete()
}
