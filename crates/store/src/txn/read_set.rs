//! What a serializable transaction found in its snapshot.
//!
//! Filled while it reads, looked at by its commit. A transaction that reads nothing, or that runs
//! under snapshot isolation, never makes one.
//!
//! # Invariants
//!   - An absent key is kept as a key, never as an id: whoever adds it may give it another one.
//!   - A vertex that was found keeps its id until the transaction ends: its lease reads it.

use std::ops::RangeBounds;

use evergraph_graph::{Key, KeyRef, VertexId};
use hashbrown::HashSet;

use super::text_bytes;
use crate::database::KeyRange;
use crate::dictionary::Dictionary;
use crate::engine::fat_tree::{Read, Reads};

/// What was read.
#[derive(Default)]
pub(super) struct ReadSet {
    found: HashSet<Read>,
    absent: HashSet<Key>,
    vertices: bool,
    ranges: HashSet<KeyRange>,
    edges: Option<u64>,
    /// Bytes of the texts of absent keys.
    texts: usize,
}

/// The same, for a commit to look at.
pub(super) struct ReadList {
    found: Vec<Read>,
    absent: Vec<Key>,
    vertices: bool,
    ranges: Vec<KeyRange>,
    edges: Option<u64>,
}

impl ReadSet {
    /// Notes what was found.
    pub(super) fn find(&mut self, read: Read) {
        self.found.insert(read);
    }

    /// Notes that there is no vertex with the key.
    pub(super) fn miss(&mut self, key: KeyRef<'_>) {
        if self.absent.insert(key.to_owned()) {
            self.texts += text_bytes(key);
        }
    }

    /// Notes that the set of vertices was read.
    pub(super) fn find_vertices(&mut self) {
        self.vertices = true;
    }

    /// Notes that a range of keys was read.
    pub(super) fn find_range(&mut self, range: KeyRange) {
        self.ranges.insert(range);
    }

    /// Notes how many edges there are.
    pub(super) fn find_edges(&mut self, count: u64) {
        self.edges = Some(count);
    }

    /// Bytes of the notes.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.found.allocation_size() + self.absent.allocation_size();
        tables + self.ranges.allocation_size() + self.texts
    }

    /// Ends the reading.
    pub(super) fn into_list(self) -> ReadList {
        ReadList {
            found: self.found.into_iter().collect(),
            absent: self.absent.into_iter().collect(),
            vertices: self.vertices,
            ranges: self.ranges.into_iter().collect(),
            edges: self.edges,
        }
    }
}

impl ReadList {
    /// Passes the reads to a commit.
    pub(super) fn with<R>(
        &self,
        dictionary: &Dictionary,
        commit: impl FnOnce(&Reads<'_>) -> R,
    ) -> R {
        let ids = || {
            let numbered = self.absent.iter().enumerate();
            let id = |key: &Key| dictionary.id(key.as_ref()).ok().flatten();
            let ids = numbered.filter_map(|(number, key)| Some((number, id(key)?)));
            ids.collect::<Vec<(usize, VertexId)>>()
        };
        let absent: Option<&dyn Fn() -> Vec<(usize, VertexId)>> =
            if self.absent.is_empty() { None } else { Some(&ids) };
        let is_in = |key: &Key| self.ranges.iter().any(|range| range.contains(key));
        let in_range = |v| dictionary.key(v).is_some_and(|key| is_in(&key));
        let in_range: Option<&dyn Fn(VertexId) -> bool> =
            if self.ranges.is_empty() { None } else { Some(&in_range) };
        let (vertices, edges) = (self.vertices, self.edges);
        commit(&Reads { found: &self.found, vertices, absent, in_range, edges })
    }

    /// The key with a number that [`Reads::absent`] gave.
    pub(super) fn key(&self, number: usize) -> &Key {
        &self.absent[number]
    }
}
