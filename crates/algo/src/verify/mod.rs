//! Answers checked: for every kernel a serial oracle that shares nothing with it.
//!
//! The oracles are written to be obviously right, from the definition, and are slow accordingly:
//! minutes on graphs that the kernels do in seconds. They read the view only through its simplest
//! calls. Each returns the first vertex at which a kernel's answer differs, with both values.

mod bfs;
mod cdlp;
mod degrees;
mod lcc;
mod pagerank;
mod scc;
mod sssp;
mod triangles;
mod wcc;

use std::fmt::Display;

use evergraph_graph::{GraphView, VertexId};

pub use bfs::bfs;
pub use cdlp::cdlp;
pub use degrees::degrees;
pub use lcc::lcc;
pub use pagerank::pagerank;
pub use scc::scc;
pub use sssp::sssp;
pub use triangles::triangle_count;
pub use wcc::wcc;

/// Where an answer differs from what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The value of a vertex differs; it is the first that does.
    #[error("vertex {vertex}: expected {expected}, found {found}")]
    Vertex {
        /// The id of the vertex.
        vertex: VertexId,
        /// The oracle's value.
        expected: String,
        /// The kernel's value.
        found: String,
    },
    /// A value of the whole graph differs.
    #[error("{what}: expected {expected}, found {found}")]
    Total {
        /// What was counted.
        what: &'static str,
        /// The oracle's value.
        expected: u64,
        /// The kernel's value.
        found: u64,
    },
}

/// Compares the values of all ids.
fn compare<T: Display>(
    expected: &[T],
    found: &[T],
    equal: impl Fn(&T, &T) -> bool,
) -> Result<(), Mismatch> {
    total("values", expected.len() as u64, found.len() as u64)?;
    let pairs = (0..).zip(expected.iter().zip(found));
    for (vertex, (expected, found)) in pairs {
        if !equal(expected, found) {
            return Err(Mismatch::Vertex {
                vertex,
                expected: expected.to_string(),
                found: found.to_string(),
            });
        }
    }
    Ok(())
}

fn total(what: &'static str, expected: u64, found: u64) -> Result<(), Mismatch> {
    if expected == found { Ok(()) } else { Err(Mismatch::Total { what, expected, found }) }
}

/// Whether two numbers are the same up to `tolerance` of their size.
fn close(expected: f64, found: f64, tolerance: f64) -> bool {
    (expected - found).abs() <= tolerance * expected.abs()
}

/// The vertices with an edge to or from `v`, without `v`, ascending, each once.
fn neighbourhood<G: GraphView>(view: &G, v: VertexId) -> Vec<VertexId> {
    let mut all = Vec::new();
    view.for_each(v, |u| all.push(u));
    view.for_each_in(v, |u| all.push(u));
    all.retain(|&u| u != v);
    all.sort_unstable();
    all.dedup();
    all
}
