//! Finding the line of a record whose number is known, by reading the file once more.

use std::path::Path;
use std::sync::Arc;

use super::{Budget, CollectError};
use crate::key::{Key, KeyRef};
use crate::read::Source;
use crate::read::error::{Place, ReadError};
use crate::read::feed::{SAME_HINT, duplicate_hint};
use crate::read::input::Meter;
use crate::read::options::ReadOptions;
use crate::read::sink::{Edge, Header, Refusal, Repeats, Sink};

/// Where the graph came from, for errors that are found afterwards.
pub(super) struct Finder<'a, 'p> {
    pub(super) source: &'a Source<'a>,
    pub(super) options: &'a ReadOptions,
    pub(super) meter: &'a Arc<Meter<'p>>,
    pub(super) budget: Budget,
}

impl Finder<'_, '_> {
    /// The file of the edges as a whole.
    pub(super) fn file(&self) -> Place {
        Place { path: self.source.edges().into(), line: 0 }
    }

    /// Refuses work for which there is not enough memory.
    pub(super) fn check_memory(&self, needed: u64) -> Result<(), ReadError> {
        match (self.budget)() {
            Some(available) if available < needed => {
                Err(CollectError::TooLarge { needed, available }.at(self.file()))
            }
            _ => Ok(()),
        }
    }

    /// The error for an edge with an end that is not among `listed`, which ascend.
    pub(super) fn unknown_vertex(
        &self,
        record: usize,
        listed: &[u64],
    ) -> Result<ReadError, ReadError> {
        let (at, from, to) = self.edge(record)?;
        let known = |key: &Key| match key {
            Key::Number(number) => listed.binary_search(number).is_ok(),
            Key::Text(_) => false,
        };
        let unknown = if known(&from) { &to } else { &from };
        Ok(ReadError::UnknownVertex {
            at,
            key: unknown.to_string(),
            from: from.to_string(),
            to: to.to_string(),
        })
    }

    /// The error for an edge that stands in two records.
    pub(super) fn duplicate_edge(
        &self,
        first: usize,
        second: usize,
        (directed, repeats): (bool, Repeats),
    ) -> Result<ReadError, ReadError> {
        let (first, first_from, first_to) = self.edge(first)?;
        let (at, from, to) = self.edge(second)?;
        let hint = if (&first_from, &first_to) == (&from, &to) {
            SAME_HINT
        } else {
            duplicate_hint(directed, repeats)
        };
        Ok(ReadError::DuplicateEdge {
            at,
            from: from.to_string(),
            to: to.to_string(),
            first: Some(first.line),
            hint,
        })
    }

    /// The error for a vertex that is listed in two records.
    pub(super) fn duplicate_vertex(
        &self,
        first: usize,
        second: usize,
    ) -> Result<ReadError, ReadError> {
        let (first, _) = self.vertex(first)?;
        let (at, key) = self.vertex(second)?;
        Ok(ReadError::DuplicateVertex { at, key: key.to_string(), first: Some(first.line) })
    }

    fn edge(&self, record: usize) -> Result<(Place, Key, Key), ReadError> {
        match self.look_for(Wanted::Edge(record))? {
            (at, Found::Edge(from, to)) => Ok((at, from, to)),
            (at, _) => Err(changed(at)),
        }
    }

    fn vertex(&self, record: usize) -> Result<(Place, Key), ReadError> {
        match self.look_for(Wanted::Vertex(record))? {
            (at, Found::Vertex(key)) => Ok((at, key)),
            (at, _) => Err(changed(at)),
        }
    }

    fn look_for(&self, wanted: Wanted) -> Result<(Place, Found), ReadError> {
        if !self.source.paths().into_iter().all(Path::is_file) {
            return Err(ReadError::Malformed {
                at: self.file(),
                problem: wanted.problem().to_owned(),
            });
        }
        let mut probe = Probe { wanted, found: None };
        let meter = self.meter.second_look();
        match (self.source.read(self.options, &meter, &mut probe), probe.found) {
            (Err(ReadError::Refused { at, .. }), Some(found)) => Ok((at, found)),
            (Err(error), _) => Err(error),
            (Ok(_), _) => Err(changed(self.file())),
        }
    }
}

fn changed(at: Place) -> ReadError {
    ReadError::Malformed { at, problem: "the file changed while it was read".to_owned() }
}

/// Which record is looked for: how many of its kind come before it.
enum Wanted {
    Edge(usize),
    Vertex(usize),
}

impl Wanted {
    /// What is wrong with the record, where its line cannot be found.
    fn problem(&self) -> &'static str {
        match self {
            Self::Edge(_) => {
                "an edge stands twice or names a vertex that is not listed; \
                 save the graph to a file to learn which"
            }
            Self::Vertex(_) => "a vertex is listed twice; save the graph to a file to learn which",
        }
    }
}

enum Found {
    Edge(Key, Key),
    Vertex(Key),
}

/// A sink that lets records pass until the wanted one comes.
struct Probe {
    wanted: Wanted,
    found: Option<Found>,
}

/// Not an error: the record is there.
#[derive(Debug, thiserror::Error)]
#[error("found")]
struct Reached;

impl Sink for Probe {
    type Error = Reached;

    fn begin(&mut self, _: &Header) -> Result<(), Reached> {
        Ok(())
    }

    fn vertex(&mut self, key: KeyRef<'_>) -> Result<(), Refusal<Reached>> {
        match &mut self.wanted {
            Wanted::Vertex(0) => {
                self.found = Some(Found::Vertex(key.to_owned()));
                return Err(Reached.into());
            }
            Wanted::Vertex(before) => *before -= 1,
            Wanted::Edge(_) => {}
        }
        Ok(())
    }

    fn vertex_range(&mut self, _: std::ops::RangeInclusive<u64>) -> Option<Result<(), Reached>> {
        Some(Ok(()))
    }

    fn edge(&mut self, edge: Edge<'_>) -> Result<(), Refusal<Reached>> {
        match &mut self.wanted {
            Wanted::Edge(0) => {
                self.found = Some(Found::Edge(edge.from.to_owned(), edge.to.to_owned()));
                return Err(Reached.into());
            }
            Wanted::Edge(before) => *before -= 1,
            Wanted::Vertex(_) => {}
        }
        Ok(())
    }
}
