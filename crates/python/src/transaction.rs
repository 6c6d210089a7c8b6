//! A transaction, as Python holds it.

use evergraph::{Database, Isolation, StoreError, Transaction as Buffered, Version};
use pyo3::prelude::*;
use pyo3::types::PyList;
use self_cell::self_cell;

use crate::column::{Keys, Weights};
use crate::edges::{Edges, TakeEdges};
use crate::error::{TransactionEndedError, of_store};
use crate::key::{PyKey, object, pairs};
use crate::lend::{Lender, Loan};

type Result<T> = std::result::Result<T, StoreError>;

/// What runs; nothing once it has ended.
type Running<'db> = Option<Buffered<'db>>;

self_cell!(
    /// A transaction and the database it belongs to.
    struct Open {
        owner: Database,
        #[not_covariant]
        dependent: Running,
    }
);

/// Changes that become visible together, or not at all.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Transaction {
    open: Loan<Open>,
}

impl Transaction {
    pub(crate) fn begin(lender: &Lender, isolation: Option<Isolation>) -> PyResult<Self> {
        let open = lender.lend(|db| {
            Open::try_new(db.clone(), |db| {
                let begun = match isolation {
                    Some(isolation) => db.begin_with(isolation),
                    None => db.begin(),
                };
                begun.map(Some)
            })
        })?;
        Ok(Self { open: open.map_err(|error| of_store(&error))? })
    }

    /// Passes the transaction on, if it has not ended. A batch takes long, and so may another thread
    /// that holds the transaction.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Buffered<'_>) -> Result<R> + Send,
    ) -> PyResult<R> {
        told(self.open.with(py, |open| running(open, act))?)
    }

    /// As [`Transaction::with`], for what takes less time than to let go of the lock.
    fn quick<R>(&self, act: impl FnOnce(&mut Buffered<'_>) -> Result<R>) -> PyResult<R> {
        told(self.open.quick(|open| running(open, act))?)
    }
}

#[pymethods]
impl Transaction {
    fn add_vertex(&self, key: PyKey) -> PyResult<()> {
        self.quick(|tx| tx.add_vertex(&key))
    }

    fn add_vertices(&self, py: Python<'_>, keys: Keys) -> PyResult<()> {
        self.with(py, |tx| keys.iter().try_for_each(|key| tx.add_vertex(key)))
    }

    fn add_missing_vertices(&self, py: Python<'_>, keys: Keys) -> PyResult<()> {
        self.with(py, |tx| {
            keys.iter().try_for_each(
                |key| {
                    if tx.has_vertex(key)? { Ok(()) } else { tx.add_vertex(key) }
                },
            )
        })
    }

    fn remove_vertex(&self, py: Python<'_>, key: PyKey) -> PyResult<()> {
        self.with(py, |tx| tx.remove_vertex(&key))
    }

    #[pyo3(signature = (source, target, weight=None))]
    fn add_edge(&self, source: PyKey, target: PyKey, weight: Option<f64>) -> PyResult<()> {
        self.quick(|tx| tx.add((&source).into(), (&target).into(), weight))
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
        self.with(py, |tx| tx.add_all(&edges))
    }

    fn remove_edge(&self, source: PyKey, target: PyKey) -> PyResult<()> {
        self.quick(|tx| tx.remove_edge(&source, &target))
    }

    fn remove_edges(&self, py: Python<'_>, source: Keys, target: Keys) -> PyResult<()> {
        let edges = Edges::new(source, target, None)?;
        self.with(py, |tx| tx.remove_all(&edges))
    }

    fn set_weight(&self, source: PyKey, target: PyKey, weight: f64) -> PyResult<()> {
        self.quick(|tx| tx.set_weight(&source, &target, weight))
    }

    fn set_weights(
        &self,
        py: Python<'_>,
        source: Keys,
        target: Keys,
        weights: Weights,
    ) -> PyResult<()> {
        let edges = Edges::new(source, target, Some(weights))?;
        self.with(py, |tx| tx.weigh_all(&edges))
    }

    fn has_vertex(&self, key: PyKey) -> PyResult<bool> {
        self.quick(|tx| tx.has_vertex(&key))
    }

    fn has_edge(&self, source: PyKey, target: PyKey) -> PyResult<bool> {
        self.quick(|tx| tx.has_edge(&source, &target))
    }

    fn weight(&self, source: PyKey, target: PyKey) -> PyResult<Option<f64>> {
        self.quick(|tx| tx.weight(&source, &target))
    }

    fn degree(&self, key: PyKey) -> PyResult<u32> {
        self.quick(|tx| tx.degree(&key))
    }

    fn in_degree(&self, key: PyKey) -> PyResult<u32> {
        self.quick(|tx| tx.in_degree(&key))
    }

    fn neighbours<'py>(
        &self,
        py: Python<'py>,
        key: PyKey,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        Ok(pairs(py, &self.with(py, |tx| tx.neighbours(&key))?))
    }

    fn in_neighbours<'py>(
        &self,
        py: Python<'py>,
        key: PyKey,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        Ok(pairs(py, &self.with(py, |tx| tx.in_neighbours(&key))?))
    }

    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = self.with(py, |tx| tx.vertices())?;
        PyList::new(py, keys.iter().map(|key| object(py, key.as_ref())))
    }

    fn vertex_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |tx| tx.vertex_count())
    }

    fn snapshot_version(&self) -> PyResult<u64> {
        self.quick(|tx| Ok(tx.snapshot_version().0))
    }

    /// Stores how far a reader is, with the changes.
    fn set_position(&self, name: &str, version: u64) -> PyResult<()> {
        self.quick(|tx| {
            tx.set_position(name, Version(version));
            Ok(())
        })
    }

    fn is_open(&self) -> PyResult<bool> {
        self.open.quick(|open| open.with_dependent(|_, tx| tx.is_some()))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.quick(|tx| Ok(tx.len()))
    }

    /// Makes the changes visible; the version they make.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        let commit =
            |open: &mut Open| open.with_dependent_mut(|_, tx| tx.take().map(Buffered::commit));
        let committed = self.open.with(py, commit)?.ok_or_else(ended)?;
        Ok(committed.map_err(|refused| of_store(&refused.error))?.0)
    }

    /// Forgets the changes.
    fn rollback(&self) -> PyResult<()> {
        let rollback =
            |open: &mut Open| open.with_dependent_mut(|_, tx| tx.take().map(Buffered::rollback));
        self.open.quick(rollback)?.ok_or_else(ended)
    }
}

/// What is done with a transaction that has not ended.
fn running<R>(
    open: &mut Open,
    act: impl FnOnce(&mut Buffered<'_>) -> Result<R>,
) -> Option<Result<R>> {
    open.with_dependent_mut(|_, tx| tx.as_mut().map(act))
}

fn told<R>(done: Option<Result<R>>) -> PyResult<R> {
    done.ok_or_else(ended)?.map_err(|error| of_store(&error))
}

fn ended() -> PyErr {
    TransactionEndedError::new_err("the transaction has ended; begin a new one")
}
