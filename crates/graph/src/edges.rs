//! A graph as a list of edges: what readers and generators make and builders take.

use crate::{KeyTable, VertexId};

/// A simple graph as a list of edges over dense ids, with the keys of its vertices.
///
/// # Invariants
///   - Every end is `< keys.len()`.
///   - No edge occurs twice; in an undirected list neither does its reverse.
///   - `weights`, if there, has one number per edge.
#[derive(Clone, Debug)]
pub struct EdgeList {
    /// Whether edges have a direction.
    pub directed: bool,
    /// The vertices: their keys, in id order.
    pub keys: KeyTable,
    /// The edges, each once, in the order they were read or made.
    pub edges: Vec<(VertexId, VertexId)>,
    /// The weight of each edge, in the same order.
    pub weights: Option<Vec<f64>>,
}

impl EdgeList {
    /// How many entries the out-lists will have: twice the edges where they are undirected, but
    /// a self loop stands once.
    pub fn entry_count(&self) -> u64 {
        let edges = self.edges.len() as u64;
        if self.directed {
            return edges;
        }
        let loops = self.edges.iter().filter(|(u, v)| u == v).count() as u64;
        2 * edges - loops
    }

    /// The directed graph with both arcs of every edge; a self loop stays one arc. A directed
    /// list stays as it is.
    #[must_use]
    pub fn into_directed(mut self) -> Self {
        if self.directed {
            return self;
        }
        self.directed = true;
        for edge in 0..self.edges.len() {
            let (u, v) = self.edges[edge];
            if u == v {
                continue;
            }
            self.edges.push((v, u));
            if let Some(weights) = &mut self.weights {
                weights.push(weights[edge]);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directed_list_has_both_arcs_of_every_edge() {
        let list = EdgeList {
            directed: false,
            keys: KeyTable::dense(3),
            edges: vec![(0, 1), (2, 2), (1, 2)],
            weights: Some(vec![1.0, 2.0, 3.0]),
        };
        assert_eq!(list.entry_count(), 5);
        let list = list.into_directed().into_directed();
        assert_eq!(list.edges, [(0, 1), (2, 2), (1, 2), (1, 0), (2, 1)]);
        assert_eq!(list.weights, Some(vec![1.0, 2.0, 3.0, 1.0, 3.0]));
        assert_eq!(list.entry_count(), 5);
    }
}
