//! Distances by Dijkstra's algorithm on a binary heap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use evergraph_graph::{GraphView, VertexId, Weight};

use super::{Mismatch, compare};
use crate::{SsspConfig, SsspOutput};

/// Checks the distances that [`crate::sssp()`] found. They are equal to the last bit, since
/// both take the least of the same sums.
pub fn sssp<G: GraphView>(
    view: &G,
    config: &SsspConfig,
    output: &SsspOutput,
) -> Result<(), Mismatch> {
    let mut distances = vec![f64::INFINITY; view.vertex_bound() as usize];
    distances[config.source as usize] = 0.0;
    let mut heap = BinaryHeap::from([Reverse((Distance(0.0), config.source))]);
    while let Some(Reverse((Distance(distance), v))) = heap.pop() {
        if distance > distances[v as usize] {
            continue;
        }
        view.for_each_weighted(v, |u: VertexId, weight| {
            let reach = distance + weight.to_f64();
            if reach < distances[u as usize] {
                distances[u as usize] = reach;
                heap.push(Reverse((Distance(reach), u)));
            }
        });
    }
    compare(&distances, &output.distances, f64::eq)
}

/// A number that sorts: the heap never holds NaN.
#[derive(PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
