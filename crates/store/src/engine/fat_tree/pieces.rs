//! A list while rows are pending for it: its run in pieces, with the rows in between.
//!
//! Nothing is copied and nothing is settled: random access to a graph that was written a moment
//! ago costs a look at the tags of a delta more.

use std::ops::ControlFlow;

use evergraph_graph::{VertexId, Weight};
use smallvec::SmallVec;

use super::base::{Base, Kind, VERTEX, local_of_tag};
use super::row_order::{RowKey, next_list};

/// Rows of one vertex that are pending, mostly at most this many.
const INLINE: usize = 8;

/// The rows that change a list, one per neighbour, by neighbour: which, and where in the delta.
type Pending = SmallVec<[(VertexId, u32); INLINE]>;

/// Passes the list of a local vertex at `version`, in order, in pieces, until `f` breaks.
#[inline]
pub(super) fn pieces<W: Weight, B>(
    base: &Base<W>,
    local: u8,
    version: u64,
    mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if base.is_dirty(local) {
        return dirty_pieces(base, local, version, &mut f);
    }
    match base.run(local) {
        [] => ControlFlow::Continue(()),
        run => f(run, base.run_weights(local)),
    }
}

#[cold]
fn dirty_pieces<W: Weight, B>(
    base: &Base<W>,
    local: u8,
    version: u64,
    f: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let pending = pending(base, local, version);
    let rows = pending.iter().map(|&(id, row)| (id, row as usize));
    pieces_around(base, local, rows, f)
}

/// As [`pieces`], of the next list of a whole group whose rows are in order already: `left` is what
/// is left of them, and owners ascend from call to call.
#[inline]
pub(super) fn next_pieces<W: Weight, B>(
    base: &Base<W>,
    local: u8,
    left: &mut &[RowKey],
    f: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let rows = next_list(left, local).iter().map(|key| (key.id(), key.row()));
    pieces_around(base, local, rows, f)
}

/// Passes the run of a local vertex with rows taken in, which ascend by neighbour.
fn pieces_around<W: Weight, B>(
    base: &Base<W>,
    local: u8,
    pending: impl Iterator<Item = (VertexId, usize)>,
    f: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let (run, weights) = (base.run(local), base.run_weights(local));
    let mut pass = |ids: &[VertexId], weights: &[W]| match ids {
        [] => ControlFlow::Continue(()),
        ids => f(ids, weights),
    };
    let mut passed = 0;
    if let Some(rows) = base.rows() {
        for (id, row) in pending {
            let end = passed + run[passed..].partition_point(|&other| other < id);
            pass(&run[passed..end], &weights[passed..end])?;
            passed = end + usize::from(run.get(end) == Some(&id));
            if Kind::of(rows.tags[row]) != Kind::Remove {
                pass(&[id], &rows.weights[row..=row])?;
            }
        }
    }
    pass(&run[passed..], &weights[passed..])
}

/// The last row of each neighbour that a reader at `version` takes in.
fn pending<W: Weight>(base: &Base<W>, local: u8, version: u64) -> Pending {
    let mut pending = Pending::new();
    for_each_row(base, local, version, |row, id, _| pending.push((id, row as u32)));
    // Of equal ids the last row is the newest.
    pending.sort_unstable();
    pending.reverse();
    pending.dedup_by_key(|&mut (id, _)| id);
    pending.reverse();
    pending
}

/// How long the list of a local vertex is at `version`.
#[inline]
pub(super) fn length<W: Weight>(base: &Base<W>, local: u8, version: u64) -> u32 {
    let length = base.span(local).len() as u32;
    if base.is_dirty(local) { dirty_length(base, local, version, length) } else { length }
}

#[cold]
fn dirty_length<W: Weight>(base: &Base<W>, local: u8, version: u64, mut length: u32) -> u32 {
    for_each_row(base, local, version, |_, _, kind| {
        length = length.wrapping_add_signed(kind.entries_added());
    });
    length
}

/// Passes the rows about edges of a local vertex that a reader at `version` takes in.
fn for_each_row<W: Weight>(
    base: &Base<W>,
    local: u8,
    version: u64,
    mut f: impl FnMut(usize, VertexId, Kind),
) {
    let Some(rows) = base.rows() else { return };
    let limit = base.stamp_at(version);
    if rows.stamps.first().is_none_or(|&first| first > limit) {
        return;
    }
    for_each_of(rows.tags, local, |row| {
        let id = rows.ids[row];
        if rows.stamps[row] <= limit && id != VERTEX {
            f(row, id, Kind::of(rows.tags[row]));
        }
    });
}

/// A byte in each byte of a word.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Passes the places of the tags of a local vertex, ascending. Most tags are of others: eight are
/// compared at a time, and only the hits cost a branch.
#[inline]
fn for_each_of(tags: &[u8], local: u8, mut f: impl FnMut(usize)) {
    let (words, rest) = tags.as_chunks::<8>();
    for (i, &word) in words.iter().enumerate() {
        // Bytes below 64 that are 0 where the local vertex is the one. Adding 127 sets the top bit
        // of all others, and carries nothing over.
        let other = u64::from_le_bytes(word.map(local_of_tag)) ^ spread(local);
        let mut hits = !(other + spread(0x7f)) & spread(0x80);
        while hits != 0 {
            f(8 * i + (hits.trailing_zeros() / 8) as usize);
            hits &= hits - 1;
        }
    }
    let of_rest = |&(_, &tag): &(usize, &u8)| local_of_tag(tag) == local;
    rest.iter().enumerate().filter(of_rest).for_each(|(i, _)| f(tags.len() - rest.len() + i));
}

/// How many entries the rows that a reader at `version` takes in add to a whole group.
pub(super) fn entries_pending<W: Weight>(base: &Base<W>, version: u64) -> i64 {
    let Some(rows) = base.rows() else { return 0 };
    let taken = base.taken_at(version);
    let of_edges = rows.tags[..taken].iter().zip(rows.ids).filter(|&(_, &id)| id != VERTEX);
    of_edges.map(|(&tag, _)| i64::from(Kind::of(tag).entries_added())).sum()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tags_of_a_vertex_are_found_wherever_they_stand() {
        for length in [0usize, 1, 7, 8, 9, 64, 100] {
            // All locals and kinds, some locals side by side.
            let tags: Vec<u8> = (0..length).map(|i| (i * i / 3) as u8 % 192).collect();
            for local in 0..64 {
                let mut found = Vec::new();
                for_each_of(&tags, local, |i| found.push(i));
                let expected: Vec<usize> =
                    (0..length).filter(|&i| local_of_tag(tags[i]) == local).collect();
                assert_eq!(found, expected, "{local} in {tags:?}");
            }
        }
    }
}
