//! Who must come before whom, as a graph over the transactions of a history.

use super::RealTime;
use super::versions::{List, Versions};
use crate::history::History;

/// Why one transaction comes before another; a set of them is a mask.
pub(super) type Why = u8;

/// Both wrote, one after the other.
pub(super) const WW: Why = 1;
/// The second read what the first wrote.
pub(super) const WR: Why = 2;
/// The second overwrote what the first read.
pub(super) const RW: Why = 4;
/// The second began after the first had ended.
pub(super) const RT: Why = 8;

/// The edges, by their source. Nodes are the transactions of the history.
pub(super) struct Graph {
    offsets: Vec<u32>,
    edges: Vec<(u32, Why)>,
    /// Reads of a list whose reader wrote it too, but not next: reader and who wrote in between.
    pub(super) lost: Vec<(u32, u32)>,
}

impl Graph {
    pub(super) fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Whom a transaction comes before, and why.
    pub(super) fn after(&self, txn: u32) -> &[(u32, Why)] {
        let txn = txn as usize;
        &self.edges[self.offsets[txn] as usize..self.offsets[txn + 1] as usize]
    }

    fn new(nodes: usize, edges: &[(u32, u32, Why)], lost: Vec<(u32, u32)>) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for (from, _, _) in edges {
            offsets[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut sorted = vec![(0, 0); edges.len()];
        for &(from, to, why) in edges {
            sorted[next[from as usize] as usize] = (to, why);
            next[from as usize] += 1;
        }
        Self { offsets, edges: sorted, lost }
    }
}

#[derive(Default)]
struct Edges {
    edges: Vec<(u32, u32, Why)>,
}

impl Edges {
    fn add(&mut self, from: u32, to: u32, why: Why) {
        if from != to {
            self.edges.push((from, to, why));
        }
    }
}

/// The graph of a history.
pub(super) fn graph(history: &History, versions: &Versions, real_time: RealTime) -> Graph {
    let mut edges = Edges::default();
    versions.lists.iter().for_each(|list| of_writes(&mut edges, list));
    let lost = of_reads(&mut edges, versions);
    if real_time == RealTime::Heeded {
        of_times(&mut edges, history, versions);
    }
    Graph::new(history.txns.len(), &edges.edges, lost)
}

fn of_writes(edges: &mut Edges, list: &List) {
    for pair in list.writers.windows(2) {
        edges.add(pair[0], pair[1], WW);
    }
    if let Some(&last) = list.writers.last() {
        list.unseen.iter().for_each(|&unseen| edges.add(last, unseen, WW));
    }
}

/// Adds what reads say; returns those of updates that were lost.
fn of_reads(edges: &mut Edges, versions: &Versions) -> Vec<(u32, u32)> {
    let mut lost = Vec::new();
    for read in &versions.reads {
        let List { writers, unseen } = &versions.lists[read.list as usize];
        let seen = read.seen as usize;
        if seen > 0 {
            edges.add(writers[seen - 1], read.txn, WR);
        }
        match writers.get(seen) {
            Some(&next) => {
                edges.add(read.txn, next, RW);
                if read.writes && next != read.txn {
                    lost.push((read.txn, next));
                }
            }
            // Each of them overwrites the read, at once or by way of the others.
            None => unseen.iter().for_each(|&next| edges.add(read.txn, next, RW)),
        }
    }
    lost
}

/// Adds the order of real time, without what follows from other edges of it: of the transactions
/// that ended before one began, those that did not end before another of them began.
fn of_times(edges: &mut Edges, history: &History, versions: &Versions) {
    let present = (0..history.txns.len() as u32).filter(|&txn| versions.is_present(txn as usize));
    let mut events = Vec::with_capacity(2 * history.txns.len());
    for txn in present {
        let of_txn = &history.txns[txn as usize];
        // At the same time the beginning counts as first: only a later one is an order.
        events.push((of_txn.began, false, txn));
        if of_txn.is_committed() {
            events.push((of_txn.ended, true, txn));
        }
    }
    events.sort_unstable();
    let mut newest: Vec<u32> = Vec::new();
    for (_, is_end, txn) in events {
        if is_end {
            let began = history.txns[txn as usize].began;
            newest.retain(|&other| history.txns[other as usize].ended >= began);
            newest.push(txn);
        } else {
            for &before in &newest {
                edges.add(before, txn, RT);
            }
        }
    }
}
