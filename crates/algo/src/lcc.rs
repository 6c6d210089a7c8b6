//! Local clustering coefficient: how much of what could be joined among a vertex's neighbours is.
//!
//! The neighbourhood of `v` is every vertex with an edge to or from it, without `v` itself. With
//! `d` of them the coefficient is the number of directed edges among them divided by `d (d - 1)`,
//! and 0 if `d < 2`. An undirected edge counts as both directions; self loops are ignored. These
//! are the semantics of LDBC Graphalytics.
//!
//! # Method
//! An edge among the neighbours of `v` is the far side of a triangle at `v`. So every triangle is
//! found once, in the degree order of `ranked.rs` as for the triangle count, and gives each of its
//! corners the directed edges of the opposite side.
//!
//! # Encoding
//! A hub's mark, the directed edges to it and its count stand side by side, so that a lookup
//! touches one cache line. The counts of hubs are thus collected per middle
//! vertex and only then added to the shared ones: one atomic addition per edge, not per triangle.
//!
//! # Paper
//! Iosup et al.: LDBC Graphalytics, VLDB 2016, for the semantics; Latapy: Main-memory Triangle
//! Computations, TCS 2008.

use std::sync::atomic::{AtomicU64, Ordering};

use evergraph_graph::GraphView;
use rayon::prelude::*;

use crate::crew::{crew, share};
use crate::ranked::{Arcs, Both, Ranked};
use crate::{AlgoError, Cancel};

/// How to compute coefficients.
#[derive(Clone, Debug, Default)]
pub struct LccConfig {
    /// Stops the kernel between two tasks.
    pub cancel: Cancel,
}

/// The coefficient of every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct LccOutput {
    /// From 0 to 1 for each id, 0 where there is no vertex.
    pub coefficients: Vec<f64>,
}

/// Computes the coefficient of every vertex. Time O(E^1.5), memory for one more copy of the edges
/// and 16 bytes per vertex and thread.
pub fn lcc<G: GraphView>(view: &G, config: &LccConfig) -> Result<LccOutput, AlgoError> {
    let coefficients = if view.is_directed() {
        coefficients(&Ranked::<u8>::new(view, &config.cancel)?, config)?
    } else {
        coefficients(&Ranked::<Both>::new(view, &config.cancel)?, config)?
    };
    Ok(LccOutput { coefficients })
}

fn coefficients<A: Arcs>(graph: &Ranked<A>, config: &LccConfig) -> Result<Vec<f64>, AlgoError> {
    let bound = graph.order.len();
    let tasks = graph.tasks();
    // By rank. Relaxed: counts are only added up, and read after the parallel loop.
    let counts: Vec<AtomicU64> = (0..bound).map(|_| AtomicU64::new(0)).collect();
    let mut members = crew(|| vec![Cell::default(); bound]);
    share(&mut members, tasks.len(), |cells, shared| {
        for task in shared.rest() {
            if config.cancel.is_cancelled() {
                return;
            }
            for rank in tasks[task].clone() {
                count_at(graph, rank, cells, &counts);
            }
        }
    });
    config.cancel.check()?;
    let by_id: Vec<AtomicU64> = (0..bound).map(|_| AtomicU64::new(0)).collect();
    graph.order.par_iter().enumerate().for_each(|(rank, &v)| {
        let degree = f64::from(graph.degree(rank as u32));
        let count = counts[rank].load(Ordering::Relaxed);
        if count > 0 {
            let share = count as f64 / (degree * (degree - 1.0));
            by_id[v as usize].store(share.to_bits(), Ordering::Relaxed);
        }
    });
    let by_id = by_id.into_iter();
    Ok(by_id.map(|bits| f64::from_bits(bits.into_inner())).collect())
}

/// What a thread knows of a hub of the vertex it is at.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// 1 if it is a hub of that vertex, else 0. Read as a factor: a branch on it would be
    /// mispredicted every third time.
    met: u32,
    /// Directed edges between the two.
    arcs: u32,
    /// Directed edges found opposite it.
    count: u64,
}

/// Counts for all corners of the triangles whose middle vertex is `rank`. Leaves all cells at 0.
fn count_at<A: Arcs>(graph: &Ranked<A>, rank: u32, cells: &mut [Cell], counts: &[AtomicU64]) {
    let (hubs, arcs) = graph.hubs(rank);
    if hubs.is_empty() {
        return;
    }
    for (&x, arcs) in hubs.iter().zip(arcs) {
        let cell = &mut cells[x as usize];
        (cell.met, cell.arcs) = (1, arcs.count());
    }
    let before = &mut cells[..rank as usize];
    let mut mine = 0;
    graph.for_each_spoke(rank, |spoke, to_spoke, (theirs, arcs)| {
        let mut opposite = 0;
        for (&x, arcs) in theirs.iter().zip(arcs) {
            let Some(cell) = before.get_mut(x as usize) else {
                break;
            };
            opposite += u64::from(cell.arcs);
            mine += u64::from(cell.met * arcs.count());
            cell.count += u64::from(cell.met * to_spoke.count());
        }
        if opposite > 0 {
            counts[spoke as usize].fetch_add(opposite, Ordering::Relaxed);
        }
    });
    for &x in hubs {
        let cell = std::mem::take(&mut cells[x as usize]);
        counts[x as usize].fetch_add(cell.count, Ordering::Relaxed);
    }
    counts[rank as usize].fetch_add(mine, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn a_square_with_one_diagonal() {
        let view = undirected(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (2, 2), (2, 4)]);
        let output = lcc(&view, &LccConfig::default()).expect("nothing to refuse");
        // 0 has 1, 2, 3, of which 1-2 and 2-3 are joined; 2 has those and 4 as well.
        let expected = [4.0 / 6.0, 1.0, 4.0 / 12.0, 1.0, 0.0];
        assert_eq!(output.coefficients, expected);
        verify::lcc(&view, &output).expect("as the definition says");
    }

    #[test]
    fn directed_edges_among_neighbours_count_one_by_one() {
        // 0 has 1, 2, 3: of six possible edges among them 1 -> 2, 2 -> 1 and 3 -> 2 are there.
        let edges = [(0, 1), (1, 0), (2, 0), (0, 3), (1, 2), (2, 1), (3, 2), (3, 3)];
        let view = directed(4, &edges);
        let output = lcc(&view, &LccConfig::default()).expect("nothing to refuse");
        assert_eq!(output.coefficients, [3.0 / 6.0, 1.0 / 2.0, 3.0 / 6.0, 1.0 / 2.0]);
        verify::lcc(&view, &output).expect("as the definition says");
    }
}
