//! A snapshot as arrays: edges, matrix rows, degrees.

use std::ops::ControlFlow;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use evergraph::graph::{GraphView, VertexId, Weight};
use pyo3::PyResult;

use crate::error::{LimitError, internal};
use crate::snapshot::Members;

/// The rows of an adjacency matrix: the columns of row `p` are `ends[offsets[p] .. offsets[p + 1]]`,
/// ascending.
pub(crate) struct Rows {
    pub(crate) offsets: Vec<i64>,
    pub(crate) ends: Vec<i32>,
    pub(crate) weights: Vec<f64>,
}

/// Edges, each counted once.
pub(crate) fn edge_count<G: GraphView>(view: &G) -> u64 {
    if view.is_directed() {
        return view.entry_count();
    }
    let loops = (0..view.vertex_bound()).filter(|&v| has_loop(view, v)).count() as u64;
    // All but loops stand twice.
    view.entry_count().midpoint(loops)
}

/// Whether a vertex has an edge to itself.
fn has_loop<G: GraphView>(view: &G, v: VertexId) -> bool {
    let found = view.runs(v, |run| match run.last() {
        Some(&last) if last < v => ControlFlow::Continue(()),
        _ => ControlFlow::Break(run.binary_search(&v).is_ok()),
    });
    found == ControlFlow::Break(true)
}

/// Neighbours of every id.
pub(crate) fn degrees<G: GraphView>(view: &G) -> Vec<u64> {
    (0..view.vertex_bound()).map(|v| u64::from(view.degree(v))).collect()
}

/// Triangles at every id, from the clustering coefficients of an undirected view. A coefficient is
/// the quotient of two whole numbers far below 2^53, so that the product is off by much less than a
/// half and rounding gives the number itself.
pub(crate) fn triangles<G: GraphView>(view: &G, coefficients: &[f64]) -> Vec<u64> {
    let ids = 0..view.vertex_bound();
    let at = |(v, coefficient): (VertexId, &f64)| {
        let degree = view.degree(v) - u32::from(has_loop(view, v));
        let pairs = f64::from(degree) * f64::from(degree.saturating_sub(1)) / 2.0;
        let triangles = (coefficient * pairs).round();
        if triangles > 0.0 { to_u64(triangles) } else { 0 }
    };
    ids.zip(coefficients).map(at).collect()
}

#[expect(clippy::cast_sign_loss, reason = "the caller has looked at the sign")]
fn to_u64(number: f64) -> u64 {
    number as u64
}

/// Every edge once: keys of its ends, and weights if there are any.
pub(crate) fn edges<G: GraphView>(
    view: &G,
    members: &Members,
) -> PyResult<(ArrayRef, ArrayRef, Option<Vec<f64>>)> {
    let positions = members.positions(view.vertex_bound());
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let view = view.flat();
    for v in members.ids() {
        view.for_each_weighted(v, |u, weight| {
            if view.is_directed() || v <= u {
                sources.push(positions[v as usize]);
                targets.push(positions[u as usize]);
                if G::Weight::WEIGHTED {
                    weights.push(weight.to_f64());
                }
            }
        });
    }
    let keys = |positions: Vec<u32>| {
        let keys = take(members.keys().as_ref(), &UInt32Array::from(positions), None);
        keys.map_err(|error| internal(&error.to_string()))
    };
    Ok((keys(sources)?, keys(targets)?, G::Weight::WEIGHTED.then_some(weights)))
}

/// The rows of the adjacency matrix, by positions.
pub(crate) fn rows<G: GraphView>(view: &G, members: &Members) -> PyResult<Rows> {
    if i32::try_from(view.vertex_count()).is_err() {
        return Err(LimitError::new_err("a sparse matrix has at most 2**31 - 1 rows"));
    }
    let positions = members.positions(view.vertex_bound());
    let entries = view.entry_count() as usize;
    let mut offsets = Vec::with_capacity(view.vertex_count() as usize + 1);
    let (mut ends, mut weights) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let view = view.flat();
    offsets.push(0);
    for v in members.ids() {
        view.for_each_weighted(v, |u, weight| {
            ends.push(positions[u as usize].cast_signed());
            weights.push(weight.to_f64());
        });
        offsets.push(ends.len().cast_signed() as i64);
    }
    Ok(Rows { offsets, ends, weights })
}
