//! Triangles by trying, for every edge from a smaller to a larger id, each still larger neighbour.

use evergraph_graph::GraphView;

use super::{Mismatch, neighbourhood, total};
use crate::TriangleOutput;

/// Checks the count that [`crate::triangle_count`] found.
pub fn triangle_count<G: GraphView>(view: &G, output: &TriangleOutput) -> Result<(), Mismatch> {
    let lists: Vec<Vec<u32>> = (0..view.vertex_bound()).map(|v| neighbourhood(view, v)).collect();
    let mut is_neighbour = vec![false; lists.len()];
    let mut triangles = 0;
    for (v, list) in (0..).zip(&lists) {
        for &u in list {
            is_neighbour[u as usize] = true;
        }
        for &u in list.iter().filter(|&&u| u > v) {
            let closing = lists[u as usize].iter().filter(|&&w| w > u && is_neighbour[w as usize]);
            triangles += closing.count() as u64;
        }
        for &u in list {
            is_neighbour[u as usize] = false;
        }
    }
    total("triangles", triangles, output.triangles)
}
