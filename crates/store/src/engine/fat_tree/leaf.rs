//! Where runs are put: each by itself, or those of neighbouring groups side by side.
//!
//! Writers put the runs of a group anywhere. The service thread, once a stretch of groups is idle,
//! puts all their runs into one leaf, in order: no slack between them, and a sweep over vertices
//! is a sweep over memory. What is merged later leaves a gap in the leaf, until so much of the
//! stretch lies elsewhere that it is laid out again.

use evergraph_graph::{VertexId, Weight};

use crate::raw::{LeafBuilder, Slice};

/// A leaf under construction.
pub(crate) struct Leaf<W> {
    ids: LeafBuilder<VertexId>,
    weights: LeafBuilder<W>,
}

impl<W: Weight> Leaf<W> {
    /// A leaf for so many entries.
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self {
            ids: LeafBuilder::with_capacity(entries),
            weights: LeafBuilder::with_capacity(entries),
        }
    }
}

/// Where runs are put.
pub(crate) enum Shelf<'l, W> {
    /// By themselves.
    Anywhere,
    /// Behind the ones before, as long as there is room.
    Leaf(&'l mut Leaf<W>),
}

impl<W: Weight> Shelf<'_, W> {
    /// Puts the ids and weights of some runs away.
    pub(super) fn place(
        &mut self,
        ids: Vec<VertexId>,
        weights: Vec<W>,
    ) -> (Slice<VertexId>, Slice<W>) {
        match self {
            Self::Anywhere => (ids.into(), weights.into()),
            Self::Leaf(leaf) => (
                leaf.ids.place(ids).unwrap_or_else(Slice::from),
                leaf.weights.place(weights).unwrap_or_else(Slice::from),
            ),
        }
    }

    /// The same shelf, for a shorter time.
    pub(super) fn again(&mut self) -> Shelf<'_, W> {
        match self {
            Self::Anywhere => Shelf::Anywhere,
            Self::Leaf(leaf) => Shelf::Leaf(leaf),
        }
    }
}
