//! The live layout for each kind of payload, behind one type.
//!
//! Which one it is is decided once per call, never per edge.

use std::sync::Arc;

use evergraph_graph::csr::BuildError;
use evergraph_graph::{EdgeList, VertexId};

use super::fat_tree::{
    Changes, FatTree, Idle, ListAt, Load, Reads, Refusal, Scribe, Side, Unchecked,
};
use crate::epoch::Versions;
use crate::options::{Options, Weights};
use crate::pool::Pool;

/// The engine of a database.
pub(crate) enum Engine {
    Plain(Arc<FatTree<()>>),
    F32(Arc<FatTree<f32>>),
    F64(Arc<FatTree<f64>>),
}

/// Runs an expression on the engine, whatever its payload.
macro_rules! with_tree {
    ($engine:expr, |$tree:ident| $body:expr) => {
        match $engine {
            Engine::Plain($tree) => $body,
            Engine::F32($tree) => $body,
            Engine::F64($tree) => $body,
        }
    };
}

impl Engine {
    pub(crate) fn new(versions: &Arc<Versions>, options: &Options) -> Self {
        fn tree<W: evergraph_graph::Weight>(
            versions: &Arc<Versions>,
            options: &Options,
        ) -> Arc<FatTree<W>> {
            let Options { directed, dense, tuning, .. } = *options;
            Arc::new(FatTree::new(Arc::clone(versions), directed, dense, tuning))
        }
        match options.weights {
            Weights::None => Self::Plain(tree(versions, options)),
            Weights::F32 => Self::F32(tree(versions, options)),
            Weights::F64 => Self::F64(tree(versions, options)),
        }
    }

    #[inline]
    pub(crate) fn commit(
        &self,
        changes: Changes<'_>,
        reads: Option<&Reads<'_>>,
        snapshot: u64,
    ) -> Result<u64, Refusal> {
        with_tree!(self, |tree| tree.commit(changes, reads, snapshot))
    }

    /// See [`FatTree::absorb`].
    pub(crate) fn absorb(
        &self,
        changes: &[Unchecked],
        pool: &Pool,
        scribe: Option<&dyn Scribe>,
    ) -> Result<u64, Refusal> {
        with_tree!(self, |tree| tree.absorb(changes, pool, scribe))
    }

    /// See [`FatTree::load`].
    pub(crate) fn load(&self, graph: Load<'_>) {
        with_tree!(self, |tree| tree.load(graph));
    }

    /// See [`FatTree::load_list`].
    pub(crate) fn load_list(&self, list: &EdgeList, version: u64) -> Result<(), BuildError> {
        with_tree!(self, |tree| tree.load_list(list, version))
    }

    /// Frees memory that no leaf took lately.
    pub(crate) fn trim(&self) {
        with_tree!(self, |tree| tree.leaf_memory.trim());
    }

    #[inline]
    pub(crate) fn has_vertex(&self, v: VertexId, version: u64) -> bool {
        with_tree!(self, |tree| tree.has_vertex(v, version))
    }

    /// The weight of an edge, if it exists; 1 if edges carry none.
    #[inline]
    pub(crate) fn edge(&self, source: VertexId, target: VertexId, version: u64) -> Option<f64> {
        use evergraph_graph::Weight;
        with_tree!(self, |tree| tree.edge(source, target, version).map(Weight::to_f64))
    }

    /// The vertices below `bound` that exist at `version`, ascending.
    pub(crate) fn vertices(&self, bound: u32, version: u64) -> Vec<VertexId> {
        with_tree!(self, |tree| tree.vertices(bound, version))
    }

    /// How many edges there are at `version`, between vertices below `bound`.
    pub(crate) fn edge_count_at(&self, bound: u32, version: u64) -> u64 {
        with_tree!(self, |tree| tree.edge_count_at(bound, version))
    }

    pub(crate) fn degree(&self, side: Side, v: VertexId, version: u64) -> u32 {
        with_tree!(self, |tree| tree.degree(side, v, version))
    }

    /// The neighbours of a vertex with the weights of the edges, ascending.
    pub(crate) fn list(&self, side: Side, v: VertexId, version: u64) -> Vec<(VertexId, f64)> {
        fn pairs<W: evergraph_graph::Weight>(list: ListAt<W>) -> Vec<(VertexId, f64)> {
            list.ids.into_iter().zip(list.weights.into_iter().map(W::to_f64)).collect()
        }
        with_tree!(self, |tree| pairs(tree.list(side, v, version)))
    }

    /// See [`FatTree::if_gone`].
    pub(crate) fn if_gone(&self, v: VertexId, seen_by: (u64, &[u64]), f: impl FnOnce()) -> bool {
        with_tree!(self, |tree| tree.if_gone(v, seen_by, f))
    }

    pub(crate) fn is_directed(&self) -> bool {
        with_tree!(self, |tree| tree.is_directed())
    }

    pub(crate) fn edge_count(&self) -> u64 {
        with_tree!(self, |tree| tree.edge_count())
    }

    pub(crate) fn vertex_count(&self) -> u64 {
        with_tree!(self, |tree| tree.vertex_count())
    }

    pub(crate) fn conflicts_avoided(&self) -> u64 {
        with_tree!(self, |tree| tree.conflicts_avoided())
    }

    pub(crate) fn groups_pending(&self) -> usize {
        with_tree!(self, |tree| tree.groups_pending())
    }

    pub(crate) fn groups_with_history(&self) -> usize {
        with_tree!(self, |tree| tree.groups_with_history())
    }

    pub(crate) fn settle(&self, idle: Idle, proceed: impl FnMut() -> bool) -> usize {
        with_tree!(self, |tree| tree.settle(idle, proceed))
    }

    pub(crate) fn prune(&self) {
        with_tree!(self, |tree| tree.prune());
    }

    pub(crate) fn check(&self, bound: u32) -> Result<(), String> {
        with_tree!(self, |tree| tree.check(bound))
    }
}
