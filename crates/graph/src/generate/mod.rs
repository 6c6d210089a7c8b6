//! Graphs made from a seed: Graph500 Kronecker graphs and uniform random graphs.
//!
//! # How
//!   1. `16 * 2^scale` random pairs are drawn, in blocks that each have a random stream of their
//!      own, so that it does not matter which thread draws which block.
//!   2. Self loops are dropped and each pair is scrambled into a random-looking word, a bijection.
//!   3. The words are sorted: equal pairs become neighbours and go, and the order of the words is
//!      a random order of the edges.
//!
//! The graph depends on model, scale and seed alone.

mod kronecker;
mod spec;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

pub use spec::{DEFAULT_SEED, GraphSpec, Model, SpecError};

use crate::edges::EdgeList;
use crate::id::{MAX_VERTICES, VertexId};
use crate::key::KeyTable;
use crate::memory;
use crate::mix::{Permutation, mix, stream, unmix};
use crate::par::sort_in_buckets;
use crate::progress::{Progress, Stage, Status};
use crate::read::Bytes;

/// Pairs drawn per vertex: the edge factor of Graph500.
pub const EDGE_FACTOR: u64 = 16;
/// Greatest scale a graph can have: ids are 32 bits, and some are set aside.
pub const MAX_SCALE: u32 = 31;

/// Pairs with one random stream: enough to hide the cost of starting it.
const BLOCK_PAIRS: u64 = 1 << 16;
/// Memory for a pair: the scrambled word with some slack, and the edge. The words are gone before
/// weights are made, which are no larger.
const PAIR_BYTES: u128 = 17;

/// The random streams of one seed that are not those of blocks, counted from the other end.
const LABEL_STREAM: u64 = u64::MAX;
const ORDER_STREAM: u64 = u64::MAX - 1;
const WEIGHT_STREAM: u64 = u64::MAX - 2;

const _: () = assert!(1 << MAX_SCALE <= MAX_VERTICES);

/// Why a graph could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The graph does not fit into the memory that is free.
    #[error(
        "{spec} needs {} of memory, and {} are free; choose a smaller scale",
        Bytes(*.needed), Bytes(*.available)
    )]
    TooLarge {
        /// The graph.
        spec: GraphSpec,
        /// The memory it takes to make it, in bytes.
        needed: u64,
        /// The memory that is free, in bytes.
        available: u64,
    },
    /// The scale is 0 or too large for any machine.
    #[error("{spec}: the scale must be 1 to {MAX_SCALE}")]
    Scale {
        /// The graph.
        spec: GraphSpec,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Cancelled,
}

/// Whether edges get weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// None.
    #[default]
    None,
    /// Uniform random numbers in (0, 1], by seed and edge.
    Uniform,
}

impl GraphSpec {
    /// Makes the graph: simple, undirected, with the dense keys `0 .. 2^scale` (vertices without
    /// edges included) and edges in random order.
    pub fn generate(
        &self,
        weights: Weights,
        progress: &dyn Progress,
    ) -> Result<EdgeList, GenerateError> {
        self.check_memory()?;
        let edges = self.edges(progress)?;
        let weights = match weights {
            Weights::None => None,
            Weights::Uniform => {
                let seed = stream(self.seed, WEIGHT_STREAM);
                Some(edges.par_iter().map(|&edge| weight(seed, edge)).collect())
            }
        };
        Ok(EdgeList { directed: false, keys: KeyTable::dense(1 << self.scale), edges, weights })
    }

    fn check_memory(&self) -> Result<(), GenerateError> {
        // From scale 64 on every answer is "more than there is".
        let pairs = u128::from(EDGE_FACTOR) << self.scale.min(u64::BITS);
        let needed = u64::try_from(pairs * PAIR_BYTES).unwrap_or(u64::MAX);
        match memory::available() {
            Some(available) if available < needed => {
                Err(GenerateError::TooLarge { spec: *self, needed, available })
            }
            _ if !(1..=MAX_SCALE).contains(&self.scale) => {
                Err(GenerateError::Scale { spec: *self })
            }
            _ => Ok(()),
        }
    }

    fn edges(&self, progress: &dyn Progress) -> Result<Vec<(VertexId, VertexId)>, GenerateError> {
        let order = stream(self.seed, ORDER_STREAM);
        let pairs = EDGE_FACTOR << self.scale;
        let counter = Counter::new(progress, pairs);
        let blocks = pairs.div_ceil(BLOCK_PAIRS);
        let scale = self.scale;
        let labels = Permutation::new(stream(self.seed, LABEL_STREAM), 1 << scale);
        let label = |v: VertexId| labels.at(u64::from(v)) as VertexId;
        let mut buckets = sort_in_buckets(blocks as usize, pairs as usize, |block, partition| {
            if counter.stopped() {
                return;
            }
            let block = block as u64;
            let count = BLOCK_PAIRS.min(pairs - block * BLOCK_PAIRS);
            let mut random = Pcg64Mcg::new(u128::from(stream(self.seed, block)) << 64 | 1);
            for _ in 0..count {
                let (u, v) = match self.model {
                    Model::Graph500 => {
                        let (u, v) = kronecker::pair(&mut random, scale);
                        (label(u), label(v))
                    }
                    Model::Uniform => uniform_pair(&mut random, scale),
                };
                if u != v {
                    partition.push(mix(pack(u, v) ^ order));
                }
            }
            counter.add(count);
        });
        counter.finish()?;
        buckets.par_iter_mut().for_each(Vec::dedup);
        Ok(unscramble(buckets, order))
    }
}

/// Two ends, each of `scale` random bits.
#[inline]
fn uniform_pair(random: &mut Pcg64Mcg, scale: u32) -> (VertexId, VertexId) {
    let word = random.next_u64();
    let shift = u32::BITS - scale;
    ((word >> 32) as u32 >> shift, word as u32 >> shift)
}

/// An undirected edge as one word.
#[inline]
fn pack(u: VertexId, v: VertexId) -> u64 {
    u64::from(u.min(v)) << 32 | u64::from(u.max(v))
}

/// The edges of which the words were made, in the order of the words.
fn unscramble(buckets: Vec<Vec<u64>>, order: u64) -> Vec<(VertexId, VertexId)> {
    let total = buckets.iter().map(Vec::len).sum();
    let mut edges = vec![(0, 0); total];
    let mut rest = &mut edges[..];
    let mut pieces = Vec::with_capacity(buckets.len());
    for bucket in &buckets {
        let (piece, after) = rest.split_at_mut(bucket.len());
        pieces.push(piece);
        rest = after;
    }
    buckets.into_par_iter().zip(pieces).for_each(|(bucket, piece)| {
        for (edge, word) in piece.iter_mut().zip(bucket) {
            let pair = unmix(word) ^ order;
            *edge = ((pair >> 32) as VertexId, pair as VertexId);
        }
    });
    edges
}

/// The weight of an edge: one of 2^53 equally spaced numbers in (0, 1].
#[inline]
fn weight(seed: u64, (u, v): (VertexId, VertexId)) -> f64 {
    unit_interval(mix(pack(u, v) ^ seed))
}

/// A random word as a number in (0, 1].
#[inline]
pub(crate) fn unit_interval(word: u64) -> f64 {
    const STEPS: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
    ((word >> (u64::BITS - f64::MANTISSA_DIGITS)) + 1) as f64 / STEPS
}

/// Counts pairs over all threads and hears whether to stop.
///
/// `Relaxed`: a late look at either value costs a block of work, nothing else.
struct Counter<'p> {
    progress: &'p dyn Progress,
    done: AtomicU64,
    total: u64,
    stopped: AtomicBool,
}

impl<'p> Counter<'p> {
    fn new(progress: &'p dyn Progress, total: u64) -> Self {
        Self { progress, done: AtomicU64::new(0), total, stopped: AtomicBool::new(false) }
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn add(&self, pairs: u64) {
        let done = self.done.fetch_add(pairs, Ordering::Relaxed) + pairs;
        self.report(Stage::Generating, done);
    }

    fn report(&self, stage: Stage, done: u64) {
        let status = Status {
            stage,
            done,
            total: (stage == Stage::Generating).then_some(self.total),
            lines: 0,
        };
        if self.progress.tick(&status) == ControlFlow::Break(()) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    fn finish(&self) -> Result<(), GenerateError> {
        self.report(Stage::Arranging, 0);
        if self.stopped() {
            return Err(GenerateError::Cancelled);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_interval_is_open_at_zero_and_closed_at_one() {
        assert_eq!(unit_interval(0).to_bits(), 2f64.powi(-53).to_bits());
        assert_eq!(unit_interval(u64::MAX).to_bits(), 1f64.to_bits());
        assert!((unit_interval(u64::MAX / 2) - 0.5).abs() < 1e-12);
    }
}
