//! Keys of vertices between Python and the store: an `int` or a `str` each.

use evergraph::graph::{Key, KeyKind, KeyRef};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyInt, PyString};

use crate::error::InvalidError;

/// A key as Python gave it.
pub(crate) enum PyKey {
    Number(u64),
    Text(PyBackedStr),
}

impl<'py> FromPyObject<'_, 'py> for PyKey {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Text(text.to_owned().try_into()?));
        }
        object.extract::<u64>().map(Self::Number).map_err(|_| {
            let given = object.repr().map_or_else(|_| "this".into(), |repr| repr.to_string());
            InvalidError::new_err(format!(
                "{given} is no key of a vertex; keys are whole numbers from 0 to 2**64 - 1, or texts"
            ))
        })
    }
}

impl<'k> From<&'k PyKey> for KeyRef<'k> {
    fn from(key: &'k PyKey) -> Self {
        match key {
            PyKey::Number(number) => KeyRef::Number(*number),
            PyKey::Text(text) => KeyRef::Text(text),
        }
    }
}

/// The Python object for a key.
pub(crate) fn object<'py>(py: Python<'py>, key: KeyRef<'_>) -> Bound<'py, PyAny> {
    match key {
        KeyRef::Number(number) => PyInt::new(py, number).into_any(),
        KeyRef::Text(text) => PyString::new(py, text).into_any(),
    }
}

/// Neighbours as pairs of a key and a weight.
pub(crate) fn pairs<'py>(py: Python<'py>, list: &[(Key, f64)]) -> Vec<(Bound<'py, PyAny>, f64)> {
    list.iter().map(|(key, weight)| (object(py, key.as_ref()), *weight)).collect()
}

/// The word for a kind of key.
pub(crate) fn word(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Dense => "dense",
        KeyKind::Number => "number",
        KeyKind::Text => "text",
    }
}
