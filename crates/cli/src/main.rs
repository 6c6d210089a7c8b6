//! The command line: `evergraph demo | run | generate | load | watch | stats | check | salvage |
//! bench | help`.
//!
//! # The way of a command
//!   `args` takes the words as they are; `resolve` checks them against each other and fills in
//!   what was not said; a file of `commands` does the work; what stops it becomes a `failure`,
//!   which is one line and an exit code. Results go to standard output, everything else to
//!   standard error (`output`).
#![forbid(unsafe_code)]

// What the user says.
mod args;
mod resolve;
mod topics;

// What is done.
mod commands;

// What all commands share.
mod database;
mod failure;
mod input;
mod interrupt;
mod keep;
mod numbers;
mod output;
mod progress;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use args::{Args, Command};
use failure::{FAILED_EXIT, Failure, INTERRUPTED_EXIT};
use interrupt::Interrupt;
use resolve::{DemoPlan, GeneratePlan, KeepPlan, LoadPlan, RunPlan, WatchPlan};

/// Versions come and go in small pieces from many threads.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    let name = args.command.name();
    match execute(args.command) {
        Ok(()) | Err(Failure::PipeClosed) => ExitCode::SUCCESS,
        Err(Failure::Failed(message)) => {
            output::error(&message);
            ExitCode::from(FAILED_EXIT)
        }
        Err(Failure::Interrupted) => {
            output::note("interrupted");
            ExitCode::from(INTERRUPTED_EXIT)
        }
        Err(Failure::Usage(sentence)) => wrong_usage(name, sentence),
    }
}

fn execute(command: Command) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
    match command {
        Command::Demo(args) => commands::demo(&DemoPlan::resolve(args)?, &interrupt),
        Command::Run(args) => commands::run(&RunPlan::resolve(args)?, &interrupt),
        Command::Generate(args) => commands::generate(&GeneratePlan::resolve(args)?, &interrupt),
        Command::Load(args) => commands::load(&LoadPlan::resolve(args)?, &interrupt),
        Command::Keep(args) => commands::keep(&KeepPlan::resolve(args)?),
        Command::Watch(args) => commands::watch(&WatchPlan::resolve(args)?, &interrupt),
        Command::Stats(args) => commands::stats(&args, &interrupt),
        Command::Check(args) => commands::check(&args, &interrupt),
        Command::Salvage(args) => commands::salvage(&args, &interrupt),
        Command::Bench(args) => commands::bench(args, &interrupt),
        Command::Help(args) => commands::help(&args),
    }
}

/// Says what is wrong the way `clap` says it, and ends with its exit code.
fn wrong_usage(command: &str, sentence: String) -> ExitCode {
    let mut all = Args::command();
    all.build();
    let used = all.find_subcommand_mut(command).expect("it was called by this name");
    used.error(ErrorKind::ArgumentConflict, sentence).exit()
}
