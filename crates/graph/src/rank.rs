//! Number keys by their rank among all keys: a vertex has as its id how many smaller keys there are.
//!
//! A look-up per end in a table of keys costs more than all the rest of making an edge list. A bit
//! per key, counted up, turns keys into ranks from a small array, on all threads; where keys are
//! spread too thin for that they are sorted.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::id::{MAX_VERTICES, VertexId};
use crate::key::KeyTable;
use crate::par::AtomicBitset;

/// Keys may be spread this thin, per key collected, before a bit for each costs more than sorting.
const SPREAD_MAX: u64 = 16;
/// Stands for the id of a key that no vertex has.
pub(crate) const NOBODY: VertexId = VertexId::MAX;

const _: () = assert!(NOBODY > MAX_VERTICES);

/// What all keys are below, if there is to be a bit for each.
pub(crate) fn bit_each(greatest: u64, collected: u64) -> Option<u32> {
    let spread = SPREAD_MAX * (collected + 1024);
    (greatest < spread.min(u64::from(u32::MAX))).then(|| greatest as u32 + 1)
}

/// The keys of the ends of edges, and the edges by the ranks of these; `None` if there are more keys
/// than a graph has vertices.
///
/// ```
/// let (keys, edges) = evergraph_graph::rank::by_rank(&[70, 5], &[5, 900]).expect("few");
/// assert_eq!(edges, [(1, 0), (0, 2)]);
/// assert_eq!(keys.key(2), Some(900u64.into()));
/// ```
pub fn by_rank(source: &[u64], target: &[u64]) -> Option<(KeyTable, Vec<(VertexId, VertexId)>)> {
    let both = || source.par_iter().chain(target).copied();
    let greatest = both().max().unwrap_or(0);
    let pairs = source.par_iter().zip(target);
    let (keys, edges) = if let Some(bound) = bit_each(greatest, both().len() as u64) {
        let ranks = Ranks::of(bound, |add| both().for_each(add))?;
        let edges = pairs.map(|(&u, &v)| (ranks.id(u), ranks.id(v))).collect();
        (ranks.keys(), edges)
    } else {
        let mut keys: Vec<u64> = both().collect();
        keys.par_sort_unstable();
        keys.dedup();
        if keys.len() > MAX_VERTICES as usize {
            return None;
        }
        let ids: HashMap<u64, VertexId> = keys.iter().copied().zip(0..).collect();
        let edges = pairs.map(|(u, v)| (ids[u], ids[v])).collect();
        (keys, edges)
    };
    Some((KeyTable::ascending(keys)?, edges))
}

/// Keys `0 .. bound` by their rank among those that are there.
pub(crate) struct Ranks {
    there: AtomicBitset,
    /// How many keys are there below each word of the set.
    below: Vec<u32>,
}

impl Ranks {
    /// The ranks of the keys below `bound` that `each` passes on; `None` if there are more than a
    /// graph has vertices.
    pub(crate) fn of(bound: u32, each: impl FnOnce(&(dyn Fn(u64) + Sync))) -> Option<Self> {
        let there = AtomicBitset::new(bound);
        each(&|key| {
            // Looking first spares a write that other threads would have to wait for.
            if !there.contains(key as u32) {
                there.insert(key as u32);
            }
        });
        Self::new(there, bound)
    }

    fn new(there: AtomicBitset, bound: u32) -> Option<Self> {
        let words = (bound as usize).div_ceil(64);
        let mut below = Vec::with_capacity(words + 1);
        let mut total = 0u32;
        for word in 0..words {
            below.push(total);
            total += there.word(word).count_ones();
        }
        below.push(total);
        (total <= MAX_VERTICES).then_some(Self { there, below })
    }

    /// The rank of a key.
    #[inline]
    pub(crate) fn id(&self, key: u64) -> VertexId {
        let word = (key / 64) as usize;
        // The last element of `below` is the total, not a word.
        if word + 1 >= self.below.len() {
            return NOBODY;
        }
        let bits = self.there.word(word);
        let bit = 1 << (key % 64);
        if bits & bit == 0 {
            return NOBODY;
        }
        self.below[word] + (bits & (bit - 1)).count_ones()
    }

    /// All keys, ascending.
    pub(crate) fn keys(&self) -> Vec<u64> {
        let mut keys = Vec::with_capacity(self.below[self.below.len() - 1] as usize);
        for word in 0..self.below.len() - 1 {
            let mut bits = self.there.word(word);
            while bits != 0 {
                keys.push(64 * word as u64 + u64::from(bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn ids_are_ranks_however_thin_keys_are_spread() {
        for spread in [1u64, 3, 1000, 1 << 40] {
            let key = |i: u64| mix(i) % 500 * spread;
            let source: Vec<u64> = (0..2000).map(key).collect();
            let target: Vec<u64> = (0..2000).map(|i| key(i + 77)).collect();
            let mut sorted: Vec<u64> = source.iter().chain(&target).copied().collect();
            sorted.sort_unstable();
            sorted.dedup();
            let (keys, edges) = by_rank(&source, &target).expect("few");
            assert_eq!(keys.len() as usize, sorted.len(), "spread {spread}");
            for ((u, v), (from, to)) in edges.into_iter().zip(source.iter().zip(&target)) {
                assert_eq!((sorted[u as usize], sorted[v as usize]), (*from, *to));
                assert_eq!(keys.key(u), Some((*from).into()));
            }
        }
        assert_eq!(by_rank(&[], &[]).map(|(keys, _)| keys.len()), Some(0));
    }
}
