//! Coefficients from the definition: all edges that leave a neighbour are tried.

use evergraph_graph::GraphView;

use super::{Mismatch, close, compare, neighbourhood};
use crate::{LccConfig, LccOutput, Measure};

/// Both divide the same two whole numbers; this leaves room for another order of operations.
const TOLERANCE: f64 = 1e-12;

/// Checks the coefficients that [`crate::lcc()`] found.
pub fn lcc<G: GraphView>(view: &G, config: &LccConfig, output: &LccOutput) -> Result<(), Mismatch> {
    let bound = view.vertex_bound();
    // How many edges join each vertex with the one that is looked at.
    let mut at = vec![0; bound as usize];
    let mut coefficients = Vec::new();
    for v in 0..bound {
        let neighbours = neighbourhood(view, v);
        let mut arcs = 0.0;
        if config.measure == Measure::Triangles && view.is_directed() {
            let mut count = |u| {
                if u != v {
                    at[u as usize] += 1;
                    arcs += 1.0;
                }
            };
            view.for_each(v, &mut count);
            view.for_each_in(v, &mut count);
        } else {
            for &u in &neighbours {
                at[u as usize] = 1;
            }
            arcs = neighbours.len() as f64;
        }
        let mut ways = 0_u64;
        for &u in &neighbours {
            view.for_each(u, |w| {
                ways += if w == u { 0 } else { at[u as usize] * at[w as usize] };
            });
        }
        for &u in &neighbours {
            at[u as usize] = 0;
        }
        let both = arcs - neighbours.len() as f64;
        let most = arcs * (arcs - 1.0) - 2.0 * both;
        coefficients.push(if ways == 0 { 0.0 } else { ways as f64 / most });
    }
    compare(&coefficients, &output.coefficients, |&a, &b| close(a, b, TOLERANCE))
}
