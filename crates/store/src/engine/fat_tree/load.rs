//! A whole graph into an empty layout, at one version: what recovery does, and a new database that
//! begins with a graph.
//!
//! # Invariants
//!   - Nobody reads or writes the layout yet.
//!   - Every group becomes one base without pending rows, as a merge would leave it.

use evergraph_graph::csr::{BuildError, Lists};
use evergraph_graph::{EdgeList, VertexId, Weight};
use rayon::prelude::*;

use super::base::{GROUP, GROUP_BITS};
use super::fold::Folded;
use super::merge::Goal;
use super::{Address, FatTree, Side};
use crate::sync::Ordering;

/// A graph to be loaded.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    /// A bit per id.
    pub(crate) live: &'a [u64],
    /// Strictly ascending; an undirected edge once, in either direction.
    pub(crate) edges: &'a [(VertexId, VertexId, f64)],
    /// At which all of it is visible.
    pub(crate) version: u64,
}

/// An entry of a list: whose list, which neighbour, the weight.
type Entry = (VertexId, VertexId, f64);

impl<W: Weight> FatTree<W> {
    /// Puts a graph into this layout, which is empty and new.
    pub(crate) fn load(&self, graph: Load<'_>) {
        let turned = |&(source, target, weight): &Entry| (target, source, weight);
        if self.is_directed() {
            self.load_side(Side::Out, graph, graph.edges);
            let mut incoming: Vec<Entry> = graph.edges.par_iter().map(turned).collect();
            sort(&mut incoming);
            self.load_side(Side::In, graph, &incoming);
        } else {
            let others = graph.edges.par_iter().filter(|edge| edge.0 != edge.1).map(turned);
            let mut entries: Vec<Entry> = others.collect();
            entries.extend_from_slice(graph.edges);
            sort(&mut entries);
            self.load_side(Side::Out, graph, &entries);
        }
        let vertices = graph.live.iter().map(|word| u64::from(word.count_ones())).sum();
        self.counts.edges.store(graph.edges.len() as u64, Ordering::Relaxed);
        self.counts.vertices.store(vertices, Ordering::Relaxed);
    }

    /// As [`FatTree::load`], with the edges of a list, all of whose vertices are live.
    pub(crate) fn load_list(&self, list: &EdgeList, version: u64) -> Result<(), BuildError> {
        let vertices = list.keys.len();
        self.load_lists(Side::Out, (vertices, version), &Lists::out(list)?);
        if self.is_directed() {
            self.load_lists(Side::In, (vertices, version), &Lists::incoming(list)?);
        }
        self.counts.edges.store(list.edges.len() as u64, Ordering::Relaxed);
        self.counts.vertices.store(vertices.into(), Ordering::Relaxed);
        Ok(())
    }

    fn load_lists(&self, side: Side, (vertices, version): (u32, u64), lists: &Lists<W>) {
        (0..vertices.div_ceil(GROUP as u32)).into_par_iter().for_each(|group| {
            let first = group << GROUP_BITS;
            let members = first..vertices.min(first + GROUP as u32);
            let live = u64::MAX >> (GROUP - members.len());
            let (mut ends, mut ids, mut weights) = ([0; GROUP], Vec::new(), Vec::new());
            for (v, end) in members.zip(&mut ends) {
                let (list, beside) = lists.list(v);
                ids.extend_from_slice(list);
                weights.extend_from_slice(beside);
                *end = ids.len() as u32;
            }
            ends[GROUP - live.leading_zeros() as usize..].fill(ids.len() as u32);
            if !ids.is_empty() || live != self.untouched(group).runs.live {
                let folded = Folded { ends, ids, weights, live, version, carried: Vec::new() };
                self.load_group(Address { side, group }, folded);
            }
        });
    }

    fn load_side(&self, side: Side, graph: Load<'_>, entries: &[Entry]) {
        let groups = graph.live.len() as u32;
        (0..groups).into_par_iter().for_each(|group| {
            let first = group << GROUP_BITS;
            let from = entries.partition_point(|entry| entry.0 < first);
            let len = entries[from..].partition_point(|entry| entry.0 >> GROUP_BITS == group);
            let live = graph.live[group as usize];
            let entries = &entries[from..from + len];
            if !entries.is_empty() || live != self.untouched(group).runs.live {
                let folded = Self::fold_entries((live, graph.version), entries);
                self.load_group(Address { side, group }, folded);
            }
        });
    }

    fn fold_entries((live, version): (u64, u64), entries: &[Entry]) -> Folded<W> {
        let mut ends = [0; GROUP];
        for entry in entries {
            ends[entry.0 as usize % GROUP] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        Folded {
            ends,
            ids: entries.iter().map(|entry| entry.1).collect(),
            weights: entries.iter().map(|entry| W::from_f64(entry.2)).collect(),
            live,
            version,
            carried: Vec::new(),
        }
    }

    fn load_group(&self, address: Address, folded: Folded<W>) {
        let version = folded.version;
        let mut locked = self.slot(address).chain.lock();
        self.install_loaded(address, &mut locked, folded, Goal::new(version, 0));
        self.queue_pending(address);
    }
}

fn sort(entries: &mut [Entry]) {
    entries.par_sort_unstable_by_key(|entry| u64::from(entry.0) << 32 | u64::from(entry.1));
}
