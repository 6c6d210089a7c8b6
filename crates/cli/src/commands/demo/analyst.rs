//! An analyst: runs one algorithm over and over, each time on a fresh snapshot of the live store
//! and then on a static copy of the same snapshot, and compares times and answers.

use std::time::{Duration, Instant};

use evergraph::algo::{AlgoError, Cancel};
use evergraph::graph::{Csr, EdgeList, GraphView, Key};
use evergraph::kernels::{self, BfsConfig, PageRankConfig, WccConfig};
use evergraph::{Snapshot, algo, with_view};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::live::{Live, Shared};
use crate::failure::Failure;

/// How far two ranks may be apart, as a share of their size: sums are formed in another order.
const RANK_TOLERANCE: f64 = 1e-9;

/// An algorithm of the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    PageRank,
    Bfs,
    Wcc,
}

/// What an algorithm says about every id.
#[derive(Debug, PartialEq)]
enum Answer {
    Reals(Vec<f64>),
    Wholes(Vec<u32>),
}

/// What an analyst did so far.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The version of the latest snapshot, and when it was opened.
    pub(super) snapshot: Option<(u64, Instant)>,
    live: Vec<Duration>,
    fixed: Vec<Duration>,
    copy: Vec<Duration>,
}

/// The usual times of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Medians {
    /// On the snapshot.
    pub(super) live: Duration,
    /// On the static copy.
    pub(super) fixed: Duration,
    /// Making the static copy.
    pub(super) copy: Duration,
}

impl Runs {
    /// How many runs were completed.
    pub(super) fn count(&self) -> usize {
        self.fixed.len()
    }

    /// The medians of all runs, if there was one.
    pub(super) fn medians(&self) -> Option<Medians> {
        let median = |times: &[Duration]| {
            let mut times = times.to_vec();
            let middle = times.len() / 2;
            (!times.is_empty()).then(|| *times.select_nth_unstable(middle).1)
        };
        Some(Medians {
            live: median(&self.live)?,
            fixed: median(&self.fixed)?,
            copy: median(&self.copy)?,
        })
    }
}

impl Kernel {
    pub(super) const ALL: [Self; 3] = [Self::PageRank, Self::Bfs, Self::Wcc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PageRank => "pagerank",
            Self::Bfs => "bfs",
            Self::Wcc => "wcc",
        }
    }

    fn run<G: GraphView>(
        self,
        view: &G,
        source: u32,
        cancel: &Cancel,
    ) -> Result<Answer, AlgoError> {
        let cancel = cancel.clone();
        Ok(match self {
            Self::PageRank => {
                let config = PageRankConfig { cancel, ..PageRankConfig::default() };
                Answer::Reals(kernels::pagerank(view, &config)?.ranks)
            }
            Self::Bfs => {
                let config = BfsConfig { source, cancel, ..BfsConfig::default() };
                Answer::Wholes(kernels::bfs(view, &config)?.levels)
            }
            Self::Wcc => {
                let config = WccConfig { cancel, ..WccConfig::default() };
                Answer::Wholes(kernels::wcc(view, &config)?.labels)
            }
        })
    }
}

/// An analyst and what it needs.
pub(super) struct Analyst<'a> {
    live: Live<'a>,
    kernel: Kernel,
    shared: &'a Shared,
    cancel: Cancel,
    /// One thread: the machine is shared with the writers and the other analysts.
    pool: ThreadPool,
    /// Where searches start.
    source: Key,
}

impl<'a> Analyst<'a> {
    pub(super) fn new(
        live: &Live<'a>,
        kernel: Kernel,
        (shared, cancel): (&'a Shared, Cancel),
    ) -> Result<Self, Failure> {
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool =
            pool.map_err(|error| Failure::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { live: *live, kernel, shared, cancel, pool, source: hub(live.list) })
    }

    /// Analyses until the live part ends.
    pub(super) fn run(self) -> Result<(), Failure> {
        while !self.shared.stopped() || self.shared.runs(self.kernel).count() == 0 {
            match self.run_once() {
                Err(Failure::Interrupted) => break,
                result => result?,
            }
        }
        Ok(())
    }

    /// Runs the algorithm on a fresh snapshot and on its static copy.
    fn run_once(&self) -> Result<(), Failure> {
        let snapshot = self.live.db.snapshot()?;
        self.shared.runs(self.kernel).snapshot = Some((snapshot.version().0, Instant::now()));
        let source = algo::source(&snapshot, &self.source)?;
        let ((live, live_time), (fixed, fixed_time), copy_time) =
            self.pool.install(|| self.measure(&snapshot, source))?;
        compare(&live, &fixed).map_err(|(v, told)| self.differs(&snapshot, v, &told))?;
        let mut runs = self.shared.runs(self.kernel);
        runs.live.push(live_time);
        runs.fixed.push(fixed_time);
        runs.copy.push(copy_time);
        Ok(())
    }

    #[expect(
        clippy::type_complexity,
        reason = "two answers, each with its time, and one more time"
    )]
    fn measure(
        &self,
        snapshot: &Snapshot,
        source: u32,
    ) -> Result<((Answer, Duration), (Answer, Duration), Duration), Failure> {
        let stopped = |error| match error {
            AlgoError::Cancelled => Failure::Interrupted,
            error => Failure::Failed(format!("{}: {error}", self.kernel.name())),
        };
        let start = Instant::now();
        // What the view costs is part of what a live store costs.
        let view = snapshot.view()?;
        let live = with_view!(view, |view| self.kernel.run(view, source, &self.cancel));
        let live = (live.map_err(stopped)?, start.elapsed());
        with_view!(view, |view| {
            let start = Instant::now();
            let copy = Csr::from_view(view);
            let copy_time = start.elapsed();
            let start = Instant::now();
            let fixed = self.kernel.run(&copy, source, &self.cancel).map_err(stopped)?;
            Ok((live, (fixed, start.elapsed()), copy_time))
        })
    }

    fn differs(&self, snapshot: &Snapshot, v: usize, told: &str) -> Failure {
        let vertex = match snapshot.key(v as u32) {
            Ok(Some(key)) => format!("vertex {key}"),
            _ => format!("id {v}"),
        };
        Failure::Failed(format!(
            "not verified: {} on the snapshot of version {} differs from the same on its static \
             copy: {vertex}: {told}; please report this",
            self.kernel.name(),
            snapshot.version()
        ))
    }
}

/// The first id at which the answers differ, and how.
fn compare(live: &Answer, fixed: &Answer) -> Result<(), (usize, String)> {
    match (live, fixed) {
        (Answer::Reals(live), Answer::Reals(fixed)) => {
            let near = |a: &f64, b: &f64| (a - b).abs() <= RANK_TOLERANCE * b.abs();
            first_difference(live, fixed, near)
        }
        (Answer::Wholes(live), Answer::Wholes(fixed)) => first_difference(live, fixed, u32::eq),
        _ => Err((0, "the answers are of different kinds".to_owned())),
    }
}

fn first_difference<T: std::fmt::Display>(
    live: &[T],
    fixed: &[T],
    equal: impl Fn(&T, &T) -> bool,
) -> Result<(), (usize, String)> {
    if live.len() != fixed.len() {
        return Err((0, format!("{} values live, {} static", live.len(), fixed.len())));
    }
    match live.iter().zip(fixed).position(|(live, fixed)| !equal(live, fixed)) {
        Some(v) => Err((v, format!("{} live, {} static", live[v], fixed[v]))),
        None => Ok(()),
    }
}

/// The vertex that most edges of the given graph leave. The writers keep it: it has too many edges
/// to be rebuilt, or the graph is so small that no vertex has many.
fn hub(list: &EdgeList) -> Key {
    let mut degrees = vec![0u32; list.keys.len() as usize];
    for &(from, to) in &list.edges {
        degrees[from as usize] += 1;
        if !list.directed {
            degrees[to as usize] += 1;
        }
    }
    let most = (0..).zip(&degrees).max_by_key(|&(_, degree)| degree).map_or(0, |(v, _)| v);
    list.keys.key(most).expect("a graph with edges has vertices").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared() {
        let reals = |values: &[f64]| Answer::Reals(values.to_vec());
        let wholes = |values: &[u32]| Answer::Wholes(values.to_vec());
        assert_eq!(compare(&reals(&[0.1, 0.2]), &reals(&[0.1, 0.2 + 1e-14])), Ok(()));
        let differs = compare(&reals(&[0.1, 0.2]), &reals(&[0.1, 0.2 + 1e-6]));
        assert_eq!(differs, Err((1, "0.2 live, 0.200001 static".to_owned())));
        assert_eq!(compare(&wholes(&[1, 2]), &wholes(&[1, 2])), Ok(()));
        let differs = compare(&wholes(&[1, 2]), &wholes(&[1, 3]));
        assert_eq!(differs, Err((1, "2 live, 3 static".to_owned())));
        assert!(compare(&wholes(&[1]), &wholes(&[1, 3])).is_err());
        assert!(compare(&wholes(&[]), &reals(&[])).is_err());
    }

    #[test]
    fn medians_are_of_all_runs() {
        let mut runs = Runs::default();
        assert!(runs.medians().is_none());
        for seconds in [3, 1, 2] {
            runs.live.push(Duration::from_secs(seconds));
            runs.fixed.push(Duration::from_secs(10 * seconds));
            runs.copy.push(Duration::from_secs(100 * seconds));
        }
        let medians = runs.medians().expect("three runs");
        assert_eq!((medians.live.as_secs(), medians.fixed.as_secs()), (2, 20));
        assert_eq!((medians.copy.as_secs(), runs.count()), (200, 3));
    }
}
