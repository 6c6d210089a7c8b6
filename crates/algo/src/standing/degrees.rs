//! Degrees that stand: every changed edge is counted at its ends.

use evergraph_graph::{GraphChanges, GraphView};

use super::{Standing, arcs};
use crate::{AlgoError, Cancel, DegreeOutput, degrees};

/// The degrees of every vertex.
#[derive(Clone, Debug)]
pub struct Degrees {
    output: DegreeOutput,
}

impl Standing for Degrees {
    type Config = ();
    type Output<'a> = &'a DegreeOutput;

    fn new<G: GraphView>(view: &G, (): &(), cancel: &Cancel) -> Result<Self, AlgoError> {
        cancel.check()?;
        Ok(Self { output: degrees(view) })
    }

    /// Time O(changes); nothing of the graph is looked at.
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError> {
        cancel.check()?;
        let bound = after.vertex_bound() as usize;
        let directed = after.is_directed();
        let DegreeOutput { degrees, in_degrees } = &mut self.output;
        degrees.resize(bound, 0);
        if directed {
            in_degrees.resize(bound, 0);
        }
        for (edges, by) in [(&changes.removed_edges, -1), (&changes.added_edges, 1)] {
            for (u, v) in arcs(edges, directed) {
                let degree = &mut degrees[u as usize];
                *degree = degree.wrapping_add_signed(by);
                if let Some(degree) = in_degrees.get_mut(v as usize) {
                    *degree = degree.wrapping_add_signed(by);
                }
            }
        }
        Ok(())
    }

    fn output(&self) -> &DegreeOutput {
        &self.output
    }
}
