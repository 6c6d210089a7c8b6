//! The measuring: one file per command.

mod bandwidth;
mod batch;
mod durable;
mod hub;
mod ingest;
mod insert;
mod kernels;
mod latency;
mod memory;
mod mixed;
mod python;
mod recover;
mod snapshot;
mod standing;
mod update;

use std::ops::ControlFlow;
use std::time::Duration;

use evergraph::Database;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::args::What;
use crate::input::Input;
use crate::live::{Live, load_each, wait_settled};
use crate::progress::wait;
use crate::report::Report;
use crate::twin::Twin;
use crate::{Args, Error, Reporter, Result};

pub use memory::WorkerSpec;
pub(crate) use memory::serve;
pub(crate) use standing::RECOMPUTED;
pub use update::parts;

/// So many times the usual idle time is waited for the database to settle; then the measuring
/// goes on.
const SETTLE_LIMIT: u32 = 10;

/// A run: what is asked for, who hears of it, what came out.
pub(crate) struct Session<'a> {
    pub(crate) args: &'a Args,
    pub(crate) reporter: &'a dyn Reporter,
    pub(crate) report: Report,
}

impl<'a> Session<'a> {
    pub(crate) fn new(args: &'a Args, reporter: &'a dyn Reporter) -> Self {
        Self { args, reporter, report: Report::new(args.seed) }
    }

    /// Measures everything that is asked for.
    pub(crate) fn measure(&mut self) -> Result<()> {
        let chosen = self.args.chosen();
        let apart = [What::Hub, What::Python];
        if chosen.iter().any(|what| !apart.contains(what)) {
            let input = self.args.load(self.reporter)?;
            for &what in chosen.iter().filter(|what| !apart.contains(what)) {
                // A writer and a reader, whatever is asked for.
                let alone = what == What::Mixed;
                let counts = if alone { vec![1] } else { self.args.thread_counts() };
                for threads in counts {
                    self.measure_one(what, &input, threads)?;
                }
            }
        }
        if chosen.contains(&What::Hub) {
            for threads in self.args.thread_counts() {
                hub::measure(self, threads)?;
            }
        }
        if chosen.contains(&What::Python) {
            python::measure(self)?;
        }
        Ok(())
    }

    fn measure_one(&mut self, what: What, input: &Input, threads: usize) -> Result<()> {
        match what {
            What::Insert => insert::measure(self, input, threads),
            What::Update => update::measure(self, input, threads),
            What::Batch => batch::measure(self, input, threads),
            What::Kernels => kernels::measure_all(self, input, threads),
            What::Scan => kernels::measure_scans(self, input, threads),
            What::Mixed => mixed::measure(self, input),
            What::Memory => memory::measure(self, input, threads),
            What::Latency => latency::measure(self, input, threads),
            What::Snapshot => snapshot::measure(self, input, threads),
            What::Ingest => ingest::measure(self, input, threads),
            What::Durable => durable::measure(self, input, threads),
            What::Standing => standing::measure(self, input, threads),
            What::Recover => recover::measure(self, input, threads),
            What::Hub | What::Python | What::All => unreachable!("measured elsewhere"),
        }
    }

    pub(crate) fn repeats(&self) -> usize {
        self.args.repeats.get()
    }

    /// Tells what is measured now, unless that was asked to stop.
    pub(crate) fn begin(&self, graph: &str, threads: usize, step: &str) -> Result<()> {
        let plural = if threads == 1 { "" } else { "s" };
        self.reporter.begin(&format!("{graph}, {threads} thread{plural}: {step}"));
        self.go_on(0)
    }

    /// Tells that so much was done, unless that was asked to stop.
    fn go_on(&self, done: u64) -> Result<()> {
        match self.reporter.advance(done, None) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// A database with the graph, built edge by edge.
    fn load(&self, input: &Input, threads: usize) -> Result<Database> {
        self.begin(&input.name, threads, "loading edge by edge")?;
        let db = input.database();
        load_each(Live::dense(&db), input, threads, self.reporter)?;
        Ok(db)
    }

    /// Waits until nothing is pending, but not for ever; how long it took, if it happened.
    fn wait_settled(&self, db: &Database) -> Result<Option<Duration>> {
        wait_settled(db, self.args.idle * SETTLE_LIMIT, self.reporter)
    }

    /// Leaves the database alone until it counts as settled.
    fn settle(&self, db: &Database) -> Result<()> {
        wait(self.reporter, self.args.idle)?;
        if self.wait_settled(db)?.is_none() {
            self.reporter.note("changes are still pending: what is called settled is not");
        }
        Ok(())
    }
}

/// The row of a figure on a graph, with so many threads.
fn on(input: &Input, threads: usize, row: crate::report::Row) -> crate::report::Row {
    let (weighted, directed) = (input.is_weighted(), input.list.directed);
    crate::report::Row { graph: input.name.clone(), weighted, directed, threads, ..row }
}

/// A pool in which kernels run on so many threads.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|_| Error::Unknown("how to start that many threads"))
}

/// An error unless the database holds the graph, edge by edge.
fn check(db: &Database, twin: &Twin) -> Result<()> {
    twin.compare(&db.snapshot()?)
}
