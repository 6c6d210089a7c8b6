//! The database: what a program opens, and what all its parts share.

use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use evergraph_graph::csr::BuildError;
use evergraph_graph::progress::Progress;
use evergraph_graph::{EdgeList, Key, KeyKind, KeyRef, VertexId};

pub(crate) use crate::engine::Engine;

use crate::dictionary::{Dictionary, NoId};
use crate::durable::{Durable, Keeper, Opening};
use crate::engine::fat_tree::{Changes, Effect, Idle, Load, Refusal};
use crate::epoch::{LEASES_MAX, LeaseInfo, LeaseKind, Versions};
use crate::error::CommitError;
use crate::fault::{Fault, planted};
use crate::files::Files;
use crate::history::{Change, Commit, Follower, Tail, When, net};
use crate::ingest::Front;
use crate::io::{Lock, RealDisk};
use crate::log::Stopped;
use crate::log::record::Record;
use crate::log::state::State;
use crate::options::{Durability, Isolation, Keep, Options, Weights, kind_in_words, recovering};
use crate::stream::{IdStream, Stream};
use crate::sync::{AtomicU64, Mutex, NEAR_A_WRAP, Ordering};
use crate::view::{Lease, Snapshot};
use crate::{Error, Result, Transaction, Version};

/// A graph database. Cheap to clone: all clones are the same database, which lives until the last
/// clone and the last snapshot are dropped.
///
/// ```
/// use evergraph_store::Database;
/// let db = Database::in_memory();
/// let mut tx = db.begin()?;
/// tx.add_vertex(1u64)?;
/// tx.add_vertex(2u64)?;
/// tx.add_edge(1u64, 2u64)?;
/// tx.commit()?;
/// assert!(db.snapshot()?.has_edge(1u64, 2u64)?);
/// # Ok::<(), evergraph_store::Error>(())
/// ```
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
    /// Ends the threads and closes the files with the last clone.
    pub(crate) keeper: Arc<Keeper>,
}

/// What the parts of a database share.
pub(crate) struct Inner {
    pub(crate) versions: Arc<Versions>,
    pub(crate) engine: Engine,
    pub(crate) dictionary: Dictionary,
    pub(crate) options: Options,
    /// What there is on the disk, unless the database lives in memory only.
    pub(crate) durable: Option<Durable>,
    /// Changes that wait to be archived.
    pub(crate) front: Front,
    /// Ids of vertices that were removed, or never came to be, and since which version.
    retired: Mutex<Vec<(VertexId, u64)>>,
    /// Held by whoever gives ids up, and by whoever must not see that.
    pub(crate) releases: Mutex<()>,
    /// The leases of snapshots, for those who want to end them.
    snapshots: Mutex<Vec<Weak<Lease>>>,
    /// The version at which it was made or opened.
    opened_at: u64,
    /// What was visible when the service last looked.
    looked_at: AtomicU64,
    /// Refused commits. Counted `Relaxed`, and never by a commit that succeeds.
    write_conflicts: AtomicU64,
    read_conflicts: AtomicU64,
    /// Transactions that were ended because of their age. Counted `Relaxed` by the service.
    expired: AtomicU64,
}

/// The version of a database as it was made.
const FIRST_VERSION: u64 = NEAR_A_WRAP;

/// A range of keys of a database.
pub(crate) type KeyRange = (Bound<Key>, Bound<Key>);

/// What a change of an edge takes, without weights: a row and an entry in two lists.
const CHANGE_BYTES: usize = 2 * (3 * size_of::<u32>() + size_of::<u8>());

/// A tick of the coarse clock.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// What a database is doing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The newest version.
    pub version: Version,
    /// Vertices now.
    pub vertices: u64,
    /// Edges now, each counted once.
    pub edges: u64,
    /// Snapshots that are open.
    pub snapshots: usize,
    /// Transactions that are open.
    pub transactions: usize,
    /// The oldest version that somebody reads, and for how long.
    pub oldest: Option<(Version, Duration)>,
    /// Groups of vertices with changes that are not settled, or not laid out with their
    /// neighbours yet.
    pub groups_pending: usize,
    /// Groups of vertices with old versions that somebody may still read.
    pub groups_with_history: usize,
    /// Bytes that the store holds: the graph with all versions that are kept, what is spare, and
    /// the keys, what open transactions buffer. Not what the allocator adds and views look up by.
    pub memory_bytes: u64,
    /// Changes that were ingested and wait to be archived.
    pub backlog: usize,
    /// How transactions ended so far.
    pub outcomes: Outcomes,
}

/// How transactions ended, since the database was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcomes {
    /// Committed with changes.
    pub committed: u64,
    /// Refused: another transaction had changed what this one wanted to change.
    pub write_conflicts: u64,
    /// Refused: another transaction had changed what this serializable one had read.
    pub read_conflicts: u64,
    /// Ended, because they were open for longer than [`crate::Options::max_transaction_age`].
    pub expired: u64,
    /// Reads of serializable transactions that still held although something near had changed,
    /// in the same group of vertices: conflicts that a coarser look would have seen.
    pub conflicts_avoided: u64,
}

impl Database {
    /// A directed database in memory, without weights, keys are numbers; see
    /// [`Database::options`] for others.
    pub fn in_memory() -> Self {
        Self::options().in_memory()
    }

    /// Opens the database in a folder, whatever it is; or makes one there as [`Database::in_memory`]
    /// does, see [`Database::options`] for others. What `commit` has acknowledged is there again.
    ///
    /// ```
    /// use evergraph_store::Database;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("bank.evg");
    /// let db = Database::open(&path)?;
    /// db.transaction(0, |tx| tx.add_vertex(1u64))?;
    /// drop(db);
    /// assert!(Database::open(&path)?.snapshot()?.has_vertex(1u64)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Opening::new(Self::options(), Arc::new(RealDisk), path.as_ref()).open()
    }

    /// How the database is to be made.
    pub fn options() -> Options {
        Options::default()
    }

    pub(crate) fn with_options(options: Options) -> Self {
        let inner = Arc::new(Inner::new(options, Versions::new(FIRST_VERSION), None));
        Self::kept(inner, None)
    }

    /// A database in memory that begins with a graph.
    pub(crate) fn with_list(options: Options, list: &EdgeList) -> Result<Self> {
        let inner = Inner::new(options, Versions::new(FIRST_VERSION + 1), None);
        inner.load_list(list)?;
        if let Some((limit, used)) = inner.excess(0) {
            return Err(Error::MemoryLimit { limit, used });
        }
        Ok(Self::kept(Arc::new(inner), None))
    }

    /// The graph that was found in a folder.
    pub(crate) fn in_folder(
        options: Options,
        durable: Durable,
        state: &State,
        lock: Box<dyn Lock>,
    ) -> Self {
        let versions = Versions::logged(state.version, durable.log.clone());
        let inner = Inner::new(options, versions, Some(durable));
        inner.load(state);
        Self::kept(Arc::new(inner), Some(lock))
    }

    fn kept(inner: Arc<Inner>, lock: Option<Box<dyn Lock>>) -> Self {
        let keeper = Arc::new(Keeper::new(Arc::clone(&inner), lock));
        Self { inner, keeper }
    }

    /// Begins a transaction on the newest version, isolated as [`Options::isolation`] says.
    #[inline]
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.begin_with(self.inner.options.isolation)
    }

    /// Begins a transaction on the newest version.
    ///
    /// ```
    /// # use evergraph_store::{Database, Isolation};
    /// let db = Database::in_memory();
    /// db.transaction(0, |tx| tx.add_vertex(1u64).and_then(|()| tx.add_vertex(2u64)))?;
    /// let mut tx = db.begin_with(Isolation::Serializable)?;
    /// if tx.degree(1u64)? == 0 {
    ///     tx.add_edge(2u64, 1u64)?; // only while 1 has no edge
    /// }
    /// db.transaction(0, |tx| tx.add_edge(1u64, 2u64))?;
    /// let refused = tx.commit().expect_err("1 has an edge now");
    /// assert!(refused.error.is_conflict());
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    #[inline]
    pub fn begin_with(&self, isolation: Isolation) -> Result<Transaction<'_>> {
        let opened = self.inner.versions.leases.open(&self.inner.versions.clock, LeaseKind::Writer);
        let opened = opened.map_err(|_| Inner::no_free_lease())?;
        Ok(Transaction::new(&self.inner, opened, isolation))
    }

    /// Runs `work` in a transaction and commits it, again after a conflict, `retries` times at
    /// most. An error of `work` rolls back and is passed on.
    ///
    /// ```
    /// # use evergraph_store::Database;
    /// let db = Database::in_memory();
    /// let version = db.transaction(3, |tx| tx.add_vertex(7u64))?;
    /// # assert_eq!(version, db.version());
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    pub fn transaction(
        &self,
        retries: usize,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<()>,
    ) -> Result<Version> {
        let mut left = retries;
        loop {
            let mut tx = self.begin()?;
            work(&mut tx)?;
            match tx.commit() {
                Err(CommitError { error, .. }) if error.is_conflict() && left > 0 => left -= 1,
                result => return Ok(result?),
            }
        }
    }

    /// Opens a snapshot of the newest version.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.inner.snapshot()
    }

    /// Opens a snapshot of an older version, or of the last version that was written at a time, as
    /// far back as [`crate::Keep`] says. It is put together from the files: in the time that opening
    /// the database takes, and as much memory as the graph.
    pub fn snapshot_at(&self, when: impl Into<When>) -> Result<Snapshot> {
        self.snapshot_at_with(when, &())
    }

    /// As [`Database::snapshot_at`]; `listener` hears how far it is, and may stop it: then it answers
    /// [`Error::Cancelled`].
    pub fn snapshot_at_with(
        &self,
        when: impl Into<When>,
        listener: &dyn Progress,
    ) -> Result<Snapshot> {
        let (when, newest) = (when.into(), self.version());
        match when {
            When::Version(version) if version == newest => return self.snapshot(),
            When::Version(version) if version > newest => return Err(Error::NotYet { newest }),
            _ => {}
        }
        let durable = self.inner.durable.as_ref().ok_or(Error::NotDurable)?;
        let mut tell = |done, total| recovering(listener, done, total);
        let state = durable.past(when.until(), &mut tell)?;
        self.inner.copy_of(&state).snapshot()
    }

    /// Follows the commits after a version.
    pub fn follow(&self, after: Version) -> Result<Follower> {
        Follower::new(Arc::clone(&self.inner), after)
    }

    /// The newest snapshot, and what changed up to it, again and again.
    pub fn stream(&self, after: Version) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.follow(after)?))
    }

    /// As [`Database::stream`], by ids.
    pub fn stream_ids(&self, after: Version) -> Result<IdStream> {
        Ok(IdStream::new(self.clone(), Tail::new(Arc::clone(&self.inner), after)?))
    }

    /// How far the reader of that name is, as a transaction said last
    /// ([`Transaction::set_position`]); it is there again when the database is opened again.
    pub fn position(&self, name: &str) -> Option<Version> {
        self.inner.versions.positions.at(name, self.inner.versions.clock.visible())
    }

    /// The commits after a version, up to another and with it.
    pub fn changes(&self, after: Version, until: Version) -> Result<Vec<Commit>> {
        let newest = self.version();
        if until > newest {
            return Err(Error::NotYet { newest });
        }
        self.follow(after.min(until))?.poll_to(until)
    }

    /// What differs between two versions, each vertex and edge once, in the order of their keys:
    /// what the commits between them come to.
    pub fn diff(&self, from: Version, to: Version) -> Result<Vec<Change>> {
        Ok(net(self.changes(from, to)?, self.is_directed()))
    }

    /// How far back the past is kept, [`crate::Options::keep`]; nothing of a database in memory.
    pub fn keep(&self) -> Keep {
        self.inner.durable.as_ref().map_or(Keep::Nothing, Durable::keep)
    }

    /// What files there are, and how far back they tell.
    pub fn files(&self) -> Result<Files> {
        let durable = self.inner.durable.as_ref().ok_or(Error::NotDurable)?;
        durable.files(self.version().0)
    }

    /// Ends every snapshot that has been open for longer than `age`, to a tenth of a second:
    /// whoever reads through one finishes, then it answers [`Error::SnapshotExpired`], and the
    /// versions it kept can go. Returns how many it ended.
    pub fn expire_snapshots(&self, age: Duration) -> usize {
        let open: Vec<Arc<Lease>> = self.inner.open_snapshots();
        let old = open.iter().filter(|lease| self.inner.age_of(lease.opened()) >= age);
        old.map(|lease| lease.expire()).count()
    }

    /// The newest version: what a snapshot opened now would show.
    #[inline]
    pub fn version(&self) -> Version {
        Version(self.inner.versions.clock.visible())
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.inner.engine.is_directed()
    }

    /// Whether edges carry a weight.
    pub fn is_weighted(&self) -> bool {
        self.inner.is_weighted()
    }

    /// What kind of keys vertices have.
    pub fn key_kind(&self) -> KeyKind {
        self.inner.dictionary.kind()
    }

    /// What the database is doing.
    pub fn stats(&self) -> Stats {
        let inner = &self.inner;
        let leases = inner.versions.leases.list();
        let count = |kind| leases.iter().filter(|(_, lease)| lease.kind == kind).count();
        let oldest = leases.iter().map(|(_, lease)| lease).min_by_key(|lease| lease.version);
        let with_age = |lease: &LeaseInfo| (Version(lease.version), inner.age_of(lease.opened));
        Stats {
            version: self.version(),
            vertices: inner.engine.vertex_count(),
            edges: inner.engine.edge_count(),
            snapshots: count(LeaseKind::Snapshot),
            transactions: count(LeaseKind::Writer),
            oldest: oldest.map(with_age),
            groups_pending: inner.engine.groups_pending(),
            groups_with_history: inner.engine.groups_with_history(),
            memory_bytes: inner.versions.account.bytes(),
            backlog: self.backlog().changes,
            outcomes: inner.outcomes(),
        }
    }

    /// Has everything that was committed or ingested before the call lie on the disk for certain,
    /// whatever [`crate::Durability`] says; under [`crate::Durability::None`] by a checkpoint. A
    /// database in memory archives what was ingested.
    pub fn sync(&self) -> Result<()> {
        self.inner.flush()?;
        match &self.inner.durable {
            Some(durable) if durable.log.is_some() => durable.sync(self.version().0),
            Some(durable) if durable.is_read_only() => Ok(()),
            Some(_) => self.checkpoint().map(drop),
            None => Ok(()),
        }
    }

    /// Writes the graph to a file, so that the log before it is needed no more; the version of that
    /// file. Writers and readers go on. A thread of the database does it by itself from time to
    /// time.
    pub fn checkpoint(&self) -> Result<Version> {
        self.inner.checkpoint()
    }

    /// Closes the database and tells whether all that was committed lies on the disk; dropping the
    /// last handle does the same without telling. With other handles left, they stay open, and
    /// this is [`Database::sync`].
    pub fn close(self) -> Result<()> {
        let Self { inner, keeper } = self;
        drop(inner);
        match Arc::try_unwrap(keeper) {
            Ok(mut keeper) => keeper.close(),
            Err(keeper) => {
                let inner = Arc::clone(&keeper.inner);
                Self { inner, keeper }.sync()
            }
        }
    }

    /// Does what the service thread does, once, now: settles the groups that were not changed
    /// since the last call, drops versions that nobody reads, and gives ids of vertices that are
    /// gone back. True if there was something to do and it may pay to call again.
    pub fn service(&self) -> bool {
        self.inner.service_round(|| true).is_busy()
    }

    /// Checks every invariant of the database, and that every edge stands in the lists of both
    /// its ends. Nobody may write meanwhile. Errors say in words what is broken.
    pub fn check(&self) -> std::result::Result<(), String> {
        self.inner.engine.check(self.inner.dictionary.bound())
    }
}

/// What a round of the service did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) waiting: usize,
    pub(crate) done: usize,
}

impl Round {
    fn is_busy(self) -> bool {
        self.waiting > 0
    }
}

impl Inner {
    /// A database without a vertex, but for those that dense keys have from the start.
    fn new(options: Options, versions: Versions, durable: Option<Durable>) -> Self {
        let versions = Arc::new(versions);
        Self {
            engine: Engine::new(&versions, &options),
            dictionary: Dictionary::new(options.keys, options.dense, &versions.account),
            opened_at: versions.clock.visible(),
            front: Front::of(&options, &versions.account),
            versions,
            options,
            durable,
            retired: Mutex::new(Vec::new()),
            releases: Mutex::new(()),
            snapshots: Mutex::new(Vec::new()),
            looked_at: AtomicU64::new(0),
            write_conflicts: AtomicU64::new(0),
            read_conflicts: AtomicU64::new(0),
            expired: AtomicU64::new(0),
        }
    }

    /// Fills a new database.
    fn load(&self, state: &State) {
        let State { vertices, edges, version, .. } = state;
        self.dictionary.load(vertices.bound, &vertices.keys, |id| vertices.contains(id));
        self.engine.load(Load { live: &vertices.live, edges, version: *version });
        self.versions.positions.set(*version, &state.positions);
        let gone = (0..vertices.bound).filter(|&id| !vertices.contains(id));
        self.retire_ids(gone.filter(|&id| self.dictionary.key(id).is_some()), *version);
    }

    /// A database in memory that holds a graph, and is otherwise as this one.
    pub(crate) fn copy_of(&self, state: &State) -> Arc<Self> {
        let options = Options { durability: Durability::None, ..self.options.clone() };
        let inner = Self::new(options, Versions::new(state.version), None);
        inner.load(state);
        Arc::new(inner)
    }

    /// Fills a new database with the graph of a list.
    pub(crate) fn load_list(&self, list: &EdgeList) -> Result<()> {
        let keys: Vec<Option<Key>> = match self.dictionary.kind() {
            KeyKind::Dense => Vec::new(),
            _ => list.keys.iter().map(|key| Some(key.to_owned())).collect(),
        };
        self.dictionary.load(list.keys.len(), &keys, |_| true);
        let version = self.versions.clock.visible();
        self.engine.load_list(list, version).map_err(|error| match error {
            BuildError::Duplicate(u, v) => {
                Error::DuplicateEdge { source_key: self.key_of(u), target_key: self.key_of(v) }
            }
            error => unreachable!("the ends of an edge list are its vertices: {error}"),
        })
    }

    /// Opens a snapshot of the newest version.
    pub(crate) fn snapshot(self: &Arc<Self>) -> Result<Snapshot> {
        let versions = &self.versions;
        let opened = versions.leases.open(&versions.clock, LeaseKind::Snapshot);
        let (slot, version) = opened.map_err(|_| Self::no_free_lease())?;
        let lease = Lease::new(Arc::clone(versions), slot, version);
        Ok(Snapshot::new(Arc::clone(self), self.listed(lease)))
    }

    pub(crate) fn no_free_lease() -> Error {
        Error::TooManySnapshots { max: LEASES_MAX }
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.options.weights != Weights::None
    }

    /// An error if an edge cannot have this weight.
    #[inline]
    pub(crate) fn check_weight(
        &self,
        source: KeyRef<'_>,
        target: KeyRef<'_>,
        weight: f64,
    ) -> Result<()> {
        if !self.is_weighted() {
            return Err(Error::NotWeighted);
        }
        if weight.is_nan() {
            let (source_key, target_key) = (source.to_owned(), target.to_owned());
            return Err(Error::InvalidWeight { source_key, target_key });
        }
        Ok(())
    }

    fn outcomes(&self) -> Outcomes {
        Outcomes {
            // Each commit with changes takes one version.
            committed: self.versions.clock.visible() - self.opened_at,
            write_conflicts: self.write_conflicts.load(Ordering::Relaxed),
            read_conflicts: self.read_conflicts.load(Ordering::Relaxed),
            expired: self.expired.load(Ordering::Relaxed),
            conflicts_avoided: self.engine.conflicts_avoided(),
        }
    }

    /// The limit on memory and what is held, if so many bytes more would go past it.
    pub(crate) fn excess(&self, more: u64) -> Option<(u64, u64)> {
        let limit = self.options.memory_limit?;
        let used = self.versions.account.bytes();
        (used.saturating_add(more) > limit).then_some((limit, used))
    }

    /// Refuses changes for which there is no memory. Those that only remove are let through: they
    /// are the way out.
    #[inline]
    pub(crate) fn admit(&self, changes: Changes<'_>) -> Result<(), Refusal> {
        if self.options.memory_limit.is_none() {
            return Ok(());
        }
        let puts = |effect| matches!(effect, Effect::Add(_) | Effect::Set(_));
        let edges = changes.edges.iter().filter(|change| puts(change.effect)).count();
        let vertices = changes.vertices.iter().filter(|change| change.present).count();
        self.admit_changes(edges + vertices)
    }

    /// Refuses so many changes that put something in if there is no memory for them.
    pub(crate) fn admit_changes(&self, changes: usize) -> Result<(), Refusal> {
        let added = changes * (CHANGE_BYTES + 4 * self.options.weights.bytes());
        let excess = self.excess(added as u64).filter(|_| added > 0);
        excess.map_or(Ok(()), |(limit, used)| Err(Refusal::MemoryLimit { limit, used }))
    }

    /// Writes changes down, if the database does that, and makes sure of space for them.
    #[inline]
    pub(crate) fn record(&self, changes: Changes<'_>, record: &mut Record) -> Result<(), Stopped> {
        self.durable.as_ref().map_or(Ok(()), |durable| durable.record(self, changes, record))
    }

    /// Why a commit could not be logged, in the user's words.
    pub(crate) fn log_stopped(&self, stopped: Stopped) -> CommitError {
        let durable = self.durable.as_ref().expect("only what has a log is stopped by it");
        CommitError { operation: None, error: durable.stopped(stopped) }
    }

    /// Writes a checkpoint of now.
    pub(crate) fn checkpoint(self: &Arc<Self>) -> Result<Version> {
        let durable = self.durable.as_ref().ok_or(Error::NotDurable)?;
        // Before the snapshot is opened, so that those of its version are among them.
        let _kept = self.versions.positions.keep();
        let snapshot = self.snapshot()?;
        let positions = self.versions.positions.all_at(snapshot.version().0);
        durable.checkpoint(&snapshot, &positions)
    }

    /// Has everything lie on the disk, and says so there. Nothing is committed any more.
    pub(crate) fn close_files(self: &Arc<Self>) -> Result<()> {
        match &self.durable {
            None => Ok(()),
            Some(durable) if durable.is_read_only() => Ok(()),
            Some(Durable { log: Some(log), .. }) => log.close(),
            Some(_) => self.checkpoint().map(drop),
        }
    }

    /// Counts a refused commit if it was a conflict.
    pub(crate) fn count_refusal(&self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::VertexConflict { .. } | Refusal::EdgeConflict { .. } => &self.write_conflicts,
            Refusal::Stale(_) => &self.read_conflicts,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// How long ago a moment of the coarse clock was.
    pub(crate) fn age_of(&self, opened: u64) -> Duration {
        TICK * self.versions.leases.now().saturating_sub(opened) as u32
    }

    fn no_id(&self, key: KeyRef<'_>, why: NoId) -> Error {
        let key = key.to_owned();
        match why {
            NoId::WrongKind => {
                Error::WrongKeyKind { key, expected: kind_in_words(self.options.keys) }
            }
            NoId::Full => Error::TooManyVertices { key },
        }
    }

    /// The id of a key, if it has one.
    #[inline]
    pub(crate) fn id(&self, key: KeyRef<'_>) -> Result<Option<VertexId>> {
        self.dictionary.id(key).map_err(|why| self.no_id(key, why))
    }

    /// The id of a key, given now if it had none, reserved for a transaction.
    pub(crate) fn reserve(&self, key: KeyRef<'_>) -> Result<VertexId> {
        if let Some((limit, used)) = self.excess(0) {
            return Err(Error::MemoryLimit { limit, used });
        }
        self.dictionary.reserve(key).map_err(|why| self.no_id(key, why))
    }

    /// The id of a vertex that exists at `version`, if it does.
    pub(crate) fn live_id(&self, key: KeyRef<'_>, version: u64) -> Result<Option<VertexId>> {
        Ok(self.id(key)?.filter(|&id| self.engine.has_vertex(id, version)))
    }

    /// The id of a vertex that must exist at `version`.
    pub(crate) fn known_id(&self, key: KeyRef<'_>, version: u64) -> Result<VertexId> {
        let id = self.live_id(key, version)?;
        id.ok_or_else(|| Error::UnknownVertex { key: key.to_owned() })
    }

    /// The key of a vertex that somebody can see.
    pub(crate) fn key_of(&self, id: VertexId) -> Key {
        self.dictionary.key(id).unwrap_or(Key::Number(u64::from(id)))
    }

    /// A range of keys, if they are of the right kind.
    pub(crate) fn range<'k, K: Into<KeyRef<'k>> + Copy>(
        &self,
        range: &impl RangeBounds<K>,
    ) -> Result<KeyRange> {
        let key = |&key: &K| {
            let key: KeyRef<'k> = key.into();
            self.id(key).map(|_| key.to_owned())
        };
        let bound = |bound: Bound<&K>| match bound {
            Bound::Included(from) => key(from).map(Bound::Included),
            Bound::Excluded(from) => key(from).map(Bound::Excluded),
            Bound::Unbounded => Ok(Bound::Unbounded),
        };
        Ok((bound(range.start_bound())?, bound(range.end_bound())?))
    }

    /// The keys of those vertices that lie in a range, ascending.
    pub(crate) fn keys_in(&self, range: &KeyRange, ids: Vec<VertexId>) -> Vec<Key> {
        let keys = ids.into_iter().map(|id| self.key_of(id));
        let mut keys: Vec<Key> = keys.filter(|key| range.contains(key)).collect();
        keys.sort_unstable();
        keys
    }

    /// Has ids given up once nobody can see their vertices.
    pub(crate) fn retire_ids(&self, ids: impl Iterator<Item = VertexId>, since: u64) {
        if self.dictionary.recycles() {
            let mut ids = ids.peekable();
            if ids.peek().is_some() {
                self.retired.lock().extend(ids.map(|id| (id, since)));
            }
        }
    }

    /// Lists the lease of a new snapshot for those who want to end it.
    pub(crate) fn listed(&self, lease: Lease) -> Arc<Lease> {
        let lease = Arc::new(lease);
        self.snapshots.lock().push(Arc::downgrade(&lease));
        lease
    }

    /// Ends the transactions that the options do not allow any longer.
    fn limit_transactions(&self) {
        let Some(age) = self.options.max_transaction_age else { return };
        let ticks = age.as_nanos().div_ceil(TICK.as_nanos());
        let leases = &self.versions.leases;
        if let Some(until) = u64::try_from(ticks).ok().and_then(|t| leases.now().checked_sub(t + 1))
        {
            let ended = leases.expire_writers(until, self.versions.clock.visible());
            self.expired.fetch_add(ended.leases, Ordering::Relaxed);
            if !planted(Fault::ExpiredStaysCounted) {
                self.versions.account.sub(ended.bytes as usize);
            }
        }
    }

    /// Ends the snapshots that the options do not allow any longer.
    fn limit_snapshots(&self) {
        let mut open = self.open_snapshots();
        open.sort_by_key(|lease| lease.version());
        let too_many = open.len().saturating_sub(self.options.max_snapshots);
        let too_old = |lease: &Lease| {
            let max = self.options.max_snapshot_age;
            max.is_some_and(|max| self.age_of(lease.opened()) > max)
        };
        let ends = open.iter().enumerate().filter(|(at, lease)| *at < too_many || too_old(lease));
        ends.for_each(|(_, lease)| lease.expire());
    }

    fn open_snapshots(&self) -> Vec<Arc<Lease>> {
        let mut snapshots = self.snapshots.lock();
        let mut open = Vec::with_capacity(snapshots.len());
        snapshots.retain(|lease| {
            let lease = lease.upgrade().filter(|lease| lease.is_open());
            let is_open = lease.is_some();
            open.extend(lease);
            is_open
        });
        open
    }

    /// One round of the service; `proceed` is asked before each piece of work.
    pub(crate) fn service_round(&self, mut proceed: impl FnMut() -> bool) -> Round {
        self.limit_snapshots();
        self.limit_transactions();
        let visible = self.versions.clock.visible();
        let idle = Idle { since: self.looked_at.swap(visible, Ordering::Relaxed) };
        let waiting = self.engine.groups_pending();
        let done = if waiting > 0 { self.engine.settle(idle, &mut proceed) } else { 0 };
        let history = self.engine.groups_with_history();
        if proceed() {
            self.engine.prune();
            self.give_up_ids();
        }
        let dropped = history - self.engine.groups_with_history().min(history);
        if done == 0 {
            self.engine.trim();
        }
        let left = self.engine.groups_pending() + self.engine.groups_with_history();
        Round { waiting: left, done: done + dropped }
    }

    fn give_up_ids(&self) {
        let _alone = self.releases.lock();
        let mut retired = std::mem::take(&mut *self.retired.lock());
        if retired.is_empty() {
            return;
        }
        let visible = self.versions.clock.visible();
        // The log tells about them by their ids (D2 of `durable.rs`).
        let told = self.durable.as_ref().map_or(u64::MAX, Durable::oldest);
        if let Some(mut versions) = self.versions.leases.versions() {
            versions.retain(|_| !planted(Fault::IdsGivenUpEarly));
            retired.retain(|&(id, since)| {
                let release = || self.dictionary.release(id);
                since >= told || !self.engine.if_gone(id, (visible, &versions), release)
            });
        }
        self.retired.lock().append(&mut retired);
    }
}
