//! Columns: what comes in as arrays and goes out as arrays.
//!
//! A column is an Arrow array. Arrow data of the right type comes in and goes out without a copy
//! (the C data interface); signed numbers are looked at once for negative ones and kept where they
//! are. `NumPy` arrays are copied once, either way.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
use arrow_array::{Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat;
use evergraph::graph::KeyRef;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::error::{InvalidError, internal};

/// A column of an answer.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Column {
    array: ArrayRef,
    /// Whether values may be missing.
    nullable: bool,
}

impl Column {
    pub(crate) fn new(array: ArrayRef) -> Self {
        Self { array, nullable: false }
    }

    /// A column whose values may be missing, whether or not one is.
    pub(crate) fn nullable(array: ArrayRef) -> Self {
        Self { array, nullable: true }
    }

    /// Moments, in microseconds since 1970.
    pub(crate) fn times(micros: Vec<i64>) -> Self {
        Self::new(Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC")))
    }

    pub(crate) fn floats(values: Vec<f64>) -> Self {
        Self::new(Arc::new(Float64Array::from(values)))
    }

    pub(crate) fn numbers(values: Vec<u64>) -> Self {
        Self::new(Arc::new(UInt64Array::from(values)))
    }

    /// Hops; what is not reached, the greatest `u32`, becomes -1.
    pub(crate) fn hops(levels: Vec<u32>) -> Self {
        let levels = ScalarBuffer::from(levels).into_inner();
        Self::new(Arc::new(Int32Array::new(ScalarBuffer::from(levels), None)))
    }

    pub(crate) fn array(&self) -> &ArrayRef {
        &self.array
    }

    fn object_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("array", (self.to_list(py)?, "O"))
    }

    fn field(&self, name: &str) -> Field {
        Field::new(name, self.array.data_type().clone(), self.nullable)
    }

    /// The values of an array of numbers as Python objects.
    fn objects<'py, T: ArrowPrimitiveType>(
        &self,
        py: Python<'py>,
        object: impl Fn(T::Native) -> Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let values = self.array.as_primitive::<T>();
        PyList::new(py, values.iter().map(|value| value.map(&object)))
    }
}

/// A moment as an aware `datetime`.
fn moment(py: Python<'_>, micros: i64) -> PyResult<Bound<'_, PyAny>> {
    let datetime = py.import("datetime")?;
    let utc = datetime.getattr("timezone")?.getattr("utc")?;
    let epoch = datetime.getattr("datetime")?.call_method1("fromtimestamp", (0, utc))?;
    let since = datetime.getattr("timedelta")?.call1((0, 0, micros))?;
    epoch.add(since)
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The values as a new `NumPy` array. Texts become an array of objects, and so does whatever may
    /// be missing, but for floats, where it is NaN.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.array.data_type() {
            DataType::Float64 if self.nullable => {
                let values = self.array.as_primitive::<Float64Type>().iter();
                let values = values.map(|value| value.unwrap_or(f64::NAN));
                PyArray1::from_iter(py, values).into_any()
            }
            _ if self.nullable => self.object_array(py)?,
            DataType::Float64 => {
                PyArray1::from_slice(py, self.array.as_primitive::<Float64Type>().values())
                    .into_any()
            }
            DataType::Int32 => {
                PyArray1::from_slice(py, self.array.as_primitive::<Int32Type>().values()).into_any()
            }
            DataType::UInt64 => {
                PyArray1::from_slice(py, self.array.as_primitive::<UInt64Type>().values())
                    .into_any()
            }
            DataType::UInt32 => {
                PyArray1::from_slice(py, self.array.as_primitive::<UInt32Type>().values())
                    .into_any()
            }
            DataType::Timestamp(..) => {
                let micros = self.array.as_primitive::<TimestampMicrosecondType>().values();
                PyArray1::from_slice(py, micros).call_method1("view", ("datetime64[us]",))?
            }
            _ => self.object_array(py)?,
        })
    }

    /// The values as a list of Python objects; what is missing is `None`.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.array.data_type() {
            DataType::Float64 => {
                self.objects::<Float64Type>(py, |value| PyFloat::new(py, value).into_any())
            }
            DataType::Int32 => {
                self.objects::<Int32Type>(py, |value| PyInt::new(py, value).into_any())
            }
            DataType::UInt64 => {
                self.objects::<UInt64Type>(py, |value| PyInt::new(py, value).into_any())
            }
            DataType::UInt32 => {
                self.objects::<UInt32Type>(py, |value| PyInt::new(py, value).into_any())
            }
            DataType::Timestamp(..) => {
                let micros = self.array.as_primitive::<TimestampMicrosecondType>().values();
                let moments: Vec<_> =
                    micros.iter().map(|&at| moment(py, at)).collect::<PyResult<_>>()?;
                PyList::new(py, moments)
            }
            DataType::Utf8 => {
                let texts = self.array.as_string::<i32>().iter();
                let texts: Vec<_> =
                    texts.map(|text| text.map(|text| PyString::new(py, text))).collect();
                PyList::new(py, texts)
            }
            other => Err(internal(&format!("a column of {other}"))),
        }
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let field = Arc::new(self.field(""));
        Ok(to_array_pycapsules(py, field, &self.array, requested_schema)?)
    }
}

/// An Arrow stream of one batch with these columns.
#[pyfunction]
#[pyo3(signature = (names, columns, requested_schema=None))]
pub(crate) fn stream<'py>(
    py: Python<'py>,
    names: Vec<String>,
    columns: Vec<PyRef<'py, Column>>,
    requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let fields = names.iter().zip(&columns);
    let fields = fields.map(|(name, column)| column.field(name));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|column| Arc::clone(&column.array)).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
    let batch = batch.map_err(|error| InvalidError::new_err(error.to_string()))?;
    let field = Arc::new(Field::new_struct("", schema.fields().clone(), false));
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    let arrays = batches.map(|batch| {
        batch.map(|batch| Arc::new(arrow_array::StructArray::from(batch)) as ArrayRef)
    });
    Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, field)), requested_schema)?)
}

/// Keys of vertices that came in as an array.
pub(crate) enum Keys {
    Numbers(ScalarBuffer<u64>),
    Texts(StringArray),
}

impl Keys {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    pub(crate) fn key(&self, at: usize) -> KeyRef<'_> {
        match self {
            Self::Numbers(numbers) => KeyRef::Number(numbers[at]),
            Self::Texts(texts) => KeyRef::Text(texts.value(at)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = KeyRef<'_>> {
        (0..self.len()).map(|at| self.key(at))
    }
}

impl<'py> FromPyObject<'_, 'py> for Keys {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(numbers) = object.extract::<PyReadonlyArray1<'py, u64>>() {
            return Ok(Self::Numbers(numbers.as_slice()?.to_vec().into()));
        }
        if let Ok(numbers) = object.extract::<PyReadonlyArray1<'py, i64>>() {
            return Ok(Self::Numbers(unsigned(numbers.as_slice()?.to_vec().into())?));
        }
        if let Ok(texts) = object.cast::<PyList>() {
            let texts: Vec<String> = texts.extract()?;
            return Ok(Self::Texts(StringArray::from(texts)));
        }
        let array = arrow(object)?;
        match array.data_type() {
            DataType::UInt64 => {
                Ok(Self::Numbers(array.as_primitive::<UInt64Type>().values().clone()))
            }
            DataType::Int64 => {
                unsigned(array.as_primitive::<Int64Type>().values().clone()).map(Self::Numbers)
            }
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Dictionary(..) => {
                let array = cast(&array, &DataType::Utf8)?;
                Ok(Self::Texts(array.as_string::<i32>().clone()))
            }
            kind if kind.is_integer() => {
                let array = cast(&array, &DataType::UInt64)?;
                Ok(Self::Numbers(array.as_primitive::<UInt64Type>().values().clone()))
            }
            other => Err(InvalidError::new_err(format!(
                "a column of {other} holds no keys; keys are whole numbers or texts"
            ))),
        }
    }
}

/// Weights of edges that came in as an array.
pub(crate) struct Weights(pub(crate) ScalarBuffer<f64>);

impl<'py> FromPyObject<'_, 'py> for Weights {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(values) = object.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(Self(values.as_slice()?.to_vec().into()));
        }
        let array = cast(&arrow(object)?, &DataType::Float64)?;
        Ok(Self(array.as_primitive::<Float64Type>().values().clone()))
    }
}

/// One array of whatever speaks Arrow.
fn arrow(object: Borrowed<'_, '_, PyAny>) -> PyResult<ArrayRef> {
    let array: AnyArray = object.extract().map_err(|_: PyErr| {
        PyTypeError::new_err("an array is wanted: NumPy, pandas, Polars, Arrow, or a list")
    })?;
    let (chunks, field) = array.into_chunked_array()?.into_inner();
    let array = match chunks.as_slice() {
        [] => arrow_array::new_empty_array(field.data_type()),
        [only] => Arc::clone(only),
        chunks => {
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            concat(&chunks).map_err(|error| InvalidError::new_err(error.to_string()))?
        }
    };
    if array.null_count() > 0 {
        return Err(InvalidError::new_err(format!(
            "{} values of a column are missing; fill them or leave the rows out",
            array.null_count()
        )));
    }
    Ok(array)
}

/// The same values in another type; those that it cannot hold are an error.
fn cast(array: &ArrayRef, to: &DataType) -> PyResult<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| InvalidError::new_err(error.to_string()))
}

/// The same numbers, in the same memory.
fn unsigned(numbers: ScalarBuffer<i64>) -> PyResult<ScalarBuffer<u64>> {
    if let Some(at) = numbers.iter().position(|&number| number < 0) {
        let number = numbers[at];
        return Err(InvalidError::new_err(format!(
            "the key {number} at position {at} is negative; keys are numbers from 0 on, or texts"
        )));
    }
    let array = Int64Array::new(numbers, None);
    let (_, values, _) = array.into_parts();
    Ok(ScalarBuffer::from(values.into_inner()))
}
