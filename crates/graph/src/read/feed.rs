//! The way of a record from a parser to the sink: what to do with self loops and duplicates.

use std::ops::RangeInclusive;

use super::error::ReadError;
use super::lines::{At, Lines};
use super::options::{Duplicates, ReadOptions, SelfLoops};
use super::sink::{Counts, Edge, Header, Refusal, Repeats, Sink};
use crate::id::MAX_VERTICES;
use crate::key::KeyRef;
use crate::memory;

/// Memory that a vertex takes in any form of the graph, at least: an offset of 64 bits.
const BYTES_PER_VERTEX: u64 = 8;
/// Memory that an edge takes in any form of the graph, at least: its two ends.
const BYTES_PER_EDGE: u64 = 8;

/// Passes records on to a sink.
pub(crate) struct Feed<'s, S> {
    sink: &'s mut S,
    duplicates: Duplicates,
    self_loops: SelfLoops,
    directed: bool,
    repeats: Repeats,
    pub(crate) counts: Counts,
}

impl<'s, S: Sink> Feed<'s, S> {
    pub(crate) fn new(sink: &'s mut S, options: &ReadOptions) -> Self {
        Self {
            sink,
            duplicates: options.duplicates,
            self_loops: options.self_loops,
            directed: false,
            repeats: Repeats::Duplicate,
            counts: Counts::default(),
        }
    }

    /// Opens the sink, after checking that what the file declares can be true and fits the
    /// memory.
    pub(crate) fn begin(&mut self, at: At<'_>, header: &Header) -> Result<(), ReadError> {
        check_size(at, header, memory::available())?;
        self.directed = header.directed;
        self.repeats = header.repeats;
        self.sink.begin(header).map_err(|source| refused(at, source))
    }

    /// Passes one listed vertex.
    pub(crate) fn vertex(&mut self, at: At<'_>, key: KeyRef<'_>) -> Result<(), ReadError> {
        match self.sink.vertex(key) {
            Ok(()) => {
                self.counts.vertices += 1;
                Ok(())
            }
            Err(Refusal::DuplicateVertex) if self.duplicates == Duplicates::Ignore => {
                self.counts.duplicate_vertices += 1;
                Ok(())
            }
            Err(Refusal::DuplicateVertex) => Err(ReadError::DuplicateVertex {
                at: at.place(),
                key: key.to_string(),
                first: None,
            }),
            Err(Refusal::Failed(source)) => Err(refused(at, source)),
            Err(Refusal::DuplicateEdge { .. } | Refusal::UnknownVertex(_)) => {
                Err(at.malformed(format!("the receiver has no place for the vertex {key}")))
            }
        }
    }

    /// Passes the vertices of a format that numbers them.
    pub(crate) fn vertices(
        &mut self,
        at: At<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<(), ReadError> {
        let count = (keys.end() + 1).saturating_sub(*keys.start());
        match self.sink.vertex_range(keys.clone()) {
            Some(Ok(())) => {
                self.counts.vertices += count;
                Ok(())
            }
            Some(Err(source)) => Err(refused(at, source)),
            None => keys.into_iter().try_for_each(|key| self.vertex(at, KeyRef::Number(key))),
        }
    }

    /// Passes one edge.
    #[inline]
    pub(crate) fn edge(&mut self, at: At<'_>, edge: Edge<'_>) -> Result<(), ReadError> {
        if self.self_loops != SelfLoops::Allow && edge.from == edge.to {
            return self.self_loop(at, edge);
        }
        match self.sink.edge(edge) {
            Ok(()) => {
                self.counts.edges += 1;
                Ok(())
            }
            Err(refusal) => self.not_taken(at, edge, refusal),
        }
    }

    /// Passes both arcs of an undirected edge, for a reader that wants arcs.
    pub(crate) fn both_arcs(&mut self, at: At<'_>, edge: Edge<'_>) -> Result<(), ReadError> {
        self.edge(at, edge)?;
        if edge.from == edge.to {
            return Ok(());
        }
        let reverse = Edge { from: edge.to, to: edge.from, ..edge };
        self.edge(at, reverse)
    }

    #[cold]
    fn self_loop(&mut self, at: At<'_>, edge: Edge<'_>) -> Result<(), ReadError> {
        if self.self_loops == SelfLoops::Drop {
            self.counts.self_loops += 1;
            return Ok(());
        }
        Err(ReadError::SelfLoop { at: at.place(), key: edge.from.to_string() })
    }

    #[cold]
    fn not_taken(
        &mut self,
        at: At<'_>,
        edge: Edge<'_>,
        refusal: Refusal<S::Error>,
    ) -> Result<(), ReadError> {
        match refusal {
            Refusal::DuplicateEdge { weight } => {
                let same = edge.weight.is_none() || edge.weight == weight;
                let merges = self.repeats == Repeats::Same && same;
                if merges || self.duplicates == Duplicates::Ignore {
                    self.counts.duplicate_edges += 1;
                    return Ok(());
                }
                Err(ReadError::DuplicateEdge {
                    at: at.place(),
                    from: edge.from.to_string(),
                    to: edge.to.to_string(),
                    first: None,
                    hint: duplicate_hint(self.directed, self.repeats),
                })
            }
            Refusal::UnknownVertex(key) => Err(ReadError::UnknownVertex {
                at: at.place(),
                from: edge.from.to_string(),
                to: edge.to.to_string(),
                key: key.to_string(),
            }),
            Refusal::DuplicateVertex => {
                Err(at.malformed("the receiver has no place for this edge"))
            }
            Refusal::Failed(source) => Err(refused(at, source)),
        }
    }

    /// Takes down how many lines were read.
    pub(crate) fn finish(mut self, lines: &Lines<'_>) -> Result<Counts, ReadError> {
        lines.meter().tick(0)?;
        self.counts.lines = lines.meter().lines();
        Ok(self.counts)
    }
}

/// Refuses a graph that says it is larger than a graph can be, or than the memory.
fn check_size(at: At<'_>, header: &Header, available: Option<u64>) -> Result<(), ReadError> {
    let vertices = header.vertices.unwrap_or(0);
    if vertices > u64::from(MAX_VERTICES) {
        return Err(ReadError::TooManyVertices { at: at.place() });
    }
    let needed = header
        .edges
        .unwrap_or(0)
        .saturating_mul(BYTES_PER_EDGE)
        .saturating_add(vertices * BYTES_PER_VERTEX);
    match available {
        Some(available) if available < needed => {
            Err(ReadError::TooLarge { at: at.place(), needed, available })
        }
        _ => Ok(()),
    }
}

/// What can be done about an edge that stands twice.
pub(crate) fn duplicate_hint(directed: bool, repeats: Repeats) -> &'static str {
    match (directed, repeats) {
        (true, _) => SAME_HINT,
        (false, Repeats::Duplicate) => {
            "in an undirected graph u v and v u are one edge: \
             read the file as directed, or ask to ignore duplicates"
        }
        (false, Repeats::Same) => {
            "in an undirected graph an arc and its reverse need equal weights: \
             read the file as directed, or ask to ignore duplicates"
        }
    }
}

/// What can be done where both records name the ends in the same order.
pub(crate) const SAME_HINT: &str = "ask to ignore duplicates if the first one is meant";

#[cold]
fn refused<E: std::error::Error + Send + Sync + 'static>(at: At<'_>, source: E) -> ReadError {
    ReadError::Refused { at: at.place(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::key::KeyKind;

    #[test]
    fn a_header_is_believed_only_if_the_memory_holds_the_graph() {
        let path: Arc<Path> = Path::new("g.mtx").into();
        let at = At { path: &path, line: 2 };
        let check = |vertices, edges, available| {
            let header = Header {
                directed: true,
                weighted: false,
                keys: KeyKind::Number,
                vertices_listed: true,
                vertices: Some(vertices),
                edges: Some(edges),
                repeats: Repeats::Duplicate,
            };
            check_size(at, &header, available).map_err(|error| error.to_string())
        };
        assert_eq!(check(1 << 20, 1 << 20, Some(16 << 20)), Ok(()));
        let error = check(1 << 20, 1 << 20, Some((16 << 20) - 1)).expect_err("one byte short");
        assert!(error.starts_with("g.mtx:2: this needs 16.0 MiB of memory, and 16.0 MiB"));
        assert!(check(1, u64::MAX, Some(u64::MAX - 1)).is_err());
        assert_eq!(check(u64::from(MAX_VERTICES), u64::MAX, None), Ok(()));
        assert!(check(u64::from(MAX_VERTICES) + 1, 0, None).is_err());
    }
}
