//! A database in a folder: opening it, checkpoints, closing it.
//!
//! # Protocol of a checkpoint
//!   1. A snapshot is opened; everything up to its version is synced in the log.
//!   2. The snapshot is written to a file that is renamed into place when it is synced.
//!   3. Segments and checkpoints that neither recovery nor [`Keep`] needs any more are removed.
//! # Invariants
//!   - D1 There is always a checkpoint, or the beginning, from which the log goes on without a gap.
//!   - D2 An id whose vertex was removed keeps its key as long as a segment tells about it.
//!   - D3 Whoever reads the files holds `files` shared, whoever removes some holds it alone.

use std::io;
use std::ops::ControlFlow::{Break, Continue};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evergraph_graph::{GraphView, Key, VertexId};

use crate::database::{Database, Inner};
use crate::engine::fat_tree::{Changes, VertexChange};
use crate::fault::{Fault, planted};
use crate::files::{self, Files};
use crate::folder::{self, Folder, Listing, Schema, corrupt, disk_error};
use crate::io::{Disk, Lock};
use crate::log::reader::{Piece, Reader};
use crate::log::record::{self, Record, Shape};
use crate::log::recover::{Progress, Recovered, Until, recover};
use crate::log::state::{Edge, State};
use crate::log::{Log, RECORD_MAX, Stopped};
use crate::options::{Durability, Keep, LogSizes, Options, Service};
use crate::service::Background;
use crate::sync::{AtomicU64, Mutex, Ordering, RwLock};
use crate::time::{PERIOD, now, whole_micros};
use crate::view::Snapshot;
use crate::{Error, Result, Version, checkpoint, retention, with_view};

/// The thread of the log rests for so long in the mode [`Durability::Os`].
const OS_PAUSE: Duration = Duration::from_millis(2);

/// What a database in a folder has beside one in memory.
pub(crate) struct Durable {
    folder: Folder,
    durability: Durability,
    keep: Keep,
    sizes: LogSizes,
    read_only: bool,
    /// None if nothing is logged.
    pub(crate) log: Option<Arc<Log>>,
    files: RwLock<()>,
    /// Held by whoever makes a checkpoint.
    checkpoint: Mutex<Checkpoint>,
    /// The first version that a segment still tells about.
    oldest: AtomicU64,
}

/// The last checkpoint.
#[derive(Clone, Copy, Debug, Default)]
struct Checkpoint {
    version: u64,
    bytes: u64,
    /// What the log had written since the database was opened when it was begun, less what was
    /// there before.
    logged: i64,
}

/// A database that is being opened.
pub(crate) struct Opening<'a> {
    options: Options,
    disk: Arc<dyn Disk>,
    path: &'a Path,
    same_schema: bool,
    existing: bool,
    read_only: bool,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(options: Options, disk: Arc<dyn Disk>, path: &'a Path) -> Self {
        Self { options, disk, path, same_schema: false, existing: false, read_only: false }
    }

    /// A database that is there must be what the options say.
    pub(crate) fn same_schema(self) -> Self {
        Self { same_schema: true, ..self }
    }

    /// There must be one.
    pub(crate) fn existing(self) -> Self {
        Self { existing: true, ..self }
    }

    pub(crate) fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    pub(crate) fn open(self) -> Result<Database> {
        let (folder, lock) = self.folder()?;
        let kept = retention::read(&folder)?;
        let keep = self.options.keep.filter(|_| !self.read_only).unwrap_or(kept);
        let options = self.options.with_schema(folder.schema).keep(keep);
        let progress = &mut |done, total| options.tell(done, total);
        let mut recovered = recover(&folder, Until::End, None, progress)?;
        if !self.read_only {
            recovered.repair(&folder)?;
            if keep != kept {
                retention::write(&folder, keep)?;
            }
        }
        let durable = Durable::new(folder, &options, self.read_only, &recovered);
        Ok(Database::in_folder(options, durable, &recovered.state, lock))
    }

    fn folder(&self) -> Result<(Folder, Box<dyn Lock>)> {
        let (disk, path) = (&self.disk, self.path);
        if self.read_only {
            let folder = Folder::existing(disk, path)?;
            let lock = folder::lock(&**disk, path, true)?;
            return Ok((folder, lock));
        }
        if self.existing {
            Folder::existing(disk, path)?;
        }
        disk.make_folder(path).map_err(|error| disk_error("make", path, &error))?;
        let lock = folder::lock(&**disk, path, false)?;
        let folder = match Folder::find(disk, path)? {
            Some(folder) => folder,
            None => self.make()?,
        };
        if self.same_schema
            && let Some(what) = difference(folder.schema, self.options.schema())
        {
            return Err(Error::OtherSchema { path: path.to_path_buf(), what });
        }
        Ok((folder, lock))
    }

    fn make(&self) -> Result<Folder> {
        let Listing { segments, checkpoints, .. } = folder::list(&*self.disk, self.path)?;
        if let Some(file) = segments.iter().chain(&checkpoints).next() {
            let reason = "it belongs to a database, but the file DATABASE is missing";
            return Err(corrupt(&file.path, 0, reason));
        }
        let forgets = planted(Fault::FoldersAboveUnsynced);
        for above in self.path.ancestors().skip(1).filter(|_| !forgets) {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            match self.disk.sync_folder(above) {
                // Who may not read a folder did not make it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(|error| disk_error("sync", above, &error))?,
            }
        }
        let folder = Folder::unnamed(&self.disk, self.path, self.options.schema());
        retention::write(&folder, self.options.keep.unwrap_or_default())?;
        folder.name()?;
        Ok(folder)
    }
}

/// In what two databases differ that can not be changed.
fn difference(is: Schema, wanted: Schema) -> Option<&'static str> {
    let Schema { directed, weights, keys, self_loops, dense } = wanted;
    let differs = [
        (is.directed != directed, "directions"),
        (is.weights != weights, "weights"),
        (is.keys != keys, "keys"),
        (is.self_loops != self_loops, "self loops"),
        (is.dense != dense, "vertices from the start"),
    ];
    differs.into_iter().find_map(|(differs, what)| differs.then_some(what))
}

impl Durable {
    fn new(folder: Folder, options: &Options, read_only: bool, recovered: &Recovered) -> Self {
        let Options { durability, keep, log_sizes: sizes, .. } = *options;
        let logs = !read_only && durability != Durability::None;
        let log = || Arc::new(Log::new(folder.clone(), recovered.state.version, durability, sizes));
        let checkpoint = Checkpoint {
            version: recovered.checkpoint,
            bytes: recovered.checkpoint_bytes,
            logged: -recovered.log_bytes.cast_signed(),
        };
        Self {
            durability,
            keep: keep.unwrap_or_default(),
            sizes,
            read_only,
            log: logs.then(log),
            files: RwLock::new(()),
            checkpoint: Mutex::new(checkpoint),
            oldest: AtomicU64::new(recovered.oldest),
            folder,
        }
    }

    /// The first version that a segment still tells about: keys of vertices that were removed since
    /// are kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::Relaxed)
    }

    /// Writes changes down as a record, for which there is space in the log.
    #[inline(never)]
    pub(crate) fn record(
        &self,
        db: &Inner,
        changes: Changes<'_>,
        record: &mut Record,
    ) -> Result<(), Stopped> {
        if self.read_only {
            return Err(Stopped::ReadOnly);
        }
        let Some(log) = &self.log else { return Ok(()) };
        self.encode(db, changes, record);
        log.admit(record.len())
    }

    /// The record of changes.
    #[inline]
    pub(crate) fn encode(&self, db: &Inner, changes: Changes<'_>, record: &mut Record) {
        record::encode(record, self.shape(), changes, |id, put| {
            put(db.key_of(id).as_ref());
        });
    }

    /// Makes sure of space for the record of these vertices and so many edges.
    pub(crate) fn admit(
        &self,
        db: &Inner,
        vertices: &[VertexChange],
        edges: usize,
    ) -> Result<(), Stopped> {
        let Some(log) = &self.log else { return Ok(()) };
        let mut record = Record::new();
        self.encode(db, Changes { vertices, ..Changes::default() }, &mut record);
        log.admit(record.len() + edges * record::EDGE_MAX)
    }

    /// How far back the past is kept.
    pub(crate) fn keep(&self) -> Keep {
        self.keep
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Why a commit was stopped, in the user's words.
    pub(crate) fn stopped(&self, stopped: Stopped) -> Error {
        let reason = || {
            let reason = self.log.as_ref().and_then(|log| log.reason());
            reason.unwrap_or_default().to_owned()
        };
        match stopped {
            Stopped::Before => Error::LogFailed { reason: reason() },
            Stopped::Unknown => Error::OutcomeUnknown { reason: reason() },
            Stopped::Full => Error::DiskFull { path: self.folder.path.clone() },
            Stopped::TooLong(bytes) => Error::RecordTooLong { bytes, max: RECORD_MAX },
            Stopped::ReadOnly => Error::ReadOnly,
        }
    }

    /// Has everything committed so far lie on the disk for certain.
    pub(crate) fn sync(&self, version: u64) -> Result<()> {
        if planted(Fault::SyncAtOnce) {
            return Ok(());
        }
        self.log.as_ref().map_or(Ok(()), |log| log.sync(version))
    }

    /// Writes a checkpoint of a snapshot, unless there is one of that version.
    pub(crate) fn checkpoint(
        &self,
        snapshot: &Snapshot,
        positions: &[(Box<str>, Version)],
    ) -> Result<Version> {
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        let mut last = self.checkpoint.lock();
        let version = snapshot.version();
        if version.0 > last.version {
            self.sync(version.0)?;
            let logged = self.log.as_ref().map_or(0, |log| log.bytes().cast_signed());
            let time = self.log.as_ref().map_or(0, |log| log.time());
            let time = if time == 0 { now() } else { time };
            let source = Source { snapshot, positions };
            let bytes = checkpoint::write(&self.folder, version.0, time, &source)?;
            *last = Checkpoint { version: version.0, bytes, logged };
        }
        self.remove_old(last.version)?;
        Ok(Version(last.version))
    }

    /// Whether so much was logged since the last checkpoint that it is time for one.
    fn is_due(&self) -> bool {
        let (Some(log), Some(last)) = (&self.log, self.checkpoint.try_lock()) else {
            return false;
        };
        let since = (log.bytes().cast_signed() - last.logged).cast_unsigned();
        since >= self.sizes.checkpoint.max(last.bytes)
    }

    /// Removes the files that tell only about versions before what is kept.
    fn remove_old(&self, newest: u64) -> Result<()> {
        let listing = self.folder.list()?;
        let floor = self.floor(&listing, newest)?;
        let old = listing.checkpoints.iter().rev().skip_while(|file| file.version > floor).skip(1);
        let base = listing.checkpoints.iter().rev().find(|file| file.version <= floor);
        let from = base.map_or(0, |file| file.version);
        // A segment goes when the one after it begins at or before the first version needed.
        let segments = listing.segments.windows(2);
        let gone = segments.take_while(|pair| pair[1].version <= from + 1).map(|pair| &pair[0]);
        let _alone = self.files.write();
        let left = listing.segments.iter().find(|file| gone.clone().all(|gone| gone != *file));
        self.oldest.store(left.map_or(from + 1, |file| file.version), Ordering::Relaxed);
        self.folder.remove_all(old.chain(gone).map(|file| &file.path))
    }

    /// The version back to which the past is kept.
    fn floor(&self, listing: &Listing, newest: u64) -> Result<u64> {
        let kept = match self.keep {
            Keep::Nothing => newest,
            Keep::Everything => 0,
            Keep::Versions(versions) => newest.saturating_sub(versions),
            Keep::Time(age) => {
                let since = now().saturating_sub(whole_micros(age));
                let times = listing.checkpoints.iter().rev();
                let mut old = times.filter_map(|file| {
                    let time = checkpoint::time(&self.folder, &file.path, file.version).ok()?;
                    (time <= since).then_some(file.version)
                });
                old.next().unwrap_or(0)
            }
            Keep::Bytes(bytes) => {
                let mut left = bytes;
                let mut from = newest;
                for file in listing.segments.iter().rev() {
                    let size = self.folder.size(&file.path)?;
                    let Some(less) = left.checked_sub(size) else { break };
                    (left, from) = (less, file.version.saturating_sub(1));
                }
                from
            }
        };
        Ok(kept.min(newest))
    }

    /// The graph as it was before, from the files.
    pub(crate) fn past(&self, until: Until, progress: Progress<'_>) -> Result<State> {
        if let Until::Version(version) = until {
            self.hand_over(version)?;
        }
        let _reads = self.files.read();
        let end = self.log.as_ref().map(|log| log.end());
        let state = recover(&self.folder, until, end, progress)?.state;
        match until {
            Until::Version(version) if state.version != version => {
                Err(Error::PositionTooOld { oldest: Version(self.oldest()) })
            }
            _ => Ok(state),
        }
    }

    /// Has commits up to a version be in the files, if not yet on the disk.
    pub(crate) fn hand_over(&self, version: u64) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        while log.handed_over() < version {
            log.write(false)?;
        }
        Ok(())
    }

    /// What files there are.
    pub(crate) fn files(&self, newest: u64) -> Result<Files> {
        let _reads = self.files.read();
        files::count(&self.folder, newest)
    }

    /// A reader of the commits after a version.
    pub(crate) fn reader(&self, after: u64) -> Reader {
        Reader::new(self.folder.clone(), after)
    }

    /// The next piece of the log.
    pub(crate) fn read_on(&self, reader: &mut Reader) -> Result<Option<Piece>> {
        let _reads = self.files.read();
        reader.piece(self.log.as_ref().map(|log| log.end()))
    }

    /// What decides how long fields of records are.
    pub(crate) fn shape(&self) -> Shape {
        self.folder.schema.shape()
    }
}

/// A snapshot as a checkpoint takes it.
pub(crate) struct Source<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) positions: &'a [(Box<str>, Version)],
}

fn unreadable(error: Error) -> io::Error {
    io::Error::other(error)
}

impl checkpoint::Graph for Source<'_> {
    fn vertices(
        &self,
        take: &mut dyn FnMut(VertexId, bool, &Key) -> io::Result<()>,
    ) -> io::Result<()> {
        let snapshot = self.snapshot;
        with_view!(snapshot.view().map_err(unreadable)?, |view| {
            for id in 0..view.vertex_bound() {
                if let Some(key) = snapshot.given_key(id) {
                    take(id, view.contains(id), &key)?;
                }
            }
        });
        Ok(())
    }

    fn ranges(&self, take: &mut dyn FnMut(VertexId, u32) -> io::Result<()>) -> io::Result<()> {
        with_view!(self.snapshot.view().map_err(unreadable)?, |view| {
            let mut first = None;
            for id in 0..=view.vertex_bound() {
                let live = id < view.vertex_bound() && view.contains(id);
                match (live, first) {
                    (true, None) => first = Some(id),
                    (false, Some(from)) => {
                        take(from, id - from)?;
                        first = None;
                    }
                    _ => {}
                }
            }
        });
        Ok(())
    }

    fn positions(&self) -> &[(Box<str>, Version)] {
        self.positions
    }

    fn edges(&self, take: &mut dyn FnMut(Edge) -> io::Result<()>) -> io::Result<()> {
        use evergraph_graph::Weight;
        with_view!(self.snapshot.view().map_err(unreadable)?, |view| {
            let all = view.is_directed();
            for source in 0..view.vertex_bound() {
                let passed = view.weighted_runs(source, |run, weights| {
                    for (&target, weight) in run.iter().zip(weights) {
                        if (all || source <= target)
                            && let Err(error) = take((source, target, weight.to_f64()))
                        {
                            return Break(error);
                        }
                    }
                    Continue(())
                });
                if let Break(error) = passed {
                    return Err(error);
                }
            }
        });
        Ok(())
    }
}

/// The threads of a database, its lock, and what is done when the last handle goes.
pub(crate) struct Keeper {
    pub(crate) inner: Arc<Inner>,
    threads: Vec<Background>,
    /// The thread that archives what is ingested, once somebody does that.
    archiver: Mutex<Option<Background>>,
    lock: Option<Box<dyn Lock>>,
}

impl Keeper {
    pub(crate) fn new(inner: Arc<Inner>, lock: Option<Box<dyn Lock>>) -> Self {
        let mut threads = Vec::new();
        if inner.options.service == Service::Thread {
            let of_thread = Arc::clone(&inner);
            threads.push(Background::start("evergraph-service", move |rest| {
                crate::service::serve(&of_thread, rest);
            }));
            if let Some(durable) = inner.durable.as_ref().filter(|durable| !durable.read_only) {
                threads.extend(flusher(&inner, durable));
                threads.push(checkpointer(&inner));
            }
        }
        Self { inner, threads, archiver: Mutex::new(None), lock }
    }

    /// Has a thread archive what is ingested.
    pub(crate) fn start_archiving(&self) {
        if self.inner.options.service == Service::Thread {
            self.archiver.lock().get_or_insert_with(|| {
                let inner = Arc::clone(&self.inner);
                Background::start("evergraph-archive", move |rest| inner.keep_archiving(rest))
            });
        }
    }

    /// Ends the threads, and has everything lie on the disk for certain.
    pub(crate) fn close(&mut self) -> Result<()> {
        drop(self.archiver.lock().take());
        // What cannot be archived is told, but does not keep the rest from being closed.
        let flushed = self.inner.flush();
        self.threads.clear();
        let closed = self.inner.close_files();
        self.lock = None;
        flushed.and(closed)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // `Database::close` tells about errors; who only drops the database does not ask.
            let _closed = self.close();
        }
        self.threads.clear();
    }
}

/// The thread that writes what was committed, if commits do not do it themselves.
fn flusher(inner: &Arc<Inner>, durable: &Durable) -> Option<Background> {
    let log = Arc::clone(durable.log.as_ref()?);
    let (pause, sync) = match durable.durability {
        Durability::Group(pause) => (pause, true),
        Durability::Os => (OS_PAUSE, false),
        Durability::Sync | Durability::None => return None,
    };
    let inner = Arc::clone(inner);
    Some(Background::start("evergraph-log", move |rest| {
        while !rest.is_over() {
            log.wait_for_records(PERIOD);
            if rest.pause(pause) {
                break;
            }
            let behind = log.handed_over() < inner.versions.clock.visible();
            // A failure is told to whoever commits next, lack of space as well.
            let _told_later = if behind { log.write(sync) } else { Ok(()) };
        }
    }))
}

/// The thread that makes checkpoints.
fn checkpointer(inner: &Arc<Inner>) -> Background {
    let inner = Arc::clone(inner);
    Background::start("evergraph-checkpoint", move |rest| {
        while !rest.pause(PERIOD) {
            let due = inner.durable.as_ref().is_some_and(Durable::is_due);
            if due && inner.checkpoint().is_err() {
                // Recovery needs the log only; it is tried again, and by then there may be space.
                rest.pause(10 * PERIOD);
            }
        }
    })
}
