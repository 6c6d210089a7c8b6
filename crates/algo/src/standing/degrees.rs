//! Degrees that stand: only the ends of changed edges are asked again.

use evergraph_graph::{GraphChanges, GraphView, VertexId};

use super::Standing;
use crate::{AlgoError, DegreeOutput, degrees};

/// The degrees of every vertex.
#[derive(Clone, Debug)]
pub struct Degrees {
    output: DegreeOutput,
}

impl Standing for Degrees {
    type Config = ();
    type Output<'a> = &'a DegreeOutput;

    fn new<G: GraphView>(view: &G, (): &()) -> Result<Self, AlgoError> {
        Ok(Self { output: degrees(view) })
    }

    /// Time O(changes).
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
    ) -> Result<(), AlgoError> {
        let bound = after.vertex_bound() as usize;
        let DegreeOutput { degrees, in_degrees } = &mut self.output;
        degrees.resize(bound, 0);
        if after.is_directed() {
            in_degrees.resize(bound, 0);
        }
        let mut ask = |v: VertexId| {
            degrees[v as usize] = after.degree(v);
            if let Some(degree) = in_degrees.get_mut(v as usize) {
                *degree = after.in_degree(v);
            }
        };
        for &(u, v) in changes.added_edges.iter().chain(&changes.removed_edges) {
            ask(u);
            ask(v);
        }
        Ok(())
    }

    fn output(&self) -> &DegreeOutput {
        &self.output
    }
}
