//! Degrees: how many edges leave every vertex, and how many come in.

use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

/// The degrees of every vertex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DegreeOutput {
    /// How many out-neighbours each id has; 0 where there is no vertex.
    pub degrees: Vec<u32>,
    /// How many in-neighbours each id has; empty if edges have no direction, where the two are the
    /// same.
    pub in_degrees: Vec<u32>,
}

/// Finds the degrees of every vertex. Time O(V).
pub fn degrees<G: GraphView>(view: &G) -> DegreeOutput {
    let all = |degree: fn(&G, VertexId) -> u32, bound: u32| -> Vec<u32> {
        (0..bound).into_par_iter().map(|v| degree(view, v)).collect()
    };
    let bound = view.vertex_bound();
    let in_bound = if view.is_directed() { bound } else { 0 };
    DegreeOutput { degrees: all(G::degree, bound), in_degrees: all(G::in_degree, in_bound) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn both_ends_are_counted() {
        let view = directed(4, &[(0, 1), (0, 2), (1, 2), (2, 2)]);
        let output = degrees(&view);
        assert_eq!(output.degrees, [2, 1, 1, 0]);
        assert_eq!(output.in_degrees, [0, 1, 3, 0]);
        verify::degrees(&view, &output).expect("as counting says");
        let view = undirected(3, &[(0, 1), (2, 2)]);
        assert_eq!(degrees(&view), DegreeOutput { degrees: vec![1, 1, 1], in_degrees: vec![] });
    }

    #[test]
    fn a_wrong_degree_is_found_out() {
        let view = directed(2, &[(0, 1)]);
        let wrong = DegreeOutput { degrees: vec![1, 0], in_degrees: vec![1, 0] };
        assert!(verify::degrees(&view, &wrong).is_err());
    }
}
