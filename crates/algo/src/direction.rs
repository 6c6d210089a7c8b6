//! The two ways to read a view: along its edges, or against them.
//!
//! A search written over [`Direction`] finds what a vertex reaches, or, turned around, what
//! reaches the vertex; the choice is made at compile time, so neither pays for the other.

use std::ops::ControlFlow;

use evergraph_graph::{GraphView, VertexId};

/// A view that a search may walk along (`next`) and look back through (`previous`).
pub(crate) trait Direction: Sync {
    /// Every id is less than this.
    fn vertex_bound(&self) -> u32;

    /// How many entries there are.
    fn entry_count(&self) -> u64;

    /// How many vertices are one step ahead of `v`.
    fn degree(&self, v: VertexId) -> u32;

    /// Passes the vertices one step ahead of `v`, run by run.
    fn next<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B>;

    /// Passes the vertices one step behind `v`, run by run.
    fn previous<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;
}

/// Along the edges.
pub(crate) struct Forward<'a, G>(pub(crate) &'a G);

/// Against the edges.
pub(crate) struct Backward<'a, G>(pub(crate) &'a G);

impl<G: GraphView> Direction for Forward<'_, G> {
    #[inline]
    fn vertex_bound(&self) -> u32 {
        self.0.vertex_bound()
    }

    #[inline]
    fn entry_count(&self) -> u64 {
        self.0.entry_count()
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.0.degree(v)
    }

    #[inline]
    fn next<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.0.runs(v, f)
    }

    #[inline]
    fn previous<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.0.in_runs(v, f)
    }
}

impl<G: GraphView> Direction for Backward<'_, G> {
    #[inline]
    fn vertex_bound(&self) -> u32 {
        self.0.vertex_bound()
    }

    #[inline]
    fn entry_count(&self) -> u64 {
        self.0.entry_count()
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.0.in_degree(v)
    }

    #[inline]
    fn next<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.0.in_runs(v, f)
    }

    #[inline]
    fn previous<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.0.runs(v, f)
    }
}
