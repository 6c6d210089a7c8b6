//! `evergraph bench`: what the benchmark library measures, with progress and Ctrl-C.

use std::io;
use std::ops::ControlFlow;

use evergraph_bench::{Args, Relaunch, Reporter, Terminal};

use crate::failure::Failure;
use crate::interrupt::Interrupt;

pub(crate) fn bench(mut args: Args, interrupt: &Interrupt) -> Result<(), Failure> {
    let program = Relaunch::this_program(["bench"]);
    args.relaunch = Some(program.map_err(|error| Failure::of_this_program(&error))?);
    // The process whose memory is measured has nothing to show.
    let terminal = args.worker.is_none().then(Terminal::new);
    let listener = Listener { terminal, interrupt };
    Ok(evergraph_bench::run(&args, &mut io::stdout().lock(), &listener)?)
}

/// Shows the progress, and passes Ctrl-C on.
struct Listener<'a> {
    terminal: Option<Terminal>,
    interrupt: &'a Interrupt,
}

impl Reporter for Listener<'_> {
    fn begin(&self, step: &str) {
        if let Some(terminal) = &self.terminal {
            terminal.begin(step);
        }
    }

    fn advance(&self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if self.interrupt.is_raised() {
            return ControlFlow::Break(());
        }
        self.terminal
            .as_ref()
            .map_or(ControlFlow::Continue(()), |terminal| terminal.advance(done, total))
    }

    fn note(&self, line: &str) {
        if let Some(terminal) = &self.terminal {
            terminal.note(line);
        }
    }
}
