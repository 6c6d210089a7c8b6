//! Ranks by pushing: every vertex hands its rank to its out-neighbours, one after the other.

use evergraph_graph::GraphView;

use super::{Mismatch, close, compare, total};
use crate::{PageRankConfig, PageRankOutput};

/// The same terms are added in another order, which moves the last few of some 16 digits.
const TOLERANCE: f64 = 1e-10;

/// Checks the ranks that [`crate::pagerank()`] found after as many iterations as it ran, and
/// that it did not stop early without cause.
pub fn pagerank<G: GraphView>(
    view: &G,
    config: &PageRankConfig,
    output: &PageRankOutput,
) -> Result<(), Mismatch> {
    let settled = config.tolerance.is_some_and(|t| output.change <= t);
    if !settled {
        let (asked, run) = (config.iterations, output.iterations);
        total("iterations", u64::from(asked), u64::from(run))?;
    }
    let bound = view.vertex_bound();
    let count = f64::from(view.vertex_count());
    let mut ranks = vec![0.0; bound as usize];
    let vertices = || (0..bound).filter(|&v| view.contains(v));
    for v in vertices() {
        ranks[v as usize] = 1.0 / count;
    }
    for _ in 0..output.iterations {
        let mut sums = vec![0.0; bound as usize];
        let mut dangling = 0.0;
        for v in vertices() {
            let rank = ranks[v as usize];
            if view.degree(v) == 0 {
                dangling += rank;
            }
            let part = rank / f64::from(view.degree(v));
            view.for_each(v, |u| sums[u as usize] += part);
        }
        for v in vertices() {
            let jumps = (1.0 - config.damping) / count;
            let follows = config.damping * (sums[v as usize] + dangling / count);
            ranks[v as usize] = jumps + follows;
        }
    }
    compare(&ranks, &output.ranks, |&a, &b| close(a, b, TOLERANCE))
}
