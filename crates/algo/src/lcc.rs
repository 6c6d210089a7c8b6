//! Local clustering coefficient: how much of what could be joined among a vertex's neighbours is.
//!
//! The neighbourhood of `v` is every vertex with an edge to or from it, without `v` itself. With
//! `d` of them the coefficient is the number of directed edges among them divided by `d (d - 1)`,
//! and 0 if `d < 2`. An undirected edge counts as both directions; self loops are ignored. These
//! are the semantics of LDBC Graphalytics, [`Measure::Edges`].
//!
//! [`Measure::Triangles`] differs where edges have a direction: `v` has as many triangles as there are
//! ways to choose a directed edge on each side of one, and they are divided by how many there could be,
//! `t (t - 1) - 2 b`, with `t` edges to and from `v` and `b` neighbours joined both ways. `NetworkX`
//! computes that.
//!
//! # Method
//! An edge among the neighbours of `v` is the far side of a triangle at `v`. So every triangle is
//! found once, in the degree order of `ranked.rs` as for the triangle count, and gives each of its
//! corners the directed edges of the opposite side, or the product of those of all three.
//!
//! # Encoding
//! A hub's mark, the directed edges to it and its count stand side by side, so that a lookup
//! touches one cache line. The counts of hubs are thus collected per middle
//! vertex and only then added to the shared ones: one atomic addition per edge, not per triangle.
//!
//! # Paper
//! Iosup et al.: LDBC Graphalytics, VLDB 2016, for the semantics; Latapy: Main-memory Triangle
//! Computations, TCS 2008. Fagiolo: Clustering in Complex Directed Networks, Phys. Rev. E 2007.

use std::sync::atomic::{AtomicU64, Ordering};

use evergraph_graph::GraphView;
use rayon::prelude::*;

use crate::crew::{crew, share};
use crate::ranked::{Arcs, Both, Ranked};
use crate::{AlgoError, Cancel};

/// What a coefficient is where edges have a direction; where they have none it is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Directed edges among the neighbours, of those there could be.
    #[default]
    Edges,
    /// Directed triangles, of those there could be.
    Triangles,
}

/// How to compute coefficients.
#[derive(Clone, Debug, Default)]
pub struct LccConfig {
    /// What they are where edges have a direction.
    pub measure: Measure,
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
    let coefficients = match (view.is_directed(), config.measure) {
        (true, Measure::Edges) => coefficients::<u8, Edges, _>(view, config)?,
        (true, Measure::Triangles) => coefficients::<u8, Triangles, _>(view, config)?,
        (false, _) => coefficients::<Both, Edges, _>(view, config)?,
    };
    Ok(LccOutput { coefficients })
}

/// What is counted.
trait Count {
    /// What the middle, the spoke and the hub of a triangle get.
    fn of(triangle: Triangle) -> [u32; 3];

    /// The most that a vertex of a degree, other than 0, can get, if `arcs` edges lead to and from it.
    fn most(degree: f64, arcs: f64) -> f64;

    /// Whether `most` looks at arcs.
    const ARCS: bool;
}

/// The directed edges on each side of a triangle. All are 0 if the hub is none of the middle.
struct Triangle {
    /// 1 if it is a triangle, else 0.
    met: u32,
    hub_middle: u32,
    middle_spoke: u32,
    spoke_hub: u32,
}

/// See [`Measure::Edges`].
struct Edges;

impl Count for Edges {
    #[inline]
    fn of(triangle: Triangle) -> [u32; 3] {
        let Triangle { met, hub_middle, middle_spoke, spoke_hub } = triangle;
        [met * spoke_hub, hub_middle, met * middle_spoke]
    }

    fn most(degree: f64, _: f64) -> f64 {
        degree * (degree - 1.0)
    }

    const ARCS: bool = false;
}

/// See [`Measure::Triangles`].
struct Triangles;

impl Count for Triangles {
    #[inline]
    fn of(triangle: Triangle) -> [u32; 3] {
        [triangle.hub_middle * triangle.middle_spoke * triangle.spoke_hub; 3]
    }

    fn most(degree: f64, arcs: f64) -> f64 {
        let both_ways = arcs - degree;
        arcs * (arcs - 1.0) - 2.0 * both_ways
    }

    const ARCS: bool = true;
}

fn coefficients<A: Arcs, C: Count, G: GraphView>(
    view: &G,
    config: &LccConfig,
) -> Result<Vec<f64>, AlgoError> {
    let graph = Ranked::<A>::new(view, &config.cancel)?;
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
                count_at::<A, C>(&graph, rank, cells, &counts);
            }
        }
    });
    config.cancel.check()?;
    let by_id: Vec<AtomicU64> = (0..bound).map(|_| AtomicU64::new(0)).collect();
    graph.order.par_iter().enumerate().for_each(|(rank, &v)| {
        let count = counts[rank].load(Ordering::Relaxed);
        if count > 0 {
            let rank = rank as u32;
            let arcs = if C::ARCS { graph.arcs(rank) } else { 0 };
            let share = count as f64 / C::most(f64::from(graph.degree(rank)), arcs as f64);
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
    /// What it got.
    count: u64,
}

/// Counts for all corners of the triangles whose middle vertex is `rank`. Leaves all cells at 0.
fn count_at<A: Arcs, C: Count>(
    graph: &Ranked<A>,
    rank: u32,
    cells: &mut [Cell],
    counts: &[AtomicU64],
) {
    if !graph.is_between(rank) {
        return;
    }
    let (hubs, arcs) = graph.hubs(rank);
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
            let [middle, end, hub] = C::of(Triangle {
                met: cell.met,
                hub_middle: cell.arcs,
                middle_spoke: to_spoke.count(),
                spoke_hub: arcs.count(),
            });
            mine += u64::from(middle);
            opposite += u64::from(end);
            cell.count += u64::from(hub);
        }
        add(&counts[spoke as usize], opposite);
    });
    for &x in hubs {
        let cell = std::mem::take(&mut cells[x as usize]);
        add(&counts[x as usize], cell.count);
    }
    add(&counts[rank as usize], mine);
}

/// Adds to a shared count. Most edges of a graph with few triangles lie on none.
#[inline]
fn add(count: &AtomicU64, more: u64) {
    if more > 0 {
        count.fetch_add(more, Ordering::Relaxed);
    }
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
        verify::lcc(&view, &LccConfig::default(), &output).expect("as the definition says");
    }

    #[test]
    fn directed_edges_among_neighbours_count_one_by_one() {
        // 0 has 1, 2, 3: of six possible edges among them 1 -> 2, 2 -> 1 and 3 -> 2 are there.
        let edges = [(0, 1), (1, 0), (2, 0), (0, 3), (1, 2), (2, 1), (3, 2), (3, 3)];
        let view = directed(4, &edges);
        let output = lcc(&view, &LccConfig::default()).expect("nothing to refuse");
        assert_eq!(output.coefficients, [3.0 / 6.0, 1.0 / 2.0, 3.0 / 6.0, 1.0 / 2.0]);
        verify::lcc(&view, &LccConfig::default(), &output).expect("as the definition says");
    }

    #[test]
    fn directed_triangles_count_every_way_round() {
        // 0 and 1 are joined both ways, 2 to each of them one way: two ways round, of which there
        // could be 3 * 2 - 2 * 1 at 0 and at 1, and 2 * 1 at 2.
        let view = directed(4, &[(0, 1), (1, 0), (1, 2), (0, 2), (2, 2), (0, 3)]);
        let config = LccConfig { measure: Measure::Triangles, ..LccConfig::default() };
        let output = lcc(&view, &config).expect("nothing to refuse");
        assert_eq!(output.coefficients, [2.0 / 10.0, 2.0 / 4.0, 2.0 / 2.0, 0.0]);
        verify::lcc(&view, &config, &output).expect("as the definition says");
    }
}
