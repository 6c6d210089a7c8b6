//! A snapshot, as Python holds it: point reads, kernels, and the keys of its vertices.
//!
//! # Order
//!   Columns have a value per vertex, in the order of dense ids. Ids without a vertex are left out:
//!   the *position* of a vertex is its place among those that exist.

use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, StringArray, UInt64Array};
use evergraph::algo::{
    self, BfsConfig, Cancel, CdlpConfig, LccConfig, Measure, PageRankConfig, SccConfig, SsspConfig,
    TriangleConfig, WccConfig,
};
use evergraph::graph::{GraphView, Key, KeyKind, KeyRef, VertexId};
use evergraph::{Result, Snapshot as Shown, StoreError, with_view};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::column::Column;
use crate::components::Components;
use crate::error::{InvalidError, of_store, to_python};
use crate::export::{self, Rows};
use crate::fork::AtHome;
use crate::key::{PyKey, pairs, word};
use crate::run::run;
use crate::store::no_such;

/// The database at one version.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Snapshot {
    inner: AtHome<Inner>,
}

struct Inner {
    shown: Shown,
    members: OnceLock<Members>,
}

/// The vertices of a snapshot.
pub(crate) struct Members {
    /// Their ids, ascending; none if every id below the bound is a vertex.
    ids: Option<Vec<VertexId>>,
    /// Their keys.
    keys: ArrayRef,
}

impl Members {
    pub(crate) fn of(shown: &Shown) -> Result<Self> {
        let keys = shown.keys()?;
        let gaps = keys.iter().any(Option::is_none);
        let is_member = |v: &VertexId| keys[*v as usize].is_some();
        let ids = gaps.then(|| (0..keys.len() as VertexId).filter(is_member).collect());
        let present = keys.iter().flatten().map(Key::as_ref);
        let keys: ArrayRef = match shown.key_kind() {
            KeyKind::Text => Arc::new(StringArray::from_iter_values(present.filter_map(text))),
            _ => Arc::new(UInt64Array::from_iter_values(present.filter_map(number))),
        };
        Ok(Self { ids, keys })
    }

    /// Their keys, in the order of positions.
    pub(crate) fn keys(&self) -> &ArrayRef {
        &self.keys
    }

    /// The values of members, in the order of positions.
    pub(crate) fn of_members<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        match &self.ids {
            Some(ids) => ids.iter().map(|&v| values[v as usize]).collect(),
            None => values,
        }
    }

    /// The ids, in the order of positions.
    pub(crate) fn ids(&self) -> impl Iterator<Item = VertexId> {
        let all = 0..self.keys.len() as VertexId;
        let some = self.ids.iter().flatten().copied();
        all.filter(|_| self.ids.is_none()).chain(some)
    }

    /// The position of every id below the bound; anything where there is no vertex.
    pub(crate) fn positions(&self, bound: u32) -> Vec<u32> {
        let mut positions: Vec<u32> = (0..bound).collect();
        for (position, &v) in (0..).zip(self.ids.iter().flatten()) {
            positions[v as usize] = position;
        }
        positions
    }
}

fn number(key: KeyRef<'_>) -> Option<u64> {
    match key {
        KeyRef::Number(number) => Some(number),
        KeyRef::Text(_) => None,
    }
}

fn text(key: KeyRef<'_>) -> Option<&str> {
    match key {
        KeyRef::Text(text) => Some(text),
        KeyRef::Number(_) => None,
    }
}

impl Inner {
    fn members(&self) -> Result<&Members> {
        if let Some(members) = self.members.get() {
            return Ok(members);
        }
        let members = Members::of(&self.shown)?;
        Ok(self.members.get_or_init(|| members))
    }
}

impl Snapshot {
    pub(crate) fn new(shown: Shown) -> Self {
        Self { inner: AtHome::new(Inner { shown, members: OnceLock::new() }) }
    }

    fn read<R>(&self, read: impl FnOnce(&Shown) -> Result<R, StoreError>) -> PyResult<R> {
        read(&self.inner.get()?.shown).map_err(|error| of_store(&error))
    }

    /// Runs a kernel.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Shown, Cancel) -> Result<R> + Send,
    ) -> PyResult<R> {
        let shown = &self.inner.get()?.shown;
        run(py, |cancel| work(shown, cancel.clone()))
    }

    /// Runs a kernel and keeps its values of vertices.
    fn column<T: Copy + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Shown, Cancel) -> Result<Vec<T>> + Send,
    ) -> PyResult<Vec<T>> {
        let inner = self.inner.get()?;
        run(py, |cancel| {
            let values = work(&inner.shown, cancel.clone())?;
            Ok(inner.members()?.of_members(values))
        })
    }

    fn components(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Shown, Cancel) -> Result<(Vec<VertexId>, u32)> + Send,
    ) -> PyResult<Components> {
        let inner = self.inner.get()?;
        run(py, |cancel| {
            let (labels, count) = work(&inner.shown, cancel.clone())?;
            Ok(Components::of(inner.members()?, &labels, count))
        })
    }
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn version(&self) -> PyResult<u64> {
        Ok(self.inner.get()?.shown.version().0)
    }

    /// Seconds since it was opened.
    #[getter]
    fn age(&self) -> PyResult<f64> {
        Ok(self.inner.get()?.shown.age().as_secs_f64())
    }

    #[getter]
    fn key_kind(&self) -> PyResult<&'static str> {
        Ok(word(self.inner.get()?.shown.key_kind()))
    }

    fn vertex_count(&self) -> PyResult<u32> {
        self.read(|shown| Ok(with_view!(shown.view()?, |view| view.vertex_count())))
    }

    /// Entries of all out-lists.
    fn entry_count(&self) -> PyResult<u64> {
        self.read(|shown| Ok(with_view!(shown.view()?, |view| view.entry_count())))
    }

    fn edge_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, |shown, _| Ok(with_view!(shown.view()?, |view| export::edge_count(view))))
    }

    fn has_vertex(&self, key: PyKey) -> PyResult<bool> {
        self.read(|shown| shown.has_vertex(&key))
    }

    fn has_edge(&self, source: PyKey, target: PyKey) -> PyResult<bool> {
        self.read(|shown| shown.has_edge(&source, &target))
    }

    fn weight(&self, source: PyKey, target: PyKey) -> PyResult<Option<f64>> {
        self.read(|shown| shown.weight(&source, &target))
    }

    fn degree(&self, key: PyKey) -> PyResult<u32> {
        self.read(|shown| shown.degree(&key))
    }

    fn in_degree(&self, key: PyKey) -> PyResult<u32> {
        self.read(|shown| shown.in_degree(&key))
    }

    fn neighbours<'py>(
        &self,
        py: Python<'py>,
        key: PyKey,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        Ok(pairs(py, &self.read(|shown| shown.neighbours(&key))?))
    }

    fn in_neighbours<'py>(
        &self,
        py: Python<'py>,
        key: PyKey,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        Ok(pairs(py, &self.read(|shown| shown.in_neighbours(&key))?))
    }

    /// The keys of all vertices.
    fn keys(&self, py: Python<'_>) -> PyResult<Column> {
        let inner = self.inner.get()?;
        let keys = py.detach(|| inner.members().map(|members| Arc::clone(members.keys())));
        keys.map(Column::new).map_err(to_python)
    }

    /// Neighbours of every vertex.
    fn degrees(&self, py: Python<'_>) -> PyResult<Column> {
        let degrees = self
            .column(py, |shown, _| Ok(with_view!(shown.view()?, |view| export::degrees(view))))?;
        Ok(Column::numbers(degrees))
    }

    /// Every edge once: the keys of its ends and its weight, if edges carry one.
    fn edges(&self, py: Python<'_>) -> PyResult<(Column, Column, Option<Column>)> {
        let inner = self.inner.get()?;
        let edges = run(py, |_| {
            let members = inner.members()?;
            Ok(with_view!(inner.shown.view()?, |view| export::edges(view, members)))
        })?;
        let (sources, targets, weights) = edges?;
        Ok((Column::new(sources), Column::new(targets), weights.map(Column::floats)))
    }

    /// The rows of the adjacency matrix.
    #[expect(clippy::type_complexity, reason = "the three arrays of a sparse matrix")]
    fn csr<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>)>
    {
        let inner = self.inner.get()?;
        let rows = run(py, |_| {
            let members = inner.members()?;
            Ok(with_view!(inner.shown.view()?, |view| export::rows(view, members)))
        })?;
        let Rows { offsets, ends, weights } = rows?;
        Ok((offsets.into_pyarray(py), ends.into_pyarray(py), weights.into_pyarray(py)))
    }

    /// Hops from a source; -1 where it does not lead.
    fn bfs(&self, py: Python<'_>, source: PyKey) -> PyResult<Column> {
        let levels = self.column(py, |shown, cancel| {
            let source = algo::source(shown, &source)?;
            Ok(algo::bfs(shown, &BfsConfig { source, cancel, ..BfsConfig::default() })?.levels)
        })?;
        Ok(Column::hops(levels))
    }

    /// Lengths of shortest paths from a source; infinite where it does not lead.
    #[pyo3(signature = (source, delta=None))]
    fn sssp(&self, py: Python<'_>, source: PyKey, delta: Option<f64>) -> PyResult<Column> {
        let distances = self.column(py, |shown, cancel| {
            let source = algo::source(shown, &source)?;
            Ok(algo::sssp(shown, &SsspConfig { source, delta, cancel })?.distances)
        })?;
        Ok(Column::floats(distances))
    }

    /// Ranks, the iterations run, and by how much the last one changed them in sum.
    fn pagerank(
        &self,
        py: Python<'_>,
        damping: f64,
        iterations: u32,
        tolerance: Option<f64>,
    ) -> PyResult<(Column, u32, f64)> {
        let inner = self.inner.get()?;
        let (ranks, iterations, change) = run(py, |cancel| {
            let cancel = cancel.clone();
            let config = PageRankConfig { damping, iterations, tolerance, cancel };
            let output = algo::pagerank(&inner.shown, &config)?;
            let ranks = inner.members()?.of_members(output.ranks);
            Ok((ranks, output.iterations, output.change))
        })?;
        Ok((Column::floats(ranks), iterations, change))
    }

    fn wcc(&self, py: Python<'_>) -> PyResult<Components> {
        self.components(py, |shown, cancel| {
            let output = algo::wcc(shown, &WccConfig { cancel, ..WccConfig::default() })?;
            Ok((output.labels, output.components))
        })
    }

    fn scc(&self, py: Python<'_>) -> PyResult<Components> {
        self.components(py, |shown, cancel| {
            let output = algo::scc(shown, &SccConfig { cancel })?;
            Ok((output.labels, output.components))
        })
    }

    /// Labels after so many iterations: keys where keys are numbers, else ids.
    fn cdlp(&self, py: Python<'_>, iterations: u32) -> PyResult<Column> {
        let labels = self.column(py, |shown, cancel| {
            Ok(algo::cdlp(shown, &CdlpConfig { iterations, cancel, labels: None })?.labels)
        })?;
        Ok(Column::numbers(labels))
    }

    /// Clustering coefficients: `"edges"` or `"triangles"`.
    fn lcc(&self, py: Python<'_>, measure: &str) -> PyResult<Column> {
        let measure = match measure {
            "edges" => Measure::Edges,
            "triangles" => Measure::Triangles,
            other => return Err(no_such("measure", other, "edges or triangles")),
        };
        let coefficients = self.column(py, |shown, cancel| {
            Ok(algo::lcc(shown, &LccConfig { measure, cancel })?.coefficients)
        })?;
        Ok(Column::floats(coefficients))
    }

    /// Triangles at every vertex of an undirected graph.
    fn triangles(&self, py: Python<'_>) -> PyResult<Column> {
        let shown = &self.inner.get()?.shown;
        let directed = shown.view().map(|view| with_view!(view, |view| view.is_directed()));
        if directed.map_err(|error| of_store(&error))? {
            return Err(InvalidError::new_err(
                "triangles at vertices are defined for undirected graphs; `triangle_count` counts \
                 all, directions ignored",
            ));
        }
        let triangles = self.column(py, |shown, cancel| {
            let config = LccConfig { cancel, ..LccConfig::default() };
            let coefficients = algo::lcc(shown, &config)?.coefficients;
            Ok(with_view!(shown.view()?, |view| export::triangles(view, &coefficients)))
        })?;
        Ok(Column::numbers(triangles))
    }

    fn triangle_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, |shown, cancel| {
            Ok(algo::triangle_count(shown, &TriangleConfig { cancel })?.triangles)
        })
    }
}
