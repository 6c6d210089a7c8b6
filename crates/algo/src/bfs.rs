//! Breadth-first search: how many edges lead from a source to every vertex, along out-edges.
//!
//! # Method
//! Level by level, in the direction that has less to look at. *Top-down*, the vertices of the
//! front claim their unreached neighbours. Once the edges that leave the front are a sizeable
//! part of all edges not looked at yet, *bottom-up*: every unreached vertex looks through its
//! in-neighbours for one in the front and stops at the first; on small-world graphs that skips
//! most edges. The levels do not depend on who claims a vertex, so neither on the threads.
//!
//! # Encoding
//! Top-down keeps the front as a list, bottom-up as a bit per vertex, 64 vertices to a word: a
//! task owns whole words, so it collects the next front without atomic updates.
//!
//! # Paper
//! Beamer, Asanović, Patterson: Direction-Optimizing Breadth-First Search, SC 2012.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use evergraph_graph::par::AtomicBitset;
use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::direction::{Direction, Forward};
use crate::{AlgoError, Cancel};

/// The level of a vertex that the source does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// The paper's choice, which later work confirmed on other machines.
pub const DEFAULT_ALPHA: u32 = 15;

/// The paper's choice, which later work confirmed on other machines.
pub const DEFAULT_BETA: u32 = 18;

/// What to search, and when to turn around.
#[derive(Clone, Debug)]
pub struct BfsConfig {
    /// Where the search starts.
    pub source: VertexId,
    /// Turns bottom-up when the front has more than one in `alpha` of the edges not looked at;
    /// 0 never turns.
    pub alpha: u32,
    /// Turns back top-down when the front shrinks below one in `beta` of the vertices; 0 turns
    /// back as soon as it shrinks.
    pub beta: u32,
    /// Stops the search between two levels.
    pub cancel: Cancel,
}

impl Default for BfsConfig {
    fn default() -> Self {
        Self { source: 0, alpha: DEFAULT_ALPHA, beta: DEFAULT_BETA, cancel: Cancel::default() }
    }
}

/// How far every vertex is from the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BfsOutput {
    /// The fewest edges from the source to each id; [`UNREACHED`] if there is no path, or no
    /// such vertex.
    pub levels: Vec<u32>,
}

/// Finds the level of every vertex. Time O(V + E).
pub fn bfs<G: GraphView>(view: &G, config: &BfsConfig) -> Result<BfsOutput, AlgoError> {
    if !view.contains(config.source) {
        return Err(AlgoError::SourceNotFound(config.source));
    }
    let levels = unreached(view.vertex_bound());
    search(&Forward(view), config, &levels)?;
    Ok(BfsOutput { levels: levels.into_iter().map(AtomicU32::into_inner).collect() })
}

/// A level per id, none reached.
pub(crate) fn unreached(bound: u32) -> Vec<AtomicU32> {
    (0..bound).map(|_| AtomicU32::new(UNREACHED)).collect()
}

/// Sets the level of whatever the source of `config` reaches over vertices still unreached.
///
/// All accesses to `levels` are `Relaxed`: a vertex is claimed by one compare-exchange, and the
/// end of a level's parallel loop orders it before the next.
pub(crate) fn search<D: Direction>(
    graph: &D,
    config: &BfsConfig,
    levels: &[AtomicU32],
) -> Result<(), AlgoError> {
    levels[config.source as usize].store(0, Ordering::Relaxed);
    let mut front = vec![config.source];
    let mut level = 0;
    let mut unchecked = graph.entry_count();
    let mut leaving = u64::from(graph.degree(config.source));
    while !front.is_empty() {
        config.cancel.check()?;
        if leaving.saturating_mul(u64::from(config.alpha)) > unchecked {
            (front, level) = climb_bottom_up(graph, config, levels, (&front, level))?;
            // At least; counting would cost more than a wrong turn.
            leaving = front.len() as u64;
        } else {
            unchecked = unchecked.saturating_sub(leaving);
            level += 1;
            let step =
                if leaving < SEQUENTIAL_EDGES_MAX { step_alone::<D> } else { step_together::<D> };
            (front, leaving) = step(graph, levels, &front, level);
        }
    }
    Ok(())
}

/// Fronts with fewer edges than this stay on the calling thread: some 20 us of work, not worth
/// waking another one for.
const SEQUENTIAL_EDGES_MAX: u64 = 1 << 13;

/// Vertices of the front per task: several tasks even for a front of a thousand.
const FRONT_PER_TASK: usize = 64;

/// Reaches the neighbours of the front: the next front, and how many edges leave it.
fn step_together<D: Direction>(
    graph: &D,
    levels: &[AtomicU32],
    front: &[VertexId],
    level: u32,
) -> (Vec<VertexId>, u64) {
    let parts: Vec<(Vec<VertexId>, u64)> = front
        .par_chunks(FRONT_PER_TASK)
        .fold(Default::default, |mut next, chunk| {
            expand(graph, levels, chunk, level, &mut next);
            next
        })
        .collect();
    let mut next = Vec::with_capacity(parts.iter().map(|(part, _)| part.len()).sum());
    let mut leaving = 0;
    for (part, edges) in &parts {
        next.extend_from_slice(part);
        leaving += edges;
    }
    (next, leaving)
}

/// As [`step_together`], on this thread.
fn step_alone<D: Direction>(
    graph: &D,
    levels: &[AtomicU32],
    front: &[VertexId],
    level: u32,
) -> (Vec<VertexId>, u64) {
    let mut next = (Vec::new(), 0);
    expand(graph, levels, front, level, &mut next);
    next
}

fn expand(
    graph: &impl Direction,
    levels: &[AtomicU32],
    front: &[VertexId],
    level: u32,
    (next, leaving): &mut (Vec<VertexId>, u64),
) {
    for &v in front {
        let _: ControlFlow<()> = graph.next(v, |run| {
            for &u in run {
                if claim(&levels[u as usize], level) {
                    next.push(u);
                    *leaving += u64::from(graph.degree(u));
                }
            }
            ControlFlow::Continue(())
        });
    }
}

/// Sets a level that nobody has set; true for the one thread that does.
#[inline]
fn claim(slot: &AtomicU32, level: u32) -> bool {
    slot.load(Ordering::Relaxed) == UNREACHED
        && slot.compare_exchange(UNREACHED, level, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

/// Goes bottom-up while the front grows or is large; gives the front and level it ends with.
fn climb_bottom_up(
    graph: &impl Direction,
    config: &BfsConfig,
    levels: &[AtomicU32],
    (front, mut level): (&[VertexId], u32),
) -> Result<(Vec<VertexId>, u32), AlgoError> {
    let bound = graph.vertex_bound();
    let mut current = AtomicBitset::new(bound);
    let mut next = AtomicBitset::new(bound);
    front.par_iter().for_each(|&v| {
        current.insert(v);
    });
    let mut pending = unreached_words(levels);
    let mut awake = front.len() as u64;
    loop {
        config.cancel.check()?;
        level += 1;
        let before = awake;
        awake = step_bottom_up(graph, &mut pending, (&current, &next), levels, level);
        std::mem::swap(&mut current, &mut next);
        let large = awake.saturating_mul(u64::from(config.beta)) > u64::from(bound);
        if awake == 0 || (awake < before && !large) {
            return Ok((members(&current, bound), level));
        }
    }
}

/// The vertices without a level, a bit each.
fn unreached_words(levels: &[AtomicU32]) -> Vec<u64> {
    let words = levels.par_chunks(u64::BITS as usize).with_min_len(WORDS_PER_TASK_MIN);
    words
        .map(|slots| {
            (0..).zip(slots).fold(0, |word, (bit, slot)| {
                word | u64::from(slot.load(Ordering::Relaxed) == UNREACHED) << bit
            })
        })
        .collect()
}

/// Words of 64 vertices per task, at least: a few thousand vertices.
const WORDS_PER_TASK_MIN: usize = 64;

/// Looks from every pending vertex back to the front; fills `next`, says how many it holds.
fn step_bottom_up(
    graph: &impl Direction,
    pending: &mut [u64],
    (current, next): (&AtomicBitset, &AtomicBitset),
    levels: &[AtomicU32],
    level: u32,
) -> u64 {
    let words = pending.par_iter_mut().enumerate().with_min_len(WORDS_PER_TASK_MIN);
    words
        .map(|(index, word)| {
            let mut reached = 0;
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let v = index as VertexId * u64::BITS + bit;
                match look_back(graph, v, current) {
                    Look::Reached => {
                        levels[v as usize].store(level, Ordering::Relaxed);
                        reached |= 1 << bit;
                    }
                    Look::Barren => *word &= !(1 << bit),
                    Look::Pending => {}
                }
            }
            *word &= !reached;
            next.set_word(index, reached);
            u64::from(reached.count_ones())
        })
        .sum()
}

/// What looking at the vertices behind one says about it.
enum Look {
    /// One of them is in the front.
    Reached,
    /// None is, yet.
    Pending,
    /// There are none.
    Barren,
}

#[inline]
fn look_back(graph: &impl Direction, v: VertexId, front: &AtomicBitset) -> Look {
    let mut look = Look::Barren;
    let found = graph.previous(v, |run| {
        look = Look::Pending;
        if run.iter().any(|&u| front.contains(u)) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if found.is_break() { Look::Reached } else { look }
}

/// The ids in a set, ascending.
fn members(set: &AtomicBitset, bound: u32) -> Vec<VertexId> {
    let words = (bound as usize).div_ceil(64);
    (0..words)
        .flat_map(|word| {
            let mut bits = set.word(word);
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(word as u32 * 64 + bit)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn levels_follow_out_edges() {
        let view = directed(6, &[(1, 0), (1, 2), (2, 3), (3, 1), (0, 3), (4, 1)]);
        let config = BfsConfig { source: 1, ..BfsConfig::default() };
        let output = bfs(&view, &config).expect("1 is a vertex");
        assert_eq!(output.levels, [1, 0, 1, 2, UNREACHED, UNREACHED]);
        verify::bfs(&view, &config, &output).expect("as the queue says");
    }

    #[test]
    fn the_source_must_exist() {
        let view = undirected(3, &[(0, 1)]);
        let config = BfsConfig { source: 3, ..BfsConfig::default() };
        assert_eq!(bfs(&view, &config), Err(AlgoError::SourceNotFound(3)));
    }

    #[test]
    fn a_raised_flag_stops_the_search() {
        let config = BfsConfig::default();
        config.cancel.clone().cancel();
        assert_eq!(bfs(&undirected(1, &[]), &config), Err(AlgoError::Cancelled));
    }

    #[test]
    fn a_wrong_level_is_found_out() {
        let view = undirected(3, &[(0, 1), (1, 2)]);
        let wrong = BfsOutput { levels: vec![0, 1, 1] };
        let found = verify::bfs(&view, &BfsConfig::default(), &wrong);
        let (expected, found_level) = ("2".into(), "1".into());
        let mismatch = verify::Mismatch::Vertex { vertex: 2, expected, found: found_level };
        assert_eq!(found, Err(mismatch));
    }

    #[test]
    fn members_come_ascending() {
        let set = AtomicBitset::new(200);
        for v in [0, 63, 64, 199] {
            set.insert(v);
        }
        assert_eq!(members(&set, 200), [0, 63, 64, 199]);
    }
}
