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
}
