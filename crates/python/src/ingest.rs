//! Changes that nobody checks, as Python makes them.

use evergraph::{Full, Ingest as Appends, IngestOptions, StoreError};
use pyo3::prelude::*;

use crate::column::{Keys, Weights};
use crate::edges::{Edges, TakeEdges};
use crate::error::of_store;
use crate::key::PyKey;
use crate::lend::{Lender, Loan};
use crate::run::duration;
use crate::store::no_such;

type Result<T> = std::result::Result<T, StoreError>;

/// Takes changes in unchecked.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Ingest {
    into: Loan<Appends>,
}

/// When changes are archived, and how many may wait, as Python says it; what is not said stays as it is.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Archiving {
    threshold: Option<usize>,
    /// In seconds.
    delay: Option<f64>,
    batch: Option<usize>,
    backlog: Option<usize>,
    /// `"wait"` or `"refuse"`.
    full: Option<String>,
    threads: Option<usize>,
}

impl Archiving {
    fn over(&self, options: IngestOptions) -> PyResult<IngestOptions> {
        let full = match self.full.as_deref() {
            Some("wait") => Full::Wait,
            Some("refuse") => Full::Refuse,
            None => options.full,
            Some(other) => return Err(no_such("full", other, "wait or refuse")),
        };
        Ok(IngestOptions {
            threshold: self.threshold.unwrap_or(options.threshold),
            delay: self.delay.map_or(Ok(options.delay), duration)?,
            batch: self.batch.unwrap_or(options.batch),
            backlog: self.backlog.unwrap_or(options.backlog),
            full,
            threads: self.threads.unwrap_or(options.threads),
        })
    }
}

impl Ingest {
    pub(crate) fn of(lender: &Lender, archiving: &Archiving) -> PyResult<Self> {
        let into = lender.lend(|db| {
            let options = archiving.over(db.ingest_options())?;
            db.ingest_with(options).map_err(|error| of_store(&error))
        })?;
        Ok(Self { into: into? })
    }

    /// Appends: without the interpreter's lock, since it may have to wait for room.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        append: impl FnOnce(&mut Appends) -> Result<R> + Send,
    ) -> PyResult<R> {
        let done = self.into.with(py, append)?;
        done.map_err(|error| of_store(&error))
    }
}

#[pymethods]
impl Ingest {
    #[pyo3(signature = (source, target, weight=None))]
    fn add_edge(
        &self,
        py: Python<'_>,
        source: PyKey,
        target: PyKey,
        weight: Option<f64>,
    ) -> PyResult<()> {
        self.with(py, |into| into.add((&source).into(), (&target).into(), weight))
    }

    #[pyo3(signature = (source, target, weights=None))]
    fn add_edges(
        &self,
        py: Python<'_>,
        source: Keys,
        target: Keys,
        weights: Option<Weights>,
    ) -> PyResult<()> {
        let edges = Edges::new(source, target, weights)?;
        self.with(py, |into| into.add_all(&edges))
    }

    fn remove_edge(&self, py: Python<'_>, source: PyKey, target: PyKey) -> PyResult<()> {
        self.with(py, |into| into.remove_edge(&source, &target))
    }

    fn remove_edges(&self, py: Python<'_>, source: Keys, target: Keys) -> PyResult<()> {
        let edges = Edges::new(source, target, None)?;
        self.with(py, |into| into.remove_all(&edges))
    }

    fn set_weight(
        &self,
        py: Python<'_>,
        source: PyKey,
        target: PyKey,
        weight: f64,
    ) -> PyResult<()> {
        self.with(py, |into| into.set_weight(&source, &target, weight))
    }

    fn set_weights(
        &self,
        py: Python<'_>,
        source: Keys,
        target: Keys,
        weights: Weights,
    ) -> PyResult<()> {
        let edges = Edges::new(source, target, Some(weights))?;
        self.with(py, |into| into.weigh_all(&edges))
    }

    /// Has everything archived; the version that shows it.
    fn flush(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |into| Ok(into.flush()?.0))
    }

    /// How many changes wait, and how old the oldest is in seconds.
    fn backlog(&self, py: Python<'_>) -> PyResult<(usize, f64)> {
        let backlog = self.with(py, |into| Ok(into.backlog()))?;
        Ok((backlog.changes, backlog.age.as_secs_f64()))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.into.end(py)
    }
}
