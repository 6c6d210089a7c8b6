//! PageRank that stands, up to a tolerance, by pushing what is not yet handed on.
//!
//! # Method
//! Ranks are the scores `x = 1 + d * (sum of x(u) / out-degree(u) over in-neighbours u)`, divided
//! by their sum: jumps, and the mass at vertices without out-edges, reach all alike, so they change
//! all scores by one factor. Without them a change of the graph stays local, and the number of
//! vertices does not matter.
//!
//! Every vertex remembers how much it has *sent* along each out-edge, and what it *received*; its
//! score is one more than that. A removed edge takes back what was sent along it, an added one
//! hands it on. What a vertex still has to hand on, `d * x - sent * out-degree`, is its *rest*.
//! Vertices with large rests push them, until the rests left are small enough in sum.
//!
//! # Bound
//! With rests of `r` in sum, scores are off by at most `r / (1 - d)` in sum, and ranks, where the
//! scores sum to `s`, by `2 * r / ((1 - d) * s)`. So `r` may be `tolerance * (1 - d) * s / 2`. A
//! vertex whose rest is half of what that allows it where `s` is least, the number of vertices, is
//! not looked at; the others share what is left.

use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId};

use super::{Standing, arcs};
use crate::pagerank::DEFAULT_DAMPING;
use crate::{AlgoError, PageRankConfig, pagerank};

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

    /// The rest that every vertex may keep without being looked at.
    fn rest_max(&self) -> f64 {
        self.tolerance * (1.0 - self.damping) / 4.0
    }
}

/// In `Node::degree`: no such vertex.
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// What came along the in-edges.
    received: f64,
    /// What went along each out-edge.
    sent: f64,
    /// The out-degree, or [`ABSENT`].
    degree: u32,
    /// Whether it stands among those that may push.
    waits: bool,
}

impl Node {
    const NONE: Self = Self { received: 0.0, sent: 0.0, degree: ABSENT, waits: false };
    const NEW: Self = Self { degree: 0, ..Self::NONE };

    fn score(&self) -> f64 {
        if self.degree == ABSENT { 0.0 } else { 1.0 + self.received }
    }

    /// What is to go along all out-edges and did not yet.
    fn rest(&self, damping: f64) -> f64 {
        match self.degree {
            0 | ABSENT => 0.0,
            degree => damping * self.score() - self.sent * f64::from(degree),
        }
    }
}

/// The rank of every vertex.
#[derive(Clone, Debug)]
pub struct Ranks {
    config: RanksConfig,
    nodes: Vec<Node>,
    /// All scores.
    sum: f64,
    /// The vertices with a rest that is worth a look.
    waiting: Vec<VertexId>,
}

impl Standing for Ranks {
    type Config = RanksConfig;
    type Output<'a> = Vec<f64>;

    fn new<G: GraphView>(view: &G, config: &RanksConfig) -> Result<Self, AlgoError> {
        config.check()?;
        let damping = config.damping;
        let tolerance = Some(config.rest_max());
        let iterations = ITERATIONS_MAX;
        let kernel = PageRankConfig { damping, iterations, tolerance, ..PageRankConfig::default() };
        let ranks = pagerank(view, &kernel)?.ranks;
        let vertices = || (0..view.vertex_bound()).filter(|&v| view.contains(v));
        let dangling: f64 =
            vertices().filter(|&v| view.degree(v) == 0).map(|v| ranks[v as usize]).sum();
        let unit = (1.0 - damping + damping * dangling) / f64::from(view.vertex_count());
        let mut nodes = vec![Node::NONE; view.vertex_bound() as usize];
        for v in vertices() {
            let degree = view.degree(v);
            let sent = damping * ranks[v as usize] / unit / f64::from(degree.max(1));
            nodes[v as usize] = Node { sent, degree, ..Node::NONE };
        }
        for v in vertices() {
            let mut received = 0.0;
            view.for_each_in(v, |u| received += nodes[u as usize].sent);
            nodes[v as usize].received = received;
        }
        let sum = nodes.iter().map(Node::score).sum();
        let mut standing = Self { config: config.clone(), nodes, sum, waiting: Vec::new() };
        vertices().for_each(|v| standing.look_at(v));
        standing.settle(view);
        Ok(standing)
    }

    /// Time: that of pushing what the changes moved, until it is less than the tolerance.
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
    ) -> Result<(), AlgoError> {
        self.nodes.resize(after.vertex_bound() as usize, Node::NONE);
        for &v in &changes.added_vertices {
            self.nodes[v as usize] = Node::NEW;
            self.sum += 1.0;
        }
        let directed = after.is_directed();
        for (u, v) in arcs(&changes.removed_edges, directed) {
            self.hand_on(-self.nodes[u as usize].sent, v);
        }
        for (u, v) in arcs(&changes.added_edges, directed) {
            self.hand_on(self.nodes[u as usize].sent, v);
        }
        for &v in &changes.removed_vertices {
            let node = &mut self.nodes[v as usize];
            self.sum -= node.score();
            // Where it waits it will be found without a rest.
            *node = Node { waits: node.waits, ..Node::NONE };
        }
        let edges = [&changes.removed_edges, &changes.added_edges];
        for (u, v) in edges.into_iter().flatten().copied() {
            for v in [u, v].into_iter().filter(|&v| after.contains(v)) {
                self.nodes[v as usize].degree = after.degree(v);
                self.look_at(v);
            }
        }
        self.settle(after);
        Ok(())
    }

    /// A rank per id, 0 where there is no vertex.
    fn output(&self) -> Vec<f64> {
        self.nodes.iter().map(|node| node.score() / self.sum).collect()
    }
}

impl Ranks {
    /// The rank of one id, 0 if it is no vertex.
    pub fn rank(&self, v: VertexId) -> f64 {
        self.nodes.get(v as usize).map_or(0.0, |node| node.score() / self.sum)
    }

    fn hand_on(&mut self, part: f64, v: VertexId) {
        self.nodes[v as usize].received += part;
        self.sum += part;
    }

    /// Has a vertex wait if it has a rest worth that.
    fn look_at(&mut self, v: VertexId) {
        let (damping, least) = (self.config.damping, self.config.rest_max());
        let node = &mut self.nodes[v as usize];
        if !node.waits && node.rest(damping).abs() > least {
            node.waits = true;
            self.waiting.push(v);
        }
    }

    /// Pushes until the rests are small enough. Each round pushes what is at least half of the mean
    /// rest per edge, and with it at least half of all: most for the edges that are looked at.
    fn settle<G: GraphView>(&mut self, view: &G) {
        let (damping, least) = (self.config.damping, self.config.rest_max());
        let count = f64::from(view.vertex_count());
        loop {
            let enough = least * (2.0 * self.sum - count);
            let Self { nodes, waiting, .. } = self;
            let (mut total, mut edges) = (0.0, 0.0);
            waiting.retain(|&v| {
                let node = &mut nodes[v as usize];
                let rest = node.rest(damping).abs();
                node.waits = rest > least;
                if node.waits {
                    total += rest;
                    edges += f64::from(node.degree);
                }
                node.waits
            });
            if total <= enough {
                return;
            }
            let limit = total / edges / 2.0;
            let waiting = self.waiting.clone();
            for v in waiting {
                let node = &self.nodes[v as usize];
                if node.rest(damping).abs() >= limit * f64::from(node.degree) {
                    self.push(view, v);
                }
            }
        }
    }

    /// Hands the rest of a vertex on to its out-neighbours.
    fn push<G: GraphView>(&mut self, view: &G, v: VertexId) {
        let node = &mut self.nodes[v as usize];
        let part = node.rest(self.config.damping) / f64::from(node.degree);
        node.sent += part;
        let _: ControlFlow<()> = view.runs(v, |run| {
            for &u in run {
                self.hand_on(part, u);
                self.look_at(u);
            }
            ControlFlow::Continue(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::directed;

    #[test]
    fn bad_configurations_are_refused() {
        let view = directed(2, &[(0, 1)]);
        let refusal = |damping, tolerance| {
            Ranks::new(&view, &RanksConfig { damping, tolerance }).map(|_| ()).err()
        };
        assert_eq!(refusal(1.0, 1e-6), Some(AlgoError::BadDamping(1.0)));
        assert_eq!(refusal(0.85, 0.0), Some(AlgoError::BadTolerance(0.0)));
        assert_eq!(refusal(0.0, 1e-6), None);
    }
}
