//! The static reference graph: compressed sparse rows. The baseline of every ratio we publish,
//! and the oracle that the live store is compared with.
//!
//! # Layout
//!   `offsets: [u64; vertices + 1]`, `ends: [u32; entries]` ascending per vertex, and
//!   `weights: [W; entries]` beside them. A directed graph has a second set for the in-lists,
//!   without weights.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::edges::EdgeList;
use crate::par::{chunks_by_range, prefix_sums, splits_by_offsets};
use crate::view::GraphView;
use crate::{VertexId, Weight};

/// Entries per parallel task while building: large enough to hide the cost of a task.
const ENTRIES_PER_TASK: usize = 1 << 16;

/// A static graph in compressed sparse rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<W: Weight = ()> {
    out: Rows,
    weights: Vec<W>,
    /// The in-lists of a directed graph; an undirected one reads `out` both ways.
    incoming: Option<Rows>,
    /// A bit per vertex that is there; ids without one are gaps left by deleted vertices.
    present: Vec<u64>,
    vertices: u32,
}

/// Neighbour lists of all vertices, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rows {
    offsets: Vec<u64>,
    ends: Vec<VertexId>,
}

/// The neighbour lists of one side of a graph, ascending, with the weights beside them.
#[derive(Debug)]
pub struct Lists<W: Weight> {
    rows: Rows,
    weights: Vec<W>,
}

impl<W: Weight> Lists<W> {
    /// The out-lists of an edge list; those of all neighbours where edges have no direction. Edges
    /// without a weight get weight 1. Time O(E log d), memory twice the result.
    ///
    /// # Errors
    /// A list that is no simple graph.
    pub fn out(list: &EdgeList) -> Result<Self, BuildError> {
        Self::of(list, !list.directed, |&(u, v)| (u, v))
    }

    /// The in-lists of an edge list whose edges have a direction.
    ///
    /// # Errors
    /// A list that is no simple graph.
    pub fn incoming(list: &EdgeList) -> Result<Self, BuildError> {
        Self::of(list, false, |&(u, v)| (v, u))
    }

    fn of(
        list: &EdgeList,
        both: bool,
        ends: impl Fn(&(VertexId, VertexId)) -> (VertexId, VertexId) + Sync,
    ) -> Result<Self, BuildError> {
        let vertices = list.keys.len();
        let outside = |&&(u, v): &&(VertexId, VertexId)| u >= vertices || v >= vertices;
        if let Some(&(u, v)) = list.edges.par_iter().find_any(outside) {
            return Err(BuildError::OutOfRange(u, v));
        }
        let weights = list.weights.as_deref();
        let (rows, weights) = scatter(vertices, &list.edges, weights, both, ends)?;
        Ok(Self { rows, weights })
    }

    /// The list of a vertex, and the weights beside it.
    #[inline]
    pub fn list(&self, v: VertexId) -> (&[VertexId], &[W]) {
        let span = self.rows.span(v);
        (&self.rows.ends[span.clone()], &self.weights[span])
    }
}

/// An edge list that is not a simple graph over its own vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An edge stands twice.
    #[error("edge {0} {1} stands twice")]
    Duplicate(VertexId, VertexId),
    /// An end is not `< vertices`.
    #[error("edge {0} {1} has an end that is no vertex")]
    OutOfRange(VertexId, VertexId),
}

impl<W: Weight> Csr<W> {
    /// Builds the rows of an edge list. Time O(E log d), memory twice the result.
    ///
    /// Edges without a weight get weight 1.
    pub fn from_edges(list: &EdgeList) -> Result<Self, BuildError> {
        let Lists { rows: out, weights } = Lists::out(list)?;
        let incoming = if list.directed { Some(Lists::<()>::incoming(list)?.rows) } else { None };
        let vertices = list.keys.len();
        Ok(Self { out, weights, incoming, present: all_present(vertices), vertices })
    }

    /// Copies any view into rows: the static twin of a live snapshot.
    pub fn from_view<G: GraphView<Weight = W>>(view: &G) -> Self {
        let bound = view.vertex_bound();
        let (out, weights) = copy_out(view);
        let incoming = view.is_directed().then(|| copy_in(view));
        let mut present = vec![0; (bound as usize).div_ceil(64)];
        present.par_iter_mut().enumerate().for_each(|(word, bits)| {
            let first = word as u32 * 64;
            for v in first..bound.min(first + 64) {
                *bits |= u64::from(view.contains(v)) << (v - first);
            }
        });
        let vertices = present.iter().map(|bits: &u64| bits.count_ones()).sum();
        Self { out, weights, incoming, present, vertices }
    }

    /// The neighbours of `v`, ascending.
    #[inline]
    pub fn neighbours(&self, v: VertexId) -> &[VertexId] {
        self.out.row(v)
    }

    /// The weights of the edges of `v`, in the order of [`Csr::neighbours`].
    #[inline]
    pub fn weights(&self, v: VertexId) -> &[W] {
        &self.weights[self.out.span(v)]
    }

    /// The in-neighbours of `v`, ascending.
    #[inline]
    pub fn in_neighbours(&self, v: VertexId) -> &[VertexId] {
        self.in_rows().row(v)
    }

    #[inline]
    fn in_rows(&self) -> &Rows {
        self.incoming.as_ref().unwrap_or(&self.out)
    }
}

impl Rows {
    #[inline]
    fn span(&self, v: VertexId) -> Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    #[inline]
    fn row(&self, v: VertexId) -> &[VertexId] {
        &self.ends[self.span(v)]
    }

    #[inline]
    fn range(
        &self,
        range: Range<VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        let offsets = &self.offsets[range.start as usize..=range.end as usize];
        for (v, span) in range.zip(offsets.windows(2)) {
            let row = &self.ends[span[0] as usize..span[1] as usize];
            if !row.is_empty() {
                // A row comes as one run, so none is left to be passed over.
                let _ = f(v, row);
            }
        }
    }
}

#[inline]
fn pass_run<B>(
    run: &[VertexId],
    mut f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if run.is_empty() { ControlFlow::Continue(()) } else { f(run) }
}

impl<W: Weight> GraphView for Csr<W> {
    type Weight = W;
    type Flat<'a> = &'a Self;

    #[inline]
    fn is_directed(&self) -> bool {
        self.incoming.is_some()
    }

    #[inline]
    fn vertex_bound(&self) -> u32 {
        self.out.offsets.len() as u32 - 1
    }

    #[inline]
    fn vertex_count(&self) -> u32 {
        self.vertices
    }

    #[inline]
    fn entry_count(&self) -> u64 {
        self.out.ends.len() as u64
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        v < self.vertex_bound() && self.present[v as usize / 64] >> (v % 64) & 1 == 1
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.out.span(v).len() as u32
    }

    #[inline]
    fn in_degree(&self, v: VertexId) -> u32 {
        self.in_rows().span(v).len() as u32
    }

    #[inline]
    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        pass_run(self.neighbours(v), f)
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        pass_run(self.neighbours(v), |run| f(run, self.weights(v)))
    }

    #[inline]
    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        pass_run(self.in_neighbours(v), f)
    }

    #[inline]
    fn range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        self.out.range(range, f);
    }

    #[inline]
    fn in_range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        self.in_rows().range(range, f);
    }

    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]> {
        Some(self.neighbours(v))
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        splits_by_offsets(&self.out.offsets, entries_per_task)
    }

    #[inline]
    fn flat(&self) -> &Self {
        self
    }
}

/// Sorts edges into rows by the first of the two ids that `ends` gives; into both rows if `both`.
///
/// Each thread claims places in a row with an atomic cursor; the rows are sorted afterwards, so
/// the order of claims does not show.
fn scatter<W: Weight>(
    vertices: u32,
    edges: &[(VertexId, VertexId)],
    weights: Option<&[f64]>,
    both: bool,
    ends: impl Fn(&(VertexId, VertexId)) -> (VertexId, VertexId) + Sync,
) -> Result<(Rows, Vec<W>), BuildError> {
    let degrees: Vec<AtomicU32> = atomics(vertices as usize);
    edges.par_iter().for_each(|edge| {
        let (row, end) = ends(edge);
        degrees[row as usize].fetch_add(1, Ordering::Relaxed);
        if both && row != end {
            degrees[end as usize].fetch_add(1, Ordering::Relaxed);
        }
    });
    let degrees: Vec<u32> = degrees.into_iter().map(AtomicU32::into_inner).collect();
    let offsets = prefix_sums(&degrees);
    let entries = offsets[vertices as usize] as usize;

    let cursors: Vec<AtomicU64> =
        offsets.par_iter().map(|&offset| AtomicU64::new(offset)).collect();
    let places: Vec<AtomicU32> = atomics(entries);
    let loads: Vec<AtomicU64> = atomics(if W::WEIGHTED { entries } else { 0 });
    let place = |row: VertexId, end: VertexId, edge: usize| {
        let at = cursors[row as usize].fetch_add(1, Ordering::Relaxed) as usize;
        places[at].store(end, Ordering::Relaxed);
        if W::WEIGHTED {
            let weight = weights.map_or(1.0, |weights| weights[edge]);
            loads[at].store(weight.to_bits(), Ordering::Relaxed);
        }
    };
    edges.par_iter().enumerate().for_each(|(i, edge)| {
        let (row, end) = ends(edge);
        place(row, end, i);
        if both && row != end {
            place(end, row, i);
        }
    });
    let mut row_ends: Vec<u32> = places.into_iter().map(AtomicU32::into_inner).collect();
    let mut row_weights: Vec<W> = if W::WEIGHTED {
        loads.into_iter().map(|bits| W::from_f64(f64::from_bits(bits.into_inner()))).collect()
    } else {
        vec![W::default(); entries]
    };
    sort_rows(&offsets, &mut row_ends, &mut row_weights)?;
    Ok((Rows { offsets, ends: row_ends }, row_weights))
}

fn atomics<T: Default>(n: usize) -> Vec<T> {
    std::iter::repeat_with(T::default).take(n).collect()
}

/// Sorts every row, weights along, and refuses one that holds an id twice.
fn sort_rows<W: Weight>(
    offsets: &[u64],
    ends: &mut [VertexId],
    weights: &mut [W],
) -> Result<(), BuildError> {
    let splits = splits_by_offsets(offsets, ENTRIES_PER_TASK);
    let offset = |v: VertexId| offsets[v as usize] as usize;
    let ends = chunks_by_range(ends, &splits, offset);
    let weights = chunks_by_range(weights, &splits, offset);
    splits.par_iter().zip(ends).zip(weights).try_for_each(|((range, ends), weights)| {
        let mut scratch = Vec::new();
        for v in range.clone() {
            let span = offset(v) - offset(range.start)..offset(v + 1) - offset(range.start);
            let (row, row_weights) = (&mut ends[span.clone()], &mut weights[span]);
            if W::WEIGHTED {
                sort_together(row, row_weights, &mut scratch);
            } else {
                row.sort_unstable();
            }
            if let Some(twice) = row.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(BuildError::Duplicate(v, twice[0]));
            }
        }
        Ok(())
    })
}

fn sort_together<W: Weight>(
    ends: &mut [VertexId],
    weights: &mut [W],
    scratch: &mut Vec<(VertexId, W)>,
) {
    scratch.clear();
    scratch.extend(ends.iter().copied().zip(weights.iter().copied()));
    scratch.sort_unstable_by_key(|&(end, _)| end);
    for ((end, weight), &(sorted, load)) in ends.iter_mut().zip(weights).zip(&*scratch) {
        (*end, *weight) = (sorted, load);
    }
}

fn copy_out<G: GraphView>(view: &G) -> (Rows, Vec<G::Weight>) {
    let offsets = view_offsets(view, |v| view.degree(v));
    let splits = splits_by_offsets(&offsets, ENTRIES_PER_TASK);
    let entries = offsets[offsets.len() - 1] as usize;
    let (mut ends, mut weights) = (vec![0; entries], vec![G::Weight::default(); entries]);
    let offset = |v: VertexId| offsets[v as usize] as usize;
    let end_pieces = chunks_by_range(&mut ends, &splits, offset);
    let weight_pieces = chunks_by_range(&mut weights, &splits, offset);
    splits.par_iter().zip(end_pieces).zip(weight_pieces).for_each(|((range, ends), weights)| {
        let mut at = 0;
        for v in range.clone() {
            let _: ControlFlow<()> = view.weighted_runs(v, |run, loads| {
                ends[at..at + run.len()].copy_from_slice(run);
                weights[at..at + run.len()].copy_from_slice(loads);
                at += run.len();
                ControlFlow::Continue(())
            });
        }
    });
    (Rows { offsets, ends }, weights)
}

fn copy_in<G: GraphView>(view: &G) -> Rows {
    let offsets = view_offsets(view, |v| view.in_degree(v));
    let splits = splits_by_offsets(&offsets, ENTRIES_PER_TASK);
    let mut ends = vec![0; offsets[offsets.len() - 1] as usize];
    let pieces = chunks_by_range(&mut ends, &splits, |v| offsets[v as usize] as usize);
    splits.par_iter().zip(pieces).for_each(|(range, ends)| {
        let mut at = 0;
        view.in_range(range.clone(), |_, run| {
            ends[at..at + run.len()].copy_from_slice(run);
            at += run.len();
            ControlFlow::Continue(())
        });
    });
    Rows { offsets, ends }
}

fn view_offsets<G: GraphView>(view: &G, degree: impl Fn(VertexId) -> u32 + Sync) -> Vec<u64> {
    let mut degrees = vec![0; view.vertex_bound() as usize];
    degrees.par_iter_mut().enumerate().for_each(|(v, d)| *d = degree(v as VertexId));
    prefix_sums(&degrees)
}

fn all_present(vertices: u32) -> Vec<u64> {
    let mut present = vec![u64::MAX; (vertices as usize).div_ceil(64)];
    if let Some(last) = present.last_mut().filter(|_| !vertices.is_multiple_of(64)) {
        *last = (1 << (vertices % 64)) - 1;
    }
    present
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyTable;

    fn list(directed: bool, vertices: u32, edges: &[(u32, u32)]) -> EdgeList {
        EdgeList { directed, keys: KeyTable::dense(vertices), edges: edges.to_vec(), weights: None }
    }

    #[test]
    fn an_undirected_edge_stands_in_both_rows_and_a_loop_once() {
        let csr: Csr = Csr::from_edges(&list(false, 4, &[(2, 0), (1, 1), (0, 1)])).expect("simple");
        assert_eq!(csr.neighbours(0), [1, 2]);
        assert_eq!(csr.neighbours(1), [0, 1]);
        assert_eq!(csr.neighbours(2), [0]);
        assert_eq!(csr.in_neighbours(2), [0]);
        assert_eq!((csr.entry_count(), csr.vertex_count(), csr.degree(3)), (5, 4, 0));
    }

    #[test]
    fn a_directed_edge_has_its_transpose_and_its_weight() {
        let mut edges = list(true, 3, &[(2, 1), (0, 2), (0, 1)]);
        edges.weights = Some(vec![21.0, 2.0, 1.0]);
        let csr: Csr<f64> = Csr::from_edges(&edges).expect("simple");
        assert_eq!((csr.neighbours(0), csr.weights(0)), (&[1, 2][..], &[1.0, 2.0][..]));
        assert_eq!(csr.in_neighbours(1), [0, 2]);
        assert_eq!(csr.weights(2), [21.0]);
    }

    #[test]
    fn what_is_not_a_simple_graph_is_refused() {
        let twice = Csr::<()>::from_edges(&list(false, 3, &[(0, 1), (1, 0)]));
        assert!(matches!(twice, Err(BuildError::Duplicate(0, 1) | BuildError::Duplicate(1, 0))));
        let outside = Csr::<()>::from_edges(&list(true, 3, &[(0, 3)]));
        assert_eq!(outside, Err(BuildError::OutOfRange(0, 3)));
    }

    #[test]
    fn the_copy_of_a_view_equals_the_view() {
        let mut edges = list(true, 200, &[]);
        edges.edges = (0..199).map(|v| (v, v * 7 % 200)).chain([(199, 3), (199, 198)]).collect();
        edges.weights = Some((0..edges.edges.len()).map(|i| i as f64).collect());
        let csr: Csr<f64> = Csr::from_edges(&edges).expect("simple");
        assert_eq!(Csr::from_view(&csr), csr);
    }

    #[test]
    fn splits_cover_every_vertex_once() {
        let csr: Csr =
            Csr::from_edges(&list(false, 1000, &[(0, 1), (0, 2), (5, 999)])).expect("simple");
        for entries in [1, 3, 100, 10_000] {
            let splits = csr.splits(entries);
            let ids: Vec<u32> = splits.into_iter().flatten().collect();
            assert!(ids.into_iter().eq(0..1000));
        }
    }
}
