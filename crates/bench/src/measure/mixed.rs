//! Kernels while a thread writes, and `writer_rate_kept`: what that leaves of the writer's rate.
//!
//! # How
//!   One thread removes edges and puts them back, each in a transaction of its own, as fast as it
//!   can, all the time. Beside it one thread opens a snapshot and runs a kernel; then it copies
//!   the snapshot into a static twin, lets it go, runs the kernel on the twin and compares. The
//!   writer's commits are counted while the kernel runs on the live graph, and in between, while
//!   nobody reads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use evergraph::{Database, Snapshot, with_view};
use rayon::ThreadPool;

use super::ingest::change;
use super::{Session, on, pool};
use crate::Result;
use crate::input::{Edge, Input};
use crate::kernel::{Answer, Inputs, Kernel};
use crate::live::{Action, Live};
use crate::progress::wait;
use crate::report::{Row, State};
use crate::samples::{Pairs, Samples};
use crate::twin::Twin;

/// Edges that are gone at a time, at most: one in so many.
const GONE_SHARE: usize = 16;
/// How long the writer's undisturbed rate is measured, before every sample; no longer than the
/// database is left alone to settle.
const ALONE: Duration = Duration::from_millis(500);
/// The database gets so long to be done with the snapshot before.
const REST: Duration = Duration::from_millis(200);

/// Commits, and the time they took.
#[derive(Clone, Copy, Default)]
struct Written {
    commits: u64,
    seconds: f64,
}

impl Written {
    fn rate(self) -> f64 {
        self.commits as f64 / self.seconds
    }

    fn add(&mut self, commits: u64, time: Duration) -> f64 {
        let seconds = time.as_secs_f64();
        self.commits += commits;
        self.seconds += seconds;
        commits as f64 / seconds
    }
}

/// How the writer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// Each change in a transaction of its own.
    Transactions,
    /// Unchecked; what counts is appended, and waits for what is archived.
    Ingest,
}

/// Measures all kernels, with one thread each for the writer and the kernel.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input) -> Result<()> {
    measure_kernels(session, input, Writer::Transactions)
}

/// As [`measure`], beside a writer who writes in some way.
pub(super) fn measure_kernels(
    session: &mut Session<'_>,
    input: &Input,
    writer: Writer,
) -> Result<()> {
    let db = session.load(input, 1)?;
    let inputs = Inputs::new(&input.twin()?, session.args.seed, session.repeats());
    let (done, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    let stage = Stage { input, db: &db, inputs, pool: pool(1)?, commits: &commits, writer };
    let count = |total: u64| commits.store(total, Ordering::Relaxed);
    thread::scope(|scope| {
        let writing = scope.spawn(|| match writer {
            Writer::Transactions => write_until(&done, Live::dense(&db), input, count),
            Writer::Ingest => ingest_until(&done, &db, input, count),
        });
        let measured = stage.measure_beside(session);
        done.store(true, Ordering::Relaxed);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(measured)
    })
}

/// Removes edges and puts them back until it is told that it is done; tells how many transactions
/// it committed.
pub(crate) fn write_until(
    done: &AtomicBool,
    live: Live<'_>,
    input: &Input,
    mut count: impl FnMut(u64),
) -> Result<()> {
    let window = (input.len() / GONE_SHARE).max(1);
    let (mut start, mut commits) = (0, 0);
    loop {
        // Gathered first, so that reading them is no part of what is measured later.
        let places = (start..start + window).map(|place| place % input.len());
        let edges: Vec<Edge> = places.map(|place| input.edge(place)).collect();
        for action in [Action::Remove, Action::Add] {
            for &edge in &edges {
                if done.load(Ordering::Relaxed) {
                    return Ok(());
                }
                live.commit(action, edge)?;
                commits += 1;
                count(commits);
            }
        }
        start = (start + window) % input.len();
    }
}

/// As [`write_until`], unchecked.
fn ingest_until(
    done: &AtomicBool,
    db: &Database,
    input: &Input,
    count: impl Fn(u64),
) -> Result<()> {
    let ingest = db.ingest()?;
    let window = (input.len() / GONE_SHARE).max(1);
    let (mut start, mut changes) = (0, 0);
    while !done.load(Ordering::Relaxed) {
        for action in [Action::Remove, Action::Add] {
            for place in start..start + window {
                change(&ingest, action, input, place % input.len())?;
                changes += 1;
                count(changes);
                if done.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
        }
        start = (start + window) % input.len();
    }
    Ok(())
}

struct Stage<'s> {
    writer: Writer,
    input: &'s Input,
    db: &'s Database,
    inputs: Inputs,
    pool: ThreadPool,
    /// Written by the writer, `Relaxed`: a late look is one commit off.
    commits: &'s AtomicU64,
}

impl Stage<'_> {
    fn measure_beside(&self, session: &mut Session<'_>) -> Result<()> {
        let (mut beside, mut alone) = (Written::default(), Written::default());
        for kernel in session.args.kernels_of(&Kernel::ALL) {
            let (mut times, mut rates) = (Pairs::default(), Pairs::default());
            for round in 0..session.repeats() {
                let (name, repeats) = (kernel.name(), session.repeats());
                let step = format!("{name} beside a writer, {} of {repeats}", round + 1);
                session.begin(&self.input.name, 1, &step)?;
                wait(session.reporter, REST.min(session.args.idle))?;
                let span = ALONE.min(session.args.idle);
                rates.base.push(self.count_during(&mut alone, || wait(session.reporter, span))?.1);
                let (snapshot, live, time) = {
                    let run = || self.pool.install(|| self.run_live(kernel, round));
                    let (live, rate) = self.count_during(&mut beside, run)?;
                    rates.ours.push(rate);
                    live
                };
                times.ours.push_time(time);
                let (twin, time) = self.pool.install(|| self.run_twin(kernel, round, snapshot))?;
                times.base.push_time(time);
                kernel.compare(&live, &twin)?;
            }
            let row = Row::of_pairs(kernel.name(), &times, "csr");
            let written = (self.writer == Writer::Ingest).then_some("unchecked");
            let row = Row { writers: 1, written, state: Some(State::Fresh), ..row };
            session.report.add(on(self.input, 1, Row { compared: times.ours.len(), ..row }));
            if self.writer == Writer::Ingest {
                // Appending comes in bursts: its rate for as long as a kernel takes says nothing.
                continue;
            }
            let kept = Row::of("writer_rate_kept", "of alone", &rates.ratios());
            let kept = Row { writers: 1, kernel: Some(kernel.name()), ..kept };
            session.report.add(on(self.input, 1, kept));
        }
        if self.writer == Writer::Ingest {
            return Ok(());
        }
        let kept = Samples::from(beside.rate() / alone.rate());
        let kept = Row::of("writer_rate_kept", "of alone", &kept);
        let rate = Row::of("writer_rate_alone", "edges/s", &alone.rate().into());
        for row in [kept, rate] {
            session.report.add(on(self.input, 1, Row { writers: 1, ..row }));
        }
        Ok(())
    }

    /// Opens a snapshot and runs a kernel; the snapshot, the answer, and how long both took.
    fn run_live(&self, kernel: Kernel, round: usize) -> Result<(Snapshot, Answer, Duration)> {
        let start = Instant::now();
        let snapshot = self.db.snapshot()?;
        let answer = with_view!(snapshot.view()?, |view| kernel.run(view, &self.inputs, round))?;
        Ok((snapshot, answer, start.elapsed()))
    }

    /// Copies the snapshot, lets it go, and runs the kernel on the copy.
    fn run_twin(
        &self,
        kernel: Kernel,
        round: usize,
        snapshot: Snapshot,
    ) -> Result<(Answer, Duration)> {
        let twin = Twin::of(&snapshot)?;
        drop(snapshot);
        twin.run(kernel, &self.inputs, round)
    }

    /// Counts the commits while something is done; its result, and commits per second.
    fn count_during<R>(
        &self,
        written: &mut Written,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(R, f64)> {
        let (start, before) = (Instant::now(), self.commits.load(Ordering::Relaxed));
        let result = work()?;
        let commits = self.commits.load(Ordering::Relaxed) - before;
        Ok((result, written.add(commits, start.elapsed())))
    }
}
