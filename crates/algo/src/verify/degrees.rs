//! Degrees by counting every edge at both of its ends.

use evergraph_graph::GraphView;

use super::{Mismatch, compare};
use crate::DegreeOutput;

/// Checks the degrees that [`crate::degrees()`] found.
pub fn degrees<G: GraphView>(view: &G, output: &DegreeOutput) -> Result<(), Mismatch> {
    let bound = view.vertex_bound();
    let mut out = vec![0; bound as usize];
    let mut into = vec![0; bound as usize];
    for v in 0..bound {
        view.for_each(v, |u| {
            out[v as usize] += 1;
            into[u as usize] += 1;
        });
    }
    compare(&out, &output.degrees, u32::eq)?;
    if view.is_directed() {
        compare(&into, &output.in_degrees, u32::eq)?;
    }
    Ok(())
}
