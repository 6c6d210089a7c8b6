//! Where readers put what they read, record by record, without a copy in between.

use std::error::Error;
use std::ops::RangeInclusive;

use crate::key::{Key, KeyKind, KeyRef};

/// What is known of a graph before its first vertex and edge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether every edge comes with a weight. If not, none does.
    pub weighted: bool,
    /// Numbers or texts, never dense.
    pub keys: KeyKind,
    /// Whether every vertex is passed before the first edge. If not, the ends of edges are all the
    /// vertices there are, and none is passed.
    pub vertices_listed: bool,
    /// How many vertices there will be, if the file says it.
    pub vertices: Option<u64>,
    /// How many records of edges there are, if the file says it: a hint for reserving memory, no
    /// greater than the length of the file allows. Duplicates and self loops count.
    pub edges: Option<u64>,
    /// Whether an edge that is there with an equal weight may come again.
    pub(crate) repeats: Repeats,
}

/// Whether a format lists an undirected edge more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// An edge that stands twice is a duplicate.
    Duplicate,
    /// An edge that stands twice with equal weights is one edge.
    Same,
}

/// An edge as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<'a> {
    /// The first end: where a directed edge starts.
    pub from: KeyRef<'a>,
    /// The second end.
    pub to: KeyRef<'a>,
    /// The weight, a finite number; there exactly if the header says so.
    pub weight: Option<f64>,
}

/// Why a sink did not take a record.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal<E> {
    /// The edge is there already, with this weight. The options of the reader say whether that is
    /// an error.
    DuplicateEdge {
        /// The weight it has, if edges have one.
        weight: Option<f64>,
    },
    /// The vertex is there already. The options of the reader say whether that is an error.
    DuplicateVertex,
    /// An end of the edge is not among the listed vertices.
    UnknownVertex(Key),
    /// The sink failed. Reading stops.
    Failed(E),
}

impl<E> From<E> for Refusal<E> {
    fn from(error: E) -> Self {
        Self::Failed(error)
    }
}

/// Takes a graph record by record.
///
/// The calls come in this order: [`Sink::begin`] once, then all vertices if they are listed, then
/// edges. An error may come after any of them; what was taken until then is the caller's to undo.
pub trait Sink {
    /// What can go wrong in the sink itself.
    type Error: Error + Send + Sync + 'static;

    /// Hears what is known before the first record.
    fn begin(&mut self, header: &Header) -> Result<(), Self::Error>;

    /// Takes a vertex of a listed set.
    fn vertex(&mut self, key: KeyRef<'_>) -> Result<(), Refusal<Self::Error>>;

    /// Takes the vertices with these numbers at once, where a format numbers them and the sink has
    /// a short way. `None`: it has none, and they come one by one.
    fn vertex_range(&mut self, keys: RangeInclusive<u64>) -> Option<Result<(), Self::Error>> {
        let _ = keys;
        None
    }

    /// Takes an edge. Where vertices are not listed its ends are new vertices if they are not
    /// there.
    fn edge(&mut self, edge: Edge<'_>) -> Result<(), Refusal<Self::Error>>;
}

/// What a reader has passed to its sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Lines read.
    pub lines: u64,
    /// Vertices taken, where they are listed.
    pub vertices: u64,
    /// Edges taken.
    pub edges: u64,
    /// Vertices left out because they were there before.
    pub duplicate_vertices: u64,
    /// Edges left out because they were there before.
    pub duplicate_edges: u64,
    /// Self loops left out.
    pub self_loops: u64,
}
