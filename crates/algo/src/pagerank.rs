//! PageRank: the share of time a random surfer spends at every vertex.
//!
//! # Method
//! Each iteration computes, for all vertices at once from the ranks of the iteration before,
//! `rank(v) = (1 - d) / N + d * (sum of rank(u) / out-degree(u) over in-neighbours u + S / N)`,
//! where `S` is the mass at vertices without out-edges, spread evenly, and `N` the vertices that
//! exist. Ranks start at `1 / N` and always sum to 1. These are the semantics of LDBC
//! Graphalytics.
//!
//! # Encoding
//! Every vertex *pulls*: `contributions[u] = rank(u) / out-degree(u)` is computed once per
//! vertex, so that an edge costs one read and one addition and no atomic update. Which additions
//! are made in which order depends on the place of a neighbour in the list and of a vertex among
//! the ids alone: the ranks are equal to the last bit for any number of threads and any cut of the
//! lists into runs.
//!
//! # Paper
//! Page, Brin, Motwani, Winograd: The PageRank Citation Ranking, 1999; Iosup et al.: LDBC
//! Graphalytics, VLDB 2016, for the semantics.

use std::ops::{ControlFlow, Range};

use evergraph_graph::par::chunks_by_range;
use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::{AlgoError, Cancel, ENTRIES_PER_TASK};

/// The share of steps that follow an edge, as in the original paper.
pub const DEFAULT_DAMPING: f64 = 0.85;

/// Enough for a ranking of web and social graphs; what Graphalytics' larger graphs prescribe is
/// of this order.
pub const DEFAULT_ITERATIONS: u32 = 20;

/// How far to iterate.
#[derive(Clone, Debug)]
pub struct PageRankConfig {
    /// The share of steps that follow an edge; the others jump anywhere. From 0 to 1.
    pub damping: f64,
    /// How many iterations to run, at least 1.
    pub iterations: u32,
    /// Stops early once the ranks change by no more than this in sum; `None` runs all iterations.
    pub tolerance: Option<f64>,
    /// Stops the kernel between two iterations.
    pub cancel: Cancel,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        Self {
            damping: DEFAULT_DAMPING,
            iterations: DEFAULT_ITERATIONS,
            tolerance: None,
            cancel: Cancel::default(),
        }
    }
}

impl PageRankConfig {
    fn check(&self) -> Result<(), AlgoError> {
        if !(0.0..=1.0).contains(&self.damping) {
            return Err(AlgoError::BadDamping(self.damping));
        }
        if self.iterations == 0 {
            return Err(AlgoError::NoIterations);
        }
        match self.tolerance {
            Some(tolerance) if tolerance.is_nan() || tolerance < 0.0 => {
                Err(AlgoError::BadTolerance(tolerance))
            }
            _ => Ok(()),
        }
    }
}

/// The rank of every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRankOutput {
    /// A rank per id, 0 where there is no vertex; they sum to 1.
    pub ranks: Vec<f64>,
    /// How many iterations were run.
    pub iterations: u32,
    /// By how much the ranks changed in the last iteration, in sum.
    pub change: f64,
}

/// Computes the rank of every vertex. Time O(V + E) per iteration.
pub fn pagerank<G: GraphView>(
    view: &G,
    config: &PageRankConfig,
) -> Result<PageRankOutput, AlgoError> {
    config.check()?;
    let view = &view.flat();
    let count = f64::from(view.vertex_count());
    let mut state = State::new(view, 1.0 / count);
    let splits = view.splits(ENTRIES_PER_TASK);
    let mut totals = state.contribute();
    let mut iterations = 0;
    while iterations < config.iterations {
        config.cancel.check()?;
        let jumps = (1.0 - config.damping) / count;
        let base = jumps + config.damping * totals.dangling / count;
        pull(view, &splits, &state.contributions, &mut state.next, |sum| {
            base + config.damping * sum
        });
        std::mem::swap(&mut state.ranks, &mut state.next);
        totals = state.contribute();
        iterations += 1;
        if config.tolerance.is_some_and(|tolerance| totals.change <= tolerance) {
            break;
        }
    }
    Ok(PageRankOutput { ranks: state.ranks, iterations, change: totals.change })
}

/// Vertices per part of a global sum. Fixed, so that sums do not depend on the threads.
const VERTICES_PER_SUM: usize = 1 << 14;

/// In `State::degrees`: no such vertex.
const ABSENT: u32 = u32::MAX;

/// One number per id, side by side.
struct State {
    ranks: Vec<f64>,
    /// The ranks before, which the next ones replace.
    next: Vec<f64>,
    /// What passes along each out-edge.
    contributions: Vec<f64>,
    /// Out-degrees, or [`ABSENT`].
    degrees: Vec<u32>,
}

/// Sums over all vertices.
#[derive(Default)]
struct Totals {
    /// The mass that no out-edge takes away.
    dangling: f64,
    /// By how much ranks changed.
    change: f64,
}

impl State {
    fn new<G: GraphView>(view: &G, first: f64) -> Self {
        let bound = view.vertex_bound();
        let degree = |v| match view.degree(v) {
            0 if !view.contains(v) => ABSENT,
            degree => degree,
        };
        Self {
            ranks: vec![first; bound as usize],
            next: vec![0.0; bound as usize],
            contributions: vec![0.0; bound as usize],
            degrees: (0..bound).into_par_iter().map(degree).collect(),
        }
    }

    /// Turns ranks into contributions, and takes the rank of ids without a vertex back to 0.
    fn contribute(&mut self) -> Totals {
        let parts: Vec<Totals> = self
            .ranks
            .par_chunks_mut(VERTICES_PER_SUM)
            .zip(self.contributions.par_chunks_mut(VERTICES_PER_SUM))
            .zip(self.next.par_chunks(VERTICES_PER_SUM))
            .zip(self.degrees.par_chunks(VERTICES_PER_SUM))
            .map(|(((ranks, contributions), before), degrees)| {
                let mut totals = Totals::default();
                let inputs = before.iter().zip(degrees);
                for ((rank, contribution), (before, &degree)) in
                    ranks.iter_mut().zip(contributions).zip(inputs)
                {
                    match degree {
                        ABSENT => *rank = 0.0,
                        0 => totals.dangling += *rank,
                        _ => *contribution = *rank / f64::from(degree),
                    }
                    totals.change += (*rank - before).abs();
                }
                totals
            })
            .collect();
        parts.into_iter().fold(Totals::default(), |all, part| Totals {
            dangling: all.dangling + part.dangling,
            change: all.change + part.change,
        })
    }
}

/// Adds up the contributions of every vertex's in-neighbours and makes a rank of the sum.
fn pull<G: GraphView>(
    view: &G,
    splits: &[Range<VertexId>],
    contributions: &[f64],
    ranks: &mut [f64],
    rank: impl Fn(f64) -> f64 + Sync,
) {
    let pieces = chunks_by_range(ranks, splits, |v| v as usize);
    splits.par_iter().zip(pieces).for_each(|(range, sums)| {
        sums.fill(0.0);
        let (mut current, mut sum) = (range.start, Lanes::default());
        view.in_range(range.clone(), |v, run| {
            if v != current {
                sums[(current - range.start) as usize] = sum.total();
                (current, sum) = (v, Lanes::default());
            }
            sum = sum.add(run, contributions);
            ControlFlow::Continue(())
        });
        sums[(current - range.start) as usize] = sum.total();
        for slot in sums {
            *slot = rank(*slot);
        }
    });
}

/// Additions in flight: as many as hide the time that one takes.
const LANES: usize = 4;

/// The sum of a list that comes in runs: entry `i` is added in lane `i % LANES`, and the lanes are
/// added up in the end, so that the cut into runs does not show.
#[derive(Clone, Copy, Default)]
struct Lanes {
    sums: [f64; LANES],
    /// The lane of the next entry.
    next: usize,
}

impl Lanes {
    #[inline]
    fn add(self, run: &[VertexId], contributions: &[f64]) -> Self {
        if self.next != 0 {
            return self.add_on(run, contributions);
        }
        let mut sums = self.sums;
        let (groups, rest) = run.as_chunks::<LANES>();
        for group in groups {
            for (sum, &u) in sums.iter_mut().zip(group) {
                *sum += contributions[u as usize];
            }
        }
        for (sum, &u) in sums.iter_mut().zip(rest) {
            *sum += contributions[u as usize];
        }
        Self { sums, next: rest.len() }
    }

    /// As [`Lanes::add`], where the run before ended within a group.
    #[cold]
    fn add_on(mut self, run: &[VertexId], contributions: &[f64]) -> Self {
        let (head, rest) = run.split_at(run.len().min(LANES - self.next));
        for (sum, &u) in self.sums[self.next..].iter_mut().zip(head) {
            *sum += contributions[u as usize];
        }
        self.next = (self.next + head.len()) % LANES;
        if rest.is_empty() { self } else { self.add(rest, contributions) }
    }

    #[inline]
    fn total(self) -> f64 {
        let [a, b, c, d] = self.sums;
        (a + b) + (c + d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15)
    }

    #[test]
    fn one_iteration_by_hand() {
        // 2 has no out-edge: its third is spread over all three.
        let view = directed(3, &[(0, 1), (0, 2), (1, 2)]);
        let config = PageRankConfig { damping: 0.6, iterations: 1, ..PageRankConfig::default() };
        let output = pagerank(&view, &config).expect("a good configuration");
        let base = 0.4 / 3.0 + 0.6 * (1.0 / 3.0) / 3.0;
        assert!(close(&output.ranks, &[base, base + 0.6 / 6.0, base + 0.6 / 6.0 + 0.6 / 3.0]));
        assert!((output.change - 2.0 * (output.ranks[2] - 1.0 / 3.0)).abs() < 1e-15);
        verify::pagerank(&view, &config, &output).expect("as pushing says");
    }

    #[test]
    fn a_tolerance_ends_it_early() {
        let view = undirected(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let config = PageRankConfig { tolerance: Some(1e-9), ..PageRankConfig::default() };
        let output = pagerank(&view, &config).expect("a good configuration");
        assert_eq!((output.iterations, output.ranks), (1, vec![0.25; 4]));
    }

    #[test]
    fn bad_configurations_are_refused() {
        let view = undirected(2, &[(0, 1)]);
        let refusal = |damping, iterations, tolerance| {
            let cancel = Cancel::default();
            pagerank(&view, &PageRankConfig { damping, iterations, tolerance, cancel })
        };
        assert_eq!(refusal(1.5, 1, None), Err(AlgoError::BadDamping(1.5)));
        assert!(matches!(refusal(f64::NAN, 1, None), Err(AlgoError::BadDamping(_))));
        assert_eq!(refusal(0.5, 0, None), Err(AlgoError::NoIterations));
        assert_eq!(refusal(0.5, 1, Some(-1.0)), Err(AlgoError::BadTolerance(-1.0)));
    }
}
