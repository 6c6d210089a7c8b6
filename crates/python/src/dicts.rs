//! Values of vertices as dictionaries, made at once: lists in between cost as much again.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList};

use crate::column::Column;
use crate::error::{InvalidError, internal};

/// The values of all nodes, in their order.
#[pyfunction]
pub(crate) fn by_node<'py>(
    py: Python<'py>,
    nodes: &Bound<'py, PyList>,
    column: &Column,
) -> PyResult<Bound<'py, PyDict>> {
    check(nodes, column)?;
    let (array, dict) = (column.array(), PyDict::new(py));
    match array.data_type() {
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            for (node, &value) in nodes.iter().zip(values) {
                dict.set_item(node, PyFloat::new(py, value))?;
            }
        }
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            for (node, &value) in nodes.iter().zip(values) {
                dict.set_item(node, PyInt::new(py, value))?;
            }
        }
        other => return Err(internal(&format!("values of nodes in a column of {other}"))),
    }
    Ok(dict)
}

/// Lengths of paths to the nodes that are reached, nearest first, up to a length. Hops are at least 0
/// where a node is reached, other lengths finite.
#[pyfunction]
#[pyo3(signature = (nodes, column, cutoff=None))]
pub(crate) fn nearest_first<'py>(
    py: Python<'py>,
    nodes: &Bound<'py, PyList>,
    column: &Column,
    cutoff: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    check(nodes, column)?;
    let (array, limit) = (column.array(), cutoff.unwrap_or(f64::INFINITY));
    let dict = PyDict::new(py);
    match array.data_type() {
        DataType::Int32 => {
            let hops = array.as_primitive::<Int32Type>().values();
            for (level, members) in (0u32..).zip(levels(hops)) {
                if f64::from(level) > limit {
                    break;
                }
                let level = PyInt::new(py, level);
                members.iter().try_for_each(|&at| dict.set_item(nodes.get_item(at)?, &level))?;
            }
        }
        DataType::Float64 => {
            let lengths = array.as_primitive::<Float64Type>().values();
            let reached = |&at: &usize| lengths[at].is_finite() && lengths[at] <= limit;
            let mut order: Vec<usize> = (0..lengths.len()).filter(reached).collect();
            // Stable: of equally far ones the order is that of the nodes.
            order.sort_by(|&a, &b| lengths[a].total_cmp(&lengths[b]));
            for at in order {
                dict.set_item(nodes.get_item(at)?, PyFloat::new(py, lengths[at]))?;
            }
        }
        other => return Err(internal(&format!("lengths in a column of {other}"))),
    }
    Ok(dict)
}

/// Hops as lengths: infinite where a node is not reached.
#[pyfunction]
pub(crate) fn lengths(hops: &Column) -> PyResult<Column> {
    match hops.array().data_type() {
        DataType::Int32 => {
            let hops = hops.array().as_primitive::<Int32Type>().values();
            let length = |&hops: &i32| if hops < 0 { f64::INFINITY } else { f64::from(hops) };
            Ok(Column::floats(hops.iter().map(length).collect()))
        }
        other => Err(internal(&format!("hops in a column of {other}"))),
    }
}

/// The places of the values 0, 1, 2 and so on.
fn levels(hops: &[i32]) -> Vec<Vec<usize>> {
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (at, &hops) in hops.iter().enumerate() {
        let Ok(level) = usize::try_from(hops) else { continue };
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(at);
    }
    levels
}

fn check(nodes: &Bound<'_, PyList>, column: &Column) -> PyResult<()> {
    if nodes.len() == column.array().len() {
        return Ok(());
    }
    Err(InvalidError::new_err("there is one node per value"))
}
