//! Cutting arrays and ranges of vertices into pieces of equal work.

use std::ops::Range;

use rayon::prelude::*;

use crate::VertexId;

/// Below this a parallel prefix sum costs more than it saves.
const SEQUENTIAL_SUM_MAX: usize = 1 << 16;

/// The offsets of lists with these lengths: `[0, l0, l0 + l1, ..]`, one longer than `lengths`.
pub fn prefix_sums(lengths: &[u32]) -> Vec<u64> {
    let mut offsets = vec![0; lengths.len() + 1];
    let chunk = lengths.len().div_ceil(rayon::current_num_threads()).max(SEQUENTIAL_SUM_MAX);
    let sums: Vec<u64> =
        lengths.par_chunks(chunk).map(|part| part.iter().map(|&n| u64::from(n)).sum()).collect();
    let starts = sums.iter().scan(0, |total, sum| {
        *total += sum;
        Some(*total - sum)
    });
    let starts: Vec<u64> = starts.collect();
    offsets[1..].par_chunks_mut(chunk).zip(lengths.par_chunks(chunk)).zip(starts).for_each(
        |((offsets, lengths), mut total)| {
            for (offset, &length) in offsets.iter_mut().zip(lengths) {
                total += u64::from(length);
                *offset = total;
            }
        },
    );
    offsets
}

/// Cuts the vertices of these list offsets into ranges of about `entries_per_task` entries.
/// A vertex counts one entry of its own, so that long stretches of empty lists are cut too.
pub fn splits_by_offsets(offsets: &[u64], entries_per_task: usize) -> Vec<Range<VertexId>> {
    let vertices = offsets.len() - 1;
    let work = |v: usize| offsets[v] + v as u64;
    let mut splits = Vec::new();
    let mut start = 0;
    while start < vertices {
        let goal = work(start) + entries_per_task.max(1) as u64;
        let length = binary_search_by(vertices - start, |i| work(start + i + 1) >= goal) + 1;
        let end = (start + length).min(vertices);
        splits.push(start as VertexId..end as VertexId);
        start = end;
    }
    splits
}

/// The first `i < n` for which `reached` holds, or `n`.
fn binary_search_by(n: usize, reached: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low.midpoint(high);
        if reached(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Cuts `values` into one mutable piece per range, so that parallel tasks write without locks.
/// The ranges must ascend and touch; `offset` maps a vertex to its first element.
pub fn chunks_by_range<'a, T>(
    mut values: &'a mut [T],
    ranges: &[Range<VertexId>],
    offset: impl Fn(VertexId) -> usize,
) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (piece, rest) = values.split_at_mut(offset(range.end) - offset(range.start));
        pieces.push(piece);
        values = rest;
    }
    pieces
}
