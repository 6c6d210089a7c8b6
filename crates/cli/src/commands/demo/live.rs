//! The live part: writers, analysts and the table that shows both, until time is up.
//!
//! # How it ends
//!   Whoever ends it raises `stop`: this thread when time is up or Ctrl-C was pressed, a writer
//!   whose record is full, or a thread that failed. Writers look at it before each transaction. An
//!   analyst that has completed a run is cancelled; one that has not completes its first.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use evergraph::Database;
use evergraph::algo::Cancel;
use evergraph::graph::{EdgeList, KeyRef, VertexId};

use super::analyst::{Analyst, Kernel, Runs};
use super::board::Board;
use super::record::Record;
use super::writer::Writer;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::resolve::DemoPlan;

/// Between two looks at the clock and the counters.
const LOOK: Duration = Duration::from_millis(50);

/// What the live part works on.
#[derive(Clone, Copy)]
pub(super) struct Live<'a> {
    pub(super) db: &'a Database,
    pub(super) list: &'a EdgeList,
    pub(super) plan: &'a DemoPlan,
    pub(super) interrupt: &'a Interrupt,
    /// How large the records of all writers may become together.
    pub(super) record_bytes_max: usize,
}

/// What the threads tell each other. Counters are `Relaxed`: they are shown, nothing depends on
/// them; the records are handed over by joining the threads.
pub(super) struct Shared {
    /// Raised once, by whoever ends the live part.
    pub(super) stop: AtomicBool,
    /// Raised by a writer whose record is full.
    pub(super) record_full: AtomicBool,
    pub(super) tallies: Vec<Tally>,
    runs: [Mutex<Runs>; Kernel::ALL.len()],
}

/// What one writer did. Each on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Tally {
    pub(super) commits: AtomicU64,
    pub(super) conflicts: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// How the live part ended.
pub(super) struct Ended {
    pub(super) commits: u64,
    pub(super) conflicts: u64,
    pub(super) refused: u64,
    /// How long the writers wrote.
    pub(super) time: Duration,
    pub(super) why: Why,
}

/// Why the live part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Time,
    Interrupt,
    RecordFull,
}

impl Shared {
    fn new(writers: usize) -> Self {
        Self {
            stop: AtomicBool::new(false),
            record_full: AtomicBool::new(false),
            tallies: std::iter::repeat_with(Tally::default).take(writers).collect(),
            runs: Kernel::ALL.map(|_| Mutex::default()),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The runs of a kernel so far.
    pub(super) fn runs(&self, kernel: Kernel) -> MutexGuard<'_, Runs> {
        self.runs[kernel as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sum of one counter over all writers.
    pub(super) fn sum(&self, counter: impl Fn(&Tally) -> &AtomicU64) -> u64 {
        self.tallies.iter().map(|tally| counter(tally).load(Ordering::Relaxed)).sum()
    }

    /// Ends the live part for all if one of its threads did not end well.
    fn guard<R>(&self, work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
        let _on_panic = StopOnPanic(self);
        let result = work();
        if result.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        result
    }
}

/// Ends the live part when the thread that holds it panics.
struct StopOnPanic<'a>(&'a Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl<'a> Live<'a> {
    /// The key of a vertex of the given graph.
    pub(super) fn key(self, v: VertexId) -> KeyRef<'a> {
        self.list.keys.key(v).expect("the given graph is over its own vertices")
    }
}

type Handle<'scope, R> = ScopedJoinHandle<'scope, Result<R, Failure>>;

impl Live<'_> {
    /// Runs the live part; what the writers recorded, and how it ended.
    pub(super) fn run(&self) -> Result<(Vec<Record>, Ended), Failure> {
        let shared = &Shared::new(self.plan.writers);
        let cancels = Kernel::ALL.map(|_| Cancel::default());
        thread::scope(|scope| {
            let writers: Vec<Handle<'_, Record>> = (0..self.plan.writers)
                .map(|number| {
                    let writer = Writer::new(self, shared, number);
                    scope.spawn(|| shared.guard(|| writer.run()))
                })
                .collect();
            let analysts: Vec<Handle<'_, ()>> = Kernel::ALL
                .into_iter()
                .zip(&cancels)
                .map(|(kernel, cancel)| {
                    let analyst = Analyst::new(self, kernel, (shared, cancel.clone()));
                    scope.spawn(|| shared.guard(|| analyst?.run()))
                })
                .collect();
            let mut board = Board::new(self, shared);
            let watched = self.watch(shared, &mut board);
            shared.stop.store(true, Ordering::Relaxed);
            let records: Result<Vec<Record>, Failure> = writers.into_iter().map(join).collect();
            let time = board.elapsed();
            self.end_analysts(shared, (&cancels, &analysts));
            let analysed: Result<(), Failure> = analysts.into_iter().try_for_each(join);
            let shown = board.finish();
            let ended = Ended {
                commits: shared.sum(|tally| &tally.commits),
                conflicts: shared.sum(|tally| &tally.conflicts),
                refused: shared.sum(|tally| &tally.refused),
                time,
                why: self.why(shared),
            };
            let records = records?;
            analysed.and(watched).and(shown)?;
            Ok((records, ended))
        })
    }

    /// Refreshes the table until the live part is to end.
    fn watch(&self, shared: &Shared, board: &mut Board<'_>) -> Result<(), Failure> {
        let end = Instant::now() + self.plan.time;
        while !shared.stopped() && !self.interrupt.is_raised() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(LOOK));
            board.refresh()?;
        }
        Ok(())
    }

    fn end_analysts(&self, shared: &Shared, (cancels, analysts): (&[Cancel], &[Handle<'_, ()>])) {
        for ((kernel, cancel), analyst) in Kernel::ALL.into_iter().zip(cancels).zip(analysts) {
            while !analyst.is_finished() {
                if shared.runs(kernel).count() > 0 || self.interrupt.is_raised() {
                    cancel.cancel();
                }
                thread::sleep(LOOK);
            }
        }
    }

    fn why(&self, shared: &Shared) -> Why {
        if shared.record_full.load(Ordering::Relaxed) {
            Why::RecordFull
        } else if self.interrupt.is_raised() {
            Why::Interrupt
        } else {
            Why::Time
        }
    }
}

fn join<R>(thread: Handle<'_, R>) -> Result<R, Failure> {
    // Its message was printed when it happened.
    let panicked = |_| Failure::Failed("a thread of the demo panicked; please report this".into());
    thread.join().map_err(panicked)?
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use evergraph::graph::generate::{GraphSpec, Weights};

    use super::*;
    use crate::args::{Args, Command};

    #[test]
    fn writers_stop_when_their_record_is_full() {
        const LIMIT: usize = 1 << 16;
        let words = ["evergraph", "demo", "--graph", "uniform-6", "--writers", "2"];
        let Command::Demo(args) = Args::parse_from(words).command else { panic!("a demo") };
        let plan = DemoPlan::resolve(args).expect("right");
        let spec: GraphSpec = "uniform-6".parse().expect("a name");
        let list = spec.generate(Weights::Uniform, &()).expect("it is small");
        let db = evergraph::load(&list, &()).expect("loads");
        let interrupt = Interrupt::default();
        let live = Live {
            db: &db,
            list: &list,
            plan: &plan,
            interrupt: &interrupt,
            record_bytes_max: LIMIT,
        };
        let (records, ended) = live.run().expect("it goes well");
        assert_eq!(ended.why, Why::RecordFull);
        assert!(ended.commits > 0 && ended.time < plan.time);
        // One transaction more than fits, at most, for each.
        assert!(records.iter().all(|record| record.bytes() < LIMIT / 2 + 10_000));
    }
}
