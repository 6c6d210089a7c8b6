//! Coefficients from the definition: all edges that leave a neighbour are tried.

use evergraph_graph::GraphView;

use super::{Mismatch, close, compare, neighbourhood};
use crate::LccOutput;

/// Both divide the same two whole numbers; this leaves room for another order of operations.
const TOLERANCE: f64 = 1e-12;

/// Checks the coefficients that [`crate::lcc()`] found.
pub fn lcc<G: GraphView>(view: &G, output: &LccOutput) -> Result<(), Mismatch> {
    let bound = view.vertex_bound();
    let mut is_neighbour = vec![false; bound as usize];
    let mut coefficients = Vec::new();
    for v in 0..bound {
        let neighbours = neighbourhood(view, v);
        for &u in &neighbours {
            is_neighbour[u as usize] = true;
        }
        let mut edges = 0_u64;
        for &u in &neighbours {
            view.for_each(u, |w| {
                edges += u64::from(w != u && is_neighbour[w as usize]);
            });
        }
        for &u in &neighbours {
            is_neighbour[u as usize] = false;
        }
        let degree = neighbours.len() as f64;
        coefficients.push(if neighbours.len() < 2 {
            0.0
        } else {
            edges as f64 / (degree * (degree - 1.0))
        });
    }
    compare(&coefficients, &output.coefficients, |&a, &b| close(a, b, TOLERANCE))
}
