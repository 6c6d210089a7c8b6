//! The files through which a graph, its changes and answers are handed over; see `protocol.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use evergraph::graph::update::{Workload, WorkloadOptions};
use evergraph::graph::{EdgeList, KeyTable, VertexId};
use evergraph_bench::{Action, Input, parts};

use crate::error::on;
use crate::{Error, Result};

/// An edge that is inserted or removed.
pub(crate) type Change = (Action, VertexId, VertexId);

/// A graph in files.
#[derive(Clone, Debug)]
pub(crate) struct GraphFiles {
    pub(crate) edges: PathBuf,
    pub(crate) weights: Option<PathBuf>,
    pub(crate) vertices: u32,
}

impl GraphFiles {
    /// Writes a graph.
    pub(crate) fn write(input: &Input, folder: &Path) -> Result<Self> {
        let list = &input.list;
        let edges = folder.join("edges");
        let ends = list.edges.iter().flat_map(|&(from, to)| [from, to]);
        write_bytes(&edges, ends.flat_map(u32::to_le_bytes))?;
        let weights = list.weights.as_ref().map(|weights| {
            let path = folder.join("weights");
            write_bytes(&path, weights.iter().flat_map(|weight| weight.to_le_bytes()))?;
            Ok::<_, Error>(path)
        });
        Ok(Self { edges, weights: weights.transpose()?, vertices: list.keys.len() })
    }

    /// Reads a graph.
    pub(crate) fn read(&self) -> Result<EdgeList> {
        let edges = read_numbers(&self.edges)?.as_chunks::<2>().0.to_vec();
        let weights = self.weights.as_ref().map(|path| {
            let bytes = fs::read(path).map_err(on(path))?;
            let words = bytes.as_chunks::<8>().0.iter().copied();
            Ok::<_, Error>(words.map(f64::from_le_bytes).collect())
        });
        Ok(EdgeList {
            directed: false,
            keys: KeyTable::dense(self.vertices),
            edges: edges.into_iter().map(Into::into).collect(),
            weights: weights.transpose()?,
        })
    }
}

/// All edges of a graph as insertions, then half of as many insertions and deletions as there are
/// edges: half, so that the graph is another one afterwards.
pub(crate) fn changes(input: &Input, seed: u64) -> Result<(Vec<Change>, Vec<Change>)> {
    let options = WorkloadOptions { updates_per_edge: 1, seed, ..WorkloadOptions::default() };
    let mut workload = Workload::new(&input.list, &options)?.map(parts);
    let inserts: Vec<Change> = workload.by_ref().take(input.list.edges.len()).collect();
    let mix = workload.take(inserts.len() / 2).collect();
    Ok((inserts, mix))
}

/// Writes changes.
pub(crate) fn write_changes(path: &Path, changes: &[Change]) -> Result<()> {
    let numbers = changes.iter().flat_map(|&(action, from, to)| match action {
        Action::Add => [0, from, to],
        Action::Remove => [1, from, to],
    });
    write_bytes(path, numbers.flat_map(u32::to_le_bytes))
}

/// Reads changes.
pub(crate) fn read_changes(path: &Path) -> Result<Vec<Change>> {
    let numbers = read_numbers(path)?;
    let change = |&[removes, from, to]: &[u32; 3]| match removes {
        0 => (Action::Add, from, to),
        _ => (Action::Remove, from, to),
    };
    Ok(numbers.as_chunks::<3>().0.iter().map(change).collect())
}

fn read_numbers(path: &Path) -> Result<Vec<u32>> {
    let bytes = fs::read(path).map_err(on(path))?;
    Ok(bytes.as_chunks::<4>().0.iter().copied().map(u32::from_le_bytes).collect())
}

fn write_bytes(path: &Path, bytes: impl Iterator<Item = u8>) -> Result<()> {
    fs::write(path, bytes.collect::<Vec<u8>>()).map_err(on(path))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn input() -> Input {
        let source = "graph500-6".parse().expect("a name");
        let options = evergraph::graph::ReadOptions { weighted: true, ..Default::default() };
        Input::load(&source, &options, 3, &()).expect("it is made")
    }

    #[test]
    fn a_graph_is_read_as_it_was_written() {
        let (folder, input) = (tempfile::tempdir().expect("a folder"), input());
        let files = GraphFiles::write(&input, folder.path()).expect("written");
        let list = files.read().expect("read");
        assert_eq!((&list.edges, &list.weights), (&input.list.edges, &input.list.weights));
        assert_eq!(list.keys.len(), 64);
    }

    #[test]
    fn changes_fit_each_other_and_make_another_graph() {
        let (folder, input) = (tempfile::tempdir().expect("a folder"), input());
        let (inserts, mix) = changes(&input, 5).expect("changes");
        let path = folder.path().join("changes");
        write_changes(&path, &mix).expect("written");
        assert_eq!(read_changes(&path).expect("read"), mix);
        let mut there = HashSet::new();
        let mut removed = 0;
        for (action, from, to) in inserts.iter().chain(&mix).copied() {
            let edge = (from.min(to), from.max(to));
            match action {
                Action::Add => assert!(there.insert(edge), "{edge:?} is there"),
                Action::Remove => assert!(there.remove(&edge), "{edge:?} is not there"),
            }
            removed += usize::from(action == Action::Remove);
        }
        let given = input.list.edges.iter().map(|&(from, to)| (from.min(to), from.max(to)));
        assert_ne!(there, given.collect::<HashSet<_>>());
        assert!(removed > 0);
    }
}
