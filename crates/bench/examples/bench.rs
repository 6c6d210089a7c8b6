//! `evergraph bench` without the rest of the command line, for those who work on it.
//!
//! `bench WHAT.. [--graph GRAPH] ..`; `bench --help` tells the rest. The allocator is that of the
//! command line, so that figures are the same.

use std::error::Error;
use std::io;

use clap::Parser;
use evergraph_bench::{Args, Relaunch, Terminal, run};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Command::parse().args;
    args.relaunch = Some(Relaunch::this_program([""; 0])?);
    // The process whose memory is measured has nothing to show.
    let progress = args.worker.is_none().then(Terminal::new);
    match &progress {
        Some(progress) => run(&args, &mut io::stdout().lock(), progress)?,
        None => run(&args, &mut io::stdout().lock(), &())?,
    }
    Ok(())
}
