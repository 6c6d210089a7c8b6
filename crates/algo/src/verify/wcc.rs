//! Weak components by a serial union-find over all edges.

use evergraph_graph::{GraphView, VertexId};

use super::{Mismatch, compare, total};
use crate::WccOutput;
use crate::wcc::NO_COMPONENT;

/// Checks the components that [`crate::wcc()`] found.
pub fn wcc<G: GraphView>(view: &G, output: &WccOutput) -> Result<(), Mismatch> {
    let bound = view.vertex_bound();
    let mut parents: Vec<VertexId> = (0..bound).collect();
    for v in 0..bound {
        view.for_each(v, |u| {
            let (a, b) = (root(&mut parents, v), root(&mut parents, u));
            parents[a.max(b) as usize] = a.min(b);
        });
    }
    let labels: Vec<VertexId> = (0..bound)
        .map(|v| if view.contains(v) { root(&mut parents, v) } else { NO_COMPONENT })
        .collect();
    compare(&labels, &output.labels, VertexId::eq)?;
    let roots = (0..bound).filter(|&v| labels[v as usize] == v).count();
    total("components", roots as u64, u64::from(output.components))
}

/// The root of the tree of `v`; halves the way to it.
fn root(parents: &mut [VertexId], mut v: VertexId) -> VertexId {
    while parents[v as usize] != v {
        let above = parents[parents[v as usize] as usize];
        parents[v as usize] = above;
        v = above;
    }
    v
}
