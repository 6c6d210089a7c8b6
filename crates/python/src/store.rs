//! A database, as Python holds it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use evergraph::algo::Cancel;
use evergraph::graph::progress::{Progress, Status};
use evergraph::graph::{KeyKind, VertexId};
use evergraph::{
    Database, Files, Isolation, Options, SelfLoops, StaticView, Stats, StoreError, Version,
    Weights, When,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::changes::{Columns, Layout};
use crate::error::{InvalidError, of_store};
use crate::follow::{Follower, Shape, Stream, Windows};
use crate::fork::AtHome;
use crate::ingest::{Archiving, Ingest};
use crate::key::word;
use crate::lend::Lender;
use crate::run::{Listener, duration, run, run_watched};
use crate::snapshot::Snapshot;
use crate::standing::{Question, Standing};
use crate::transaction::Transaction;

/// A database.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Store {
    lender: AtHome<Lender>,
    layout: Layout,
    directed: bool,
}

/// What a database is made with, as Python says it; what is not said is as usual, or as it is in the
/// folder.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    directed: Option<bool>,
    /// `"none"`, `"f32"` or `"f64"`.
    weights: Option<String>,
    /// `"number"`, `"text"` or `"dense"`.
    keys: Option<String>,
    dense: VertexId,
    self_loops: Option<bool>,
    serializable: bool,
    memory_limit: Option<u64>,
    max_transaction: Option<usize>,
    max_snapshots: Option<usize>,
    /// In seconds.
    max_snapshot_age: Option<f64>,
    /// In seconds.
    max_transaction_age: Option<f64>,
}

impl Settings {
    /// These settings in place of those of `options`.
    fn over(self, options: Options) -> PyResult<Options> {
        let options = match self.directed {
            Some(true) => options.directed(),
            Some(false) => options.undirected(),
            None => options,
        };
        let options = match self.keys.as_deref() {
            Some("number") => options.number_keys(),
            Some("text") => options.text_keys(),
            Some("dense") => options.dense_keys(self.dense),
            None => options,
            Some(other) => return Err(no_such("keys", other, "number, text or dense")),
        };
        let options = match self.weights.as_deref() {
            Some("none") => options.weights(Weights::None),
            Some("f32") => options.weights(Weights::F32),
            Some("f64") => options.weights(Weights::F64),
            None => options,
            Some(other) => return Err(no_such("weights", other, "False, True, f32 or f64")),
        };
        let options = match self.self_loops {
            Some(true) => options.self_loops(SelfLoops::Allowed),
            Some(false) => options.self_loops(SelfLoops::Forbidden),
            None => options,
        };
        let options = options.isolation(level(self.serializable));
        self.limits(options)
    }

    fn limits(self, mut options: Options) -> PyResult<Options> {
        if let Some(bytes) = self.memory_limit {
            options = options.memory_limit(bytes);
        }
        if let Some(operations) = self.max_transaction {
            options = options.max_transaction(operations);
        }
        if let Some(snapshots) = self.max_snapshots {
            options = options.max_snapshots(snapshots);
        }
        if let Some(seconds) = self.max_snapshot_age {
            options = options.max_snapshot_age(duration(seconds)?);
        }
        if let Some(seconds) = self.max_transaction_age {
            options = options.max_transaction_age(duration(seconds)?);
        }
        Ok(options)
    }
}

fn level(serializable: bool) -> Isolation {
    if serializable { Isolation::Serializable } else { Isolation::Snapshot }
}

/// A folder, and how it is opened, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Place {
    path: PathBuf,
    durability: String,
    keep: String,
    read_only: bool,
}

/// How far the opening of a folder is.
struct Opening {
    /// Statistics, `Relaxed`.
    done: AtomicU64,
    total: AtomicU64,
    cancel: Cancel,
}

impl Progress for Opening {
    fn tick(&self, status: &Status) -> ControlFlow<()> {
        self.done.store(status.done, Ordering::Relaxed);
        self.total.store(status.total.unwrap_or(0), Ordering::Relaxed);
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Opens the database in a folder, or makes one there. `progress` is called with the bytes that were
/// read and those there are.
#[pyfunction]
pub(crate) fn open(
    py: Python<'_>,
    place: Place,
    settings: Settings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Store> {
    let cancel = Cancel::default();
    let (done, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let opening = Arc::new(Opening { done, total, cancel: cancel.clone() });
    let options = place.options(settings)?.progress(Arc::<Opening>::clone(&opening));
    let tell = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let (done, total) = (&opening.done, &opening.total);
        progress.call1(py, (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)))?;
        Ok(())
    };
    let path: &Path = &place.path;
    let db = run_watched(
        py,
        &cancel,
        || {
            let open =
                if place.read_only { options.open_read_only(path) } else { options.open(path) };
            Ok(open?)
        },
        tell,
    )?;
    // All that was needed was read.
    opening.done.store(opening.total.load(Ordering::Relaxed), Ordering::Relaxed);
    tell(py)?;
    Ok(Store::new(db))
}

impl Place {
    /// How the database is opened: what it is, the folder says, if there is one.
    fn options(&self, settings: Settings) -> PyResult<Options> {
        let found = Database::options().of_folder(&self.path);
        let found = found.map_err(|error| of_store(&error))?;
        let options = found.unwrap_or_else(|| Database::options().undirected());
        let word =
            |error: StoreError, option: &str| InvalidError::new_err(format!("{option}: {error}"));
        let durability = self.durability.parse().map_err(|error| word(error, "durability"))?;
        let keep = self.keep.parse().map_err(|error| word(error, "keep"))?;
        Ok(settings.over(options)?.durability(durability).keep(keep))
    }
}

impl Store {
    pub(crate) fn new(db: Database) -> Self {
        let layout = Layout { keys: db.key_kind(), weighted: db.is_weighted() };
        let directed = db.is_directed();
        Self { lender: AtHome::new(Lender::new(db)), layout, directed }
    }

    /// Asks the database for what takes no time.
    fn ask<R>(&self, ask: impl FnOnce(&Database) -> R) -> PyResult<R> {
        self.lender.get()?.with(ask)
    }

    /// Has the database do what takes time.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Database) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        let lender = self.lender.get()?;
        py.detach(|| lender.with(work))?.map_err(|error| of_store(&error))
    }
}

#[pymethods]
impl Store {
    #[new]
    fn make(settings: Settings) -> PyResult<Self> {
        Ok(Self::new(settings.over(Database::options())?.in_memory()))
    }

    #[getter]
    fn directed(&self) -> bool {
        self.directed
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.layout.weighted
    }

    #[getter]
    fn key_kind(&self) -> &'static str {
        word(self.layout.keys)
    }

    /// The newest version.
    #[getter]
    fn version(&self) -> PyResult<u64> {
        self.ask(|db| db.version().0)
    }

    /// Begins a transaction; `None` takes the isolation of the database.
    #[pyo3(signature = (serializable=None))]
    fn begin(&self, serializable: Option<bool>) -> PyResult<Transaction> {
        Transaction::begin(self.lender.get()?, serializable.map(level))
    }

    /// Takes changes in unchecked, and says when they are archived.
    fn ingest(&self, archiving: Archiving) -> PyResult<Ingest> {
        Ingest::of(self.lender.get()?, &archiving)
    }

    /// A snapshot: `"plain"`, `"stale"` or `"private"`.
    fn static_view(&self, py: Python<'_>, view: &str) -> PyResult<Snapshot> {
        let view = match view {
            "plain" => StaticView::Plain,
            "stale" => StaticView::Stale,
            "private" => StaticView::Private,
            other => return Err(no_such("view", other, "plain, stale or private")),
        };
        Ok(Snapshot::new(self.with(py, |db| db.static_view(view))?))
    }

    fn snapshot(&self) -> PyResult<Snapshot> {
        let shown = self.ask(Database::snapshot)?;
        Ok(Snapshot::new(shown.map_err(|error| of_store(&error))?))
    }

    /// A snapshot of an older version.
    fn snapshot_at(&self, py: Python<'_>, version: u64) -> PyResult<Snapshot> {
        self.past(py, Version(version).into())
    }

    /// A snapshot of the last version that was written so many microseconds after 1970 began.
    fn snapshot_at_time(&self, py: Python<'_>, micros: u64) -> PyResult<Snapshot> {
        self.past(py, (SystemTime::UNIX_EPOCH + Duration::from_micros(micros)).into())
    }

    /// Ends snapshots that are older than so many seconds; how many there were.
    fn expire_snapshots(&self, age: f64) -> PyResult<usize> {
        let age = duration(age)?;
        self.ask(|db| db.expire_snapshots(age))
    }

    /// What the database is doing, and what lies in its folder if it has one.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, files) = self.with(py, |db| match db.files() {
            Ok(files) => Ok((db.stats(), Some(files))),
            Err(StoreError::NotDurable) => Ok((db.stats(), None)),
            Err(error) => Err(error),
        })?;
        let dict = PyDict::new(py);
        tell_stats(&dict, &stats)?;
        files.map_or(Ok(()), |files| tell_files(&dict, &files))?;
        Ok(dict)
    }

    // The folder.

    /// Has everything committed so far lie on the disk.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Database::sync)
    }

    /// Writes the graph to a file; the version of that.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |db| Ok(db.checkpoint()?.0))
    }

    /// Ends whatever uses the database, and closes it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let lender = self.lender.get()?;
        py.detach(|| lender.close())
    }

    fn is_closed(&self) -> PyResult<bool> {
        Ok(self.lender.get()?.is_closed())
    }

    // The past, and how it became the present.

    /// How far the reader of a name is.
    fn position(&self, name: &str) -> PyResult<Option<u64>> {
        self.ask(|db| db.position(name).map(|version| version.0))
    }

    /// The changes of the commits after a version, up to another.
    fn changes(&self, py: Python<'_>, after: u64, until: u64) -> PyResult<Columns> {
        let layout = self.layout;
        self.with(py, |db| Ok(layout.of_commits(&db.changes(Version(after), Version(until))?)))
    }

    /// What differs between two versions.
    fn diff(&self, py: Python<'_>, before: u64, after: u64) -> PyResult<Columns> {
        let layout = self.layout;
        self.with(py, |db| Ok(layout.of_changes(db.diff(Version(before), Version(after))?.iter())))
    }

    fn follow(&self, after: u64) -> PyResult<Follower> {
        Follower::of(self.lender.get()?, self.layout, after)
    }

    fn windows(&self, after: u64, shape: Shape) -> PyResult<Windows> {
        Windows::of(self.lender.get()?, self.layout, after, &shape)
    }

    fn stream(&self, after: u64) -> PyResult<Stream> {
        Stream::of(self.lender.get()?, self.layout, after)
    }

    fn standing(&self, py: Python<'_>, question: Question) -> PyResult<Standing> {
        Standing::of(py, self.lender.get()?, question)
    }
}

impl Store {
    fn past(&self, py: Python<'_>, when: When) -> PyResult<Snapshot> {
        let lender = self.lender.get()?;
        let past = |cancel: &_| lender.with(|db| db.snapshot_at_with(when, &Listener(cancel)));
        let shown = run(py, |cancel| Ok(past(cancel)))??;
        Ok(Snapshot::new(shown.map_err(|error| of_store(&error))?))
    }
}

fn tell_stats(dict: &Bound<'_, PyDict>, stats: &Stats) -> PyResult<()> {
    dict.set_item("version", stats.version.0)?;
    dict.set_item("vertices", stats.vertices)?;
    dict.set_item("edges", stats.edges)?;
    dict.set_item("snapshots", stats.snapshots)?;
    dict.set_item("transactions", stats.transactions)?;
    dict.set_item("oldest_version", stats.oldest.map(|(version, _)| version.0))?;
    dict.set_item("oldest_age", stats.oldest.map(|(_, age)| age.as_secs_f64()))?;
    dict.set_item("groups_pending", stats.groups_pending)?;
    dict.set_item("groups_with_history", stats.groups_with_history)?;
    dict.set_item("memory_bytes", stats.memory_bytes)?;
    dict.set_item("backlog", stats.backlog)?;
    dict.set_item("committed", stats.outcomes.committed)?;
    dict.set_item("write_conflicts", stats.outcomes.write_conflicts)?;
    dict.set_item("read_conflicts", stats.outcomes.read_conflicts)?;
    dict.set_item("conflicts_avoided", stats.outcomes.conflicts_avoided)
}

fn tell_files(dict: &Bound<'_, PyDict>, files: &Files) -> PyResult<()> {
    dict.set_item("log_files", files.segments)?;
    dict.set_item("log_bytes", files.segment_bytes)?;
    dict.set_item("checkpoints", files.checkpoints)?;
    dict.set_item("checkpoint_bytes", files.checkpoint_bytes)?;
    dict.set_item("oldest_kept", files.oldest.0)?;
    dict.set_item("changes_after", files.changes_after.0)
}

/// The kind of keys that a word means.
pub(crate) fn key_kind(word: &str) -> PyResult<KeyKind> {
    match word {
        "number" => Ok(KeyKind::Number),
        "text" => Ok(KeyKind::Text),
        "dense" => Ok(KeyKind::Dense),
        other => Err(no_such("keys", other, "number, text or dense")),
    }
}

pub(crate) fn no_such(option: &str, given: &str, choice: &str) -> PyErr {
    InvalidError::new_err(format!("{option}={given:?}: choose {choice}"))
}
