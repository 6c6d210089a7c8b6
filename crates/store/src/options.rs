//! How a database is made.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evergraph_graph::KeyKind;
use evergraph_graph::progress::{Progress, Stage, Status};

use crate::durable::Opening;
pub use crate::engine::fat_tree::{Directed, Tuning};
use crate::folder::{Folder, Schema};
use crate::ingest::IngestOptions;
use crate::io::{Disk, RealDisk};
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

/// When a commit is on the disk; for databases in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before `commit` returns, and before anybody sees it: it survives the end of the process, of the
    /// system and of the power. Commits that wait at the same time share one wait.
    #[default]
    Sync,
    /// So long after `commit` returned, at most, and the time that the disk takes.
    Group(Duration),
    /// When the system sees fit; but it is handed to the system within some milliseconds, and then
    /// survives the end of the process.
    Os,
    /// With the next checkpoint, which closing the database makes. Nothing is logged.
    None,
}

/// How far back the past can be asked for, [`Options::keep`]. Times are kept to the microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// No further than recovery needs.
    #[default]
    Nothing,
    /// So many versions.
    Versions(u64),
    /// So long.
    Time(Duration),
    /// As far as so many bytes of the log go.
    Bytes(u64),
    /// To the beginning.
    Everything,
}

/// The sizes of the log: how much is written at once, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSizes {
    /// A file of the log is followed by the next one when it is so long.
    pub segment: u64,
    /// Commits wait for the disk when so many bytes are buffered.
    pub buffer: u64,
    /// Transactions that take more bytes make sure of their space one by one.
    pub record: usize,
    /// A file grows by so many bytes at least.
    pub growth: u64,
    /// A checkpoint is made when so many bytes were logged since the last one, and as many as that
    /// one took.
    pub checkpoint: u64,
}

impl Default for LogSizes {
    fn default() -> Self {
        let (segment, buffer, record, growth) = (64 << 20, 1 << 20, 1 << 16, 1 << 20);
        Self { segment, buffer, record, growth, checkpoint: 256 << 20 }
    }
}

impl LogSizes {
    /// Bytes that a file has behind its last batch, so that whatever is let in finds its space.
    pub(crate) fn headroom(&self) -> u64 {
        self.buffer + 16 * self.record as u64
    }
}

/// How a database is made: `Database::options()`, a few settings, `in_memory()` or `open(path)`.
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
    pub(crate) durability: Durability,
    pub(crate) keep: Option<Keep>,
    pub(crate) log_sizes: LogSizes,
    pub(crate) ingest: IngestOptions,
    pub(crate) listener: Option<Listener>,
}

/// Who hears how far the opening of a database is.
#[derive(Clone)]
pub(crate) struct Listener(Arc<dyn Progress + Send + Sync>);

/// Tells how many bytes of how many were read.
pub(crate) fn recovering(listener: &dyn Progress, done: u64, total: u64) -> ControlFlow<()> {
    listener.tick(&Status { stage: Stage::Recovering, done, total: Some(total), lines: 0 })
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
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
            durability: Durability::default(),
            keep: None,
            log_sizes: LogSizes::default(),
            ingest: IngestOptions::default(),
            listener: None,
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
    /// for ever: each of its calls after that, and its commit, answer
    /// [`Error::TransactionExpired`]. One that is in a call or committing at the moment is not ended
    /// before that is done. Each call of a transaction then takes some nanoseconds more.
    #[must_use]
    pub fn max_transaction_age(self, age: Duration) -> Self {
        Self { max_transaction_age: Some(age), ..self }
    }

    /// When a commit is on the disk.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// How far back [`Database::snapshot_at`] and [`Database::changes`] reach. The folder remembers
    /// it: unless it is said again, what was said last goes on, and for a new database
    /// [`Keep::Nothing`]. Who opens a database to read it removes nothing, whatever is said.
    #[must_use]
    pub fn keep(self, keep: Keep) -> Self {
        Self { keep: Some(keep), ..self }
    }

    /// The sizes of the log.
    #[must_use]
    pub fn log_sizes(self, log_sizes: LogSizes) -> Self {
        Self { log_sizes, ..self }
    }

    /// When changes that are ingested are archived, and how many may wait ([`Database::ingest`]).
    #[must_use]
    pub fn ingest(self, ingest: IngestOptions) -> Self {
        Self { ingest: ingest.checked(), ..self }
    }

    /// Who hears how far the opening of a database in a folder is, and may stop it: then it answers
    /// [`Error::Cancelled`], and the folder is as it was.
    #[must_use]
    pub fn progress(self, listener: Arc<dyn Progress + Send + Sync>) -> Self {
        Self { listener: Some(Listener(listener)), ..self }
    }

    /// Tells whoever wants to hear it how many bytes of how many were read.
    pub(crate) fn tell(&self, done: u64, total: u64) -> ControlFlow<()> {
        let listener = self.listener.as_ref();
        listener.map_or(ControlFlow::Continue(()), |heard| recovering(&*heard.0, done, total))
    }

    /// Makes an empty database in memory.
    pub fn in_memory(self) -> Database {
        Database::with_options(self)
    }

    /// Opens the database in a folder, or makes one there. One that is there must have been made with
    /// the same direction, weights, keys and self loops, else [`Error::OtherSchema`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Database> {
        self.open_on(Arc::new(RealDisk), path)
    }

    /// As [`Options::open`], on another disk than that of the machine.
    pub fn open_on(self, disk: Arc<dyn Disk>, path: impl AsRef<Path>) -> Result<Database> {
        Opening::new(self, disk, path.as_ref()).same_schema().open()
    }

    /// Opens the database that is in a folder, whatever its direction, weights and keys are;
    /// [`Error::NotFound`] if there is none.
    pub fn open_existing(self, path: impl AsRef<Path>) -> Result<Database> {
        Opening::new(self, Arc::new(RealDisk), path.as_ref()).existing().open()
    }

    /// Opens the database in a folder to read it; [`Error::NotFound`] if there is none. Others may
    /// read it at the same time, nobody may write it. What it is is said by the folder, not by
    /// these options.
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Database> {
        self.open_read_only_on(Arc::new(RealDisk), path)
    }

    /// As [`Options::open_read_only`], on another disk than that of the machine.
    pub fn open_read_only_on(
        self,
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
    ) -> Result<Database> {
        Opening::new(self, disk, path.as_ref()).read_only().open()
    }

    /// These options with the direction, weights, keys and self loops of the database in a folder;
    /// none if there is none. Nothing but its description is read.
    ///
    /// # Errors
    /// A description that cannot be read.
    pub fn of_folder(self, path: impl AsRef<Path>) -> Result<Option<Self>> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let folder = Folder::find(&disk, path.as_ref())?;
        Ok(folder.map(|folder| self.with_schema(folder.schema)))
    }

    pub(crate) fn schema(&self) -> Schema {
        let Self { directed, weights, keys, self_loops, dense, .. } = *self;
        Schema { directed, weights, keys, self_loops, dense }
    }

    pub(crate) fn with_schema(self, schema: Schema) -> Self {
        let Schema { directed, weights, keys, self_loops, dense } = schema;
        Self { directed, weights, keys, dense, self_loops, ..self }
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
