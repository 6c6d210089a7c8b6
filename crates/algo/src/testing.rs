//! Small graphs for the kernels' own tests.

use evergraph_graph::{Csr, EdgeList, KeyTable, VertexId};

/// Both directions of each edge.
pub(crate) fn undirected(vertices: u32, edges: &[(VertexId, VertexId)]) -> Csr {
    build(false, vertices, edges, None)
}

/// Each edge from its first end to its second.
pub(crate) fn directed(vertices: u32, edges: &[(VertexId, VertexId)]) -> Csr {
    build(true, vertices, edges, None)
}

/// Directed edges with weights.
pub(crate) fn weighted(vertices: u32, edges: &[(VertexId, VertexId, f64)]) -> Csr<f64> {
    let ends: Vec<_> = edges.iter().map(|&(u, v, _)| (u, v)).collect();
    let weights = edges.iter().map(|&(_, _, weight)| weight).collect();
    build(true, vertices, &ends, Some(weights))
}

fn build<W: evergraph_graph::Weight>(
    directed: bool,
    vertices: u32,
    edges: &[(VertexId, VertexId)],
    weights: Option<Vec<f64>>,
) -> Csr<W> {
    let list =
        EdgeList { directed, keys: KeyTable::dense(vertices), edges: edges.to_vec(), weights };
    Csr::from_edges(&list).expect("the tests' graphs are simple")
}
