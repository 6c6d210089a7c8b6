//! Why a kernel gave no answer: one enum for all of them.

use evergraph_graph::VertexId;

/// Why a kernel gave no answer. Vertices are named by id; callers translate them to keys.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AlgoError {
    /// The source is no vertex of the graph.
    #[error("the source {0} is not in the graph")]
    SourceNotFound(VertexId),
    /// The weight of an edge is negative or not a number, so that no shortest path is defined.
    #[error("the edge from {from} to {to} weighs {weight}, paths need weights of 0 or more")]
    BadWeight {
        /// Where the edge starts.
        from: VertexId,
        /// Where the edge ends.
        to: VertexId,
        /// What it carries.
        weight: f64,
    },
    /// The damping is not a probability.
    #[error("the damping {0} is not between 0 and 1")]
    BadDamping(f64),
    /// The tolerance is negative or not a number.
    #[error("the tolerance {0} is not a number of 0 or more")]
    BadTolerance(f64),
    /// The width of a bucket of distances is not a positive, finite number.
    #[error("the bucket width {0} is not a positive number")]
    BadDelta(f64),
    /// An iterative kernel was asked for no iteration at all.
    #[error("at least one iteration is needed")]
    NoIterations,
    /// The caller's labels are not one per vertex id.
    #[error("{found} labels were given for {expected} vertex ids")]
    LabelCount {
        /// The bound of the view's ids.
        expected: usize,
        /// How many labels came.
        found: usize,
    },
    /// [`crate::Cancel`] was raised while the kernel ran.
    #[error("cancelled")]
    Cancelled,
}
