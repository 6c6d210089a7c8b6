//! One error for programs that use several parts at once.

use evergraph_algo::AlgoError;
use evergraph_graph::read::ReadError;
use evergraph_graph::source::SourceError;
use evergraph_graph::{Key, VertexId};
use evergraph_store::{CommitError, Error as StoreError};

use crate::ReplayError;

/// Whatever can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An algorithm refused; its vertices are dense ids.
    #[error(transparent)]
    Algorithm(AlgoError),
    /// The source of an algorithm does not exist.
    #[error("the source {0} is not in the graph; name a vertex that is")]
    SourceNotFound(Key),
    /// The weight of an edge makes the answer undefined.
    #[error(
        "the edge from {from} to {to} weighs {weight}; shortest paths need weights of 0 or more"
    )]
    BadWeight {
        /// Where the edge starts.
        from: Key,
        /// Where the edge ends.
        to: Key,
        /// What it carries.
        weight: f64,
    },
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A graph could not be read or made.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An update log could not be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The database holds what a load of this graph did not put there.
    #[error("the database holds something else: {what}; load into a new one")]
    OtherContent {
        /// What differs.
        what: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<CommitError> for Error {
    fn from(refused: CommitError) -> Self {
        Self::Store(refused.error)
    }
}

impl Error {
    /// The error of an algorithm, with vertices named by their keys.
    pub(crate) fn of_algorithm(error: AlgoError, key: impl Fn(VertexId) -> Key) -> Self {
        match error {
            AlgoError::SourceNotFound(source) => Self::SourceNotFound(key(source)),
            AlgoError::BadWeight { from, to, weight } => {
                Self::BadWeight { from: key(from), to: key(to), weight }
            }
            AlgoError::Cancelled => Self::Interrupted,
            error => Self::Algorithm(error),
        }
    }
}
