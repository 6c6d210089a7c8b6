//! Updates of a graph: the text format of an update log, and the generator of workloads.
//!
//! # Format of a log
//!   A line per update, words separated by spaces or tabs, `#` before comments. Keys may stand in
//!   double quotes.
//!
//!   | line | meaning |
//!   |---|---|
//!   | `a U V [W]` | add the edge from U to V, with the weight W |
//!   | `d U V` | delete the edge from U to V |
//!   | `u U V W` | give the edge from U to V the weight W |
//!   | `av U` | add the vertex U |
//!   | `dv U` | delete the vertex U and its edges |
//!
//!   In an undirected graph `V U` names the same edge as `U V`. The name of a log says how it is
//!   compressed: `.gz`, `.zst`, `.xz`.

mod reader;
mod workload;
mod writer;

pub use reader::UpdateReader;
pub use workload::{Workload, WorkloadOptions};
pub use writer::UpdateWriter;

/// One update. `K` names vertices: a key in a log, an id in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update<K> {
    /// Adds an edge.
    AddEdge {
        /// Where it starts.
        from: K,
        /// Where it ends.
        to: K,
        /// Its weight, if it has one.
        weight: Option<f64>,
    },
    /// Deletes an edge.
    DeleteEdge {
        /// Where it starts.
        from: K,
        /// Where it ends.
        to: K,
    },
    /// Gives an edge a new weight.
    SetWeight {
        /// Where it starts.
        from: K,
        /// Where it ends.
        to: K,
        /// The new weight.
        weight: f64,
    },
    /// Adds a vertex.
    AddVertex(K),
    /// Deletes a vertex and its edges.
    DeleteVertex(K),
}

impl<K> Update<K> {
    /// The same update with each vertex named by `name`.
    pub fn map<L>(self, mut name: impl FnMut(K) -> L) -> Update<L> {
        match self {
            Self::AddEdge { from, to, weight } => {
                Update::AddEdge { from: name(from), to: name(to), weight }
            }
            Self::DeleteEdge { from, to } => Update::DeleteEdge { from: name(from), to: name(to) },
            Self::SetWeight { from, to, weight } => {
                Update::SetWeight { from: name(from), to: name(to), weight }
            }
            Self::AddVertex(vertex) => Update::AddVertex(name(vertex)),
            Self::DeleteVertex(vertex) => Update::DeleteVertex(name(vertex)),
        }
    }
}
