//! A workload of updates over a given graph, as in the evaluation of Teseo (sections 7.2 and 7.3).
//!
//! # Shape
//!   1. All edges of the graph are inserted, in random order.
//!   2. Temporary edges are inserted and deleted, so many times per edge of the graph. Their ends
//!      are drawn in proportion to the degrees in the graph, so that hubs change as often as they
//!      are named. The chance of an insertion falls as more of them are there and is a half at
//!      `temporary_share` of the graph: the size stays about constant.
//!   3. The last updates delete what is left of them: in the end the graph is the given one.
//!
//! # Invariants
//!   - An insertion names an edge that is not there, a deletion one that is.
//!   - No edge of the graph is deleted.

use hashbrown::HashSet;
use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::Update;
use crate::csr::{BuildError, Csr};
use crate::edges::EdgeList;
use crate::generate::unit_interval;
use crate::id::VertexId;
use crate::mix::{Permutation, stream};

/// Random streams of one seed.
const ORDER_STREAM: u64 = 1;
const UPDATE_STREAM: u64 = 2;
/// Draws after which a graph counts as too dense to find an edge that it does not have.
const DRAWS_MAX: u32 = 1000;

/// How a workload is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadOptions {
    /// Insertions and deletions of temporary edges, per edge of the graph. An odd number in all is
    /// made even.
    pub updates_per_edge: u32,
    /// How many temporary edges are there at a time, as a share of the edges of the graph; more
    /// than 0. At least one edge.
    pub temporary_share: f64,
    /// What the random numbers follow from.
    pub seed: u64,
}

impl WorkloadOptions {
    /// Nine times the edges, so that a tenth of the updates is the first insertion.
    pub const DEFAULT_UPDATES_PER_EDGE: u32 = 9;
    /// A sixteenth.
    pub const DEFAULT_TEMPORARY_SHARE: f64 = 1.0 / 16.0;
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            updates_per_edge: Self::DEFAULT_UPDATES_PER_EDGE,
            temporary_share: Self::DEFAULT_TEMPORARY_SHARE,
            seed: 1,
        }
    }
}

/// The updates, made one by one.
///
/// ```
/// use evergraph_graph::generate::{GraphSpec, Weights};
/// use evergraph_graph::update::{Workload, WorkloadOptions};
///
/// let graph = "graph500-8".parse::<GraphSpec>()?.generate(Weights::None, &())?;
/// let workload = Workload::new(&graph, &WorkloadOptions::default())?;
/// assert!(workload.count() >= 10 * graph.edges.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Memory: the rows of the graph (8 bytes an edge, 16 if directed) and about 30 bytes for each
/// temporary edge.
pub struct Workload<'g> {
    list: &'g EdgeList,
    rows: Csr,
    order: Permutation,
    random: Pcg64Mcg,
    inserted: usize,
    /// Updates of temporary edges still to come. Never less than there are temporary edges, and
    /// odd exactly if their number is.
    remaining: u64,
    temporary: Vec<(VertexId, VertexId)>,
    /// The same edges, to look up.
    present: HashSet<(VertexId, VertexId)>,
    /// Temporary edges at which insertion and deletion are equally likely.
    level: f64,
}

impl<'g> Workload<'g> {
    /// Prepares the workload of a graph; fails if the list is not a simple graph.
    pub fn new(list: &'g EdgeList, options: &WorkloadOptions) -> Result<Self, BuildError> {
        let edges = list.edges.len() as u64;
        let updates = edges.saturating_mul(u64::from(options.updates_per_edge));
        Ok(Self {
            list,
            rows: Csr::from_edges(list)?,
            order: Permutation::new(stream(options.seed, ORDER_STREAM), edges),
            random: Pcg64Mcg::new(u128::from(stream(options.seed, UPDATE_STREAM)) << 64 | 1),
            inserted: 0,
            remaining: updates.next_multiple_of(2),
            temporary: Vec::new(),
            present: HashSet::new(),
            level: (edges as f64 * options.temporary_share).max(1.0),
        })
    }

    /// How many updates are still to come. Fewer come if the graph is so dense that it has no
    /// place for a temporary edge.
    pub fn remaining(&self) -> u64 {
        (self.list.edges.len() - self.inserted) as u64 + self.remaining
    }

    fn insert_next(&mut self) -> Update<VertexId> {
        let edge = self.order.at(self.inserted as u64) as usize;
        self.inserted += 1;
        let (from, to) = self.list.edges[edge];
        let weight = self.list.weights.as_ref().map(|weights| weights[edge]);
        Update::AddEdge { from, to, weight }
    }

    fn insert_temporary(&mut self) -> Option<Update<VertexId>> {
        let (from, to) = self.absent_edge()?;
        self.remaining -= 1;
        self.temporary.push((from, to));
        self.present.insert(self.name(from, to));
        let weight = self.list.weights.as_ref().map(|_| unit_interval(self.random.next_u64()));
        Some(Update::AddEdge { from, to, weight })
    }

    fn delete_temporary(&mut self) -> Option<Update<VertexId>> {
        if self.temporary.is_empty() {
            return None;
        }
        self.remaining -= 1;
        let place = self.below(self.temporary.len());
        let (from, to) = self.temporary.swap_remove(place);
        self.present.remove(&self.name(from, to));
        Some(Update::DeleteEdge { from, to })
    }

    /// Draws an edge between different vertices that is not there; `None` if none turns up.
    fn absent_edge(&mut self) -> Option<(VertexId, VertexId)> {
        (0..DRAWS_MAX).find_map(|_| {
            let (from, to) = (self.end(Side::From), self.end(Side::To));
            let free = from != to
                && !self.present.contains(&self.name(from, to))
                && self.rows.neighbours(from).binary_search(&to).is_err();
            free.then_some((from, to))
        })
    }

    /// Draws a vertex in proportion to its degree: an end of a random edge. A directed edge has
    /// each end on its own side.
    fn end(&mut self, side: Side) -> VertexId {
        let (from, to) = self.list.edges[self.below(self.list.edges.len())];
        let first = match side {
            _ if !self.list.directed => self.random.next_u64() >> 63 == 0,
            Side::From => true,
            Side::To => false,
        };
        if first { from } else { to }
    }

    /// The name of an edge in `present`: the same for both directions if there are none.
    fn name(&self, from: VertexId, to: VertexId) -> (VertexId, VertexId) {
        if self.list.directed { (from, to) } else { (from.min(to), from.max(to)) }
    }

    /// A random number below `bound`: the upper half of a product, whose bias is below 2^-30 for
    /// any graph that fits 32-bit ids.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.random.next_u64()) * bound as u128) >> u64::BITS) as usize
    }
}

/// Which end of an edge.
#[derive(Clone, Copy)]
enum Side {
    From,
    To,
}

impl Iterator for Workload<'_> {
    type Item = Update<VertexId>;

    fn next(&mut self) -> Option<Update<VertexId>> {
        if self.inserted < self.list.edges.len() {
            return Some(self.insert_next());
        }
        let there = self.temporary.len();
        if self.remaining <= there as u64 {
            return self.delete_temporary();
        }
        let insertion_chance = 1.0 - there as f64 / (2.0 * self.level);
        if unit_interval(self.random.next_u64()) <= insertion_chance
            && let Some(update) = self.insert_temporary()
        {
            return Some(update);
        }
        let update = self.delete_temporary();
        if update.is_none() {
            // No edge can be inserted and none deleted: that is the end, also for the next call.
            self.remaining = 0;
        }
        update
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = usize::try_from(self.remaining()).ok();
        (self.list.edges.len() - self.inserted, most)
    }
}
