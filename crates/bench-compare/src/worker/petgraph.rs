//! petgraph: its compressed sparse rows, an arc each way. One thread, but for its `PageRank`.

use std::collections::VecDeque;
use std::time::Instant;

use petgraph::Directed;
use petgraph::algo::dijkstra;
use petgraph::algo::page_rank::parallel_page_rank;
use petgraph::csr::Csr;
use petgraph::unionfind::UnionFind;
use petgraph::visit::{EdgeRef, IntoEdgeReferences};

use super::{Kernels, numbers, stop};
use crate::answer::{Answer, Kernel};
use crate::work::GraphFiles;
use crate::{Error, Result};

/// What is measured.
pub(super) const VERSION: &str = "0.8.3";

const DAMPING: f64 = 0.85;
const ITERATIONS: usize = 20;

/// A graph; edges without a weight weigh 1.
pub(super) struct Rows(Csr<(), f64, Directed, u32>);

impl Rows {
    pub(super) fn load(files: &GraphFiles) -> Result<Self> {
        let list = files.read()?;
        let weight = |at: usize| list.weights.as_ref().map_or(1.0, |weights| weights[at]);
        let edges = list.edges.iter().enumerate();
        let arcs = edges.flat_map(|(at, &(a, b))| [(a, b, weight(at)), (b, a, weight(at))]);
        let mut arcs: Vec<(u32, u32, f64)> = arcs.collect();
        arcs.sort_unstable_by_key(|&(from, to, _)| (from, to));
        let rows = Csr::from_sorted_edges(&arcs);
        let mut rows = rows.map_err(|_| Error::Protocol("arcs are not sorted".to_owned()))?;
        // The last vertices have no edges to be known by.
        while rows.node_count() < files.vertices as usize {
            rows.add_node(());
        }
        Ok(Self(rows))
    }

    /// There is a walk in the order of levels, but it tells none: this is a queue over the lists.
    fn levels(&self, source: u32) -> Vec<i64> {
        let mut levels = vec![-1; self.0.node_count()];
        levels[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(v) = queue.pop_front() {
            let next = levels[v as usize] + 1;
            for &w in self.0.neighbors_slice(v) {
                if levels[w as usize] < 0 {
                    levels[w as usize] = next;
                    queue.push_back(w);
                }
            }
        }
        levels
    }

    /// `connected_components` only counts; this is the same loop, and its labels.
    fn components(&self) -> Vec<u32> {
        let mut sets = UnionFind::new(self.0.node_count());
        for edge in self.0.edge_references() {
            sets.union(edge.source(), edge.target());
        }
        sets.into_labeling()
    }
}

impl Kernels for Rows {
    fn run(&self, kernel: Kernel, source: u32) -> Result<Option<(f64, Answer)>> {
        let start = Instant::now();
        Ok(Some(match kernel {
            Kernel::Bfs => {
                let levels = self.levels(source);
                stop(start, || Answer::Numbers(levels))
            }
            Kernel::PageRank => {
                let ranks = parallel_page_rank(&self.0, DAMPING, ITERATIONS, None);
                stop(start, || Answer::Reals(ranks))
            }
            Kernel::Wcc => {
                let labels = self.components();
                stop(start, || numbers(labels))
            }
            Kernel::Sssp => {
                let found = dijkstra(&self.0, source, None, |edge| *edge.weight());
                stop(start, || {
                    let mut distances = vec![f64::INFINITY; self.0.node_count()];
                    for (v, distance) in found {
                        distances[v as usize] = distance;
                    }
                    Answer::Reals(distances)
                })
            }
            Kernel::PageRankConverged | Kernel::Triangles | Kernel::Lcc | Kernel::Scan => {
                return Ok(None);
            }
        }))
    }
}
