//! The leaves of one side that a reader at one version uses, by stretch.
//!
//! # Invariants
//!   - T1 What `quick` finds is good without further questions: it has the lists of those leaves
//!     only that are good as a whole, and for all other stretches lists that lie nowhere.
//!
//!   So a kernel on a settled graph asks as little as on a static CSR.

use evergraph_graph::{VertexId, Weight};

use super::base::group_of;
use super::leaf::{LeafAt, StretchLists, VERTICES, stretch_of};
use crate::raw::{ListTable, Places};

/// The lists of the leaves that are good as a whole, by vertex.
pub(super) type QuickLists<'t, W> = Places<'t, VertexId, W, VERTICES>;

/// The leaves of the first stretches.
pub(super) struct LeafTable<W> {
    quick: ListTable<VertexId, W, VERTICES>,
    leaves: Box<[Option<LeafAt<W>>]>,
}

impl<W: Weight> LeafTable<W> {
    /// A table of leaves; `nowhere` stands in for those that are missing.
    pub(super) fn new(leaves: Box<[Option<LeafAt<W>>]>, nowhere: &StretchLists<W>) -> Self {
        let quick = |leaf: &Option<LeafAt<W>>| {
            let whole = leaf.as_ref().and_then(LeafAt::whole);
            whole.unwrap_or_else(|| nowhere.share())
        };
        Self { quick: ListTable::new(leaves.iter().map(quick).collect()), leaves }
    }

    /// How many stretches there are.
    pub(super) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// All lists, as far as they can be found quickly.
    pub(super) fn quick(&self) -> QuickLists<'_, W> {
        self.quick.places()
    }

    /// The leaf that holds the group of a vertex, if there is one.
    #[inline]
    pub(super) fn held(&self, v: VertexId) -> Option<&LeafAt<W>> {
        self.leaves[stretch_of(v)].as_ref().filter(|leaf| leaf.holds(group_of(v)))
    }
}
