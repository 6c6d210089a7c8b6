//! Threads that start together, count what they do, and are watched while they do it.
//!
//! # Invariants
//!   - All threads are ready before one starts. The time runs from the first to start to the last
//!     to end, by their own clocks: the watcher may wake late.
//!   - A counter is written by its own thread only (load, then store) and read by the watcher;
//!     `Relaxed`: a late look costs a late point on a chart.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Reporter, Result};

/// Between two looks at the counters.
const LOOK: Duration = Duration::from_millis(100);

/// The counter of one thread, on a cache line (or two, where they are fetched in pairs) of its own.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// What a thread of a crew tells and hears.
pub(crate) struct Worker<'c> {
    counter: &'c Counter,
    stop: &'c AtomicBool,
}

impl Worker<'_> {
    /// So much more is done.
    #[inline]
    pub(crate) fn count(&self, done: u64) -> Result<()> {
        let before = self.counter.0.load(Ordering::Relaxed);
        self.counter.0.store(before + done, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// What a crew did.
pub(crate) struct Outcome<R> {
    pub(crate) time: Duration,
    pub(crate) results: Vec<R>,
    /// How much was done after so many seconds, from 0 on.
    pub(crate) progress: Vec<(f64, u64)>,
}

/// Runs `work` on every share at the same time, a thread for each. `total` is what they will count
/// together.
pub(crate) fn together<S: Send, R: Send>(
    reporter: &dyn Reporter,
    total: u64,
    shares: Vec<S>,
    work: impl Fn(S, &Worker<'_>) -> Result<R> + Sync,
) -> Result<Outcome<R>> {
    let counters: Vec<Counter> = shares.iter().map(|_| Counter::default()).collect();
    let stop = AtomicBool::new(false);
    let running = AtomicUsize::new(shares.len());
    let ready = Barrier::new(shares.len() + 1);
    let watcher = thread::current();
    let run = |share, counter| {
        ready.wait();
        let start = Instant::now();
        let result = work(share, &Worker { counter, stop: &stop });
        let end = Instant::now();
        if result.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        running.fetch_sub(1, Ordering::Relaxed);
        watcher.unpark();
        result.map(|result| (result, start, end))
    };
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = shares
            .into_iter()
            .zip(&counters)
            .map(|(share, counter)| scope.spawn(move || run(share, counter)))
            .collect();
        ready.wait();
        let start = Instant::now();
        let done = || counters.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum();
        let mut progress = vec![(0.0, 0)];
        while running.load(Ordering::Relaxed) > 0 {
            thread::park_timeout(LOOK);
            let done: u64 = done();
            progress.push((start.elapsed().as_secs_f64(), done));
            if reporter.advance(done, Some(total)).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let results = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let results = first_cause(results.collect())?;
        let first = results.iter().map(|&(_, start, _)| start).min();
        let last = results.iter().map(|&(_, _, end)| end).max();
        let time = last.zip(first).map_or(Duration::ZERO, |(last, first)| last - first);
        // The watcher may have slept through the end.
        progress.retain(|&(at, _)| at < time.as_secs_f64());
        progress.push((time.as_secs_f64(), done()));
        let results = results.into_iter().map(|(result, ..)| result).collect();
        Ok(Outcome { time, results, progress })
    })
}

/// All results, or the error that stopped the others.
fn first_cause<R>(results: Vec<Result<R>>) -> Result<Vec<R>> {
    let mut good = Vec::new();
    let mut interrupted = None;
    for result in results {
        match result {
            Ok(result) => good.push(result),
            Err(Error::Interrupted) => interrupted = Some(Error::Interrupted),
            Err(error) => return Err(error),
        }
    }
    interrupted.map_or(Ok(good), Err)
}

/// Cuts `0 .. n` into as many ranges of equal length as there are threads.
pub(crate) fn cut(n: usize, threads: usize) -> Vec<std::ops::Range<usize>> {
    (0..threads).map(|i| n * i / threads..n * (i + 1) / threads).collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        for (n, threads) in [(10, 3), (2, 4), (0, 2), (7, 1)] {
            let ranges = cut(n, threads);
            assert_eq!(ranges.len(), threads);
            assert!(ranges.into_iter().flatten().eq(0..n));
        }
    }

    #[test]
    fn what_all_count_is_seen() {
        let outcome = together(&(), 30, vec![10, 20], |n, worker| {
            (0..n).try_for_each(|_| worker.count(1)).map(|()| n)
        });
        let outcome = outcome.expect("nobody fails");
        assert_eq!(outcome.results, [10, 20]);
        assert_eq!(outcome.progress.last().map(|&(_, done)| done), Some(30));
    }

    #[test]
    fn the_first_error_stops_the_others_and_is_told() {
        let outcome = together(&(), 0, vec![true, false], |fails, worker| {
            if fails {
                return Err(Error::Unknown("the answer"));
            }
            loop {
                worker.count(1)?;
            }
        });
        let outcome: Result<Outcome<()>> = outcome;
        assert!(matches!(outcome, Err(Error::Unknown(_))));
    }

    #[test]
    fn whoever_hears_the_progress_can_stop_it() {
        struct Stop;
        impl Reporter for Stop {
            fn begin(&self, _: &str) {}
            fn advance(&self, _: u64, _: Option<u64>) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
            fn note(&self, _: &str) {}
        }
        let outcome: Result<Outcome<()>> = together(&Stop, 0, vec![()], |(), worker| {
            loop {
                worker.count(1)?;
            }
        });
        assert!(matches!(outcome, Err(Error::Interrupted)));
    }
}
