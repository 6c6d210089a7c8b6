//! Finding the edges that stand more than once, and keeping the first of each.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::locate::Finder;
use super::{Duplicates, ReadError};
use crate::edges::EdgeList;
use crate::id::VertexId;
use crate::mix::mix;
use crate::par::sort_in_buckets;
use crate::read::sink::Repeats;

/// Edges that one task scrambles at a time.
const EDGES_PER_PIECE: usize = 1 << 16;
/// Memory for one edge while duplicates are looked for: a word, and again while it is sorted.
const SEARCH_BYTES: u64 = 16;
/// Memory for one edge that stands more than once.
const REPEATED_BYTES: u64 = 48;

/// Makes the list simple, or says where an edge stands that must not be there.
pub(super) fn settle(
    list: &mut EdgeList,
    (repeats, policy): (Repeats, Duplicates),
    finder: &Finder<'_, '_>,
) -> Result<(), ReadError> {
    finder.check_memory(list.edges.len() as u64 * SEARCH_BYTES)?;
    let repeated = repeated(list);
    if repeated.is_empty() {
        return Ok(());
    }
    finder.check_memory(repeated.len() as u64 * REPEATED_BYTES)?;
    drop_repeats(list, &repeated, (repeats, policy), finder)
}

/// A word that is the same for an edge and, where edges have no direction, its reverse, and that
/// looks random.
#[inline]
fn scrambled(directed: bool, (u, v): (VertexId, VertexId)) -> u64 {
    let (first, second) = if directed || u <= v { (u, v) } else { (v, u) };
    mix(u64::from(first) << 32 | u64::from(second))
}

/// The scrambled words of the edges that stand more than once, each once.
fn repeated(list: &EdgeList) -> Vec<u64> {
    let edges = &list.edges;
    let pieces = edges.len().div_ceil(EDGES_PER_PIECE);
    let buckets = sort_in_buckets(pieces, edges.len(), |piece, partition| {
        let start = piece * EDGES_PER_PIECE;
        let end = edges.len().min(start + EDGES_PER_PIECE);
        for &edge in &edges[start..end] {
            partition.push(scrambled(list.directed, edge));
        }
    });
    let repeated = |bucket: &Vec<u64>| {
        let pairs = bucket.windows(2).filter(|pair| pair[0] == pair[1]);
        let mut words: Vec<u64> = pairs.map(|pair| pair[0]).collect();
        words.dedup();
        words
    };
    buckets.par_iter().flat_map_iter(repeated).collect()
}

/// The first record of an edge that stands more than once.
#[derive(Clone, Copy)]
struct First {
    record: usize,
    weight: Option<f64>,
}

/// Keeps the first of the edges whose words are `repeated`.
fn drop_repeats(
    list: &mut EdgeList,
    repeated: &[u64],
    (repeats, policy): (Repeats, Duplicates),
    finder: &Finder<'_, '_>,
) -> Result<(), ReadError> {
    let mut firsts: HashMap<u64, Option<First>> =
        repeated.iter().map(|&word| (word, None)).collect();
    let mut kept = 0;
    for record in 0..list.edges.len() {
        let edge = list.edges[record];
        let weight = list.weights.as_ref().map(|weights| weights[record]);
        match firsts.get_mut(&scrambled(list.directed, edge)) {
            Some(Some(first)) => {
                let same = repeats == Repeats::Same && first.weight == weight;
                if same || policy == Duplicates::Ignore {
                    continue;
                }
                let kind = (list.directed, repeats);
                return Err(finder.duplicate_edge(first.record, record, kind)?);
            }
            Some(unseen) => *unseen = Some(First { record, weight }),
            None => {}
        }
        list.edges[kept] = edge;
        if let (Some(weights), Some(weight)) = (&mut list.weights, weight) {
            weights[kept] = weight;
        }
        kept += 1;
    }
    list.edges.truncate(kept);
    if let Some(weights) = &mut list.weights {
        weights.truncate(kept);
    }
    Ok(())
}
