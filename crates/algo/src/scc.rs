//! Strongly connected components: which vertices reach each other along directed edges.
//!
//! # Method
//! Three steps, each on what the one before left.
//!   1. *Trim.* A vertex without in-edges or without out-edges is a component of its own; taking
//!      it away may leave its neighbours so, in waves, as long as these are worth several threads.
//!   2. *Forward and backward.* What a pivot reaches, and is reached by, is its component. With
//!      the best connected vertex as the pivot that is nearly always the giant one, and both
//!      searches are parallel, direction-optimising BFS.
//!   3. *Tarjan.* The rest, small components between the trimmed fringe and the giant one, is
//!      one depth-first search with a stack of its own, so that depth costs memory, not the
//!      thread's stack.
//!
//! In an undirected view the components are the weakly connected ones.
//!
//! # Encoding
//! The lists still to look at lie one above the other in one array: a vertex is finished when the
//! array has shrunk back to where its list began.
//!
//! # Papers
//! McLendon, Hendrickson, Plimpton, Rauchwerger: Finding Strongly Connected Components in
//! Distributed Graphs, JPDC 2005, for trimming; Fleischer, Hendrickson, Pınar: On Identifying
//! Strongly Connected Components in Parallel, 2000; Tarjan: Depth-First Search and Linear Graph
//! Algorithms, SIAM J. Computing 1972.

use std::sync::atomic::{AtomicU32, Ordering};

use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::bfs::{BfsConfig, UNREACHED, search, unreached};
use crate::direction::{Backward, Forward};
use crate::wcc::{NO_COMPONENT, WccConfig, wcc};
use crate::{AlgoError, Cancel};

/// How to find components.
#[derive(Clone, Debug, Default)]
pub struct SccConfig {
    /// Stops the kernel between two passes.
    pub cancel: Cancel,
}

/// The component of every vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SccOutput {
    /// The smallest id in the component of each id; [`NO_COMPONENT`] where there is no vertex.
    pub labels: Vec<VertexId>,
    /// How many components there are.
    pub components: u32,
}

/// Finds the component of every vertex. Time O(V + E).
pub fn scc<G: GraphView>(view: &G, config: &SccConfig) -> Result<SccOutput, AlgoError> {
    if !view.is_directed() {
        let config = WccConfig { cancel: config.cancel.clone(), ..WccConfig::default() };
        let weak = wcc(view, &config)?;
        return Ok(SccOutput { labels: weak.labels, components: weak.components });
    }
    let flat = view.flat();
    let labels = trim(&flat, config)?;
    if let Some(pivot) = best_connected(&flat, &labels) {
        take_component(&flat, pivot, &labels, config)?;
        config.cancel.check()?;
    }
    let mut labels: Vec<VertexId> = labels.into_iter().map(AtomicU32::into_inner).collect();
    Tarjan::new(&flat, &mut labels).run(config)?;
    let own = labels.par_iter().zip(0..flat.vertex_bound());
    let components = own.filter(|&(&label, v)| label == v).count() as u32;
    Ok(SccOutput { labels, components })
}

/// In labels: a vertex whose component is not known yet. At the end only ids without a vertex
/// are left with it.
const UNKNOWN: VertexId = NO_COMPONENT;

/// Vertices per task of a wave.
const WAVE_PER_TASK: usize = 64;

/// Smaller waves are left to the depth-first search: they would be the work of one thread, and it
/// is the better one for that. A path would take as many waves as it has vertices.
const WAVE_MIN: usize = 512;

/// Labels most of what has no way in or no way out; everything else stays [`UNKNOWN`].
fn trim<G: GraphView>(view: &G, config: &SccConfig) -> Result<Vec<AtomicU32>, AlgoError> {
    let bound = view.vertex_bound();
    let trim = Trim {
        view,
        ways_in: (0..bound).map(|v| AtomicU32::new(view.in_degree(v))).collect(),
        ways_out: (0..bound).map(|v| AtomicU32::new(view.degree(v))).collect(),
        labels: (0..bound).map(|_| AtomicU32::new(UNKNOWN)).collect(),
    };
    let mut wave: Vec<VertexId> = (0..bound)
        .into_par_iter()
        .filter(|&v| view.contains(v) && (view.in_degree(v) == 0 || view.degree(v) == 0))
        .collect();
    wave.par_iter().for_each(|&v| trim.labels[v as usize].store(v, Ordering::Relaxed));
    while wave.len() >= WAVE_MIN {
        config.cancel.check()?;
        let parts = wave.par_chunks(WAVE_PER_TASK).fold(Vec::new, |mut next, chunk| {
            trim.take_away(chunk, &mut next);
            next
        });
        wave = parts.collect::<Vec<_>>().concat();
    }
    Ok(trim.labels)
}

/// All accesses are `Relaxed`: a vertex is claimed by one compare-exchange, and the end of a
/// wave's parallel loop orders it before the next.
struct Trim<'a, G> {
    view: &'a G,
    ways_in: Vec<AtomicU32>,
    ways_out: Vec<AtomicU32>,
    labels: Vec<AtomicU32>,
}

impl<G: GraphView> Trim<'_, G> {
    /// Takes the edges of a wave away and appends the vertices that are now without a way.
    fn take_away(&self, wave: &[VertexId], next: &mut Vec<VertexId>) {
        for &v in wave {
            self.view.for_each(v, |u| self.lose_way(&self.ways_in, u, next));
            self.view.for_each_in(v, |u| self.lose_way(&self.ways_out, u, next));
        }
    }

    #[inline]
    fn lose_way(&self, ways: &[AtomicU32], v: VertexId, next: &mut Vec<VertexId>) {
        let last = ways[v as usize].fetch_sub(1, Ordering::Relaxed) == 1;
        if last
            && self.labels[v as usize]
                .compare_exchange(UNKNOWN, v, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            next.push(v);
        }
    }
}

/// The unlabelled vertex with the most pairs of an in- and an out-edge, the smallest of several.
fn best_connected<G: GraphView>(view: &G, labels: &[AtomicU32]) -> Option<VertexId> {
    (0..view.vertex_bound())
        .into_par_iter()
        .filter(|&v| view.contains(v) && labels[v as usize].load(Ordering::Relaxed) == UNKNOWN)
        .max_by_key(|&v| {
            let pairs = u64::from(view.degree(v)) * u64::from(view.in_degree(v));
            (pairs, std::cmp::Reverse(v))
        })
}

/// In levels: not to be searched.
const BARRED: u32 = UNREACHED - 1;

/// Labels the component of `pivot`.
fn take_component<G: GraphView>(
    view: &G,
    pivot: VertexId,
    labels: &[AtomicU32],
    config: &SccConfig,
) -> Result<(), AlgoError> {
    let config = BfsConfig { source: pivot, cancel: config.cancel.clone(), ..BfsConfig::default() };
    let levels = unreached(view.vertex_bound());
    levels.par_iter().zip(labels).for_each(|(level, label)| {
        if label.load(Ordering::Relaxed) != UNKNOWN {
            level.store(BARRED, Ordering::Relaxed);
        }
    });
    search(&Forward(view), &config, &levels)?;
    // Who the pivot does not reach need not be searched again; who it does starts afresh.
    levels.par_iter().for_each(|level| {
        let new = match level.load(Ordering::Relaxed) {
            UNREACHED | BARRED => BARRED,
            _ => UNREACHED,
        };
        level.store(new, Ordering::Relaxed);
    });
    search(&Backward(view), &config, &levels)?;
    let members = || {
        let ids = levels.par_iter().enumerate();
        ids.filter(|(_, level)| level.load(Ordering::Relaxed) < BARRED).map(|(v, _)| v as VertexId)
    };
    let label = members().min().unwrap_or(pivot);
    members().for_each(|v| labels[v as usize].store(label, Ordering::Relaxed));
    Ok(())
}

/// How many vertices are visited between two looks at the cancel flag.
const VISITS_PER_CHECK: u32 = 1 << 16;

/// A depth-first search over the vertices that have no label yet.
struct Tarjan<'a, G> {
    view: &'a G,
    labels: &'a mut [VertexId],
    /// When each vertex was visited, counted from 1; 0 for not yet.
    visited: Vec<u32>,
    visits: u32,
    /// Vertices visited but without a component, in the order of their visits.
    open: Vec<VertexId>,
    /// The path from the root of the search to where it is.
    path: Vec<Frame>,
    /// Neighbours still to look at, of each vertex on the path above those of the one before.
    pending: Vec<VertexId>,
}

/// A vertex on the path.
struct Frame {
    vertex: VertexId,
    /// The earliest visit of an open vertex found from here.
    lowest: u32,
    /// Where its neighbours begin in `pending`.
    start: usize,
}

impl<'a, G: GraphView> Tarjan<'a, G> {
    fn new(view: &'a G, labels: &'a mut [VertexId]) -> Self {
        Self {
            view,
            visited: vec![0; labels.len()],
            labels,
            visits: 0,
            open: Vec::new(),
            path: Vec::new(),
            pending: Vec::new(),
        }
    }

    fn run(&mut self, config: &SccConfig) -> Result<(), AlgoError> {
        for root in 0..self.view.vertex_bound() {
            if self.labels[root as usize] == UNKNOWN && self.view.contains(root) {
                self.visit(root);
                self.search(config)?;
            }
        }
        Ok(())
    }

    fn visit(&mut self, v: VertexId) {
        self.visits += 1;
        self.visited[v as usize] = self.visits;
        self.open.push(v);
        self.path.push(Frame { vertex: v, lowest: self.visits, start: self.pending.len() });
        let (labels, pending) = (&*self.labels, &mut self.pending);
        self.view.for_each(v, |u| {
            if labels[u as usize] == UNKNOWN {
                pending.push(u);
            }
        });
    }

    /// Goes on until the path is empty.
    fn search(&mut self, config: &SccConfig) -> Result<(), AlgoError> {
        while let Some(frame) = self.path.last_mut() {
            if self.pending.len() == frame.start {
                self.leave();
                continue;
            }
            let next = self.pending.pop().expect("longer than the frame's start");
            if self.labels[next as usize] != UNKNOWN {
                continue;
            }
            match self.visited[next as usize] {
                0 => {
                    if self.visits.is_multiple_of(VISITS_PER_CHECK) {
                        config.cancel.check()?;
                    }
                    self.visit(next);
                }
                visit => frame.lowest = frame.lowest.min(visit),
            }
        }
        Ok(())
    }

    /// Takes the last vertex off the path; closes its component if it is the first of it.
    fn leave(&mut self) {
        let Some(frame) = self.path.pop() else {
            return;
        };
        if frame.lowest < self.visited[frame.vertex as usize] {
            if let Some(before) = self.path.last_mut() {
                before.lowest = before.lowest.min(frame.lowest);
            }
            return;
        }
        let first = self.open.iter().rposition(|&v| v == frame.vertex);
        let members = self.open.split_off(first.unwrap_or(0));
        let label = members.iter().copied().min().unwrap_or(frame.vertex);
        for v in members {
            self.labels[v as usize] = label;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn two_circles_a_bridge_and_a_tail() {
        let edges = [(1, 2), (2, 1), (2, 3), (3, 5), (5, 6), (6, 3), (6, 7), (0, 1), (4, 4)];
        let view = directed(8, &edges);
        let output = scc(&view, &SccConfig::default()).expect("nothing to refuse");
        assert_eq!(output, SccOutput { labels: vec![0, 1, 1, 3, 4, 3, 3, 7], components: 5 });
        verify::scc(&view, &output).expect("as Kosaraju says");
    }

    #[test]
    fn the_search_finds_what_the_other_steps_would() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (4, 1), (6, 5)];
        let view = directed(7, &edges);
        let mut labels = vec![UNKNOWN; 7];
        Tarjan::new(&view, &mut labels).run(&SccConfig::default()).expect("not cancelled");
        assert_eq!(labels, [0, 0, 0, 0, 0, 0, 6]);
    }

    #[test]
    fn undirected_ones_are_the_weak_ones() {
        let output = scc(&undirected(4, &[(1, 3), (3, 2)]), &SccConfig::default());
        assert_eq!(output, Ok(SccOutput { labels: vec![0, 1, 1, 1], components: 2 }));
    }
}
