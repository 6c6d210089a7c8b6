//! A whole graph at one version, as algorithms read it.
//!
//! # How
//!   *Leaves*: what a published leaf holds at the version is read there, as in a static CSR:
//!   nothing is looked up, nothing depends on what writers do meanwhile.
//!   *Resolved*: for all other groups a table with one reference per group, filled on first touch.
//!   To resolve a group its latch is taken once, and the reference is kept for as long as the
//!   lease; from then on readers follow it without latch, pin or version. Rows that are pending
//!   are taken in while reading (`pieces.rs`): who looks at a few neighbours of each vertex, or at
//!   each list once, must not pay for folding all of them.
//!   *Flat*: who reads everything again and again has stretches with many pending rows laid out
//!   first, for everybody.
//! # Invariants
//!   - R1 What a table refers to is the state of the version of the table, kept by its lease.
//!   - R2 No pin is held while a table is filled, so nothing that is replaced meanwhile stays.
//! # Checked by
//!   tests/model.rs, tests/concurrent.rs.

use std::ops::{ControlFlow, Range};
use std::ptr::NonNull;
use std::sync::Arc;

use evergraph_graph::par::{prefix_sums, splits_by_offsets};
use evergraph_graph::{GraphView, VertexId, Weight};
use hashbrown::HashMap;
use rayon::prelude::*;

use super::base::{Base, GROUP, GROUP_BITS, group_of, local_of};
use super::directory::vertices_below;
use super::hub::Hub;
use super::leaf::{LeafAt, STRETCH, VERTICES, stretch_of};
use super::leaf_table::{LeafTable, QuickLists};
use super::pieces::{entries_pending, length, next_pieces, pieces};
use super::row_order::RowOrder;
use super::{Address, FatTree, Side};
use crate::raw::{LeasedTable, prefetch};
use crate::sync::{AtomicU64, OnceLock, Ordering, RwLock};
use crate::view::{Lease, Use};

/// Groups per parallel task where a task does little per group.
const GROUPS_PER_TASK: usize = 64;

/// What keeps the states that a table refers to: the lease, and the owner of the chains.
pub(crate) struct Keeper<W> {
    pub(crate) tree: Arc<FatTree<W>>,
    pub(crate) lease: Arc<Lease>,
}

type Bases<W> = LeasedTable<Base<W>, Keeper<W>>;

/// The resolved tables of one snapshot.
pub(crate) struct Tables<W> {
    keeper: Arc<Keeper<W>>,
    version: u64,
    bound: u32,
    out: SideTable<W>,
    incoming: Option<SideTable<W>>,
    totals: OnceLock<Totals>,
}

struct SideTable<W> {
    side: Side,
    /// The leaves there were when the table was made.
    leaves: LeafTable<W>,
    /// Leaves in place of these, after everything that was pending in many groups was laid out.
    flat: OnceLock<LeafTable<W>>,
    groups: Bases<W>,
    hubs: RwLock<HashMap<VertexId, Arc<HubRuns<W>>>>,
}

/// The segments of a hub at one version; tables of one cell.
struct HubRuns<W> {
    segments: Vec<Bases<W>>,
    degree: u32,
}

#[derive(Clone, Copy)]
struct Totals {
    vertices: u32,
    entries: u64,
}

#[inline]
fn kept<W: Weight>(table: &Bases<W>) -> &Base<W> {
    table.get(0).expect("set when it was made")
}

impl<W: Weight> SideTable<W> {
    /// The leaf that holds the group of a vertex, for a reader who looks at `leaves` first.
    #[inline]
    fn held<'t>(&'t self, leaves: &'t LeafTable<W>, v: VertexId) -> Option<&'t LeafAt<W>> {
        leaves.held(v).or_else(|| self.leaves.held(v))
    }

    /// Asks for the base behind the next, and for the first neighbours of the next: in order of
    /// ids, groups lie anywhere, and no hardware guesses where.
    #[inline]
    fn prefetch_after(&self, group: u32) {
        if let Some(next) = self.groups.get_if_any(group as usize + 2) {
            prefetch(std::ptr::from_ref(next), size_of::<Base<W>>());
        }
        if let Some(next) = self.groups.get_if_any(group as usize + 1) {
            let ids = &*next.runs.ids;
            prefetch(ids.as_ptr(), size_of_val(ids).min(START_PREFETCHED));
        }
    }
}

/// Bytes at the start of a group that are asked for in advance; then the hardware has understood.
const START_PREFETCHED: usize = 512;
/// Stretches with more than this share of groups pending are laid out for a flat view; with more
/// than the smaller share, the groups are settled one by one.
const LAID_OUT_SHARE: u32 = 4;
const SETTLED_SHARE: u32 = 32;

impl<W: Weight> Tables<W> {
    /// Unresolved tables for vertices `< bound` at the version of the lease.
    pub(crate) fn new(keeper: Arc<Keeper<W>>, bound: u32) -> Self {
        let groups = (bound as usize).div_ceil(GROUP);
        let version = keeper.lease.version().0;
        let side = |side| SideTable {
            side,
            leaves: LeafTable::new(
                keeper.tree.directory(side).leaves.at(version, stretches_below(bound)),
                keeper.tree.leaf_memory.nowhere(),
            ),
            flat: OnceLock::new(),
            groups: LeasedTable::new(groups, Arc::clone(&keeper)),
            hubs: RwLock::new(HashMap::new()),
        };
        Self {
            version,
            bound,
            out: side(Side::Out),
            incoming: keeper.tree.is_directed().then(|| side(Side::In)),
            totals: OnceLock::new(),
            keeper,
        }
    }

    #[inline]
    fn side(&self, side: Side) -> &SideTable<W> {
        match side {
            Side::Out => &self.out,
            Side::In => self.incoming.as_ref().unwrap_or(&self.out),
        }
    }

    #[inline]
    fn base<'t>(&'t self, table: &'t SideTable<W>, group: u32) -> &'t Base<W> {
        match table.groups.get(group as usize) {
            Some(base) => base,
            None => self.resolve(table, group),
        }
    }

    /// Fills the cell of a group.
    #[cold]
    fn resolve<'t>(&'t self, table: &'t SideTable<W>, group: u32) -> &'t Base<W> {
        let tree = &self.keeper.tree;
        let lent = tree
            .directory(table.side)
            .get(group)
            .and_then(|slot| slot.chain.lock().lend(self.version));
        let lent = lent.unwrap_or_else(|| NonNull::from(tree.untouched(group)));
        table.groups.set(group as usize, lent)
    }

    /// The hub that holds the neighbours of `v`, if they are not in a run.
    #[inline]
    fn hub_of(base: &Base<W>, v: VertexId) -> Option<&Arc<Hub<W>>> {
        if base.span(local_of(v)).is_empty() { base.hub(local_of(v)) } else { None }
    }

    fn hub_runs(&self, table: &SideTable<W>, v: VertexId) -> Arc<HubRuns<W>> {
        if let Some(runs) = table.hubs.read().get(&v) {
            return Arc::clone(runs);
        }
        let base = self.base(table, group_of(v));
        let hub = base.hub(local_of(v)).expect("the caller found a hub");
        let runs = Arc::new(self.resolve_hub(table, group_of(v), hub));
        // Somebody else may have been faster; both mean the same.
        table.hubs.write().insert(v, Arc::clone(&runs));
        runs
    }

    /// The segments of a hub, each under the latch for itself: a writer waits for one at most.
    ///
    /// `next` is the first id that is still missing. Cuts in between move ids to new cells, but
    /// what a state covers at this version always starts and ends at fences.
    #[cold]
    fn resolve_hub(&self, table: &SideTable<W>, group: u32, hub: &Hub<W>) -> HubRuns<W> {
        let slot = self.keeper.tree.directory(table.side).slot(group);
        let mut runs = HubRuns { segments: Vec::new(), degree: 0 };
        let mut next = Some(0);
        while let Some(id) = next {
            let _latch = slot.chain.lock();
            let found = hub.state_at(id, self.version);
            let found = found.expect("the hub is in a state of this version");
            next = found.upper;
            let lent = hub
                .with_segments(|segments| segments.cells()[found.index].lock().lend(self.version));
            let segment = LeasedTable::new(1, Arc::clone(&self.keeper));
            let base = segment.set(0, lent.expect("found just now"));
            let length = length(base, 0, self.version);
            if length > 0 {
                runs.degree += length;
                runs.segments.push(segment);
            }
        }
        runs
    }

    /// Counts everything, in parallel.
    fn totals(&self) -> Totals {
        *once_by_anybody(&self.totals, || {
            let leaves = self.out.flat.get().unwrap_or(&self.out.leaves);
            let groups = (0..self.out.groups.len() as u32).into_par_iter();
            let totals = groups.with_min_len(GROUPS_PER_TASK).map(|group| {
                let live = self.live(leaves, group) & vertices_below(self.bound, group);
                let entries = self.group_entries(&self.out, leaves, group);
                (live.count_ones(), u64::from(entries))
            });
            let (vertices, entries) = totals.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            Totals { vertices, entries }
        })
    }

    /// The vertices of a group that exist, a bit each.
    #[inline]
    fn live(&self, leaves: &LeafTable<W>, group: u32) -> u64 {
        if let Some(leaf) = self.out.held(leaves, group << GROUP_BITS) {
            return leaf.live(group);
        }
        self.base(&self.out, group).live_mask(self.version)
    }

    /// How many entries the lists of a group have.
    fn group_entries(&self, table: &SideTable<W>, leaves: &LeafTable<W>, group: u32) -> u32 {
        let first = group << GROUP_BITS;
        if let Some(leaf) = table.held(leaves, first) {
            return leaf.entries(group);
        }
        let base = self.base(table, group);
        let degree = |local: u8| self.hub_runs(table, first | u32::from(local)).degree;
        let hubs: u32 = base.hubs().map(|(local, _)| degree(local)).sum();
        let pending = entries_pending(base, self.version) as i32;
        (base.runs.ids.len() as u32).wrapping_add_signed(pending) + hubs
    }

    /// Lays out what has many rows pending, in parallel; the leaves for a flat view.
    fn flat<'t>(&self, table: &'t SideTable<W>) -> &'t LeafTable<W> {
        once_by_anybody(&table.flat, || {
            let _sweeper = Sweeper::new(&self.keeper.tree.sweepers);
            let stretches = (0..table.leaves.len()).into_par_iter();
            let leaves = stretches.map(|stretch| self.flat_stretch(table, stretch)).collect();
            LeafTable::new(leaves, self.keeper.tree.leaf_memory.nowhere())
        })
    }

    fn flat_stretch(&self, table: &SideTable<W>, stretch: usize) -> Option<LeafAt<W>> {
        let tree = &self.keeper.tree;
        let published = tree.directory(table.side).leaves.one_at(self.version, stretch);
        let elsewhere = |group: &u32| published.as_ref().is_none_or(|leaf| !leaf.holds(*group));
        let first = stretch as u32 * STRETCH;
        let groups = first..(first + STRETCH).min(table.groups.len() as u32);
        let addresses = groups.filter(elsewhere).map(|group| Address { side: table.side, group });
        let pending: Vec<_> =
            addresses.filter(|&address| tree.is_pending(address, self.version)).collect();
        let count = pending.len() as u32;
        if count * LAID_OUT_SHARE > STRETCH {
            let read_by_others = self.version;
            return Some(tree.lay_out((table.side, stretch), self.version, read_by_others));
        }
        if count * SETTLED_SHARE > STRETCH {
            for address in pending {
                tree.settle_at(address, self.version);
            }
        }
        published
    }

    #[inline(never)]
    fn degree_elsewhere(&self, table: &SideTable<W>, v: VertexId) -> u32 {
        let base = self.base(table, group_of(v));
        match Self::hub_of(base, v) {
            Some(_) => self.hub_runs(table, v).degree,
            None => length(base, local_of(v), self.version),
        }
    }

    #[inline(never)]
    fn runs_elsewhere<B>(
        &self,
        table: &SideTable<W>,
        v: VertexId,
        f: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let base = self.base(table, group_of(v));
        if Self::hub_of(base, v).is_none() {
            return pieces(base, local_of(v), self.version, f);
        }
        for segment in &self.hub_runs(table, v).segments {
            pieces(kept(segment), 0, self.version, &mut *f)?;
        }
        ControlFlow::Continue(())
    }

    /// The lists of vertices of one group.
    #[inline(never)]
    fn range_elsewhere(
        &self,
        table: &SideTable<W>,
        range: Range<VertexId>,
        f: &mut impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        table.prefetch_after(group_of(range.start));
        let base = self.base(table, group_of(range.start));
        let rows = RowOrder::at(base, self.version);
        let mut left = rows.keys();
        for v in range {
            // Where `f` breaks, the next vertex follows.
            let mut pass = |run: &[VertexId], _: &[W]| f(v, run);
            let _ = match Self::hub_of(base, v) {
                Some(_) => self.runs_elsewhere(table, v, &mut pass),
                None => next_pieces(base, local_of(v), &mut left, &mut pass),
            };
        }
    }
}

/// What a cell holds, computed in parallel by whoever finds it empty; all mean the same.
///
/// Not under the lock of the cell: a thread that waits for its helpers takes up other work of the
/// pool, and if that asked for the same cell, it would wait for itself.
fn once_by_anybody<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> T) -> &T {
    if let Some(value) = cell.get() {
        return value;
    }
    let value = compute();
    cell.get_or_init(|| value)
}

/// Has the service wait while it lives.
struct Sweeper<'t>(&'t AtomicU64);

impl<'t> Sweeper<'t> {
    fn new(sweepers: &'t AtomicU64) -> Self {
        sweepers.fetch_add(1, Ordering::Relaxed);
        Self(sweepers)
    }
}

impl Drop for Sweeper<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The first vertex behind the stretch of `v`, or the last one there can be.
#[inline]
fn end_of_stretch(v: VertexId) -> VertexId {
    (v | (VERTICES as u32 - 1)).saturating_add(1)
}

/// The stretches that hold vertices `< bound`.
fn stretches_below(bound: u32) -> usize {
    bound.checked_sub(1).map_or(0, |last| stretch_of(last) + 1)
}

/// One side of a view: its tables, and the leaves that are looked at first.
///
/// What inner loops of kernels need lies here by itself, always inlined; all else is kept out of
/// them.
struct Reading<'s, W> {
    quick: QuickLists<'s, W>,
    leaves: &'s LeafTable<W>,
    table: &'s SideTable<W>,
    tables: &'s Tables<W>,
}

impl<'s, W: Weight> Reading<'s, W> {
    fn new(tables: &'s Tables<W>, table: &'s SideTable<W>, leaves: &'s LeafTable<W>) -> Self {
        Self { quick: leaves.quick(), leaves, table, tables }
    }

    /// The list of a vertex, if it lies in a leaf.
    #[inline]
    fn list(&self, v: VertexId) -> Option<&'s [VertexId]> {
        match self.quick.get(v as usize) {
            Some(list) => Some(list),
            None => self.list_in_part(v),
        }
    }

    /// As [`Reading::list`], in a leaf that is not good as a whole.
    #[inline(never)]
    fn list_in_part(&self, v: VertexId) -> Option<&'s [VertexId]> {
        self.table.held(self.leaves, v)?.lists().get(v as usize)
    }

    /// As [`Reading::list`], with weights.
    #[inline]
    fn weighted_list(&self, v: VertexId) -> Option<(&'s [VertexId], &'s [W])> {
        match self.quick.get_weighted(v as usize) {
            Some(list) => Some(list),
            None => self.weighted_list_in_part(v),
        }
    }

    /// As [`Reading::list_in_part`], with weights.
    #[inline(never)]
    fn weighted_list_in_part(&self, v: VertexId) -> Option<(&'s [VertexId], &'s [W])> {
        self.table.held(self.leaves, v)?.lists().get_weighted(v as usize)
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        match self.list(v) {
            Some(list) => list.len() as u32,
            None => self.tables.degree_elsewhere(self.table, v),
        }
    }

    /// Passes the list of a vertex without weights.
    #[inline]
    fn runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.list(v) {
            Some([]) => ControlFlow::Continue(()),
            Some(list) => f(list),
            None => self.tables.runs_elsewhere(self.table, v, &mut |run, _| f(run)),
        }
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.weighted_list(v) {
            Some(([], _)) => ControlFlow::Continue(()),
            Some((list, weights)) => f(list, weights),
            None => self.tables.runs_elsewhere(self.table, v, &mut f),
        }
    }

    #[inline]
    fn range(
        &self,
        range: Range<VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        let mut v = range.start;
        while v < range.end {
            let of_stretch = range.end.min(end_of_stretch(v));
            v = self.quick.each(v..of_stretch, &mut f);
            if v == of_stretch {
                continue;
            }
            let end = range.end.min((group_of(v) + 1) << GROUP_BITS);
            match self.table.held(self.leaves, v) {
                Some(leaf) => {
                    let passed = leaf.lists().each(v..end, &mut f);
                    debug_assert_eq!(passed, end, "a group lies in a leaf as a whole");
                }
                None => self.tables.range_elsewhere(self.table, v..end, &mut f),
            }
            v = end;
        }
    }

    /// All neighbours of a vertex, if they lie in one piece.
    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&'s [VertexId]> {
        if let Some(list) = self.list(v) {
            return Some(list);
        }
        let base = self.tables.base(self.table, group_of(v));
        let in_one = !base.is_dirty(local_of(v)) && Tables::hub_of(base, v).is_none();
        in_one.then(|| base.run(local_of(v)))
    }
}

/// A snapshot of the live layout as a graph; see [`GraphView`].
pub struct View<'s, W> {
    out: Reading<'s, W>,
    incoming: Reading<'s, W>,
    tables: &'s Tables<W>,
    /// Held by the view that a snapshot gives out; views made from it live no longer than it.
    _reading: Option<Use<'s>>,
}

impl<'s, W: Weight> View<'s, W> {
    pub(crate) fn new(tables: &'s Tables<W>, reading: Use<'s>) -> Self {
        Self::over(tables, |table| &table.leaves, Some(reading))
    }

    fn over(
        tables: &'s Tables<W>,
        leaves: impl Fn(&'s SideTable<W>) -> &'s LeafTable<W>,
        reading: Option<Use<'s>>,
    ) -> Self {
        let side = |side| {
            let table = tables.side(side);
            Reading::new(tables, table, leaves(table))
        };
        Self { out: side(Side::Out), incoming: side(Side::In), tables, _reading: reading }
    }
}

impl<W: Weight> GraphView for View<'_, W> {
    type Weight = W;
    type Flat<'a>
        = View<'a, W>
    where
        Self: 'a;

    #[inline]
    fn is_directed(&self) -> bool {
        self.tables.incoming.is_some()
    }

    #[inline]
    fn vertex_bound(&self) -> u32 {
        self.tables.bound
    }

    fn vertex_count(&self) -> u32 {
        self.tables.totals().vertices
    }

    fn entry_count(&self) -> u64 {
        self.tables.totals().entries
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        // What has edges exists; that costs less to see.
        v < self.tables.bound
            && (self.out.quick.get(v as usize).is_some_and(|list| !list.is_empty())
                || self.tables.live(self.out.leaves, group_of(v)) >> local_of(v) & 1 == 1)
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.out.degree(v)
    }

    #[inline]
    fn in_degree(&self, v: VertexId) -> u32 {
        self.incoming.degree(v)
    }

    #[inline]
    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.out.runs(v, f)
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.out.weighted_runs(v, f)
    }

    #[inline]
    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.incoming.runs(v, f)
    }

    #[inline]
    fn range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        self.out.range(range, f);
    }

    #[inline]
    fn in_range(
        &self,
        range: Range<VertexId>,
        f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        self.incoming.range(range, f);
    }

    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]> {
        self.out.contiguous(v)
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        let tables = self.tables;
        let groups = (0..tables.out.groups.len() as u32).into_par_iter();
        let size = |group| tables.group_entries(&tables.out, self.out.leaves, group) + GROUP as u32;
        let sizes: Vec<u32> = groups.with_min_len(GROUPS_PER_TASK).map(size).collect();
        let splits = splits_by_offsets(&prefix_sums(&sizes), entries_per_task);
        let to_vertices = |range: Range<u32>| {
            range.start << GROUP_BITS..(range.end << GROUP_BITS).min(tables.bound)
        };
        splits.into_iter().map(to_vertices).collect()
    }

    fn flat(&self) -> View<'_, W> {
        View::over(self.tables, |table| self.tables.flat(table), None)
    }
}
