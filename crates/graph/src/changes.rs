//! What differs between two states of a graph, by ids.

use crate::VertexId;

/// What differs between two states of a graph: each vertex and each edge once. An undirected edge
/// stands once, its smaller end first.
///
/// A vertex is what has an id: one that was removed, and whose id then went to another, differs in
/// its edges alone. With a removed vertex all its edges are among the removed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphChanges {
    /// Vertices that are new.
    pub added_vertices: Vec<VertexId>,
    /// Vertices that are gone.
    pub removed_vertices: Vec<VertexId>,
    /// Edges that are new.
    pub added_edges: Vec<(VertexId, VertexId)>,
    /// Edges that are gone.
    pub removed_edges: Vec<(VertexId, VertexId)>,
    /// Edges that may have another weight.
    pub reweighted_edges: Vec<(VertexId, VertexId)>,
}

impl GraphChanges {
    /// How many vertices and edges differ.
    pub fn len(&self) -> usize {
        let edges = self.added_edges.len() + self.removed_edges.len() + self.reweighted_edges.len();
        self.added_vertices.len() + self.removed_vertices.len() + edges
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
