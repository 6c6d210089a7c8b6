//! A list while rows are pending for it: its run in pieces, with the rows in between.
//!
//! Nothing is copied and nothing is settled: random access to a graph that was written a moment
//! ago costs a look at the tags of a delta more.

use std::ops::ControlFlow;

use evergraph_graph::{VertexId, Weight};
use smallvec::SmallVec;

use super::base::{Base, Kind, VERTEX, local_of_tag};

/// Rows of one vertex that are pending, mostly at most this many.
const INLINE: usize = 8;
/// Tags compared at once.
const SCAN_CHUNK: usize = 32;

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
    let (run, weights) = (base.run(local), base.run_weights(local));
    let mut pass = |ids: &[VertexId], weights: &[W]| match ids {
        [] => ControlFlow::Continue(()),
        ids => f(ids, weights),
    };
    let mut passed = 0;
    if let Some(rows) = base.rows() {
        for (id, row) in pending(base, local, version) {
            let end = passed + run[passed..].partition_point(|&other| other < id);
            pass(&run[passed..end], &weights[passed..end])?;
            passed = end + usize::from(run.get(end) == Some(&id));
            let row = row as usize;
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
    for (chunk, tags) in rows.tags.chunks(SCAN_CHUNK).enumerate() {
        // Without an early exit, so that the comparison runs in vectors.
        if tags.iter().map(|&tag| u32::from(local_of_tag(tag) == local)).sum::<u32>() == 0 {
            continue;
        }
        for (row, &tag) in tags.iter().enumerate().map(|(i, tag)| (chunk * SCAN_CHUNK + i, tag)) {
            let id = rows.ids[row];
            if local_of_tag(tag) == local && rows.stamps[row] <= limit && id != VERTEX {
                f(row, id, Kind::of(tag));
            }
        }
    }
}

/// How many entries the rows that a reader at `version` takes in add to a whole group.
pub(super) fn entries_pending<W: Weight>(base: &Base<W>, version: u64) -> i64 {
    let Some(rows) = base.rows() else { return 0 };
    let limit = base.stamp_at(version);
    let taken = rows.stamps.partition_point(|&stamp| stamp <= limit);
    let of_edges = rows.tags[..taken].iter().zip(rows.ids).filter(|&(_, &id)| id != VERTEX);
    of_edges.map(|(&tag, _)| i64::from(Kind::of(tag).entries_added())).sum()
}
