//! Components: a label per vertex, and the sets of vertices that share one.

use std::sync::Arc;

use arrow_array::{UInt32Array, UInt64Array};
use arrow_select::take::take;
use evergraph::graph::VertexId;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet};

use crate::column::Column;
use crate::error::{InvalidError, internal};
use crate::snapshot::Members;

/// Which vertices hang together.
///
/// # Invariants
///   - `labels[p]` is the position of the first vertex of the component of the vertex at `p`, so
///     `labels[p] <= p` and `labels[labels[p]] == labels[p]`.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Components {
    labels: Vec<u32>,
    count: u32,
}

impl Components {
    /// The components whose labels are ids of vertices, by id.
    pub(crate) fn of(members: &Members, labels: &[VertexId], count: u32) -> Self {
        let positions = members.positions(labels.len() as u32);
        let labels = members.ids().map(|v| positions[labels[v as usize] as usize]).collect();
        Self { labels, count }
    }

    /// How many vertices each component has, by the position of its first vertex.
    fn sizes_by_label(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.labels.len()];
        for &label in &self.labels {
            sizes[label as usize] += 1;
        }
        sizes
    }
}

#[pymethods]
impl Components {
    /// How many there are.
    #[getter]
    fn count(&self) -> u32 {
        self.count
    }

    /// The position of the first vertex of the component of each vertex.
    fn labels(&self) -> Column {
        Column::new(Arc::new(UInt32Array::from(self.labels.clone())))
    }

    /// Of a column with a value per vertex, the value at the first vertex of each component.
    pub(crate) fn name(&self, values: &Column) -> PyResult<Column> {
        let labels = UInt32Array::from(self.labels.clone());
        let named = take(values.array().as_ref(), &labels, None);
        named.map(Column::new).map_err(|error| internal(&error.to_string()))
    }

    /// How many vertices each component has, in the order of first vertices.
    fn sizes(&self) -> Column {
        let sizes = self.sizes_by_label().into_iter().filter(|&size| size > 0);
        Column::new(Arc::new(UInt64Array::from_iter_values(sizes)))
    }

    /// The vertices of every component as a set, in the order of first vertices. `objects` has one
    /// per vertex.
    fn groups<'py>(
        &self,
        py: Python<'py>,
        objects: &Bound<'py, PyList>,
    ) -> PyResult<Vec<Bound<'py, PySet>>> {
        if objects.len() != self.labels.len() {
            return Err(InvalidError::new_err("`objects` has one object per vertex"));
        }
        // Vertices sorted by component: where each begins, then one after the other.
        let mut starts = self.sizes_by_label();
        let mut total = 0;
        for start in &mut starts {
            total += std::mem::replace(start, total);
        }
        let mut order = vec![0; self.labels.len()];
        let mut next = starts.clone();
        for (position, &label) in self.labels.iter().enumerate() {
            order[next[label as usize] as usize] = position;
            next[label as usize] += 1;
        }
        let labels = (0..self.labels.len()).filter(|&p| self.labels[p] as usize == p);
        let set = |label: usize| {
            let members = &order[starts[label] as usize..next[label] as usize];
            let set = PySet::empty(py)?;
            members.iter().try_for_each(|&member| set.add(objects.get_item(member)?))?;
            Ok(set)
        };
        uncollected(py, || labels.map(set).collect())
    }
}

/// Makes many objects without the garbage collector looking at them in between: it would look at all
/// there are again and again, and find nothing, since all of these are in use.
fn uncollected<R>(py: Python<'_>, make: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    let collector = py.import("gc")?;
    if !collector.call_method0("isenabled")?.is_truthy()? {
        return make();
    }
    collector.call_method0("disable")?;
    let made = make();
    collector.call_method0("enable")?;
    made
}
