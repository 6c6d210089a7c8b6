//! Whole graphs into a new database: from columns of edges, from files and generators.

use std::path::PathBuf;

use evergraph::Error;
use evergraph::graph::rank::by_rank;
use evergraph::graph::read::{Duplicates, KeyChoice, ReadOptions, SelfLoops};
use evergraph::graph::{EdgeList, GraphSource, KeyKind, KeyTable, MAX_VERTICES, VertexId};
use pyo3::prelude::*;

use crate::column::{Keys, Weights};
use crate::edges::Edges;
use crate::error::{InvalidError, LimitError};
use crate::run::{Listener, run};
use crate::store::{Store, key_kind, no_such};

/// What a database of columns is like, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Shape {
    directed: bool,
    /// `"number"`, `"text"` or `"dense"`.
    keys: String,
}

/// Makes a database of columns of edges.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    ends: (Keys, Keys),
    weights: Option<Weights>,
    // Those that need no edge to be there.
    vertices: Option<Keys>,
    shape: Shape,
) -> PyResult<Store> {
    let edges = Edges::new(ends.0, ends.1, weights)?;
    let kind = key_kind(&shape.keys)?;
    let list = run(py, |_| Ok(edge_list(edges, vertices, (kind, shape.directed))))??;
    store(py, |_| Ok(list))
}

/// A graph file and how it is read, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Source {
    path: String,
    format: Option<String>,
    directed: Option<bool>,
    weighted: bool,
    /// `"auto"`, `"number"` or `"text"`.
    keys: String,
    /// `"error"` or `"ignore"`.
    duplicates: String,
    /// `"allow"`, `"forbid"` or `"drop"`.
    self_loops: String,
    vertices: Option<PathBuf>,
}

/// Makes a database of a graph file, or of a generated graph.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, source: Source) -> PyResult<Store> {
    let options = read_options(&source)?;
    let source: Result<GraphSource, _> = source.path.parse();
    let source = source.map_err(|error| InvalidError::new_err(error.to_string()))?;
    store(py, |listener| Ok(source.load(&options, listener)?))
}

fn read_options(source: &Source) -> PyResult<ReadOptions> {
    let format = source.format.as_deref().map(str::parse).transpose();
    Ok(ReadOptions {
        format: format.map_err(|error: evergraph::graph::read::NoSuchFormat| {
            InvalidError::new_err(error.to_string())
        })?,
        directed: source.directed,
        weighted: source.weighted,
        keys: match source.keys.as_str() {
            "auto" => KeyChoice::Auto,
            "number" => KeyChoice::Number,
            "text" => KeyChoice::Text,
            other => return Err(no_such("keys", other, "auto, number or text")),
        },
        duplicates: match source.duplicates.as_str() {
            "error" => Duplicates::Error,
            "ignore" => Duplicates::Ignore,
            other => return Err(no_such("duplicates", other, "error or ignore")),
        },
        self_loops: match source.self_loops.as_str() {
            "allow" => SelfLoops::Allow,
            "forbid" => SelfLoops::Forbid,
            "drop" => SelfLoops::Drop,
            other => return Err(no_such("self_loops", other, "allow, forbid or drop")),
        },
        vertices: source.vertices.clone(),
    })
}

/// Loads what `list` gives into a new database.
fn store(
    py: Python<'_>,
    list: impl FnOnce(&Listener<'_>) -> evergraph::Result<EdgeList> + Send,
) -> PyResult<Store> {
    let db = run(py, |cancel| {
        let listener = Listener(cancel);
        let list = list(&listener).map_err(|error| match error {
            // A reader that was stopped says so in its own words.
            _ if cancel.is_cancelled() => Error::Interrupted,
            error => error,
        })?;
        evergraph::load(&list, &listener)
    })?;
    Ok(Store::new(db))
}

/// Numbers the ends of edges: numbers by their rank, dense ones are what they are. Where vertices are
/// given they come first, then ends as they come, and so it is with texts.
fn edge_list(
    edges: Edges,
    vertices: Option<Keys>,
    (kind, directed): (KeyKind, bool),
) -> PyResult<EdgeList> {
    let Edges { source, target, weights } = edges;
    let weights = weights.map(|weights| weights.0.to_vec());
    if let (KeyKind::Number, Keys::Numbers(source), Keys::Numbers(target), None) =
        (kind, &source, &target, &vertices)
    {
        let (keys, edges) = by_rank(source, target).ok_or_else(full)?;
        return Ok(EdgeList { directed, keys, edges, weights });
    }
    let mut keys = match kind {
        KeyKind::Dense => dense_table(vertices.as_ref(), &source, &target)?,
        kind => KeyTable::empty(kind),
    };
    if kind != KeyKind::Dense {
        for key in vertices.iter().flat_map(Keys::iter) {
            id(&mut keys, key)?;
        }
    }
    let mut list = Vec::with_capacity(source.len());
    for at in 0..source.len() {
        list.push((id(&mut keys, source.key(at))?, id(&mut keys, target.key(at))?));
    }
    Ok(EdgeList { directed, keys, edges: list, weights })
}

/// The dense table that holds all these keys.
fn dense_table(vertices: Option<&Keys>, source: &Keys, target: &Keys) -> PyResult<KeyTable> {
    let mut bound = 0;
    for keys in vertices.into_iter().chain([source, target]) {
        let Keys::Numbers(numbers) = keys else {
            return Err(InvalidError::new_err("dense keys are numbers; these are texts"));
        };
        bound = numbers.iter().fold(bound, |bound, number| bound.max(number.saturating_add(1)));
    }
    match u32::try_from(bound) {
        Ok(bound) if bound <= MAX_VERTICES => Ok(KeyTable::dense(bound)),
        _ => Err(LimitError::new_err(format!("dense keys are below {MAX_VERTICES}"))),
    }
}

fn full() -> PyErr {
    LimitError::new_err(format!("a graph holds {MAX_VERTICES} vertices"))
}

fn id(keys: &mut KeyTable, key: evergraph::graph::KeyRef<'_>) -> PyResult<VertexId> {
    use evergraph::graph::key::KeyRefusal;
    keys.get_or_push(key).map_err(|refusal| match refusal {
        KeyRefusal::Full => full(),
        _ => InvalidError::new_err(format!(
            "{key} is not a key of this graph; say keys=\"text\" for texts, \"number\" for numbers"
        )),
    })
}
