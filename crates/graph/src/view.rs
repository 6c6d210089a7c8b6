//! The read contract between engines and algorithms.
//!
//! # What every view promises
//!   - V1 A view never changes: two calls with the same arguments give the same answer.
//!   - V2 Ids are `< vertex_bound()`; an id for which `contains` is false has no edges.
//!   - V3 The runs of one vertex are each ascending, and ascend from run to run: their
//!     concatenation is the sorted neighbour list, without duplicates. No run is empty.
//!   - V4 In an undirected view `v` is in the list of `u` exactly if `u` is in the list of `v`
//!     (a self loop stands once), and `in_*` equals the plain form.
//!   - V5 In a directed view `v` is in the out-list of `u` exactly if `u` is in the in-list of `v`.
//!
//! A callback per run, never per edge: the inner loop over a run is a loop over a slice.

use std::ops::{ControlFlow, Range};

use crate::{VertexId, Weight};

/// A consistent, unchanging graph.
pub trait GraphView: Sync {
    /// What edges carry.
    type Weight: Weight;

    /// This view in the form that is read fastest; see [`GraphView::flat`].
    type Flat<'a>: GraphView<Weight = Self::Weight>
    where
        Self: 'a;

    /// Whether edges have a direction.
    fn is_directed(&self) -> bool;

    /// Every id is less than this. Arrays indexed by vertex have this length.
    fn vertex_bound(&self) -> u32;

    /// How many vertices there are: the ids for which [`GraphView::contains`] holds.
    fn vertex_count(&self) -> u32;

    /// How many entries all out-lists have together. An undirected edge has two, a self loop one.
    fn entry_count(&self) -> u64;

    /// Whether there is a vertex with this id.
    fn contains(&self, v: VertexId) -> bool;

    /// How many neighbours `v` has (out-neighbours in a directed view).
    fn degree(&self, v: VertexId) -> u32;

    /// How many in-neighbours `v` has.
    fn in_degree(&self, v: VertexId) -> u32;

    /// Passes the sorted neighbours of `v` to `f`, run by run, until `f` breaks.
    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B>;

    /// As [`GraphView::runs`], with the weight of each edge beside its end.
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId], &[Self::Weight]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// As [`GraphView::runs`], over the in-neighbours of `v`.
    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Passes the runs of every vertex of `range` in id order: the sequential pattern. Vertices
    /// without neighbours are passed over; where `f` breaks, the next vertex follows.
    fn range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    );

    /// As [`GraphView::range`], over in-neighbours.
    fn in_range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    );

    /// All neighbours of `v` as one slice, if they lie in one.
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]>;

    /// Cuts `0 .. vertex_bound()` into ascending ranges of about `entries_per_task` out-entries
    /// each, for parallel loops. At least one range if there is any id.
    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>>;

    /// The same graph in the form that is read fastest. Kernels that read all lists, most of them
    /// more than once, ask for it before they start: it may cost a pass over the graph.
    fn flat(&self) -> Self::Flat<'_>;

    /// Passes every neighbour of `v` to `f`.
    #[inline]
    fn for_each(&self, v: VertexId, mut f: impl FnMut(VertexId)) {
        let _: ControlFlow<()> = self.runs(v, |run| {
            for &u in run {
                f(u);
            }
            ControlFlow::Continue(())
        });
    }

    /// Passes every in-neighbour of `v` to `f`.
    #[inline]
    fn for_each_in(&self, v: VertexId, mut f: impl FnMut(VertexId)) {
        let _: ControlFlow<()> = self.in_runs(v, |run| {
            for &u in run {
                f(u);
            }
            ControlFlow::Continue(())
        });
    }

    /// Passes every neighbour of `v` and the weight of the edge to `f`.
    #[inline]
    fn for_each_weighted(&self, v: VertexId, mut f: impl FnMut(VertexId, Self::Weight)) {
        let _: ControlFlow<()> = self.weighted_runs(v, |run, weights| {
            run.iter().zip(weights).for_each(|(&u, &weight)| f(u, weight));
            ControlFlow::Continue(())
        });
    }
}

/// A borrowed view is a view.
impl<G: GraphView> GraphView for &G {
    type Weight = G::Weight;
    type Flat<'a>
        = G::Flat<'a>
    where
        Self: 'a;

    #[inline]
    fn is_directed(&self) -> bool {
        G::is_directed(self)
    }

    #[inline]
    fn vertex_bound(&self) -> u32 {
        G::vertex_bound(self)
    }

    #[inline]
    fn vertex_count(&self) -> u32 {
        G::vertex_count(self)
    }

    #[inline]
    fn entry_count(&self) -> u64 {
        G::entry_count(self)
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        G::contains(self, v)
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        G::degree(self, v)
    }

    #[inline]
    fn in_degree(&self, v: VertexId) -> u32 {
        G::in_degree(self, v)
    }

    #[inline]
    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        G::runs(self, v, f)
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId], &[Self::Weight]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        G::weighted_runs(self, v, f)
    }

    #[inline]
    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        G::in_runs(self, v, f)
    }

    #[inline]
    fn range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        G::range(self, range, f);
    }

    #[inline]
    fn in_range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        G::in_range(self, range, f);
    }

    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]> {
        G::contiguous(self, v)
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        G::splits(self, entries_per_task)
    }

    fn flat(&self) -> Self::Flat<'_> {
        G::flat(self)
    }
}
