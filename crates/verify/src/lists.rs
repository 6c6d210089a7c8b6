//! Lists on a graph, so that the order of writes can be seen.
//!
//! A list is a vertex, an append an edge from there to the vertex that stands for the element, and
//! the weight of the edge is the place of the element in the list. Its length is the weight of a
//! self loop at the vertex, which the first append adds and later ones change: so two appends to
//! one list change the same edge, which snapshot isolation forbids, as it does for a list that is
//! one item. Or there is no loop, and the length is how many edges there are: then two appends
//! meet only in what they read, which serializable transactions alone keep apart. Whoever reads a list checks that its places are `0 .. length`: a read that is torn
//! between the two edges of an append is found at once.

use evergraph::graph::Key;
use evergraph::{Snapshot, StoreError, Transaction};

/// Which edges of its vertex make a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Those from it.
    Out,
    /// Those to it: the other list of the same edges.
    In,
    /// All; edges have no direction.
    Undirected,
}

/// Where the length of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// It is kept in a self loop.
    Kept,
    /// It is counted by whoever appends.
    Counted,
}

/// How a list is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its edges.
    pub form: Form,
    /// Its length.
    pub length: Length,
}

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// It showed what no commit left behind.
    #[error("list {list} was read as {elements:?}, with length {length}: half of an append")]
    Torn {
        /// The vertex of the list.
        list: u64,
        /// Its elements with their places.
        elements: Vec<(u64, f64)>,
        /// Its length, 0 if there is no self loop that keeps it.
        length: f64,
    },
    /// The store refused the read.
    #[error("the store refused a step: {0}")]
    Refused(#[from] StoreError),
}

/// Puts an element at the end of a list.
pub fn append(
    tx: &mut Transaction<'_>,
    shape: Shape,
    (list, element): (u64, u64),
) -> Result<(), StoreError> {
    let length = match (shape.length, shape.form) {
        (Length::Kept, _) => take_place(tx, list)?,
        (Length::Counted, Form::In) => f64::from(tx.in_degree(list)?),
        (Length::Counted, Form::Out | Form::Undirected) => f64::from(tx.degree(list)?),
    };
    let (source, target) = match shape.form {
        Form::Out | Form::Undirected => (list, element),
        Form::In => (element, list),
    };
    tx.add_weighted_edge(source, target, length)
}

/// Raises the length that is kept of a list; the length before.
fn take_place(tx: &mut Transaction<'_>, list: u64) -> Result<f64, StoreError> {
    let length = tx.weight(list, list)?;
    match length {
        Some(length) => tx.set_weight(list, list, length + 1.0)?,
        None => tx.add_weighted_edge(list, list, 1.0)?,
    }
    Ok(length.unwrap_or(0.0))
}

/// The elements of a list, in order.
pub fn read(from: &impl Edges, shape: Shape, list: u64) -> Result<Vec<u64>, ListError> {
    let edges = match shape.form {
        Form::Out | Form::Undirected => from.out_edges(list)?,
        Form::In => from.in_edges(list)?,
    };
    let mut length = 0.0;
    let mut elements = Vec::with_capacity(edges.len());
    for (other, weight) in edges {
        match other {
            Key::Number(other) if other == list => length = weight,
            Key::Number(other) => elements.push((other, weight)),
            Key::Text(_) => unreachable!("the keys are numbers"),
        }
    }
    elements.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    if shape.length == Length::Counted {
        length = elements.len() as f64;
    }
    let mut places = elements.iter().map(|&(_, weight)| weight).zip(0u32..);
    if length != elements.len() as f64 || !places.all(|(weight, place)| weight == f64::from(place))
    {
        return Err(ListError::Torn { list, elements, length });
    }
    Ok(elements.into_iter().map(|(element, _)| element).collect())
}

/// What lists are read from.
pub trait Edges {
    /// The out-edges of a vertex.
    fn out_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError>;
    /// The in-edges of a vertex.
    fn in_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError>;
}

impl Edges for Transaction<'_> {
    fn out_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError> {
        self.neighbours(vertex)
    }

    fn in_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError> {
        self.in_neighbours(vertex)
    }
}

impl Edges for Snapshot {
    fn out_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError> {
        self.neighbours(vertex)
    }

    fn in_edges(&self, vertex: u64) -> Result<Vec<(Key, f64)>, StoreError> {
        self.in_neighbours(vertex)
    }
}
