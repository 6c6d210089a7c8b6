//! What one writer committed: the independent witness of the demo.
//!
//! # Size
//!   12 bytes a change (20 with a weight) and 16 a commit, in arrays that double when they are
//!   full. [`BYTES_MAX`] bounds the content of all records together.

use evergraph::graph::{Update, VertexId};

/// Most bytes that the records of all writers may hold: some 38 million commits of one edge,
/// minutes at full rate. The arrays can be twice as large for a moment.
pub(super) const BYTES_MAX: usize = 1 << 30;

/// Commits in the order they were made, which is that of their versions.
#[derive(Debug, Default)]
pub(super) struct Record {
    commits: Vec<Commit>,
    changes: Vec<Change>,
    /// The weights of the changes that have one, in order.
    weights: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Commit {
    version: u64,
    changes: u32,
}

/// A change without its weight.
#[derive(Clone, Copy, Debug)]
struct Change {
    from: VertexId,
    to: VertexId,
    verb: Verb,
}

#[derive(Clone, Copy, Debug)]
enum Verb {
    Add,
    AddWeighted,
    Delete,
    SetWeight,
    AddVertex,
    DeleteVertex,
}

const _: () = assert!(size_of::<Commit>() == 16 && size_of::<Change>() == 12);

impl Record {
    /// Notes a commit.
    pub(super) fn note(&mut self, version: u64, changes: &[Update<VertexId>]) {
        self.commits.push(Commit { version, changes: changes.len() as u32 });
        for &change in changes {
            let (verb, from, to) = match change {
                Update::AddEdge { from, to, weight: None } => (Verb::Add, from, to),
                Update::AddEdge { from, to, weight: Some(weight) } => {
                    self.weights.push(weight);
                    (Verb::AddWeighted, from, to)
                }
                Update::DeleteEdge { from, to } => (Verb::Delete, from, to),
                Update::SetWeight { from, to, weight } => {
                    self.weights.push(weight);
                    (Verb::SetWeight, from, to)
                }
                Update::AddVertex(vertex) => (Verb::AddVertex, vertex, vertex),
                Update::DeleteVertex(vertex) => (Verb::DeleteVertex, vertex, vertex),
            };
            self.changes.push(Change { from, to, verb });
        }
    }

    /// Bytes of the content.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.commits) + size_of_val(&*self.changes) + size_of_val(&*self.weights)
    }

    /// Reads the record from its start.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            commits: self.commits.iter(),
            changes: self.changes.iter(),
            weights: self.weights.iter(),
        }
    }
}

/// Reads a record commit by commit.
pub(super) struct Reader<'r> {
    commits: std::slice::Iter<'r, Commit>,
    changes: std::slice::Iter<'r, Change>,
    weights: std::slice::Iter<'r, f64>,
}

impl Reader<'_> {
    /// The version of the next commit, if there is one.
    pub(super) fn version(&self) -> Option<u64> {
        self.commits.as_slice().first().map(|commit| commit.version)
    }

    /// Puts the changes of the next commit into `changes`.
    pub(super) fn take(&mut self, changes: &mut Vec<Update<VertexId>>) {
        changes.clear();
        let Some(commit) = self.commits.next() else { return };
        for _ in 0..commit.changes {
            let &Change { from, to, verb } = self.changes.next().expect("one for every change");
            let mut weight = || *self.weights.next().expect("one for every change that has one");
            changes.push(match verb {
                Verb::Add => Update::AddEdge { from, to, weight: None },
                Verb::AddWeighted => Update::AddEdge { from, to, weight: Some(weight()) },
                Verb::Delete => Update::DeleteEdge { from, to },
                Verb::SetWeight => Update::SetWeight { from, to, weight: weight() },
                Verb::AddVertex => Update::AddVertex(from),
                Verb::DeleteVertex => Update::DeleteVertex(from),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_back() {
        let commits: [(u64, Vec<Update<VertexId>>); 3] = [
            (4, vec![Update::AddEdge { from: 1, to: 2, weight: None }]),
            (
                6,
                vec![
                    Update::SetWeight { from: 1, to: 2, weight: 0.5 },
                    Update::DeleteVertex(7),
                    Update::AddVertex(7),
                    Update::AddEdge { from: 7, to: 1, weight: Some(0.25) },
                ],
            ),
            (9, vec![Update::DeleteEdge { from: 1, to: 2 }]),
        ];
        let mut record = Record::default();
        for (version, changes) in &commits {
            record.note(*version, changes);
        }
        assert_eq!(record.bytes(), 3 * 16 + 6 * 12 + 2 * 8);
        let (mut reader, mut read) = (record.reader(), Vec::new());
        for (version, changes) in &commits {
            assert_eq!(reader.version(), Some(*version));
            reader.take(&mut read);
            assert_eq!(&read, changes);
        }
        assert_eq!(reader.version(), None);
    }
}
