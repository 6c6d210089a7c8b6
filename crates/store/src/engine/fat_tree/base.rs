//! One version of a group of vertices: immutable sorted runs and the delta that follows them.
//!
//! # Layout
//!   `ids` holds the neighbours of local vertex 0, then of 1, .. each run ascending; run `i` ends
//!   at `ends[i]`. `weights` stands apart, so that kernels that need none never touch them.
//!   A hub (bit in `hubs`) has an empty run here and segments of its own, see `hub.rs`. A segment
//!   is a base too: the run of its hub is local vertex 0.
//! # Invariants
//!   - I1 Nothing changes after a base is published, but for `delta` (append only) and the dirty
//!     bits (set only).
//!   - I2 Delta and dirty bits belong to *this* base: after a merge the old base still needs its
//!     own for older readers.
//!   - B1 `ends` does not fall; runs are strictly ascending; `weights` is as long as `ids`.
//!   - B2 The state of an edge or a vertex at `s >= since` is what the last row about it with
//!     `stamp <= s - since` says, and else the run or the bit of `live`.
//!   - B3 Stamps do not fall along the delta.
//! # Checked by
//!   `check.rs`; tests/model.rs.

use std::ops::Range;
use std::sync::Arc;

use evergraph_graph::{VertexId, Weight};

use super::hub::Hub;
use super::leaf::Mark;
use crate::account::Account;
use crate::epoch::Versions;
use crate::fault::{Fault, planted};
use crate::raw::{Chain, Delta, Locked, Row, Rows, Slice, prefetch};
use crate::sync::{AtomicU64, OnceLock, Ordering};

/// Vertices of a group, as a power of two. 64: one machine word has a bit for each.
pub(crate) const GROUP_BITS: u32 = 6;
/// Vertices of a group.
pub(crate) const GROUP: usize = 1 << GROUP_BITS;
/// In place of a neighbour: the row is about the vertex itself. No vertex has this id.
pub(crate) const VERTEX: u32 = u32::MAX;

/// The largest stamp; a reader whose version is further from `since` takes all rows.
pub(crate) const STAMP_MAX: u32 = if cfg!(torture) { u16::MAX as u32 } else { u32::MAX };

const LOCAL_MASK: u8 = GROUP as u8 - 1;
const _: () = assert!(evergraph_graph::MAX_VERTICES < VERTEX);
const _: () = assert!(GROUP == u64::BITS as usize);

/// The group of a vertex.
#[inline]
pub(crate) fn group_of(v: VertexId) -> u32 {
    v >> GROUP_BITS
}

/// The place of a vertex in its group.
#[inline]
pub(crate) fn local_of(v: VertexId) -> u8 {
    v as u8 & LOCAL_MASK
}

/// What a row of a delta does to its edge or vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Puts in what was not there.
    Add,
    /// Gives what is there another weight.
    Set,
    /// Takes out what was there.
    Remove,
}

impl Kind {
    #[inline]
    fn tag(self, local: u8) -> u8 {
        (self as u8) << GROUP_BITS | local
    }

    /// By how much the change lengthens its list.
    #[inline]
    pub(crate) fn entries_added(self) -> i32 {
        match self {
            Self::Add => 1,
            Self::Set => 0,
            Self::Remove => -1,
        }
    }

    #[inline]
    pub(crate) fn of(tag: u8) -> Self {
        match tag >> GROUP_BITS {
            0 => Self::Add,
            1 => Self::Set,
            2 => Self::Remove,
            _ => unreachable!("tags are made by `Kind::tag`"),
        }
    }
}

/// The local vertex a row is about.
#[inline]
pub(crate) fn local_of_tag(tag: u8) -> u8 {
    tag & LOCAL_MASK
}

/// One change to one list, or to a vertex ([`VERTEX`]), as a delta holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Op<W> {
    pub(crate) local: u8,
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) weight: W,
}

/// The immutable part of a base.
pub(crate) struct Runs<W> {
    pub(crate) ends: [u16; GROUP],
    pub(crate) ids: Slice<VertexId>,
    pub(crate) weights: Slice<W>,
    /// A bit per vertex that exists.
    pub(crate) live: u64,
    /// A bit per vertex whose neighbours are in `hub_list`, in the order of the bits.
    pub(crate) hubs: u64,
    pub(crate) hub_list: Box<[Arc<Hub<W>>]>,
}

impl<W: Copy> Runs<W> {
    /// No edges; the vertices of `live`.
    pub(crate) fn empty(live: u64) -> Self {
        Self {
            ends: [0; GROUP],
            ids: Vec::new().into(),
            weights: Vec::new().into(),
            live,
            hubs: 0,
            hub_list: Box::default(),
        }
    }
}

/// One version of a group, with what changed since.
pub(crate) struct Base<W> {
    pub(crate) runs: Runs<W>,
    /// The version of the runs; stamps of the delta count from here.
    pub(crate) since: u64,
    /// A bit per vertex whose edges have rows in the delta. Set by the holder of the latch before
    /// the row is published; a reader at `s` sees the bits of every row `<= s` because `visible`
    /// reached `s` after they were set (I4). `Relaxed` is enough.
    dirty: AtomicU64,
    /// The same for rows about vertices.
    vertices_dirty: AtomicU64,
    /// Made by the first writer.
    delta: OnceLock<Delta<W>>,
    /// Of the leaf that tells readers about this base, if one does.
    mark: Option<Mark>,
    /// Counts the base and its delta.
    account: Account,
}

impl<W> Base<W> {
    /// Bytes of the base and of its runs, as far as they lie in no leaf; without the delta.
    fn bytes(&self) -> usize {
        let Runs { ids, weights, hub_list, .. } = &self.runs;
        let runs = ids.own_bytes() + weights.own_bytes() + size_of_val(&**hub_list);
        Chain::<Self>::STATE_BYTES + runs
    }
}

impl<W> Drop for Base<W> {
    fn drop(&mut self) {
        if planted(Fault::AccountForgets) {
            return;
        }
        self.account.sub(self.bytes() + self.delta.get().map_or(0, Delta::bytes));
    }
}

impl<W: Weight> Base<W> {
    /// A base with nothing pending, in no leaf.
    pub(crate) fn new(runs: Runs<W>, since: u64, account: &Account) -> Self {
        Self::marked(runs, since, None, account)
    }

    /// A base with nothing pending, that raises `mark` before it is changed or replaced.
    pub(crate) fn marked(runs: Runs<W>, since: u64, mark: Option<Mark>, account: &Account) -> Self {
        let (dirty, vertices_dirty) = (AtomicU64::new(0), AtomicU64::new(0));
        let (delta, account) = (OnceLock::new(), account.clone());
        let base = Self { runs, since, dirty, vertices_dirty, delta, mark, account };
        base.account.add(base.bytes());
        base
    }

    pub(crate) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// Has readers look for the state of the group elsewhere than in its leaf. The caller holds
    /// the latch, and is about to append a row or to put another base in place.
    #[inline]
    pub(crate) fn leave_leaf(&self) {
        if let Some(mark) = &self.mark {
            mark.raise();
        }
    }

    /// Where the run of a local vertex lies in `ids`.
    #[inline]
    pub(crate) fn span(&self, local: u8) -> Range<usize> {
        let end = usize::from(self.runs.ends[usize::from(local)]);
        let start = match local {
            0 => 0,
            _ => usize::from(self.runs.ends[usize::from(local) - 1]),
        };
        start..end
    }

    /// The run of a local vertex, without what is pending.
    #[inline]
    pub(crate) fn run(&self, local: u8) -> &[VertexId] {
        &self.runs.ids[self.span(local)]
    }

    /// The weights of [`Base::run`].
    #[inline]
    pub(crate) fn run_weights(&self, local: u8) -> &[W] {
        &self.runs.weights[self.span(local)]
    }

    /// The hub that holds the neighbours of a local vertex, if they are not in a run.
    #[inline]
    pub(crate) fn hub(&self, local: u8) -> Option<&Arc<Hub<W>>> {
        let bit = 1u64 << local;
        if self.runs.hubs & bit == 0 {
            return None;
        }
        Some(&self.runs.hub_list[(self.runs.hubs & (bit - 1)).count_ones() as usize])
    }

    /// The local vertices that are hubs, with their hubs.
    pub(crate) fn hubs(&self) -> impl Iterator<Item = (u8, &Arc<Hub<W>>)> {
        let mask = self.runs.hubs;
        (0..GROUP as u8).filter(move |local| mask >> local & 1 == 1).zip(&self.runs.hub_list)
    }

    /// The rows that are pending.
    #[inline]
    pub(crate) fn rows(&self) -> Option<Rows<'_, W>> {
        self.delta.get().map(Delta::rows)
    }

    /// Asks for what is needed to look an edge up and to append a row.
    #[inline]
    pub(crate) fn prefetch(&self, local: u8) {
        if let Some(delta) = self.delta.get() {
            delta.prefetch();
        }
        let span = self.span(local);
        let start = self.runs.ids.as_ptr().wrapping_add(span.start);
        prefetch(start, (span.len() * size_of::<VertexId>()).min(RUN_PREFETCHED));
    }

    /// Whether rows about the edges of a local vertex are pending.
    #[inline]
    pub(crate) fn is_dirty(&self, local: u8) -> bool {
        self.dirty.load(Ordering::Relaxed) >> local & 1 == 1
    }

    /// Whether rows about vertices are pending.
    #[inline]
    pub(crate) fn has_vertex_rows(&self) -> bool {
        self.vertices_dirty.load(Ordering::Relaxed) != 0
    }

    /// Whether any row is pending.
    #[inline]
    pub(crate) fn has_rows(&self) -> bool {
        self.delta.get().is_some_and(|delta| delta.len() > 0)
    }

    /// The version of the last change.
    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        self.rows()
            .and_then(|rows| rows.stamps.last().map(|&s| self.since + u64::from(s)))
            .unwrap_or(self.since)
    }

    /// Whether a row `<= version` is pending.
    #[inline]
    pub(crate) fn is_pending_at(&self, version: u64) -> bool {
        self.rows()
            .and_then(|rows| rows.stamps.first().copied())
            .is_some_and(|stamp| stamp <= self.stamp_at(version))
    }

    /// How many more rows fit, without a new base.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.delta.get().map_or(0, |delta| delta.capacity() - delta.len())
    }

    /// Makes the delta, if there is none; true if it was made now.
    pub(crate) fn make_delta(&self, capacity: usize) -> bool {
        let mut made = false;
        self.delta.get_or_init(|| {
            made = true;
            let delta = Delta::with_capacity(capacity);
            self.account.add(delta.bytes());
            delta
        });
        made
    }

    /// The largest stamp that a reader at `version` takes in.
    #[inline]
    pub(crate) fn stamp_at(&self, version: u64) -> u32 {
        version.saturating_sub(self.since).min(u64::from(STAMP_MAX)) as u32
    }

    /// How many rows, from the first, a reader at `version` takes in.
    #[inline]
    pub(crate) fn taken_at(&self, version: u64) -> usize {
        let last = self.stamp_at(version);
        self.rows().map_or(0, |rows| rows.stamps.partition_point(|&stamp| stamp <= last))
    }

    /// Appends a change made at `version`. The caller holds the latch and has made room.
    #[inline]
    pub(crate) fn append(&self, op: &Op<W>, version: u64) {
        debug_assert!(version - self.since < u64::from(STAMP_MAX), "the base was not renewed");
        if !planted(Fault::MarkForgotten) {
            self.leave_leaf();
        }
        let dirty = if op.id == VERTEX { &self.vertices_dirty } else { &self.dirty };
        // One writer at a time, so no bit of another is lost between load and store.
        let bit = u64::from(!planted(Fault::DirtyBitForgotten)) << op.local;
        dirty.store(dirty.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        let delta = self.delta.get().expect("room was made before the version was taken");
        delta.push(Row {
            id: op.id,
            tag: op.kind.tag(op.local),
            stamp: self.stamp_at(version),
            weight: op.weight,
        });
    }

    /// The last row about an edge or a vertex that a reader of stamps `<= limit` takes in.
    #[inline]
    fn last_row(&self, local: u8, id: u32, limit: u32) -> Option<Row<W>> {
        let dirty = if id == VERTEX { &self.vertices_dirty } else { &self.dirty };
        if dirty.load(Ordering::Relaxed) >> local & 1 == 0 {
            return None;
        }
        let rows = self.rows()?;
        find_last(rows.ids, id, |i| local_of_tag(rows.tags[i]) == local && rows.stamps[i] <= limit)
            .map(|i| rows.row(i))
    }

    /// The weight of the edge from a local vertex to `id` at `version`, if there is one. The
    /// vertex is no hub.
    #[inline]
    pub(crate) fn edge_at(&self, local: u8, id: VertexId, version: u64) -> Option<W> {
        if let Some(row) = self.last_row(local, id, self.stamp_at(version)) {
            return (Kind::of(row.tag) != Kind::Remove).then_some(row.weight);
        }
        let span = self.span(local);
        let at = position(&self.runs.ids[span.clone()], id).ok()?;
        Some(self.runs.weights[span.start + at])
    }

    /// Whether a local vertex exists at `version`.
    #[inline]
    pub(crate) fn live_at(&self, local: u8, version: u64) -> bool {
        match self.last_row(local, VERTEX, self.stamp_at(version)) {
            Some(row) => Kind::of(row.tag) == Kind::Add,
            None => self.runs.live >> local & 1 == 1,
        }
    }

    /// The local vertices that exist at `version`, a bit each.
    #[inline]
    pub(crate) fn live_mask(&self, version: u64) -> u64 {
        if !self.has_vertex_rows() {
            return self.runs.live;
        }
        (0..GROUP as u8).map(|local| u64::from(self.live_at(local, version)) << local).sum()
    }

    /// Whether a row about the edge or vertex was made after `version`.
    pub(crate) fn changed_after(&self, version: u64, local: u8, id: u32) -> bool {
        // Stamps ascend, so the last row about it is the newest.
        self.last_row(local, id, u32::MAX)
            .is_some_and(|row| self.since + u64::from(row.stamp) > version)
    }

    /// What the rows are about that were made after `version`: the local vertex, and the neighbour
    /// or [`VERTEX`].
    pub(crate) fn rows_after(&self, version: u64) -> impl Iterator<Item = (u8, u32)> {
        let rows = self.rows();
        let after = |&stamp: &u32| self.since + u64::from(stamp) > version;
        let count =
            rows.map_or(0, |rows| rows.stamps.iter().rev().take_while(|s| after(s)).count());
        let newest = rows
            .into_iter()
            .flat_map(move |rows| rows.tags.iter().zip(rows.ids).skip(rows.len() - count));
        newest.map(|(&tag, &id)| (local_of_tag(tag), id))
    }

    /// Whether any row about a local vertex or its edges was made after `version`.
    pub(crate) fn touched_after(&self, version: u64, local: u8) -> bool {
        self.rows().is_some_and(|rows| {
            rows.tags.iter().zip(rows.stamps).any(|(&tag, &stamp)| {
                local_of_tag(tag) == local && self.since + u64::from(stamp) > version
            })
        })
    }
}

/// Puts a base in place, as [`Locked::install`] does, and takes what it replaces out of its leaf.
pub(super) fn put_in_place<W: Weight>(
    locked: &mut Locked<'_, Base<W>>,
    at: (u64, u64),
    base: Base<W>,
    versions: &Versions,
) {
    if let Some(head) = locked.head().filter(|_| !planted(Fault::MergeKeepsMark)) {
        head.value.leave_leaf();
    }
    locked.install(at, base, versions, &versions.pins);
}

/// Bytes of a run that are asked for in advance: what is searched by counting.
const RUN_PREFETCHED: usize = COUNTED_MAX * size_of::<VertexId>();

/// Ids compared at once while a delta is searched: wide enough for the widest vectors.
const SCAN_CHUNK: usize = 32;

/// The last index `i` with `ids[i] == id` for which `takes(i)`.
#[inline]
fn find_last(ids: &[u32], id: u32, takes: impl Fn(usize) -> bool) -> Option<usize> {
    let mut end = ids.len();
    while end > 0 {
        let start = end.saturating_sub(SCAN_CHUNK);
        let chunk = &ids[start..end];
        // Without an early exit, so that the comparison runs in vectors.
        if chunk.iter().map(|&other| u32::from(other == id)).sum::<u32>() > 0 {
            let hit = (start..end).rev().find(|&i| ids[i] == id && takes(i));
            if hit.is_some() {
                return hit;
            }
        }
        end = start;
    }
    None
}

/// Runs up to this length are searched by counting, in vectors, what is smaller.
const COUNTED_MAX: usize = 64;

/// Where `id` is in a run, or where it would go.
#[inline]
pub(crate) fn position(run: &[VertexId], id: VertexId) -> Result<usize, usize> {
    let (mut start, mut end) = (0, run.len());
    while end - start > COUNTED_MAX {
        let middle = start.midpoint(end);
        if run[middle] < id {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    let smaller: u32 = run[start..end].iter().map(|&other| u32::from(other < id)).sum();
    let at = start + smaller as usize;
    if run.get(at) == Some(&id) { Ok(at) } else { Err(at) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn position_agrees_with_binary_search() {
        for n in [0u32, 1, 5, 63, 64, 65, 500] {
            let run: Vec<u32> = (0..n).map(|i| 3 * i + 1).collect();
            for id in 0..3 * n + 3 {
                assert_eq!(position(&run, id), run.binary_search(&id));
            }
        }
    }

    #[test]
    fn the_last_matching_row_is_found_across_chunks() {
        let ids: Vec<u32> = (0..100).map(|i| i % 10).collect();
        assert_eq!(find_last(&ids, 3, |_| true), Some(93));
        assert_eq!(find_last(&ids, 3, |i| i < 50), Some(43));
        assert_eq!(find_last(&ids, 3, |i| i < 3), None);
        assert_eq!(find_last(&ids, 11, |_| true), None);
    }

    #[test]
    fn a_reader_sees_the_rows_up_to_its_version() {
        let base: Base<f64> = Base::new(Runs::empty(0b11), 100, &Account::default());
        base.make_delta(8);
        let op = |kind, weight| Op { local: 0, id: 5, kind, weight };
        base.append(&op(Kind::Add, 1.0), 101);
        base.append(&op(Kind::Set, 2.0), 103);
        base.append(&op(Kind::Remove, 0.0), 105);
        base.append(&Op { local: 1, id: VERTEX, kind: Kind::Remove, weight: 0.0 }, 106);
        let at = |version| base.edge_at(0, 5, version);
        assert_eq!(
            [at(100), at(101), at(103), at(104), at(105)],
            [None, Some(1.0), Some(2.0), Some(2.0), None]
        );
        assert!(base.live_at(1, 105) && !base.live_at(1, 106) && base.live_at(0, 106));
        assert!(base.changed_after(104, 0, 5) && !base.changed_after(105, 0, 5));
        assert!(base.touched_after(105, 1) && !base.touched_after(105, 0));
        assert_eq!(
            (base.newest(), base.is_pending_at(100), base.is_pending_at(101)),
            (106, false, true)
        );
    }
}
