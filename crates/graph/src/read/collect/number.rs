//! Giving vertices with number keys their ids: the rank of a key among all keys.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::ends::Ends;
use super::locate::Finder;
use super::{CollectError, Duplicates, ReadError};
use crate::id::{MAX_VERTICES, VertexId};
use crate::key::KeyTable;
use crate::par::AtomicBitset;

/// Keys may be spread this thin, per key collected, before a bit for each costs more than sorting.
const SPREAD_MAX: u64 = 16;
/// Memory for one collected key while sorting tells how many there are.
const SORT_BYTES: u64 = 8;
/// Stands for the id of a key that no vertex has.
const NOBODY: VertexId = VertexId::MAX;

const _: () = assert!(NOBODY > MAX_VERTICES);

/// Gives each key its rank as id. `listed` are all keys there are, ascending; without it they are
/// the ends of edges.
pub(super) fn by_rank(
    ends: Ends,
    listed: Option<Vec<u64>>,
    finder: &Finder<'_, '_>,
) -> Result<(KeyTable, Vec<(VertexId, VertexId)>), ReadError> {
    let too_many = || CollectError::TooManyVertices.at(finder.file());
    let greatest = match &listed {
        Some(keys) => keys.last().copied().unwrap_or(0),
        None => ends.greatest(),
    };
    let collected = listed.as_ref().map_or(2 * ends.len(), Vec::len) as u64;
    let spread = SPREAD_MAX * (collected + 1024);
    let (keys, edges) = if greatest < spread.min(u64::from(u32::MAX)) {
        let bound = greatest as u32 + 1;
        let there = AtomicBitset::new(bound);
        let add = |key: u64| {
            // Looking first spares a write that other threads would have to wait for.
            if !there.contains(key as u32) {
                there.insert(key as u32);
            }
        };
        match &listed {
            Some(keys) => keys.par_iter().for_each(|&key| add(key)),
            None => ends.for_each(add),
        }
        let ranks = Ranks::new(there, bound).ok_or_else(too_many)?;
        (ranks.keys(), ends.map(|key| ranks.id(key)))
    } else {
        let keys = if let Some(keys) = listed {
            keys
        } else {
            finder.check_memory(collected * SORT_BYTES)?;
            let mut keys = ends.flatten();
            keys.par_sort_unstable();
            keys.dedup();
            keys
        };
        if keys.len() > MAX_VERTICES as usize {
            return Err(too_many());
        }
        let ids: HashMap<u64, VertexId> = keys.iter().copied().zip(0..).collect();
        let edges = ends.map(|key| ids.get(&key).copied().unwrap_or(NOBODY));
        (keys, edges)
    };
    if let Some(edge) = edges.par_iter().position_first(|&(u, v)| u == NOBODY || v == NOBODY) {
        return Err(finder.unknown_vertex(edge, &keys)?);
    }
    let keys = KeyTable::ascending(keys).ok_or_else(too_many)?;
    Ok((keys, edges))
}

/// The listed keys, ascending; those that stand twice once, if that is allowed.
pub(super) fn sorted(
    listed: &[u64],
    policy: Duplicates,
    finder: &Finder<'_, '_>,
) -> Result<Vec<u64>, ReadError> {
    let mut keys = listed.to_vec();
    keys.par_sort_unstable();
    if policy == Duplicates::Error && keys.windows(2).any(|pair| pair[0] == pair[1]) {
        let mut seen = HashMap::new();
        for (vertex, &key) in listed.iter().enumerate() {
            if let Some(first) = seen.insert(key, vertex) {
                return Err(finder.duplicate_vertex(first, vertex)?);
            }
        }
    }
    keys.dedup();
    Ok(keys)
}

/// Keys `0 .. bound` by their rank among those that are there.
struct Ranks {
    there: AtomicBitset,
    /// How many keys are there below each word of the set.
    below: Vec<u32>,
}

impl Ranks {
    /// `None` if there are more keys than a graph has vertices.
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

    #[inline]
    fn id(&self, key: u64) -> VertexId {
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

    fn keys(&self) -> Vec<u64> {
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
