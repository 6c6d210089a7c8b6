//! How a transaction sees its own changes before they are committed.
//!
//! Built when the transaction first reads after it wrote, and then brought up to date with what
//! was written since: a transaction that only writes never pays for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use evergraph_graph::VertexId;
use hashbrown::HashMap;

use super::write_set::{Action, Operation};
use crate::engine::fat_tree::{Directed, Side};
use crate::fault::{Fault, planted};

/// The changes of a transaction, by what they change.
pub(super) struct Overlay {
    directed: Directed,
    /// How many operations are taken in.
    taken: usize,
    vertices: HashMap<VertexId, bool>,
    /// The weight of an edge, or that there is none, by owner of the list and neighbour.
    out: BTreeMap<(VertexId, VertexId), Option<f64>>,
    incoming: BTreeMap<(VertexId, VertexId), Option<f64>>,
}

impl Overlay {
    pub(super) fn new(directed: Directed) -> Self {
        Self {
            directed,
            taken: 0,
            vertices: HashMap::new(),
            out: BTreeMap::new(),
            incoming: BTreeMap::new(),
        }
    }

    /// Bytes of the changes, about: an entry, and as much again of a tree that is half full.
    pub(super) fn bytes(&self) -> usize {
        const ENTRY: usize = 2 * size_of::<((VertexId, VertexId), Option<f64>)>();
        self.vertices.allocation_size() + (self.out.len() + self.incoming.len()) * ENTRY
    }

    /// Whether everything that was written is taken in.
    pub(super) fn has(&self, operations: &[Operation]) -> bool {
        self.taken == operations.len()
    }

    /// Takes in what was written since the last time.
    pub(super) fn update(&mut self, operations: &[Operation]) {
        if planted(Fault::OwnLaterHidden) && self.taken > 0 {
            return;
        }
        for operation in &operations[self.taken..] {
            let Operation { source, target, .. } = *operation;
            match operation.action {
                Action::AddVertex => _ = self.vertices.insert(source, true),
                Action::RemoveVertex => _ = self.vertices.insert(source, false),
                Action::AddEdge(weight) | Action::SetWeight(weight) => {
                    self.set(source, target, Some(weight));
                }
                Action::RemoveEdge => self.set(source, target, None),
            }
        }
        self.taken = operations.len();
    }

    fn set(&mut self, source: VertexId, target: VertexId, state: Option<f64>) {
        self.out.insert((source, target), state);
        match self.directed {
            Directed::Yes => self.incoming.insert((target, source), state),
            Directed::No => self.out.insert((target, source), state),
        };
    }

    /// Whether the vertex exists, if the transaction changed that.
    pub(super) fn vertex(&self, v: VertexId) -> Option<bool> {
        self.vertices.get(&v).copied()
    }

    /// The vertices of the snapshot, ascending, with the changes of the transaction.
    pub(super) fn apply_to_vertices(&self, vertices: Vec<VertexId>) -> Vec<VertexId> {
        let mut all: BTreeSet<VertexId> = vertices.into_iter().collect();
        for (&v, &present) in &self.vertices {
            if present {
                all.insert(v)
            } else {
                all.remove(&v)
            };
        }
        all.into_iter().collect()
    }

    /// The weight of the edge or that there is none (`Some(None)`), if the transaction changed
    /// that.
    #[expect(clippy::option_option, reason = "not changed, changed to nothing, changed to this")]
    pub(super) fn edge(&self, source: VertexId, target: VertexId) -> Option<Option<f64>> {
        self.out.get(&(source, target)).copied()
    }

    /// How many more edges there are than in the snapshot.
    pub(super) fn edges_added(&self, was_there: impl Fn(VertexId, VertexId) -> bool) -> i64 {
        let once =
            |&(&(u, v), _): &(&(VertexId, VertexId), _)| self.directed == Directed::Yes || u <= v;
        let added = |(&(u, v), state): (&(VertexId, VertexId), &Option<f64>)| {
            i64::from(state.is_some()) - i64::from(was_there(u, v))
        };
        self.out.iter().filter(once).map(added).sum()
    }

    /// A list of the snapshot with the changes of the transaction.
    pub(super) fn apply(
        &self,
        side: Side,
        v: VertexId,
        list: Vec<(VertexId, f64)>,
    ) -> Vec<(VertexId, f64)> {
        let changes = match (side, self.directed) {
            (Side::In, Directed::Yes) => &self.incoming,
            _ => &self.out,
        };
        let own: RangeInclusive<_> = (v, 0)..=(v, VertexId::MAX);
        let mut own = changes.range(own).map(|(&(_, id), &state)| (id, state)).peekable();
        if own.peek().is_none() {
            return list;
        }
        let mut merged: BTreeMap<VertexId, f64> = list.into_iter().collect();
        for (id, state) in own {
            match state {
                Some(weight) => merged.insert(id, weight),
                None => merged.remove(&id),
            };
        }
        merged.into_iter().collect()
    }
}
