//! Ranks that stand, up to a tolerance: what changes move is pushed along edges until too little
//! moves.
//!
//! # Method
//! A score is `x(v) = 1 + d * sum of x(u) / out-degree(u)` over the in-neighbours; ranks are scores
//! over their sum. Vertices without out-edges need nothing special: what they would spread is the
//! same for all, and falls out. Each vertex has *given* something along each out-edge, which arrived
//! damped by `d`; the part of its score that it has not given is its *rest*. A removed edge takes
//! back what was given along it, an added one hands it on. Vertices with large rests push them, in
//! rounds, until the rests left are small enough in sum.
//!
//! # Bound
//! If the rests above 0 come to `r` in sum and those below to `-q`, scores are too small by at most
//! `d * r / (1 - d)` and too large by at most `d * q / (1 - d)`, in sum. Ranks sum to 1, so they are
//! off by twice what is too small, and twice what is too large: by at most
//! `2 * d * max(r, q) / ((1 - d) * s)`, where `s` is the sum of the scores at hand.
//!
//! # Invariants
//!   - The score of a vertex is `given * degree + rest`, and 1 more than `d` times what its
//!     in-neighbours gave along an edge.
//!   - The rests of vertices with out-edges are at most `above` and `below` in sum. What moves along
//!     an edge is added to these as if nothing cancelled; a pass over all rests makes them exact, and
//!     only where it may end the work or tells what to push.
//!   - What a round comes to does not depend on the number of threads: every vertex gets its parts
//!     in the order of those who push, and sums are made of pieces of a fixed length.

use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId};
use rayon::prelude::*;

use super::{Standing, arcs};
use crate::pagerank::DEFAULT_DAMPING;
use crate::{AlgoError, Cancel, PageRankConfig, pagerank};

/// By how much ranks may be off, in sum; they sum to 1. What is usual where rankings are compared;
/// much less, and even small changes reach so many vertices that computing anew is faster.
pub const DEFAULT_TOLERANCE: f64 = 1e-4;

/// The least tolerance: what is rounded away in a long time is less.
pub const TOLERANCE_MIN: f64 = 1e-12;

/// More iterations than any tolerance needs for a damping of some tenths; pushing does the rest.
const ITERATIONS_MAX: u32 = 1000;

/// How exact ranks are.
#[derive(Clone, Debug, PartialEq)]
pub struct RanksConfig {
    /// The share of steps that follow an edge, as in [`PageRankConfig::damping`], less than 1.
    pub damping: f64,
    /// By how much ranks may differ from those that [`crate::pagerank()`] comes to if it never
    /// ends, all differences in sum; at least [`TOLERANCE_MIN`].
    pub tolerance: f64,
}

impl Default for RanksConfig {
    fn default() -> Self {
        Self { damping: DEFAULT_DAMPING, tolerance: DEFAULT_TOLERANCE }
    }
}

impl RanksConfig {
    fn check(&self) -> Result<(), AlgoError> {
        if !(0.0..1.0).contains(&self.damping) {
            return Err(AlgoError::BadDamping(self.damping));
        }
        if !(self.tolerance >= TOLERANCE_MIN && self.tolerance.is_finite()) {
            return Err(AlgoError::BadTolerance(self.tolerance));
        }
        Ok(())
    }

    /// What rests of one sign may come to where scores sum to `scores`.
    fn allowed(&self, scores: f64) -> f64 {
        self.tolerance * (1.0 - self.damping) * scores / (2.0 * self.damping)
    }
}

/// In `Ranks::degrees`: no such vertex.
const ABSENT: u32 = u32::MAX;

/// The share of the rests allowed that is spread over all vertices: a rest within its share is not
/// pushed.
const UNSEEN: f64 = 0.25;

/// The share of the rests allowed that rounds aim at: with less, one more of them is needed.
const AIM: f64 = 0.9;

/// A round pushes so many times the rests of one sign that are too much: of either sign, and some
/// come back.
const PUSHED: f64 = 3.0;

/// Rests per piece of a pass over all.
const PIECE: usize = 1 << 14;

/// Rounds over fewer edges run on one thread.
const PARALLEL_EDGES: u64 = 1 << 14;

/// The rank of every vertex.
#[derive(Clone, Debug)]
pub struct Ranks {
    config: RanksConfig,
    /// The part of its score that a vertex has not given.
    rests: Vec<f64>,
    /// What it has given along each out-edge.
    given: Vec<f64>,
    /// Out-degrees, or [`ABSENT`].
    degrees: Vec<u32>,
    /// All scores.
    sum: f64,
    /// What the rests above 0 of vertices with out-edges come to, at most.
    above: f64,
    /// The same of those below.
    below: f64,
}

impl Standing for Ranks {
    type Config = RanksConfig;
    type Output<'a> = &'a Self;

    fn new<G: GraphView>(
        view: &G,
        config: &RanksConfig,
        cancel: &Cancel,
    ) -> Result<Self, AlgoError> {
        config.check()?;
        let mut standing = Self::estimate(view, config, cancel)?;
        standing.settle(view, cancel)?;
        Ok(standing)
    }

    /// Time: that of pushing what the changes moved, until it is less than the tolerance.
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError> {
        self.grow(after.vertex_bound() as usize);
        for &v in &changes.added_vertices {
            (self.rests[v as usize], self.degrees[v as usize]) = (1.0, 0);
            self.sum += 1.0;
        }
        let directed = after.is_directed();
        for (u, v) in arcs(&changes.removed_edges, directed) {
            self.degrees[u as usize] -= 1;
            self.move_along((u, v), -self.given[u as usize]);
        }
        for (u, v) in arcs(&changes.added_edges, directed) {
            if self.degrees[u as usize] == 0 {
                self.count_rest(self.rests[u as usize]);
            }
            self.degrees[u as usize] += 1;
            self.move_along((u, v), self.given[u as usize]);
        }
        for &v in &changes.removed_vertices {
            self.sum -= self.score(v);
            (self.rests[v as usize], self.given[v as usize]) = (0.0, 0.0);
            self.degrees[v as usize] = ABSENT;
        }
        self.settle(after, cancel)
    }

    fn output(&self) -> &Self {
        self
    }
}

impl Ranks {
    /// The rank of one id, 0 if it is no vertex.
    pub fn rank(&self, v: VertexId) -> f64 {
        if (v as usize) < self.rests.len() { self.score(v) / self.sum } else { 0.0 }
    }

    /// A rank per id, 0 where there is no vertex.
    pub fn ranks(&self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.rests.len() as VertexId).map(|v| self.score(v) / self.sum)
    }

    /// What the kernel says, taken for what vertices have given.
    fn estimate<G: GraphView>(
        view: &G,
        config: &RanksConfig,
        cancel: &Cancel,
    ) -> Result<Self, AlgoError> {
        let damping = config.damping;
        let kernel = PageRankConfig {
            damping,
            iterations: ITERATIONS_MAX,
            tolerance: Some(config.tolerance * (1.0 - damping) / 4.0),
            cancel: cancel.clone(),
        };
        let ranks = pagerank(view, &kernel)?.ranks;
        let bound = view.vertex_bound();
        let degree = |v| if view.contains(v) { view.degree(v) } else { ABSENT };
        let degrees: Vec<u32> = (0..bound).into_par_iter().map(degree).collect();
        let spread = degrees.iter().zip(&ranks).filter(|(degree, _)| **degree == 0);
        let dangling: f64 = spread.map(|(_, rank)| rank).sum();
        let unit = (1.0 - damping + damping * dangling) / f64::from(view.vertex_count());
        let of_each = |(&degree, rank): (&u32, &f64)| match degree {
            0 | ABSENT => 0.0,
            degree => rank / unit / f64::from(degree),
        };
        let given: Vec<f64> = degrees.iter().zip(&ranks).map(of_each).collect();
        cancel.check()?;
        let rest = |v: VertexId| {
            let mut came = 0.0;
            view.for_each_in(v, |u| came += given[u as usize]);
            match degrees[v as usize] {
                ABSENT => 0.0,
                degree => 1.0 + damping * came - given[v as usize] * f64::from(degree),
            }
        };
        let rests: Vec<f64> = (0..bound).into_par_iter().map(rest).collect();
        let mut standing = Self {
            config: config.clone(),
            rests,
            given,
            degrees,
            sum: 0.0,
            above: f64::INFINITY,
            below: f64::INFINITY,
        };
        standing.sum = (0..bound).map(|v| standing.score(v)).sum();
        Ok(standing)
    }

    fn score(&self, v: VertexId) -> f64 {
        let v = v as usize;
        match self.degrees[v] {
            ABSENT => 0.0,
            degree => self.given[v] * f64::from(degree) + self.rests[v],
        }
    }

    fn grow(&mut self, bound: usize) {
        self.rests.resize(bound, 0.0);
        self.given.resize(bound, 0.0);
        self.degrees.resize(bound, ABSENT);
    }

    /// Adds a rest to the sums.
    fn count_rest(&mut self, rest: f64) {
        *(if rest > 0.0 { &mut self.above } else { &mut self.below }) += rest.abs();
    }

    /// Moves a part of the rest of `u` along an edge. What `u` has given along every edge, and its
    /// score, stay as they are.
    fn move_along(&mut self, (u, v): (VertexId, VertexId), part: f64) {
        let arrives = self.config.damping * part;
        self.rests[u as usize] -= part;
        self.rests[v as usize] += arrives;
        self.count_rest(-part);
        self.count_rest(arrives);
        self.sum += arrives;
    }

    /// Pushes until the rests are small enough.
    fn settle<G: GraphView>(&mut self, view: &G, cancel: &Cancel) -> Result<(), AlgoError> {
        loop {
            cancel.check()?;
            let allowed = self.config.allowed(self.sum);
            if f64::max(self.above, self.below) <= allowed {
                return Ok(());
            }
            let seen = self.look(UNSEEN * allowed / self.rests.len() as f64);
            (self.above, self.below) = (seen.above, seen.below);
            if f64::max(self.above, self.below) > allowed {
                let parts = self.give(&seen, f64::max(self.above, self.below) - AIM * allowed);
                self.push(view, &parts);
            }
        }
    }

    /// Sums all rests up, and finds those of more than `least`.
    fn look(&self, least: f64) -> Seen {
        let pieces = self.rests.par_chunks(PIECE).zip(self.degrees.par_chunks(PIECE)).enumerate();
        let pieces = pieces.map(|(piece, (rests, degrees))| {
            let mut seen = Seen::default();
            for ((&rest, &degree), v) in rests.iter().zip(degrees).zip(piece * PIECE..) {
                if degree == 0 || degree == ABSENT {
                    continue;
                }
                *(if rest > 0.0 { &mut seen.above } else { &mut seen.below }) += rest.abs();
                if rest.abs() > least {
                    seen.large.push(v as VertexId);
                    seen.edges += u64::from(degree);
                }
            }
            seen
        });
        let pieces: Vec<Seen> = pieces.collect();
        pieces.into_iter().fold(Seen::default(), |mut all, piece| {
            all.above += piece.above;
            all.below += piece.below;
            all.edges += piece.edges;
            all.large.extend(piece.large);
            all
        })
    }

    /// Has vertices give their rests, those first that have most for every edge, until that is
    /// [`PUSHED`] times the excess, or all that have at least half of the mean have; who gives how
    /// much along an edge.
    fn give(&mut self, seen: &Seen, excess: f64) -> Vec<(VertexId, f64)> {
        let part = |v: VertexId| self.rests[v as usize] / f64::from(self.degrees[v as usize]);
        let with = |limit: f64| seen.large.iter().copied().filter(move |&v| part(v).abs() >= limit);
        let least = (self.above + self.below) / seen.edges as f64 / 2.0;
        let mut limit = least * f64::from(1 << 6);
        let rests = |limit| with(limit).map(|v| self.rests[v as usize].abs()).sum::<f64>();
        while limit > least && rests(limit) < PUSHED * excess {
            limit /= 2.0;
        }
        let parts: Vec<(VertexId, f64)> = with(limit).map(|v| (v, part(v))).collect();
        for &(v, part) in &parts {
            let rest = std::mem::take(&mut self.rests[v as usize]);
            let kept = self.config.damping * rest;
            self.given[v as usize] += part;
            self.sum += kept;
            *(if rest > 0.0 { &mut self.above } else { &mut self.below }) -= (rest - kept).abs();
        }
        parts
    }

    /// Has what was given arrive.
    fn push<G: GraphView>(&mut self, view: &G, parts: &[(VertexId, f64)]) {
        let edges: u64 = parts.iter().map(|&(u, _)| u64::from(self.degrees[u as usize])).sum();
        let threads = if edges < PARALLEL_EDGES { 1 } else { rayon::current_num_threads() };
        let length = self.rests.len().div_ceil(threads).max(1);
        let damping = self.config.damping;
        self.rests.par_chunks_mut(length).enumerate().for_each(|(range, rests)| {
            let first = (range * length) as VertexId;
            for &(u, part) in parts {
                let _: ControlFlow<()> = view.runs(u, |run| {
                    arrive((&mut *rests, first), run, damping * part);
                    ControlFlow::Continue(())
                });
            }
        });
    }
}

/// What a pass over all rests found.
#[derive(Default)]
struct Seen {
    /// The rests above 0, and those below, of vertices with out-edges.
    above: f64,
    below: f64,
    /// The vertices with large rests, ascending.
    large: Vec<VertexId>,
    /// How many out-edges these have.
    edges: u64,
}

/// Adds a part to the rest of every vertex of a list that stands in the range from `first` on.
fn arrive((rests, first): (&mut [f64], VertexId), run: &[VertexId], part: f64) {
    let end = first + rests.len() as VertexId;
    let from = if run[0] < first { run.partition_point(|&v| v < first) } else { 0 };
    let is_inside = run[run.len() - 1] < end;
    let until = if is_inside { run.len() } else { run.partition_point(|&v| v < end) };
    for &v in run.get(from..until).unwrap_or_default() {
        rests[(v - first) as usize] += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::directed;

    #[test]
    fn rests_of_one_sign_are_pushed() {
        // More than is allowed, less than is allowed of both signs together.
        let view = directed(3, &[(0, 1), (1, 2), (2, 0)]);
        let cancel = Cancel::default();
        let mut ranks = Ranks::new(&view, &RanksConfig::default(), &cancel).expect("good");
        let allowed = ranks.config.allowed(ranks.sum);
        ranks.rests[0] += 1.5 * allowed;
        ranks.above = f64::INFINITY;
        ranks.settle(&view, &cancel).expect("nobody cancels");
        let seen = ranks.look(0.0);
        assert!(seen.above.max(seen.below) <= ranks.config.allowed(ranks.sum));
    }

    #[test]
    fn sums_of_rests_are_never_too_small() {
        // So tolerant that no pass over all rests makes them exact on the way.
        let config = RanksConfig { tolerance: 1.0, ..RanksConfig::default() };
        let cancel = Cancel::default();
        let mut edges: Vec<(VertexId, VertexId)> = (0..6).map(|v| (v, (v + 1) % 6)).collect();
        let mut before = directed(6, &edges);
        let mut ranks = Ranks::new(&before, &config, &cancel).expect("good");
        for step in 0..36 {
            let pair = step * 7 % 36;
            let edge = (pair / 6, pair % 6);
            let mut changes = GraphChanges::default();
            if let Some(place) = edges.iter().position(|&other| other == edge) {
                changes.removed_edges.push(edges.remove(place));
            } else {
                edges.push(edge);
                changes.added_edges.push(edge);
            }
            let after = directed(6, &edges);
            ranks.update(&before, &after, &changes, &cancel).expect("nobody cancels");
            let seen = ranks.look(0.0);
            assert!(seen.above <= ranks.above + 1e-12, "step {step}, above");
            assert!(seen.below <= ranks.below + 1e-12, "step {step}, below");
            before = after;
        }
    }

    #[test]
    fn bad_configurations_are_refused() {
        let view = directed(2, &[(0, 1)]);
        let refusal = |damping, tolerance| {
            let config = RanksConfig { damping, tolerance };
            Ranks::new(&view, &config, &Cancel::default()).map(|_| ()).err()
        };
        assert_eq!(refusal(1.0, 1e-6), Some(AlgoError::BadDamping(1.0)));
        assert_eq!(refusal(0.85, 0.0), Some(AlgoError::BadTolerance(0.0)));
        assert_eq!(refusal(0.0, 1e-6), None);
    }
}
