//! The neighbours of one hub: many small sorted segments under a directory of fences.
//!
//! # Layout
//!   `Segments { fences: [0, f1, f2, ..], cells: [c0, c1, c2, ..] }`: the newest state of cell `i`
//!   holds the neighbours in `[fences[i], fences[i + 1])`, as local vertex 0 of a [`Base`].
//! # Invariants
//!   - H1 Everything is written under the latch of the group that the hub belongs to.
//!   - H2 The directory is not versioned: it is an index of cells, and cells are versioned. A cell
//!     that came from a split at `v` has no state before `v`; at `s < v` the state of the cell to
//!     its left still covers it.
//!   - H3 A split installs the new directory *before* it replaces the state of the left cell. So
//!     for a moment a reader finds entries both in the left cell and in the new ones: it takes
//!     from each cell only what lies below the next fence whose cell has a state at `s`. And a
//!     reader that found the left cell replaced finds the directory changed: it looks at the
//!     directory again after it looked at the cells, and starts over if that is a new one.
//!   - H4 Cells are never merged; a hub that shrank is packed again as a new hub, or goes back
//!     into its group (`merge.rs`).
//! # Checked by
//!   `check.rs`; loom: `models::loom_hub_split`; tests/model.rs with tiny segments.

use std::sync::Arc;

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP, Op, Runs, put_in_place};
use super::fold::{Folded, fold};
use super::leaf::Shelf;
use crate::account::{Account, Charge};
use crate::epoch::Versions;
use crate::fault::{Fault, planted};
use crate::raw::{Chain, Pin, Retention};
use crate::sync::{AtomicU64, Ordering};

/// One segment of a hub in all its versions.
pub(crate) type Cell<W> = Chain<Base<W>>;

/// The neighbours of a hub.
pub(crate) struct Hub<W> {
    segments: Chain<Segments<W>>,
    /// How many neighbours there are now. Written under the latch of the group.
    entries: AtomicU64,
    /// The version of the last change. Written under the latch of the group.
    newest: AtomicU64,
}

/// The directory of a hub.
pub(crate) struct Segments<W> {
    fences: Box<[VertexId]>,
    cells: Box<[Arc<Cell<W>>]>,
    _charge: Charge,
}

/// Bytes of the counts that stand before what an [`Arc`] holds.
const COUNTS: usize = 2 * size_of::<usize>();

impl<W> Segments<W> {
    fn new(fences: Box<[VertexId]>, cells: Box<[Arc<Cell<W>>]>, account: &Account) -> Self {
        // The cells of an old directory are those of the new one: it lives for a moment only.
        let of_cells = cells.len() * (size_of::<Arc<Cell<W>>>() + COUNTS + size_of::<Cell<W>>());
        let own = COUNTS + size_of::<Hub<W>>() + Chain::<Self>::STATE_BYTES;
        let bytes = own + size_of_val(&*fences) + of_cells;
        Self { fences, cells, _charge: account.charge(bytes) }
    }

    /// Which cell holds `id`.
    #[inline]
    pub(crate) fn index(&self, id: VertexId) -> usize {
        self.fences.partition_point(|&fence| fence <= id) - 1
    }

    pub(crate) fn cells(&self) -> &[Arc<Cell<W>>] {
        &self.cells
    }

    pub(crate) fn fences(&self) -> &[VertexId] {
        &self.fences
    }
}

/// Nobody reads an old directory: what is behind it is found through the new one.
struct Nobody;

impl Retention for Nobody {
    fn need(&self, _: u64, _: u64) -> bool {
        false
    }
}

/// Where a reader finds an id.
pub(crate) struct Found {
    pub(crate) index: usize,
    /// Where the next segment with a state at the version begins.
    pub(crate) upper: Option<VertexId>,
}

/// Where new segments go.
pub(crate) struct Destination<'a, W> {
    pub(crate) versions: &'a Versions,
    pub(crate) shelf: Shelf<'a, W>,
}

/// How a segment gets new content.
pub(crate) struct CutAs {
    /// The first version at which no lease can be reading the old content.
    pub(crate) from: u64,
    /// Neighbours of a piece.
    pub(crate) entries: usize,
    /// Rows that must still fit behind the ones that are carried over.
    pub(crate) room: usize,
}

/// A segment as one reader sees it.
pub(crate) struct SegmentAt<'a, W> {
    pub(crate) base: &'a Base<W>,
    /// Entries from here on belong to the next segment.
    pub(crate) upper: Option<VertexId>,
}

impl<W: Weight> Hub<W> {
    /// Cuts a run into segments of `entries` neighbours each, as of `version`.
    pub(crate) fn new(
        ids: &[VertexId],
        weights: &[W],
        (version, entries): (u64, usize),
        mut into: Destination<'_, W>,
    ) -> Self {
        let mut folded = Folded::of_run(ids.to_vec(), weights.to_vec(), version);
        let pieces = cut(&mut folded, entries);
        let hub = Self {
            segments: Chain::default(),
            entries: AtomicU64::new(ids.len() as u64),
            newest: AtomicU64::new(version),
        };
        let fences = pieces.iter().enumerate().map(|(i, piece)| piece.fence(i)).collect();
        let cell = |piece: Piece<W>| piece.into_cell((version, 0), &mut into);
        let cells = pieces.into_iter().map(cell).collect();
        hub.publish(Segments::new(fences, cells, &into.versions.account), into.versions);
        hub
    }

    fn publish(&self, segments: Segments<W>, versions: &Versions) {
        self.segments.lock().install((0, 0), segments, &Nobody, &versions.pins);
    }

    /// How many neighbours the hub has now. For the holder of the group's latch.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// The version of the last change. For the holder of the group's latch.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Passes the directory to `f`. For the holder of the group's latch.
    pub(crate) fn with_segments<R>(&self, f: impl FnOnce(&Segments<W>) -> R) -> R {
        let locked = self.segments.lock();
        f(locked.head().expect("a hub is made with its directory").value)
    }

    /// The newest weight of the edge to `id`. For the holder of the group's latch.
    pub(crate) fn edge_now(&self, id: VertexId) -> Option<W> {
        self.with_segments(|segments| {
            let cell = segments.cells[segments.index(id)].lock();
            cell.head().and_then(|head| head.value.edge_at(0, id, u64::MAX))
        })
    }

    /// All neighbours now. For the holder of the group's latch.
    pub(crate) fn collect_now(&self) -> (Vec<VertexId>, Vec<W>) {
        let (mut ids, mut weights) = (Vec::new(), Vec::new());
        self.with_segments(|segments| {
            for cell in &segments.cells {
                let cell = cell.lock();
                let head = cell.head().expect("a cell is made with a state");
                let folded = fold(head.value, u64::MAX);
                ids.extend_from_slice(&folded.ids);
                weights.extend_from_slice(&folded.weights);
            }
        });
        (ids, weights)
    }

    /// Whether the edge to `id` was changed after `version`; `None` if the hub does not reach
    /// back that far and what came before it has to be asked too. For the holder of the latch.
    pub(crate) fn changed_after(&self, version: u64, id: VertexId) -> Option<bool> {
        if self.newest() <= version {
            return Some(false);
        }
        self.with_segments(|segments| {
            for cell in segments.cells[..=segments.index(id)].iter().rev() {
                for state in cell.lock().states() {
                    if state.value.changed_after(version, 0, id) {
                        return Some(true);
                    }
                    if state.version <= version {
                        return Some(false);
                    }
                }
            }
            None
        })
    }

    /// Appends a change made at `version`. For the holder of the latch, who has made room.
    pub(crate) fn append(&self, op: &Op<W>, version: u64) {
        self.with_segments(|segments| {
            let cell = segments.cells[segments.index(op.id)].lock();
            let head = cell.head().expect("a cell is made with a state");
            head.value.append(&Op { local: 0, ..*op }, version);
        });
        let change = i64::from(op.kind.entries_added());
        self.entries.store(self.entries().wrapping_add_signed(change), Ordering::Relaxed);
        self.newest.store(version, Ordering::Relaxed);
    }

    /// Gives cell `index` the content `folded`, which leases read from `from` on, cut into
    /// pieces of `entries` neighbours: the cell keeps the first, new cells right of it hold the
    /// others. True if old content had to be kept. For the holder of the latch.
    pub(crate) fn replace(
        &self,
        index: usize,
        mut folded: Folded<W>,
        cut_as: &CutAs,
        mut into: Destination<'_, W>,
    ) -> bool {
        let versions = into.versions;
        let version = folded.version;
        let mut pieces = cut(&mut folded, cut_as.entries).into_iter();
        let left = pieces.next().expect("a cut gives at least one piece");
        let base = left.into_base((version, cut_as.room), &mut into);
        let (fences, new): (Vec<_>, Vec<_>) = pieces
            .map(|piece| (piece.fence(1), piece.into_cell((version, cut_as.room), &mut into)))
            .unzip();
        let late = planted(Fault::CutBeforeDirectory) && !new.is_empty();
        if !new.is_empty() && !late {
            // H3: the directory first.
            self.insert_cells(index + 1, &fences, &new, versions);
        }
        let kept = self.with_segments(|segments| {
            let mut cell = segments.cells[index].lock();
            put_in_place(&mut cell, (version, cut_as.from), base, versions);
            cell.has_history()
        });
        if late {
            self.insert_cells(index + 1, &fences, &new, versions);
        }
        kept
    }

    fn insert_cells(
        &self,
        at: usize,
        fences: &[VertexId],
        cells: &[Arc<Cell<W>>],
        versions: &Versions,
    ) {
        let segments = self.with_segments(|old| {
            let fences = [&old.fences[..at], fences, &old.fences[at..]].concat();
            let cells = [&old.cells[..at], cells, &old.cells[at..]].concat();
            Segments::new(fences.into(), cells.into(), &versions.account)
        });
        self.publish(segments, versions);
    }

    /// The state that covers `id` at `version`. For the holder of the group's latch.
    pub(crate) fn state_at(&self, id: VertexId, version: u64) -> Option<Found> {
        self.with_segments(|segments| {
            let has_state = |&i: &usize| segments.cells[i].lock().at(version).is_some();
            let index = (0..=segments.index(id)).rev().find(has_state)?;
            let upper = (index + 1..segments.cells.len()).find(has_state);
            Some(Found { index, upper: upper.map(|i| segments.fences[i]) })
        })
    }

    /// The segments as a reader at `version` sees them, in order.
    pub(crate) fn segments_at<'a>(
        &'a self,
        version: u64,
        pin: &'a Pin<'_>,
    ) -> Vec<SegmentAt<'a, W>> {
        loop {
            let segments = self.directory(pin);
            let states: Vec<_> = segments
                .fences
                .iter()
                .zip(&segments.cells)
                .filter_map(|(&fence, cell)| Some((fence, cell.at(version, pin)?.value)))
                .collect();
            if std::ptr::eq(segments, self.directory(pin)) {
                let uppers = states.iter().skip(1).map(|&(fence, _)| Some(fence)).chain([None]);
                let at = |(&(_, base), upper)| SegmentAt { base, upper };
                return states.iter().zip(uppers).map(at).collect();
            }
        }
    }

    /// The weight of the edge to `id` at `version`, if there is one.
    pub(crate) fn edge_at(&self, id: VertexId, version: u64, pin: &Pin<'_>) -> Option<W> {
        loop {
            let segments = self.directory(pin);
            let state = segments.cells[..=segments.index(id)]
                .iter()
                .rev()
                .find_map(|cell| cell.at(version, pin));
            if std::ptr::eq(segments, self.directory(pin)) {
                return state?.value.edge_at(0, id, version);
            }
        }
    }

    fn directory<'a>(&'a self, pin: &'a Pin<'_>) -> &'a Segments<W> {
        self.segments.at(0, pin).expect("a hub is made with its directory").value
    }
}

/// A piece of a run that becomes a segment, with the changes that are still pending in it.
struct Piece<W> {
    ids: Vec<VertexId>,
    weights: Vec<W>,
    carried: Vec<(Op<W>, u64)>,
}

impl<W: Weight> Piece<W> {
    /// The first id that belongs to the piece, which is the `index`-th of its hub: 0 for the
    /// first, so that every id has a cell.
    fn fence(&self, index: usize) -> VertexId {
        if index == 0 { 0 } else { self.ids[0] }
    }

    fn into_base(self, (version, room): (u64, usize), into: &mut Destination<'_, W>) -> Base<W> {
        let ends = [self.ids.len() as u16; GROUP];
        let (ids, weights) = into.shelf.place(self.ids, self.weights);
        let runs = Runs { ends, ids, weights, ..Runs::empty(0) };
        let account = &into.versions.account;
        let base = Base::marked(runs, version, into.shelf.mark(), account);
        if !self.carried.is_empty() {
            base.make_delta(self.carried.len() + room);
            for (op, version) in &self.carried {
                base.append(op, *version);
            }
        }
        base
    }

    fn into_cell(self, at: (u64, usize), into: &mut Destination<'_, W>) -> Arc<Cell<W>> {
        let cell = Cell::default();
        let base = self.into_base(at, into);
        cell.lock().install((at.0, at.0), base, &Nobody, &into.versions.pins);
        Arc::new(cell)
    }
}

/// Cuts a folded run into pieces of about `entries`; one piece, maybe empty, if it is short.
/// Pending changes go with the piece that their id belongs to.
fn cut<W: Weight>(folded: &mut Folded<W>, entries: usize) -> Vec<Piece<W>> {
    let count = folded.ids.len().div_ceil(entries.max(1)).max(1);
    let length = folded.ids.len().div_ceil(count).max(1);
    let mut pieces: Vec<Piece<W>> = folded
        .ids
        .chunks(length)
        .zip(folded.weights.chunks(length))
        .map(|(ids, weights)| Piece {
            ids: ids.to_vec(),
            weights: weights.to_vec(),
            carried: Vec::new(),
        })
        .collect();
    if pieces.is_empty() {
        pieces.push(Piece { ids: Vec::new(), weights: Vec::new(), carried: Vec::new() });
    }
    for (op, version) in folded.carried.drain(..) {
        let after = pieces[1..].partition_point(|piece| piece.ids[0] <= op.id);
        pieces[after].carried.push((Op { local: 0, ..op }, version));
    }
    pieces
}
