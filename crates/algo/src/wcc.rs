//! Weakly connected components: which vertices hang together when directions are ignored.
//!
//! # Method
//! Afforest: a parallel union-find that looks at few edges. Every vertex is first linked with a
//! couple of its neighbours, which on most graphs already joins the bulk of the largest component;
//! a sample tells which one that is. Then the remaining edges are linked, but only those of
//! vertices outside it: an edge between a vertex inside and one outside is seen from outside, so in
//! a directed view the outside looks along its out- *and* its in-edges.
//!
//! # Encoding
//! `labels[v]` is the parent of `v` in its tree, always the smaller id; a root is its own parent.
//! Linking hangs the larger root under the smaller, so that in the end the label of a component is
//! its smallest id, whatever the order of links was.
//!
//! # Paper
//! Sutton, Ben-Nun, Barak: Optimizing Parallel Graph Connectivity Computation via Subgraph
//! Sampling, IPDPS 2018.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};

use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::{AlgoError, Cancel, ENTRIES_PER_TASK};

/// The label of an id that is no vertex.
pub const NO_COMPONENT: VertexId = VertexId::MAX;

/// The paper finds that two rounds join most of the largest component and a third gains little.
pub const DEFAULT_NEIGHBOUR_ROUNDS: u32 = 2;

/// How to find components.
#[derive(Clone, Debug)]
pub struct WccConfig {
    /// How many neighbours of every vertex are linked before the largest component is guessed.
    pub neighbour_rounds: u32,
    /// Stops the kernel between two passes.
    pub cancel: Cancel,
}

impl Default for WccConfig {
    fn default() -> Self {
        Self { neighbour_rounds: DEFAULT_NEIGHBOUR_ROUNDS, cancel: Cancel::default() }
    }
}

/// The component of every vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WccOutput {
    /// The smallest id in the component of each id; [`NO_COMPONENT`] where there is no vertex.
    pub labels: Vec<VertexId>,
    /// How many components there are.
    pub components: u32,
}

/// Finds the component of every vertex. Time O(V + E) in practice, often less.
pub fn wcc<G: GraphView>(view: &G, config: &WccConfig) -> Result<WccOutput, AlgoError> {
    let bound = view.vertex_bound();
    let labels: Vec<AtomicU32> = (0..bound).map(AtomicU32::new).collect();
    for round in 0..config.neighbour_rounds {
        config.cancel.check()?;
        vertex_tasks(bound).for_each(|range| {
            each_nth_neighbour(view, range, round as usize, |v, u| link(&labels, v, u));
        });
        compress(&labels);
    }
    config.cancel.check()?;
    if let Some(largest) = most_frequent(&labels) {
        link_the_rest(view, &labels, largest, config.neighbour_rounds as usize);
    }
    config.cancel.check()?;
    compress(&labels);
    Ok(name_components(view, labels))
}

/// Vertices per task of a round.
const VERTICES_PER_TASK: u32 = 1 << 12;

/// All ids, cut into tasks.
fn vertex_tasks(bound: u32) -> impl ParallelIterator<Item = Range<VertexId>> {
    let range = move |task| task * VERTICES_PER_TASK..bound.min((task + 1) * VERTICES_PER_TASK);
    (0..bound.div_ceil(VERTICES_PER_TASK)).into_par_iter().map(range)
}

/// Passes each vertex of a range that has one with its neighbour that has `n` smaller ones.
#[inline]
fn each_nth_neighbour<G: GraphView>(
    view: &G,
    range: Range<VertexId>,
    n: usize,
    mut f: impl FnMut(VertexId, VertexId),
) {
    let (mut current, mut before) = (range.start, 0);
    view.range(range, |v, run| {
        if v != current {
            (current, before) = (v, 0);
        }
        if let Some(&u) = run.get(n - before) {
            f(v, u);
            return ControlFlow::Break(());
        }
        before += run.len();
        ControlFlow::Continue(())
    });
}

/// Puts `v` and `u` into one tree, and shortens the ways it walks: where every link makes a smaller
/// root, they would grow with each.
///
/// All accesses to labels are `Relaxed`: a label only ever falls along its own tree, so a stale
/// one is an older ancestor and costs another turn of the loop. Only roots are compared and
/// exchanged, and what is no root never becomes one, so the plain store cannot undo a link.
#[inline]
fn link(labels: &[AtomicU32], v: VertexId, u: VertexId) {
    let label = |v: VertexId| labels[v as usize].load(Ordering::Relaxed);
    let (mut a, mut b) = (label(v), label(u));
    while a != b {
        let (high, low) = (a.max(b), a.min(b));
        let parent = label(high);
        if parent == low {
            break;
        }
        let slot = &labels[high as usize];
        if parent == high
            && slot.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            break;
        }
        let above = label(parent);
        if above != parent {
            slot.store(above, Ordering::Relaxed);
        }
        (a, b) = (above, label(low));
    }
}

/// Hangs every vertex directly under the root of its tree.
fn compress(labels: &[AtomicU32]) {
    let load = |v: VertexId| labels[v as usize].load(Ordering::Relaxed);
    labels.par_iter().for_each(|slot| {
        let mut parent = slot.load(Ordering::Relaxed);
        loop {
            let above = load(parent);
            if above == parent {
                break;
            }
            parent = above;
        }
        slot.store(parent, Ordering::Relaxed);
    });
}

/// How many labels are looked at to find the largest component. It is skipped for speed only:
/// a wrong guess costs time, not truth.
const SAMPLES: usize = 1024;

/// The label that stands most often in an even sample.
fn most_frequent(labels: &[AtomicU32]) -> Option<VertexId> {
    let step = labels.len().div_ceil(SAMPLES).max(1);
    let mut sample: Vec<VertexId> =
        labels.iter().step_by(step).map(|label| label.load(Ordering::Relaxed)).collect();
    sample.sort_unstable();
    sample.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map(|same| same[0])
}

/// Links the edges that the rounds left out, of all vertices outside the largest component.
fn link_the_rest<G: GraphView>(view: &G, labels: &[AtomicU32], largest: VertexId, done: usize) {
    view.splits(ENTRIES_PER_TASK).into_par_iter().for_each(|range| {
        for v in range {
            if labels[v as usize].load(Ordering::Relaxed) == largest {
                continue;
            }
            let mut skip = done;
            let _: ControlFlow<()> = view.runs(v, |run| {
                let from = skip.min(run.len());
                skip -= from;
                run[from..].iter().for_each(|&u| link(labels, v, u));
                ControlFlow::Continue(())
            });
            if view.is_directed() {
                view.for_each_in(v, |u| link(labels, v, u));
            }
        }
    });
}

/// Marks ids without a vertex and counts the roots.
fn name_components<G: GraphView>(view: &G, labels: Vec<AtomicU32>) -> WccOutput {
    let mut labels: Vec<VertexId> = labels.into_iter().map(AtomicU32::into_inner).collect();
    let components = labels
        .par_iter_mut()
        .zip(0..view.vertex_bound())
        .map(|(label, v)| {
            // What is no vertex has no edges, so it stands alone.
            if *label == v && !view.contains(v) {
                *label = NO_COMPONENT;
            }
            u32::from(*label == v)
        })
        .sum();
    WccOutput { labels, components }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn directions_do_not_matter() {
        let view = directed(7, &[(6, 4), (4, 2), (1, 0), (3, 3)]);
        let output = wcc(&view, &WccConfig::default()).expect("nothing to refuse");
        assert_eq!(output, WccOutput { labels: vec![0, 0, 2, 3, 2, 5, 2], components: 4 });
        verify::wcc(&view, &output).expect("as the serial union-find says");
    }

    #[test]
    fn the_nth_neighbour_is_counted_over_all() {
        let view = undirected(5, &[(0, 2), (0, 3), (0, 4)]);
        let found = [0, 1, 2, 3].map(|n| {
            let mut found = Vec::new();
            each_nth_neighbour(&view, 0..3, n, |v, u| found.push((v, u)));
            found
        });
        assert_eq!(found, [vec![(0, 2), (2, 0)], vec![(0, 3)], vec![(0, 4)], vec![]]);
    }

    #[test]
    fn a_link_halves_the_way_it_walks() {
        let labels = [0, 0, 1, 2, 3, 4, 5].map(AtomicU32::new);
        link(&labels, 6, 0);
        let labels = labels.map(AtomicU32::into_inner);
        assert_eq!(labels, [0, 0, 1, 1, 3, 3, 5]);
    }

    #[test]
    fn a_wrong_count_is_found_out() {
        let view = undirected(2, &[(0, 1)]);
        let wrong = WccOutput { labels: vec![0, 0], components: 2 };
        assert!(matches!(
            verify::wcc(&view, &wrong),
            Err(verify::Mismatch::Total { expected: 1, found: 2, .. })
        ));
    }
}
