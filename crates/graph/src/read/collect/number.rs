//! Giving vertices with number keys their ids: the rank of a key among all keys.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::ends::Ends;
use super::locate::Finder;
use super::{CollectError, Duplicates, ReadError};
use crate::id::{MAX_VERTICES, VertexId};
use crate::key::KeyTable;
use crate::rank::{NOBODY, Ranks, bit_each};

/// Memory for one collected key while sorting tells how many there are.
const SORT_BYTES: u64 = 8;
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
    let (keys, edges) = if let Some(bound) = bit_each(greatest, collected) {
        let ranks = Ranks::of(bound, |add| match &listed {
            Some(keys) => keys.par_iter().for_each(|&key| add(key)),
            None => ends.for_each(add),
        });
        let ranks = ranks.ok_or_else(too_many)?;
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
