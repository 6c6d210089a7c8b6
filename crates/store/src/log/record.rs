//! One transaction as bytes: what it did, in an order in which it can be done again.
//!
//! # Layout
//! ```text
//!  record   count of items: varint | item ..
//!  item     kind: u8 | fields
//!    0 AddVertex      id: u32 | key        key: nothing (dense), u64, or length: varint | text
//!    1 RemoveVertex   id: u32
//!    2 AddEdge        source: u32 | target: u32 | weight        weight: nothing, f32 or f64
//!    3 SetWeight      source: u32 | target: u32 | weight
//!    4 RemoveEdge     source: u32 | target: u32
//!    5 Position       length of the name: u32 | version: u64 | name
//! ```
//!   All numbers are little-endian; a varint has seven bits in a byte, the lowest first.
//! # Invariants
//!   - An id stands for the key it was added with until it is added again.
//!   - A record says what changed, not what was asked for: it can be done again without checks.

use evergraph_graph::{KeyKind, KeyRef, VertexId};

use crate::engine::fat_tree::{Changes, EdgeChange, Effect};
use crate::options::Weights;

const ADD_VERTEX: u8 = 0;
const REMOVE_VERTEX: u8 = 1;
const ADD_EDGE: u8 = 2;
const SET_WEIGHT: u8 = 3;
const REMOVE_EDGE: u8 = 4;
const POSITION: u8 = 5;

/// What decides how long fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) keys: KeyKind,
    pub(crate) weights: Weights,
}

/// One item of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    AddVertex(VertexId, KeyRef<'a>),
    RemoveVertex(VertexId),
    AddEdge(VertexId, VertexId, f64),
    SetWeight(VertexId, VertexId, f64),
    RemoveEdge(VertexId, VertexId),
    /// How far the reader of that name is.
    Position(&'a str, u64),
}

/// A record or a part of one that is being made; that of a small transaction stays off the heap.
pub(crate) type Record = smallvec::SmallVec<[u8; 32]>;

/// Appends what a transaction changes; `key` knows the keys of the vertices it adds.
pub(crate) fn encode(
    sink: &mut Record,
    shape: Shape,
    changes: Changes<'_>,
    mut key: impl FnMut(VertexId, &mut dyn FnMut(KeyRef<'_>)),
) {
    if let Changes { vertices: [], edges: [change], positions: [], .. } = changes
        && change.effect != Effect::None
    {
        // The count and the item at once: most records are such.
        let mut bytes = [0; 1 + EDGE_MAX];
        bytes[0] = 1;
        let length = shape.edge(change, &mut bytes[1..]);
        return sink.extend_from_slice(&bytes[..=length]);
    }
    let vertices = changes.vertices.iter().filter(|change| change.expected != change.present);
    let edges = changes.edges.iter().filter(|change| change.effect != Effect::None);
    let items = vertices.clone().count() + edges.clone().count() + changes.positions.len();
    put_varint(sink, items as u64);
    for change in vertices {
        if change.present {
            put_ids(sink, ADD_VERTEX, &[change.vertex]);
            key(change.vertex, &mut |key| shape.put_key(sink, key));
        } else {
            put_ids(sink, REMOVE_VERTEX, &[change.vertex]);
        }
    }
    for change in edges {
        let mut bytes = [0; EDGE_MAX];
        let length = shape.edge(change, &mut bytes);
        sink.extend_from_slice(&bytes[..length]);
    }
    for (name, version) in changes.positions {
        put_ids(sink, POSITION, &[name.len() as u32]);
        sink.extend_from_slice(&version.0.to_le_bytes());
        sink.extend_from_slice(name.as_bytes());
    }
}

/// Bytes of an item about an edge, at most: kind, ends, weight.
pub(crate) const EDGE_MAX: usize = 1 + 4 + 4 + 8;

#[inline]
fn put_varint(sink: &mut Record, mut value: u64) {
    while value >= 0x80 {
        sink.extend_from_slice(&[value as u8 | 0x80]);
        value >>= 7;
    }
    sink.extend_from_slice(&[value as u8]);
}

impl Shape {
    /// Writes an item about an edge to the start of `bytes`; how long it is.
    #[inline]
    fn edge(self, change: &EdgeChange, bytes: &mut [u8]) -> usize {
        let (kind, weight) = match change.effect {
            Effect::Add(weight) => (ADD_EDGE, Some(weight)),
            Effect::Set(weight) => (SET_WEIGHT, Some(weight)),
            Effect::Remove | Effect::None => (REMOVE_EDGE, None),
        };
        bytes[0] = kind;
        bytes[1..5].copy_from_slice(&change.source.to_le_bytes());
        bytes[5..9].copy_from_slice(&change.target.to_le_bytes());
        9 + weight.map_or(0, |weight| self.weight(weight, &mut bytes[9..]))
    }

    /// Writes a weight to the start of `bytes`; how long it is.
    #[inline]
    fn weight(self, weight: f64, bytes: &mut [u8]) -> usize {
        match self.weights {
            Weights::None => {}
            Weights::F32 => bytes[..4].copy_from_slice(&(weight as f32).to_le_bytes()),
            Weights::F64 => bytes[..8].copy_from_slice(&weight.to_le_bytes()),
        }
        self.weights.bytes()
    }

    /// Appends a key. A dense one is its id, and takes nothing.
    pub(crate) fn put_key(self, sink: &mut Record, key: KeyRef<'_>) {
        match (self.keys, key) {
            (KeyKind::Dense, _) => {}
            (_, KeyRef::Number(number)) => sink.extend_from_slice(&number.to_le_bytes()),
            (_, KeyRef::Text(text)) => {
                put_varint(sink, text.len() as u64);
                sink.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Appends a weight as long as those of the database are.
    #[inline]
    pub(crate) fn put_weight(self, sink: &mut Record, weight: f64) {
        let mut bytes = [0; 8];
        let length = self.weight(weight, &mut bytes);
        sink.extend_from_slice(&bytes[..length]);
    }
}

#[inline]
fn put_ids(sink: &mut Record, kind: u8, ids: &[VertexId]) {
    let mut bytes = [0; 9];
    bytes[0] = kind;
    for (at, id) in ids.iter().enumerate() {
        bytes[1 + 4 * at..5 + 4 * at].copy_from_slice(&id.to_le_bytes());
    }
    sink.extend_from_slice(&bytes[..=4 * ids.len()]);
}

/// Takes bytes apart. Every length is checked against what is left before it is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    shape: Shape,
}

/// Bytes that are no record: what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8], shape: Shape) -> Self {
        Self { bytes, shape }
    }

    /// Bytes left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.bytes.is_empty() { Ok(()) } else { Err(Malformed("it holds more than it says")) }
    }

    pub(crate) fn long(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Takes one record, and passes its items on in order.
    pub(crate) fn record(
        &mut self,
        mut take: impl FnMut(Item<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let items = self.varint()?;
        for _ in 0..items {
            take(self.item()?)?;
        }
        Ok(())
    }

    fn item(&mut self) -> Result<Item<'a>, Malformed> {
        let kind = self.byte()?;
        if kind == POSITION {
            let (length, version) = (self.number()? as usize, self.long()?);
            return Ok(Item::Position(self.text(length)?, version));
        }
        let first = self.id()?;
        Ok(match kind {
            ADD_VERTEX => Item::AddVertex(first, self.key(first)?),
            REMOVE_VERTEX => Item::RemoveVertex(first),
            ADD_EDGE => Item::AddEdge(first, self.id()?, self.weight()?),
            SET_WEIGHT => Item::SetWeight(first, self.id()?, self.weight()?),
            REMOVE_EDGE => Item::RemoveEdge(first, self.id()?),
            _ => return Err(Malformed("no such kind of change")),
        })
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) =
            self.bytes.split_at_checked(len).ok_or(Malformed("it ends too early"))?;
        self.bytes = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, left) = self.bytes.split_first_chunk().ok_or(Malformed("it ends too early"))?;
        self.bytes = left;
        Ok(*taken)
    }

    pub(crate) fn number(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    /// An id, which is one that a vertex can have.
    pub(crate) fn id(&mut self) -> Result<VertexId, Malformed> {
        let id = self.number()?;
        if id < evergraph_graph::MAX_VERTICES {
            Ok(id)
        } else {
            Err(Malformed("no vertex has this id"))
        }
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed("a length takes too many bytes"))
    }

    /// The key of a vertex.
    pub(crate) fn key(&mut self, id: VertexId) -> Result<KeyRef<'a>, Malformed> {
        match self.shape.keys {
            KeyKind::Dense => Ok(KeyRef::from(id)),
            KeyKind::Number => Ok(KeyRef::Number(self.long()?)),
            KeyKind::Text => {
                let len = self.varint()?;
                let len = usize::try_from(len).map_err(|_| Malformed("a key is too long"))?;
                self.text(len).map(KeyRef::Text)
            }
        }
    }

    /// A text of so many bytes.
    pub(crate) fn text(&mut self, len: usize) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.take(len)?).map_err(|_| Malformed("a text is no UTF-8"))
    }

    /// The weight of an edge; 1 if edges carry none.
    pub(crate) fn weight(&mut self) -> Result<f64, Malformed> {
        Ok(match self.shape.weights {
            Weights::None => 1.0,
            Weights::F32 => f64::from(f32::from_le_bytes(self.array()?)),
            Weights::F64 => f64::from_le_bytes(self.array()?),
        })
    }
}
