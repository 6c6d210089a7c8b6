//! A sink that collects a graph into an edge list, and gives vertices their ids afterwards.
//!
//! # Why afterwards
//!   A look-up per end while reading costs more than the reading. Instead the keys themselves are
//!   collected, four bytes each while they fit; then a bit per key, counted up, turns every key
//!   into its rank. Duplicates are found by sorting a scrambled copy of the edges.
//!
//! # Which line
//!   What is found afterwards is named by the number of its record. The file is then read once
//!   more up to that record for its line; that happens on the way to an error only.

mod ends;
mod locate;
mod number;
mod repeats;

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Source;
use super::error::{Place, ReadError};
use super::input::Meter;
use super::options::{Duplicates, ReadOptions};
use super::sink::{Edge, Header, Refusal, Sink};
use crate::edges::EdgeList;
use crate::id::VertexId;
use crate::key::{KeyKind, KeyRef, KeyRefusal, KeyTable};
use crate::memory;
use crate::progress::Stage;
use ends::Ends;
use locate::Finder;

/// Records that a growing list starts with room for.
const ROOM_MIN: usize = 1 << 12;
/// Lists below this size grow without asking how much memory there is.
const UNCHECKED_BYTES: u64 = 64 << 20;
/// Reads a graph into an edge list.
pub(super) fn load(
    source: &Source<'_>,
    options: &ReadOptions,
    meter: &Arc<Meter<'_>>,
) -> Result<EdgeList, ReadError> {
    let mut collector = Collector::new(memory::available);
    source.read(options, meter, &mut collector).map_err(unwrap_refusal)?;
    let finder = Finder { source, options, meter, budget: memory::available };
    meter.report(Stage::Arranging)?;
    collector.finish(options.duplicates, &finder)
}

/// Turns the collector's own errors into those of the reader.
fn unwrap_refusal(error: ReadError) -> ReadError {
    match error {
        ReadError::Refused { at, source } => match source.downcast::<CollectError>() {
            Ok(own) => own.at(at),
            Err(source) => ReadError::Refused { at, source },
        },
        other => other,
    }
}

/// Why the collector cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum CollectError {
    #[error("needs {needed} bytes of {available}")]
    TooLarge { needed: u64, available: u64 },
    #[error("too many vertices")]
    TooManyVertices,
}

impl CollectError {
    fn at(self, at: Place) -> ReadError {
        match self {
            Self::TooLarge { needed, available } => ReadError::TooLarge { at, needed, available },
            Self::TooManyVertices => ReadError::TooManyVertices { at },
        }
    }
}

/// How much memory is free, if that can be known.
type Budget = fn() -> Option<u64>;

/// Collects vertices and edges.
struct Collector {
    budget: Budget,
    header: Option<Header>,
    vertices: Vertices,
    ends: Ends,
    weights: Vec<f64>,
}

/// The vertices, as far as they are known while edges come in.
enum Vertices {
    /// Numbers; the ends of edges are all there are.
    Unlisted,
    /// Numbers, in the order of the list.
    Listed(Vec<u64>),
    /// Consecutive numbers.
    Range { first: u64, len: u32 },
    /// Texts; those of the list, if there is one.
    Texts { keys: KeyTable, listed: bool },
}

impl Collector {
    fn new(budget: Budget) -> Self {
        Self {
            budget,
            header: None,
            vertices: Vertices::Unlisted,
            ends: Ends::Narrow(Vec::new()),
            weights: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, from: u64, to: u64, weight: Option<f64>) -> Result<(), CollectError> {
        match &mut self.ends {
            Ends::Narrow(pairs) if (from | to) >> 32 == 0 => {
                if pairs.len() == pairs.capacity() {
                    grow(pairs, self.budget)?;
                }
                pairs.push((from as u32, to as u32));
            }
            _ => self.push_wide(from, to)?,
        }
        if let Some(weight) = weight {
            if self.weights.len() == self.weights.capacity() {
                grow(&mut self.weights, self.budget)?;
            }
            self.weights.push(weight);
        }
        Ok(())
    }

    #[inline(never)]
    fn push_wide(&mut self, from: u64, to: u64) -> Result<(), CollectError> {
        if let Ends::Narrow(pairs) = &mut self.ends {
            let mut wide = Vec::new();
            reserve(&mut wide, pairs.len() + ROOM_MIN, self.budget)?;
            wide.extend(pairs.iter().map(|&(u, v)| (u64::from(u), u64::from(v))));
            self.ends = Ends::Wide(wide);
        }
        if let Ends::Wide(pairs) = &mut self.ends {
            if pairs.len() == pairs.capacity() {
                grow(pairs, self.budget)?;
            }
            pairs.push((from, to));
        }
        Ok(())
    }
}

impl Sink for Collector {
    type Error = CollectError;

    fn begin(&mut self, header: &Header) -> Result<(), CollectError> {
        self.vertices = match (header.keys, header.vertices_listed) {
            (KeyKind::Text, listed) => {
                Vertices::Texts { keys: KeyTable::empty(KeyKind::Text), listed }
            }
            (_, true) => Vertices::Listed(Vec::new()),
            (_, false) => Vertices::Unlisted,
        };
        let edges = header.edges.unwrap_or(0) as usize;
        if edges > 0 {
            let mut pairs = Vec::new();
            reserve(&mut pairs, edges, self.budget)?;
            self.ends = Ends::Narrow(pairs);
            if header.weighted {
                reserve(&mut self.weights, edges, self.budget)?;
            }
        }
        self.header = Some(header.clone());
        Ok(())
    }

    fn vertex(&mut self, key: KeyRef<'_>) -> Result<(), Refusal<CollectError>> {
        match (&mut self.vertices, key) {
            (Vertices::Texts { keys, .. }, key) => match keys.push(key) {
                Ok(_) => Ok(()),
                Err(KeyRefusal::Duplicate(_)) => Err(Refusal::DuplicateVertex),
                Err(_) => Err(CollectError::TooManyVertices.into()),
            },
            (Vertices::Listed(keys), KeyRef::Number(number)) => {
                if keys.len() == keys.capacity() {
                    grow(keys, self.budget)?;
                }
                keys.push(number);
                Ok(())
            }
            (_, key) => Err(Refusal::UnknownVertex(key.to_owned())),
        }
    }

    fn vertex_range(&mut self, keys: RangeInclusive<u64>) -> Option<Result<(), CollectError>> {
        let len = (keys.end() + 1).saturating_sub(*keys.start());
        let Ok(len) = u32::try_from(len) else {
            return Some(Err(CollectError::TooManyVertices));
        };
        self.vertices = Vertices::Range { first: *keys.start(), len };
        Some(Ok(()))
    }

    #[inline]
    fn edge(&mut self, edge: Edge<'_>) -> Result<(), Refusal<CollectError>> {
        match (&mut self.vertices, edge.from, edge.to) {
            (
                Vertices::Unlisted | Vertices::Listed(_),
                KeyRef::Number(from),
                KeyRef::Number(to),
            ) => Ok(self.push(from, to, edge.weight)?),
            (Vertices::Range { first, len }, KeyRef::Number(from), KeyRef::Number(to)) => {
                let (u, v) = (from.wrapping_sub(*first), to.wrapping_sub(*first));
                if u.max(v) >= u64::from(*len) {
                    return Err(Refusal::UnknownVertex(edge.to.to_owned()));
                }
                Ok(self.push(u, v, edge.weight)?)
            }
            (Vertices::Texts { keys, listed }, from, to) => {
                let (from, to) = (text_id(keys, *listed, from)?, text_id(keys, *listed, to)?);
                Ok(self.push(u64::from(from), u64::from(to), edge.weight)?)
            }
            (_, from, _) => Err(Refusal::UnknownVertex(from.to_owned())),
        }
    }
}

fn text_id(
    keys: &mut KeyTable,
    listed: bool,
    key: KeyRef<'_>,
) -> Result<VertexId, Refusal<CollectError>> {
    if listed {
        return keys.id(key).ok_or_else(|| Refusal::UnknownVertex(key.to_owned()));
    }
    keys.get_or_push(key).map_err(|_| CollectError::TooManyVertices.into())
}

/// Doubles the room of a full list, or adds an eighth if there is no memory for that.
#[cold]
fn grow<T>(list: &mut Vec<T>, budget: Budget) -> Result<(), CollectError> {
    let now = list.capacity();
    if reserve(list, (2 * now).max(ROOM_MIN), budget).is_ok() {
        return Ok(());
    }
    reserve(list, now + now / 8 + 1, budget)
}

/// Makes room for `room` elements altogether, if the memory is there. The list may move, so the
/// old room does not count.
fn reserve<T>(list: &mut Vec<T>, room: usize, budget: Budget) -> Result<(), CollectError> {
    let needed = (room as u64).saturating_mul(size_of::<T>() as u64);
    let available = if needed > UNCHECKED_BYTES { budget().unwrap_or(u64::MAX) } else { u64::MAX };
    let too_large = CollectError::TooLarge { needed, available };
    if needed > available {
        return Err(too_large);
    }
    list.try_reserve_exact(room - list.len()).map_err(|_| too_large)
}

impl Collector {
    /// Numbers the vertices, finds duplicates, and makes the edge list.
    fn finish(self, policy: Duplicates, finder: &Finder<'_, '_>) -> Result<EdgeList, ReadError> {
        let header = self.header.expect("begin comes before the end of a file");
        let (keys, edges) = match self.vertices {
            Vertices::Range { first, len } => {
                let keys = KeyTable::consecutive(first, len)
                    .ok_or_else(|| CollectError::TooManyVertices.at(finder.file()))?;
                (keys, self.ends.narrow())
            }
            Vertices::Texts { keys, .. } => (keys, self.ends.narrow()),
            Vertices::Unlisted => number::by_rank(self.ends, None, finder)?,
            Vertices::Listed(listed) => {
                let listed = number::sorted(&listed, policy, finder)?;
                number::by_rank(self.ends, Some(listed), finder)?
            }
        };
        let mut list = EdgeList {
            directed: header.directed,
            keys,
            edges,
            weights: header.weighted.then_some(self.weights),
        };
        finder.meter.report(Stage::Arranging)?;
        repeats::settle(&mut list, (header.repeats, policy), finder)?;
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::sink::Repeats;

    fn begun(budget: Budget, edges: Option<u64>) -> Result<Collector, CollectError> {
        let mut collector = Collector::new(budget);
        collector.begin(&Header {
            directed: true,
            weighted: true,
            keys: KeyKind::Number,
            vertices_listed: false,
            vertices: None,
            edges,
            repeats: Repeats::Duplicate,
        })?;
        Ok(collector)
    }

    fn push(collector: &mut Collector, key: u64) -> Result<(), Refusal<CollectError>> {
        let (from, to) = (KeyRef::Number(key), KeyRef::Number(0));
        collector.edge(Edge { from, to, weight: Some(1.0) })
    }

    #[test]
    fn a_list_that_outgrows_the_memory_is_refused_while_it_grows() {
        const FREE: u64 = 100 << 20;
        for key in [1, 1 << 40] {
            let mut collector = begun(|| Some(FREE), None).expect("nothing is reserved yet");
            let error = loop {
                match push(&mut collector, key) {
                    Ok(()) => {}
                    Err(Refusal::Failed(error)) => break error,
                    Err(other) => panic!("{other:?}"),
                }
            };
            let CollectError::TooLarge { needed, available } = error else { panic!("{error}") };
            assert!(available == FREE && needed > FREE, "{error}");
            // A full list grows by an eighth where it cannot double.
            let room = collector.ends.len() * if key == 1 { 8 } else { 16 };
            assert!(room as u64 > FREE * 4 / 5, "{room} of {FREE}");
        }
    }

    #[test]
    fn a_declared_number_of_edges_is_reserved_only_if_there_is_memory() {
        let Err(error) = begun(|| Some(100 << 20), Some(20 << 20)) else { panic!("reserved") };
        let expected = CollectError::TooLarge { needed: 160 << 20, available: 100 << 20 };
        assert_eq!(error, expected);
        let collector = begun(|| Some(1 << 30), Some(1000)).expect("small");
        assert_eq!(collector.weights.capacity(), 1000);
        assert!(begun(|| None, Some(u64::MAX)).is_err(), "no machine has this much");
    }

    #[test]
    fn the_message_says_what_is_needed() {
        let at = Place { path: std::path::Path::new("g.el").into(), line: 7 };
        let source = CollectError::TooLarge { needed: 3 << 30, available: 1 << 30 };
        let error = ReadError::Refused { at, source: Box::new(source) };
        assert_eq!(
            unwrap_refusal(error).to_string(),
            "g.el:7: this needs 3.0 GiB of memory, and 1.0 GiB are free; \
             close other programs or use a machine with more"
        );
    }
}
