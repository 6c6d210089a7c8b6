//! What can go wrong, in the user's words.

use evergraph_graph::{Key, MAX_VERTICES};

use crate::Version;

/// Why a call was refused. Nothing was changed by a refused call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The vertex does not exist, or not any more.
    #[error("there is no vertex {key}; add it first")]
    UnknownVertex {
        /// The key that was asked for.
        key: Key,
    },
    /// The vertex exists already.
    #[error("there is a vertex {key} already")]
    DuplicateVertex {
        /// The key that was to be added.
        key: Key,
    },
    /// The edge exists already.
    #[error(
        "there is an edge {source_key} {target_key} already; set its weight instead, or remove it first"
    )]
    DuplicateEdge {
        /// The source of the edge.
        source_key: Key,
        /// The target of the edge.
        target_key: Key,
    },
    /// The edge does not exist.
    #[error("there is no edge {source_key} {target_key}; add it first")]
    MissingEdge {
        /// The source of the edge.
        source_key: Key,
        /// The target of the edge.
        target_key: Key,
    },
    /// An edge from a vertex to itself, in a database that forbids them.
    #[error("an edge from {key} to itself is forbidden in this database")]
    SelfLoop {
        /// Both ends.
        key: Key,
    },
    /// Another transaction changed the same vertex or edge, or what a serializable one has read,
    /// and committed first. The only error that goes away by itself: run the transaction again.
    #[error("another transaction changed {subject} first; run the transaction again")]
    Conflict {
        /// What the other changed.
        subject: Subject,
    },
    /// The weight is not a number.
    #[error("the weight of edge {source_key} {target_key} is not a number")]
    InvalidWeight {
        /// The source of the edge.
        source_key: Key,
        /// The target of the edge.
        target_key: Key,
    },
    /// A weight was given, but the edges of this database carry none.
    #[error("the edges of this database carry no weight; make it with `Options::weights`")]
    NotWeighted,
    /// A key of the wrong kind.
    #[error("{key} is not a key of this database: its keys are {expected}")]
    WrongKeyKind {
        /// The key that was given.
        key: Key,
        /// What keys of this database are.
        expected: &'static str,
    },
    /// No more vertices fit.
    #[error("a graph holds at most {MAX_VERTICES} vertices; {key} does not fit")]
    TooManyVertices {
        /// The key that was to be added.
        key: Key,
    },
    /// Too many snapshots and transactions are open at once.
    #[error("{max} snapshots and transactions are open, more are not possible; drop some")]
    TooManySnapshots {
        /// How many can be open.
        max: usize,
    },
    /// The lease of the snapshot was ended by [`crate::Database::expire_snapshots`], or because of
    /// [`crate::Options::max_snapshots`] or [`crate::Options::max_snapshot_age`].
    #[error("the snapshot of version {version} has expired; open a new one")]
    SnapshotExpired {
        /// The version it was at.
        version: Version,
    },
    /// The transaction was open for longer than [`crate::Options::max_transaction_age`], and was ended.
    /// It has changed nothing.
    #[error("the transaction on version {version} was open too long and has expired; begin again")]
    TransactionExpired {
        /// The version it read.
        version: Version,
    },
    /// The transaction has too many operations.
    #[error("a transaction has at most {max} operations; commit in smaller steps")]
    TransactionTooLarge {
        /// How many it may have.
        max: usize,
    },
    /// The change would take the store past [`crate::Options::memory_limit`].
    #[error(
        "the store holds {used} bytes of the {limit} it may hold; remove something, or end old snapshots"
    )]
    MemoryLimit {
        /// How many bytes it may hold.
        limit: u64,
        /// How many it holds.
        used: u64,
    },
}

impl Error {
    /// Whether the same transaction may succeed if it is run again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }
}

/// What a conflict was about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Subject {
    /// A vertex, or that there is none, or the edges of one that was removed.
    Vertex(Key),
    /// An edge, or that there is none.
    Edge(Key, Key),
    /// The neighbours of a vertex, on either side, or how many there are.
    Neighbours(Key),
    /// Which vertices there are, in all or in a range of keys, or how many.
    Vertices,
    /// How many edges there are.
    Edges,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Vertex(key) => write!(f, "vertex {key}"),
            Self::Edge(source, target) => write!(f, "edge {source} {target}"),
            Self::Neighbours(key) => write!(f, "the neighbours of vertex {key}"),
            Self::Vertices => write!(f, "the set of vertices"),
            Self::Edges => write!(f, "the number of edges"),
        }
    }
}

/// Why a commit was refused, and which operation of the transaction was at fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct CommitError {
    /// Which call of a changing method it was, counted from 0; none if it was no change, but
    /// something the transaction had read, or if there is no memory for the whole, or if the
    /// transaction has expired.
    pub operation: Option<usize>,
    /// What was wrong with it.
    #[source]
    pub error: Error,
}

impl From<CommitError> for Error {
    fn from(refused: CommitError) -> Self {
        refused.error
    }
}
