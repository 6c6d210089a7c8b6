//! What the graph must be: sorted maps, one per vertex, changed one update after the other.
//!
//! Slow, serial, and without a line in common with the store. Each update is checked before it is
//! made: a store that accepted an edge twice, or lost one, is found out at the commit that shows it.

use std::collections::{BTreeMap, BTreeSet};

use evergraph::graph::{EdgeList, Update, VertexId};
use rayon::prelude::*;

use super::record::{Reader, Record};

/// A graph. Vertices are called by their place in the edge list that it began with.
pub(super) struct Model {
    directed: bool,
    present: Vec<bool>,
    /// The neighbours of every vertex, with the weights of the edges; 1 without weights. An
    /// undirected edge stands at both ends.
    out: Vec<BTreeMap<VertexId, f64>>,
    /// The vertices with an edge to every vertex, if edges have a direction.
    incoming: Vec<BTreeSet<VertexId>>,
}

/// What the records show that the store cannot have done rightly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flaw {
    /// A version is missing, or was given twice.
    Gap { version: u64, before: u64 },
    /// A change was committed that was not possible.
    Change { version: u64, change: Update<VertexId>, why: &'static str },
}

impl Flaw {
    /// The flaw in words, vertices named by `key`.
    pub(super) fn told(&self, key: impl Fn(VertexId) -> String) -> String {
        let (version, change, why) = match *self {
            Self::Gap { version, before } => {
                return format!("version {version} was committed right after {before}");
            }
            Self::Change { version, change, why } => (version, change, why),
        };
        let what = match change.map(key) {
            Update::AddEdge { from, to, .. } => format!("added the edge {from} {to}"),
            Update::DeleteEdge { from, to } => format!("deleted the edge {from} {to}"),
            Update::SetWeight { from, to, .. } => format!("gave a weight to the edge {from} {to}"),
            Update::AddVertex(vertex) => format!("added the vertex {vertex}"),
            Update::DeleteVertex(vertex) => format!("deleted the vertex {vertex}"),
        };
        format!("version {version} {what}, though {why}")
    }
}

impl Model {
    /// The graph of a list.
    pub(super) fn of(list: &EdgeList) -> Self {
        let vertices = list.keys.len() as usize;
        let mut out = vec![Vec::new(); vertices];
        let mut incoming = vec![Vec::new(); if list.directed { vertices } else { 0 }];
        for (at, &(from, to)) in list.edges.iter().enumerate() {
            let weight = list.weights.as_ref().map_or(1.0, |weights| weights[at]);
            out[from as usize].push((to, weight));
            if list.directed {
                incoming[to as usize].push(from);
            } else {
                out[to as usize].push((from, weight));
            }
        }
        Self {
            directed: list.directed,
            present: vec![true; vertices],
            out: out.into_par_iter().map(BTreeMap::from_iter).collect(),
            incoming: incoming.into_par_iter().map(BTreeSet::from_iter).collect(),
        }
    }

    /// Whether edges have a direction.
    pub(super) fn is_directed(&self) -> bool {
        self.directed
    }

    /// How many vertices there ever were.
    pub(super) fn bound(&self) -> u32 {
        self.present.len() as u32
    }

    /// Whether a vertex is there.
    pub(super) fn contains(&self, v: VertexId) -> bool {
        self.present[v as usize]
    }

    /// The neighbours of a vertex.
    pub(super) fn out(&self, v: VertexId) -> &BTreeMap<VertexId, f64> {
        &self.out[v as usize]
    }

    /// The vertices with an edge to a vertex of a directed graph.
    pub(super) fn incoming(&self, v: VertexId) -> &BTreeSet<VertexId> {
        &self.incoming[v as usize]
    }

    /// How many vertices there are.
    pub(super) fn vertex_count(&self) -> u64 {
        self.present.iter().filter(|&&present| present).count() as u64
    }

    /// How many edges there are, each counted once.
    pub(super) fn edge_count(&self) -> u64 {
        let entries: usize = self.out.iter().map(BTreeMap::len).sum();
        if self.directed {
            return entries as u64;
        }
        let loops = (0..).zip(&self.out).filter(|(v, list)| list.contains_key(v)).count();
        (entries + loops) as u64 / 2
    }

    /// Makes the changes of all records in the order of their versions, which must follow each
    /// other without a gap after `version`. Returns the last version.
    pub(super) fn replay(&mut self, version: u64, records: &[Record]) -> Result<u64, Flaw> {
        let mut readers: Vec<Reader<'_>> = records.iter().map(Record::reader).collect();
        let mut version = version;
        let mut changes = Vec::new();
        loop {
            let next = readers.iter_mut().filter(|reader| reader.version().is_some());
            let Some(reader) = next.min_by_key(|reader| reader.version()) else {
                return Ok(version);
            };
            let found = reader.version().unwrap_or_default();
            if found != version + 1 {
                return Err(Flaw::Gap { version: found, before: version });
            }
            version = found;
            reader.take(&mut changes);
            for &change in &changes {
                self.apply(change).map_err(|why| Flaw::Change { version, change, why })?;
            }
        }
    }

    /// Makes a change, or says why the store cannot have made it.
    fn apply(&mut self, change: Update<VertexId>) -> Result<(), &'static str> {
        let (before, expected) = match change {
            Update::AddEdge { from, to, weight } => {
                if !(self.contains(from) && self.contains(to)) {
                    return Err("one of its ends was gone");
                }
                (self.set(from, to, weight.unwrap_or(1.0)).is_some(), false)
            }
            Update::SetWeight { from, to, weight } => (self.set(from, to, weight).is_some(), true),
            Update::DeleteEdge { from, to } => (self.unset(from, to).is_some(), true),
            Update::AddVertex(v) => (std::mem::replace(&mut self.present[v as usize], true), false),
            Update::DeleteVertex(v) => {
                self.isolate(v);
                (std::mem::replace(&mut self.present[v as usize], false), true)
            }
        };
        match (before, expected) {
            (true, false) => Err("it was there already"),
            (false, true) => Err("it was not there"),
            _ => Ok(()),
        }
    }

    /// Puts an edge there; the weight it had before.
    fn set(&mut self, from: VertexId, to: VertexId, weight: f64) -> Option<f64> {
        let before = self.out[from as usize].insert(to, weight);
        if self.directed {
            self.incoming[to as usize].insert(from);
        } else {
            self.out[to as usize].insert(from, weight);
        }
        before
    }

    /// Takes an edge away; the weight it had.
    fn unset(&mut self, from: VertexId, to: VertexId) -> Option<f64> {
        let before = self.out[from as usize].remove(&to);
        if self.directed {
            self.incoming[to as usize].remove(&from);
        } else {
            self.out[to as usize].remove(&from);
        }
        before
    }

    /// Takes all edges of a vertex away.
    fn isolate(&mut self, v: VertexId) {
        let out: Vec<VertexId> = self.out[v as usize].keys().copied().collect();
        for to in out {
            self.unset(v, to);
        }
        if self.directed {
            let incoming: Vec<VertexId> = self.incoming[v as usize].iter().copied().collect();
            for from in incoming {
                self.unset(from, v);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use evergraph::graph::KeyTable;

    use super::*;

    fn model(directed: bool) -> Model {
        let edges = vec![(0, 1), (1, 2), (2, 2)];
        Model::of(&EdgeList { directed, keys: KeyTable::dense(4), edges, weights: None })
    }

    fn add(from: u32, to: u32) -> Update<u32> {
        Update::AddEdge { from, to, weight: None }
    }

    fn record(commits: &[(u64, Vec<Update<u32>>)]) -> Record {
        let mut record = Record::default();
        for (version, changes) in commits {
            record.note(*version, changes);
        }
        record
    }

    #[test]
    fn a_vertex_takes_its_edges_along() {
        for directed in [false, true] {
            let mut model = model(directed);
            assert_eq!((model.vertex_count(), model.edge_count()), (4, 3));
            let gone = vec![Update::DeleteVertex(2), Update::AddVertex(2), add(2, 0)];
            assert_eq!(model.replay(5, &[record(&[(6, gone)])]), Ok(6));
            assert_eq!((model.vertex_count(), model.edge_count()), (4, 2));
            assert_eq!(model.out(1).contains_key(&0), !directed);
            assert!(model.out(2).keys().eq(&[0]));
        }
    }

    #[test]
    fn records_are_merged_by_version() {
        let mut model = model(true);
        let first = record(&[(1, vec![add(0, 3)]), (4, vec![add(0, 3)])]);
        let delete = Update::DeleteEdge { from: 0, to: 3 };
        let second = record(&[(2, vec![add(3, 3)]), (3, vec![delete])]);
        assert_eq!(model.replay(0, &[first, second]), Ok(4));
        assert_eq!(model.edge_count(), 5);
    }

    #[test]
    fn what_cannot_have_been_is_found() {
        let found = |commits: &[(u64, Vec<Update<u32>>)]| {
            let flaw = model(true).replay(0, &[record(commits)]).expect_err("it cannot have been");
            flaw.told(|v| format!("v{v}"))
        };
        assert_eq!(found(&[(2, vec![add(0, 3)])]), "version 2 was committed right after 0");
        let twice = [(1, vec![add(0, 3)]), (1, vec![])];
        assert_eq!(found(&twice), "version 1 was committed right after 1");
        let added = "version 1 added the edge v0 v1, though it was there already";
        assert_eq!(found(&[(1, vec![add(0, 1)])]), added);
        let delete = Update::DeleteEdge { from: 1, to: 0 };
        let deleted = "version 1 deleted the edge v1 v0, though it was not there";
        assert_eq!(found(&[(1, vec![delete])]), deleted);
        let weight = Update::SetWeight { from: 1, to: 0, weight: 2.0 };
        let set = "version 1 gave a weight to the edge v1 v0, though it was not there";
        assert_eq!(found(&[(1, vec![weight])]), set);
        let use_after = vec![Update::DeleteVertex(3), add(3, 0)];
        let used = "version 1 added the edge v3 v0, though one of its ends was gone";
        assert_eq!(found(&[(1, use_after)]), used);
        let added = "version 1 added the vertex v3, though it was there already";
        assert_eq!(found(&[(1, vec![Update::AddVertex(3)])]), added);
        let twice = vec![Update::DeleteVertex(3), Update::DeleteVertex(3)];
        let deleted = "version 1 deleted the vertex v3, though it was not there";
        assert_eq!(found(&[(1, twice)]), deleted);
    }
}
