//! Distances from a source that stand, by hops or by weight: a tree of shortest paths is kept.
//!
//! # Method
//! First what may have got further away: the ends of tree edges that are gone or weigh more, nearest
//! first. One that another vertex reaches just as well, one strictly nearer to the source, hangs on
//! that; any other has lost its path, and so perhaps what hangs on it. Whoever lost its path gets
//! the best one by way of those that did not. Then Dijkstra's algorithm goes on from there, and
//! from the ends of edges that are new or weigh less.
//!
//! *Strictly nearer* is what keeps it right where edges weigh nothing: vertices on a circle of such
//! edges do not hold each other up.
//!
//! # Invariants
//!   - `lengths` is what [`crate::bfs()`] or [`crate::sssp()`] says, to the last bit.
//!   - The length of a vertex is that of its parent and the edge between, added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId, Weight};

use super::{NO_PARENT, Patience, Standing, arcs, weight};
use crate::bfs::UNREACHED;
use crate::{AlgoError, BfsConfig, Cancel, SsspConfig, bfs, sssp};

/// How long paths are.
pub trait Length {
    /// The length of a path.
    type Value: Copy + PartialOrd;

    /// No path.
    const FAR: Self::Value;

    /// Whether it depends on what edges carry.
    const WEIGHS: bool;

    /// What the kernel says.
    ///
    /// # Errors
    /// Those of the kernel.
    fn kernel<G: GraphView>(
        view: &G,
        source: VertexId,
        cancel: &Cancel,
    ) -> Result<Vec<Self::Value>, AlgoError>;

    /// A path that goes on along an edge; none if the edge has no length.
    fn add<W: Weight>(path: Self::Value, edge: W) -> Option<Self::Value>;

    /// A number that sorts like the length.
    fn order(path: Self::Value) -> u64;
}

/// Every edge counts 1.
#[derive(Clone, Copy, Debug)]
pub struct Hops;

impl Length for Hops {
    type Value = u32;

    const FAR: u32 = UNREACHED;
    const WEIGHS: bool = false;

    fn kernel<G: GraphView>(
        view: &G,
        source: VertexId,
        cancel: &Cancel,
    ) -> Result<Vec<u32>, AlgoError> {
        let cancel = cancel.clone();
        Ok(bfs(view, &BfsConfig { source, cancel, ..BfsConfig::default() })?.levels)
    }

    fn add<W: Weight>(path: u32, _: W) -> Option<u32> {
        Some(path + 1)
    }

    fn order(path: u32) -> u64 {
        u64::from(path)
    }
}

/// Every edge counts its weight, and 1 if it has none.
#[derive(Clone, Copy, Debug)]
pub struct Sums;

impl Length for Sums {
    type Value = f64;

    const FAR: f64 = f64::INFINITY;
    const WEIGHS: bool = true;

    fn kernel<G: GraphView>(
        view: &G,
        source: VertexId,
        cancel: &Cancel,
    ) -> Result<Vec<f64>, AlgoError> {
        let cancel = cancel.clone();
        Ok(sssp(view, &SsspConfig { source, cancel, ..SsspConfig::default() })?.distances)
    }

    fn add<W: Weight>(path: f64, edge: W) -> Option<f64> {
        let weight = edge.to_f64();
        (weight >= 0.0).then_some(path + weight)
    }

    /// Numbers of 0 or more sort like their bits.
    fn order(path: f64) -> u64 {
        (path + 0.0).to_bits()
    }
}

/// The fewest edges from the source to each id, as [`crate::BfsOutput`] has them.
pub type Levels = Paths<Hops>;

/// The length of the shortest path to each id, as [`crate::SsspOutput`] has them.
pub type Distances = Paths<Sums>;

/// Shortest paths from a source. The config is the source.
#[derive(Clone, Debug)]
pub struct Paths<L: Length> {
    source: VertexId,
    lengths: Vec<L::Value>,
    parents: Vec<VertexId>,
}

/// Vertices by length, the nearest first.
type Queue = BinaryHeap<Reverse<(u64, VertexId)>>;

impl<L: Length> Standing for Paths<L> {
    type Config = VertexId;
    type Output<'a>
        = &'a [L::Value]
    where
        L: 'a;

    fn new<G: GraphView>(view: &G, &source: &VertexId, cancel: &Cancel) -> Result<Self, AlgoError> {
        let lengths = L::kernel(view, source, cancel)?;
        let mut patience = Patience::new(cancel);
        let mut parents = vec![NO_PARENT; lengths.len()];
        let mut queue = vec![source];
        while let Some(v) = queue.pop() {
            patience.step()?;
            let length = lengths[v as usize];
            view.for_each_weighted(v, |u: VertexId, weight| {
                let is_tight = L::add(length, weight) == Some(lengths[u as usize]);
                if is_tight && u != source && parents[u as usize] == NO_PARENT {
                    parents[u as usize] = v;
                    queue.push(u);
                }
            });
        }
        Ok(Self { source, lengths, parents })
    }

    /// Time O(e log e), where e counts the edges of what gets another length or loses its path, and
    /// the lists in which their weights are looked up.
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError> {
        let mut patience = Patience::new(cancel);
        if !after.contains(self.source) {
            return Err(AlgoError::SourceNotFound(self.source));
        }
        self.lengths.resize(after.vertex_bound() as usize, L::FAR);
        self.parents.resize(after.vertex_bound() as usize, NO_PARENT);
        let lost = self.lose(after, self.suspects(after, changes), &mut patience)?;
        let mut queue = Queue::new();
        for v in lost {
            patience.step()?;
            self.find_again(after, v)?;
            self.wait_in(&mut queue, v);
        }
        let directed = after.is_directed();
        let edges = [&changes.added_edges, &changes.reweighted_edges];
        for (u, v) in edges.into_iter().flat_map(|edges| arcs(edges, directed)) {
            if let Some(weight) = Self::weight(after, u, v)
                && self.relax((u, v), weight)?
            {
                self.wait_in(&mut queue, v);
            }
        }
        self.settle(after, queue, &mut patience)
    }

    fn output(&self) -> &[L::Value] {
        &self.lengths
    }
}

impl<L: Length> Paths<L> {
    fn length(&self, v: VertexId) -> L::Value {
        self.lengths[v as usize]
    }

    /// The weight of an edge that is there. Where it does not matter nothing is looked up.
    fn weight<G: GraphView>(view: &G, u: VertexId, v: VertexId) -> Option<G::Weight> {
        if L::WEIGHS && G::Weight::WEIGHTED {
            weight(view, u, v)
        } else {
            Some(G::Weight::default())
        }
    }

    fn is_far(&self, v: VertexId) -> bool {
        self.length(v) == L::FAR
    }

    fn wait_in(&self, queue: &mut Queue, v: VertexId) {
        queue.push(Reverse((L::order(self.length(v)), v)));
    }

    /// The vertices whose tree edge is gone or leads further than it did.
    fn suspects<G: GraphView>(&self, after: &G, changes: &GraphChanges) -> Queue {
        let directed = after.is_directed();
        let mut suspects = Queue::new();
        for (u, v) in arcs(&changes.removed_edges, directed) {
            if self.parents[v as usize] == u {
                self.wait_in(&mut suspects, v);
            }
        }
        for (u, v) in arcs(&changes.reweighted_edges, directed) {
            let is_kept = || {
                let now =
                    Self::weight(after, u, v).and_then(|weight| L::add(self.length(u), weight));
                now.is_some_and(|now| now <= self.length(v))
            };
            if self.parents[v as usize] == u && !is_kept() {
                self.wait_in(&mut suspects, v);
            }
        }
        suspects
    }

    /// Takes their length from all that have lost their path, or may have.
    fn lose<G: GraphView>(
        &mut self,
        after: &G,
        mut suspects: Queue,
        patience: &mut Patience<'_>,
    ) -> Result<Vec<VertexId>, AlgoError> {
        let mut lost = Vec::new();
        while let Some(Reverse((_, v))) = suspects.pop() {
            patience.step()?;
            if self.is_far(v) || self.hang_elsewhere(after, v) {
                continue;
            }
            self.lengths[v as usize] = L::FAR;
            self.parents[v as usize] = NO_PARENT;
            lost.push(v);
            after.for_each(v, |u| {
                if self.parents[u as usize] == v {
                    self.wait_in(&mut suspects, u);
                }
            });
        }
        Ok(lost)
    }

    /// Looks for a vertex nearer to the source by which `v` is reached just as well.
    fn hang_elsewhere<G: GraphView>(&mut self, after: &G, v: VertexId) -> bool {
        let length = self.length(v);
        let found = after.in_runs(v, |run| {
            let mut nearer = run.iter().filter(|&&u| self.length(u) < length);
            let holds = |&&u: &&VertexId| {
                let weight = Self::weight(after, u, v);
                weight.and_then(|weight| L::add(self.length(u), weight)) == Some(length)
            };
            nearer.find(holds).map_or(ControlFlow::Continue(()), |&u| ControlFlow::Break(u))
        });
        let parent = found.break_value();
        if let Some(parent) = parent {
            self.parents[v as usize] = parent;
        }
        parent.is_some()
    }

    /// The best path to `v` by way of its in-neighbours, as far as theirs are known.
    fn find_again<G: GraphView>(&mut self, after: &G, v: VertexId) -> Result<(), AlgoError> {
        let tried = after.in_runs(v, |run| {
            for &u in run.iter().filter(|&&u| u != v) {
                if self.is_far(u) {
                    continue;
                }
                let tried = Self::weight(after, u, v).map(|weight| self.relax((u, v), weight));
                if let Some(Err(error)) = tried {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        tried.break_value().map_or(Ok(()), Err)
    }

    /// Takes an edge into account; whether its end got nearer.
    fn relax<W: Weight>(
        &mut self,
        (from, to): (VertexId, VertexId),
        weight: W,
    ) -> Result<bool, AlgoError> {
        if self.is_far(from) {
            return Ok(false);
        }
        let Some(reach) = L::add(self.length(from), weight) else {
            return Err(AlgoError::BadWeight { from, to, weight: weight.to_f64() });
        };
        let nearer = reach < self.length(to);
        if nearer {
            self.lengths[to as usize] = reach;
            self.parents[to as usize] = from;
        }
        Ok(nearer)
    }

    /// Dijkstra's algorithm, from what waits.
    fn settle<G: GraphView>(
        &mut self,
        after: &G,
        mut queue: Queue,
        patience: &mut Patience<'_>,
    ) -> Result<(), AlgoError> {
        while let Some(Reverse((order, v))) = queue.pop() {
            patience.step()?;
            if self.is_far(v) || order != L::order(self.length(v)) {
                continue;
            }
            let tried = after.weighted_runs(v, |run, weights| {
                for (&u, &weight) in run.iter().zip(weights) {
                    match self.relax((v, u), weight) {
                        Ok(true) => self.wait_in(&mut queue, u),
                        Ok(false) => {}
                        Err(error) => return ControlFlow::Break(error),
                    }
                }
                ControlFlow::Continue(())
            });
            if let Some(error) = tried.break_value() {
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::weighted;

    #[test]
    fn vertices_on_a_circle_of_nothing_do_not_hold_each_other_up() {
        let before = weighted(3, &[(0, 1, 1.0), (1, 2, 0.0), (2, 1, 0.0)]);
        let after = weighted(3, &[(1, 2, 0.0), (2, 1, 0.0)]);
        let mut distances = Distances::new(&before, &0, &Cancel::default()).expect("0 is a vertex");
        let changes = GraphChanges { removed_edges: vec![(0, 1)], ..GraphChanges::default() };
        let cancel = Cancel::default();
        distances.update(&before, &after, &changes, &cancel).expect("good weights");
        assert_eq!(distances.output(), [0.0, f64::INFINITY, f64::INFINITY]);
    }

    #[test]
    fn a_bad_weight_is_refused_where_it_is_reached() {
        let before = weighted(3, &[(0, 1, 1.0)]);
        let changes = GraphChanges { added_edges: vec![(2, 1), (1, 0)], ..GraphChanges::default() };
        let after = |weight| weighted(3, &[(0, 1, 1.0), (2, 1, -1.0), (1, 0, weight)]);
        let run = |weight| {
            let mut distances =
                Distances::new(&before, &0, &Cancel::default()).expect("0 is a vertex");
            distances.update(&before, &after(weight), &changes, &Cancel::default())
        };
        assert_eq!(run(2.0), Ok(()));
        assert_eq!(run(-2.0), Err(AlgoError::BadWeight { from: 1, to: 0, weight: -2.0 }));
    }
}
