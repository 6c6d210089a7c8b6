//! What can go wrong, in the user's words.

use std::path::PathBuf;

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
    /// A word for an option that there is none of.
    #[error("`{given}` is not {choices}")]
    NoSuchChoice {
        /// The word.
        given: String,
        /// The words that there are.
        choices: &'static str,
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
    /// Too many changes wait to be archived.
    #[error("{max} changes wait to be archived already; flush, or try again later")]
    BacklogFull {
        /// How many may wait.
        max: usize,
    },
    /// The change would take the store past [`crate::Options::memory_limit`].
    #[error(
        "the store holds {used} bytes of the {limit} it may hold; remove something, or end old snapshots and transactions"
    )]
    MemoryLimit {
        /// How many bytes it may hold.
        limit: u64,
        /// How many it holds.
        used: u64,
    },
    /// There is no database in the folder.
    #[error("there is no database in {}; load one with `Database::open`, which makes it", path.display())]
    NotFound {
        /// The folder.
        path: PathBuf,
    },
    /// There is a database in the folder already.
    #[error("there is a database in {} already; choose another folder", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody else has the database open.
    #[error("{} is open in {}; close it there first", path.display(), in_process(*process))]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The process that has it open, if it said so.
        process: Option<u32>,
    },
    /// The database that is there was made with other options.
    #[error("{} was made with other {what}; open it with the same, or with `Database::open`", path.display())]
    OtherSchema {
        /// The folder.
        path: PathBuf,
        /// Which options differ.
        what: &'static str,
    },
    /// The database was opened to be read only.
    #[error("the database was opened to be read only")]
    ReadOnly,
    /// The database lives in memory, and there is no file to ask.
    #[error("the database lives in memory only; open one in a folder with `Database::open`")]
    NotDurable,
    /// A file does not hold what it must. Nothing was changed.
    #[error("{} is damaged at byte {offset}: {reason}; `evergraph salvage` saves what is good", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// There is no space left on the disk. Commits are refused until there is; readers go on.
    #[error("there is no space left for {}; make room and commit again", path.display())]
    DiskFull {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// A call to the disk failed.
    #[error("could not {action} {}: {reason}", path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The log could not be written. Nothing is committed any more until the database is opened again.
    #[error("the log can not be written any more ({reason}); open the database again")]
    LogFailed {
        /// What went wrong first.
        reason: String,
    },
    /// The log failed while the commit waited for it: whether it happened shows when the database is
    /// opened again.
    #[error(
        "the log failed ({reason}); whether this commit is there shows when the database is opened again"
    )]
    OutcomeUnknown {
        /// What went wrong.
        reason: String,
    },
    /// A transaction takes more bytes than the log holds for one.
    #[error(
        "the transaction takes {bytes} bytes in the log, at most {max} are possible; commit in smaller steps"
    )]
    RecordTooLong {
        /// How many it takes.
        bytes: usize,
        /// How many it may take.
        max: usize,
    },
    /// The files do not tell about that version any more.
    #[error("the oldest version that is kept is {oldest}; keep more with `Options::keep`")]
    PositionTooOld {
        /// The oldest that can be asked for.
        oldest: Version,
    },
    /// Whoever hears of the progress asked to stop.
    #[error("stopped as asked")]
    Cancelled,
    /// There is no such version yet.
    #[error("the newest version is {newest}")]
    NotYet {
        /// The newest that can be asked for.
        newest: Version,
    },
}

/// The process that has a database open, in words.
fn in_process(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".into(), |id| format!("process {id}"))
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
