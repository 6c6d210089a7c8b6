//! How a database is made.

use std::time::Duration;

use evergraph_graph::KeyKind;

pub use crate::engine::fat_tree::{Directed, Tuning};
use crate::txn::OPERATIONS_MAX;
use crate::{Database, Error};

/// What edges carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Nothing.
    #[default]
    None,
    /// One `f32`.
    F32,
    /// One `f64`.
    F64,
}

impl Weights {
    /// Bytes of a weight.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// Whether a vertex may have an edge to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// It may.
    #[default]
    Allowed,
    /// It may not; [`Error::SelfLoop`].
    Forbidden,
}

/// Who settles pending changes and drops old versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// A thread of the database.
    #[default]
    Thread,
    /// Nobody but the caller, by [`Database::service`]: for tests and for programs that must
    /// decide when work is done.
    Manual,
}

/// What concurrent transactions may do to one another; `docs/guarantees.md` says it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// A transaction reads one version. Two that change the same thing conflict; what a
    /// transaction only read may be changed by another before it commits.
    #[default]
    Snapshot,
    /// Besides, a commit that changes something is refused if anything the transaction read was
    /// changed meanwhile, also what it found absent: as if each ran alone, in the order of the
    /// commits.
    Serializable,
}

/// How a database is made: `Database::options()`, a few settings, `in_memory()`.
///
/// ```
/// # use evergraph_store::{Database, Weights};
/// let db = Database::options().undirected().weights(Weights::F64).in_memory();
/// # drop(db);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) directed: Directed,
    pub(crate) weights: Weights,
    pub(crate) keys: KeyKind,
    pub(crate) dense: u32,
    pub(crate) self_loops: SelfLoops,
    pub(crate) isolation: Isolation,
    pub(crate) service: Service,
    pub(crate) tuning: Tuning,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) max_transaction: usize,
    pub(crate) max_snapshots: usize,
    pub(crate) max_snapshot_age: Option<Duration>,
    pub(crate) max_transaction_age: Option<Duration>,
}

impl Default for Options {
    /// Directed, no weights, keys are 64-bit numbers, self loops allowed, snapshot isolation.
    fn default() -> Self {
        Self {
            directed: Directed::Yes,
            weights: Weights::None,
            keys: KeyKind::Number,
            dense: 0,
            self_loops: SelfLoops::Allowed,
            isolation: Isolation::default(),
            service: Service::Thread,
            tuning: Tuning::default(),
            memory_limit: None,
            max_transaction: OPERATIONS_MAX,
            max_snapshots: usize::MAX,
            max_snapshot_age: None,
            max_transaction_age: None,
        }
    }
}

impl Options {
    /// Edges have a direction.
    #[must_use]
    pub fn directed(self) -> Self {
        Self { directed: Directed::Yes, ..self }
    }

    /// Edges join two vertices.
    #[must_use]
    pub fn undirected(self) -> Self {
        Self { directed: Directed::No, ..self }
    }

    /// What edges carry.
    #[must_use]
    pub fn weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// Keys are 64-bit numbers.
    #[must_use]
    pub fn number_keys(self) -> Self {
        Self { keys: KeyKind::Number, dense: 0, ..self }
    }

    /// Keys are texts.
    #[must_use]
    pub fn text_keys(self) -> Self {
        Self { keys: KeyKind::Text, dense: 0, ..self }
    }

    /// Keys are the numbers from 0 on, used as ids without a dictionary; the vertices
    /// `0 .. vertices` exist from the start.
    #[must_use]
    pub fn dense_keys(self, vertices: u32) -> Self {
        let dense = vertices.min(evergraph_graph::MAX_VERTICES);
        Self { keys: KeyKind::Dense, dense, ..self }
    }

    /// Whether a vertex may have an edge to itself.
    #[must_use]
    pub fn self_loops(self, self_loops: SelfLoops) -> Self {
        Self { self_loops, ..self }
    }

    /// What [`Database::begin`] and [`Database::transaction`] give.
    #[must_use]
    pub fn isolation(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
    }

    /// Who settles pending changes and drops old versions.
    #[must_use]
    pub fn service(self, service: Service) -> Self {
        Self { service, ..self }
    }

    /// The sizes of the live layout.
    #[must_use]
    pub fn tuning(self, tuning: Tuning) -> Self {
        Self { tuning: tuning.checked(), ..self }
    }

    /// How many bytes the store may hold ([`crate::Stats::memory_bytes`]); no limit unless it is
    /// set. A commit that adds or sets something and would go past answers [`Error::MemoryLimit`] and
    /// changes nothing, and so does adding a vertex to a transaction when the limit is reached, and a
    /// change for which a large transaction would need a larger buffer.
    /// One that only removes is always let through, and readers go on.
    ///
    /// Commits that run at the same moment are not counted against each other, and what is merged
    /// or laid out lies in memory twice meanwhile, so the store may hold somewhat more.
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { memory_limit: Some(bytes), ..self }
    }

    /// How many operations a transaction may have, at most (and unless it is set) 2^25; see
    /// [`Error::TransactionTooLarge`]. Removing a vertex counts as one for it and one for each of
    /// its edges.
    #[must_use]
    pub fn max_transaction(self, operations: usize) -> Self {
        Self { max_transaction: operations.clamp(1, OPERATIONS_MAX), ..self }
    }

    /// How many snapshots may stay open; no limit unless it is set, but for the 4096 snapshots and
    /// transactions that there can be. Of more, the service ends those of the oldest versions,
    /// within a fraction of a second: they answer [`Error::SnapshotExpired`].
    #[must_use]
    pub fn max_snapshots(self, snapshots: usize) -> Self {
        Self { max_snapshots: snapshots, ..self }
    }

    /// How long a snapshot may stay open; no limit unless it is set. The service thread ends those
    /// that are older, as [`Database::expire_snapshots`] does.
    #[must_use]
    pub fn max_snapshot_age(self, age: Duration) -> Self {
        Self { max_snapshot_age: Some(age), ..self }
    }

    /// How long a transaction may stay open; no limit unless it is set. The service thread ends those
    /// that are older, to a tenth of a second, so that one that is forgotten does not keep old versions
    /// for ever: whatever it reads after that, and its commit, answer
    /// [`Error::TransactionExpired`]. One that is reading or committing at the moment is not ended
    /// before it is done. Each read of a transaction then takes some nanoseconds more.
    #[must_use]
    pub fn max_transaction_age(self, age: Duration) -> Self {
        Self { max_transaction_age: Some(age), ..self }
    }

    /// Makes an empty database in memory.
    pub fn in_memory(self) -> Database {
        Database::with_options(self)
    }
}

/// The words for a kind of key.
pub(crate) fn kind_in_words(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Dense => "the numbers from 0 on",
        KeyKind::Number => "64-bit numbers",
        KeyKind::Text => "texts",
    }
}

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
