//! Changes that nobody checks, as Python makes them.

use evergraph::{Ingest as Appends, StoreError};
use pyo3::prelude::*;

use crate::column::{Keys, Weights, check_lengths};
use crate::error::of_store;
use crate::key::PyKey;
use crate::lend::{Lender, Loan};

type Result<T> = std::result::Result<T, StoreError>;

/// Takes changes in unchecked.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Ingest {
    into: Loan<Appends>,
}

impl Ingest {
    pub(crate) fn of(lender: &Lender) -> PyResult<Self> {
        let into = lender.lend(evergraph::Database::ingest)?;
        Ok(Self { into: into.map_err(|error| of_store(&error))? })
    }

    /// Appends: without the interpreter's lock, since it may have to wait for room.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        append: impl FnOnce(&Appends) -> Result<R> + Send,
    ) -> PyResult<R> {
        let done = self.into.with(py, |into| append(into))?;
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
        self.with(py, |into| match weight {
            Some(weight) => into.add_weighted_edge(&source, &target, weight),
            None => into.add_edge(&source, &target),
        })
    }

    #[pyo3(signature = (source, target, weights=None))]
    fn add_edges(
        &self,
        py: Python<'_>,
        source: Keys,
        target: Keys,
        weights: Option<Weights>,
    ) -> PyResult<()> {
        check_lengths(&source, &target, weights.as_ref())?;
        let all = 0..source.len();
        self.with(py, |into| match &weights {
            Some(weights) => into
                .add_weighted_edges(all.map(|at| (source.key(at), target.key(at), weights.0[at]))),
            None => into.add_edges(all.map(|at| (source.key(at), target.key(at)))),
        })
    }

    fn remove_edge(&self, py: Python<'_>, source: PyKey, target: PyKey) -> PyResult<()> {
        self.with(py, |into| into.remove_edge(&source, &target))
    }

    fn remove_edges(&self, py: Python<'_>, source: Keys, target: Keys) -> PyResult<()> {
        check_lengths(&source, &target, None)?;
        self.with(py, |into| {
            (0..source.len()).try_for_each(|at| into.remove_edge(source.key(at), target.key(at)))
        })
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
        check_lengths(&source, &target, Some(&weights))?;
        self.with(py, |into| {
            (0..source.len())
                .try_for_each(|at| into.set_weight(source.key(at), target.key(at), weights.0[at]))
        })
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
