//! A database, as Python holds it.

use std::time::Duration;

use evergraph::graph::{KeyKind, VertexId};
use evergraph::{Database, Isolation, SelfLoops, Weights};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{InvalidError, of_store};
use crate::fork::AtHome;
use crate::key::word;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;

/// A database.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Store {
    db: AtHome<Database>,
}

/// What a database is made with, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    directed: bool,
    /// `"none"`, `"f32"` or `"f64"`.
    weights: String,
    /// `"number"`, `"text"` or `"dense"`.
    keys: String,
    dense: VertexId,
    self_loops: bool,
    serializable: bool,
    memory_limit: Option<u64>,
    max_transaction: Option<usize>,
    max_snapshots: Option<usize>,
    /// In seconds.
    max_snapshot_age: Option<f64>,
}

impl Store {
    pub(crate) fn new(db: Database) -> Self {
        Self { db: AtHome::new(db) }
    }
}

#[pymethods]
impl Store {
    #[new]
    fn make(settings: Settings) -> PyResult<Self> {
        let options = Database::options();
        let options = if settings.directed { options.directed() } else { options.undirected() };
        let options = match settings.keys.as_str() {
            "number" => options.number_keys(),
            "text" => options.text_keys(),
            "dense" => options.dense_keys(settings.dense),
            other => return Err(no_such("keys", other, "number, text or dense")),
        };
        let mut options = options.weights(match settings.weights.as_str() {
            "none" => Weights::None,
            "f32" => Weights::F32,
            "f64" => Weights::F64,
            other => return Err(no_such("weights", other, "False, True, f32 or f64")),
        });
        if !settings.self_loops {
            options = options.self_loops(SelfLoops::Forbidden);
        }
        if settings.serializable {
            options = options.isolation(Isolation::Serializable);
        }
        if let Some(bytes) = settings.memory_limit {
            options = options.memory_limit(bytes);
        }
        if let Some(operations) = settings.max_transaction {
            options = options.max_transaction(operations);
        }
        if let Some(snapshots) = settings.max_snapshots {
            options = options.max_snapshots(snapshots);
        }
        if let Some(seconds) = settings.max_snapshot_age {
            let age = Duration::try_from_secs_f64(seconds);
            let age = age.map_err(|error| InvalidError::new_err(error.to_string()))?;
            options = options.max_snapshot_age(age);
        }
        Ok(Self::new(options.in_memory()))
    }

    #[getter]
    fn directed(&self) -> PyResult<bool> {
        Ok(self.db.get()?.is_directed())
    }

    #[getter]
    fn weighted(&self) -> PyResult<bool> {
        Ok(self.db.get()?.is_weighted())
    }

    #[getter]
    fn key_kind(&self) -> PyResult<&'static str> {
        Ok(word(self.db.get()?.key_kind()))
    }

    /// The newest version.
    #[getter]
    fn version(&self) -> PyResult<u64> {
        Ok(self.db.get()?.version().0)
    }

    /// Begins a transaction; `None` takes the isolation of the database.
    #[pyo3(signature = (serializable=None))]
    fn begin(&self, serializable: Option<bool>) -> PyResult<Transaction> {
        let level = |serializable| {
            if serializable { Isolation::Serializable } else { Isolation::Snapshot }
        };
        let isolation = serializable.map(level);
        Transaction::begin(self.db.get()?, isolation).map_err(|error| of_store(&error))
    }

    fn snapshot(&self) -> PyResult<Snapshot> {
        let shown = self.db.get()?.snapshot().map_err(|error| of_store(&error))?;
        Ok(Snapshot::new(shown))
    }

    /// Ends snapshots that are older than so many seconds; how many there were.
    fn expire_snapshots(&self, age: f64) -> PyResult<usize> {
        let age = Duration::try_from_secs_f64(age);
        let age = age.map_err(|error| InvalidError::new_err(error.to_string()))?;
        Ok(self.db.get()?.expire_snapshots(age))
    }

    /// What the database is doing.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let db = self.db.get()?;
        let stats = py.detach(|| db.stats());
        let dict = PyDict::new(py);
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
        dict.set_item("committed", stats.outcomes.committed)?;
        dict.set_item("write_conflicts", stats.outcomes.write_conflicts)?;
        dict.set_item("read_conflicts", stats.outcomes.read_conflicts)?;
        dict.set_item("conflicts_avoided", stats.outcomes.conflicts_avoided)?;
        Ok(dict)
    }
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
