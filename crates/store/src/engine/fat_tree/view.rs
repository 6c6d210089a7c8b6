//! A whole graph at one version, as algorithms read it.
//!
//! # How
//!   *Resolved*: a table with one reference per group, filled on first touch. To resolve a group
//!   its latch is taken once, and the reference is kept for as long as the lease; from then on
//!   readers follow it without latch, pin or version.
//!   What is pending in a group at the version is treated by how it is read. Random access takes
//!   it in as it goes (`pieces.rs`): a search that looks at a few neighbours of each vertex must
//!   not pay for all of them. The sequential pattern has the group *settled* first: the rows are
//!   folded into runs, which are put in place for everybody.
//!   *Flat*: eight bytes per vertex, built from settled groups in parallel: random access then
//!   costs one dependent line, as in a static CSR.
//! # Invariants
//!   - R1 What a table refers to is the state of the version of the table, kept by its lease.
//!   - R2 No pin is held while a table is filled, so nothing that is replaced meanwhile stays.
//! # Checked by
//!   tests/model.rs, tests/concurrent.rs.

use std::ops::{ControlFlow, Range};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use evergraph_graph::par::{prefix_sums, splits_by_offsets};
use evergraph_graph::{GraphView, VertexId, Weight};
use hashbrown::HashMap;
use rayon::prelude::*;

use super::base::{Base, GROUP, GROUP_BITS, group_of, local_of};
use super::directory::vertices_below;
use super::hub::Hub;
use super::merge::Goal;
use super::pieces::{entries_pending, length, pieces};
use super::read::ListAt;
use super::{Address, FatTree, Side};
use crate::raw::{LeasedTable, PackedRuns, prefetch};
use crate::sync::RwLock;
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
    groups: Bases<W>,
    hubs: RwLock<HashMap<VertexId, Arc<HubRuns<W>>>>,
}

/// The segments of a hub at one version.
struct HubRuns<W> {
    segments: Vec<Segment<W>>,
    degree: u32,
    /// Whether rows are pending in a segment.
    pending: bool,
}

enum Segment<W> {
    /// A state that the lease keeps; a table of one cell.
    Kept(Bases<W>),
    /// An old state with rows pending, folded for this snapshot alone.
    Own(ListAt<W>),
}

/// What a reader asks of a group.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Rows may be pending.
    AsItIs,
    /// Nothing is pending.
    Settled,
}

#[derive(Clone, Copy)]
struct Totals {
    vertices: u32,
    entries: u64,
}

impl<W: Weight> Segment<W> {
    #[inline]
    fn pieces<B>(
        &self,
        version: u64,
        mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            Self::Kept(table) => pieces(kept(table), 0, version, f),
            Self::Own(list) => f(&list.ids, &list.weights),
        }
    }

    fn length(&self, version: u64) -> u32 {
        match self {
            Self::Kept(table) => length(kept(table), 0, version),
            Self::Own(list) => list.ids.len() as u32,
        }
    }

    /// The ids, of a settled segment.
    #[inline]
    fn ids(&self) -> &[VertexId] {
        match self {
            Self::Kept(table) => kept(table).run(0),
            Self::Own(list) => &list.ids,
        }
    }
}

#[inline]
fn kept<W: Weight>(table: &Bases<W>) -> &Base<W> {
    table.get(0).expect("set when it was made")
}

impl<W: Weight> SideTable<W> {
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

impl<W: Weight> Tables<W> {
    /// Unresolved tables for vertices `< bound` at the version of the lease.
    pub(crate) fn new(keeper: Arc<Keeper<W>>, bound: u32) -> Self {
        let groups = (bound as usize).div_ceil(GROUP);
        let side = |side| SideTable {
            side,
            groups: LeasedTable::new(groups, Arc::clone(&keeper)),
            hubs: RwLock::new(HashMap::new()),
        };
        Self {
            version: keeper.lease.version().0,
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
            None => self.resolve(table, group, Form::AsItIs),
        }
    }

    #[inline]
    fn settled_base<'t>(&'t self, table: &'t SideTable<W>, group: u32) -> &'t Base<W> {
        match table.groups.get(group as usize) {
            Some(base) if !base.is_pending_at(self.version) => base,
            _ => self.resolve(table, group, Form::Settled),
        }
    }

    /// Fills the cell of a group.
    #[cold]
    fn resolve<'t>(&'t self, table: &'t SideTable<W>, group: u32, form: Form) -> &'t Base<W> {
        let tree = &self.keeper.tree;
        let address = Address { side: table.side, group };
        let lent = tree.directory(table.side).get(group).and_then(|slot| {
            let mut locked = slot.chain.lock();
            let pending = locked.at(self.version)?.value.is_pending_at(self.version);
            match form {
                Form::AsItIs if pending => return locked.lend_pending(self.version),
                Form::Settled if pending => {
                    tree.merge_group(address, &mut locked, Goal::new(self.version, 0));
                }
                _ => {}
            }
            locked.lend(self.version)
        });
        let lent = lent.unwrap_or_else(|| NonNull::from(tree.untouched(group)));
        table.groups.set(group as usize, lent)
    }

    /// The hub that holds the neighbours of `v`, if they are not in a run. `span` is its run.
    #[inline]
    fn hub_of(base: &Base<W>, v: VertexId) -> Option<&Arc<Hub<W>>> {
        if base.span(local_of(v)).is_empty() { base.hub(local_of(v)) } else { None }
    }

    fn hub_runs(&self, table: &SideTable<W>, v: VertexId, form: Form) -> Arc<HubRuns<W>> {
        let found = table.hubs.read().get(&v).map(Arc::clone);
        if let Some(runs) = found.filter(|runs| form == Form::AsItIs || !runs.pending) {
            return runs;
        }
        let base = self.base(table, group_of(v));
        let hub = base.hub(local_of(v)).expect("the caller found a hub");
        let runs = Arc::new(self.resolve_hub(table, group_of(v), hub, form));
        // Somebody else may have been faster; both mean the same.
        table.hubs.write().insert(v, Arc::clone(&runs));
        runs
    }

    /// The segments of a hub, each under the latch for itself: a writer waits for one at most.
    ///
    /// `next` is the first id that is still missing. Cuts in between move ids to new cells, but
    /// what a state covers at this version always starts and ends at fences.
    #[cold]
    fn resolve_hub(
        &self,
        table: &SideTable<W>,
        group: u32,
        hub: &Hub<W>,
        form: Form,
    ) -> HubRuns<W> {
        let slot = self.keeper.tree.directory(table.side).slot(group);
        let address = Address { side: table.side, group };
        let mut runs = HubRuns { segments: Vec::new(), degree: 0, pending: false };
        let mut next = Some(0);
        while let Some(id) = next {
            let _latch = slot.chain.lock();
            let (segment, upper) = self.resolve_segment(address, hub, id, form);
            next = upper;
            let length = segment.length(self.version);
            if length > 0 {
                runs.degree += length;
                runs.pending |= match &segment {
                    Segment::Kept(table) => kept(table).is_pending_at(self.version),
                    Segment::Own(_) => false,
                };
                runs.segments.push(segment);
            }
        }
        runs
    }

    /// The segment that covers `id` at the version, and where the next one begins. The latch of
    /// the group is held.
    fn resolve_segment(
        &self,
        address: Address,
        hub: &Hub<W>,
        id: VertexId,
        form: Form,
    ) -> (Segment<W>, Option<VertexId>) {
        let tree = &self.keeper.tree;
        let found = hub.state_at(id, self.version).expect("the hub is in a state of this version");
        let settle = found.is_pending && form == Form::Settled;
        if settle && found.is_newest {
            tree.merge_segment(address, hub, found.index, Goal::new(self.version, 0));
            return self.resolve_segment(address, hub, id, form);
        }
        let segment = hub.with_segments(|segments| {
            let cell = segments.cells()[found.index].lock();
            if settle {
                let state = cell.at(self.version).expect("found just now").value;
                return Segment::Own(ListAt::of_segment(state, self.version));
            }
            let table = LeasedTable::new(1, Arc::clone(&self.keeper));
            let lent = if found.is_pending {
                cell.lend_pending(self.version)
            } else {
                cell.lend(self.version)
            };
            table.set(0, lent.expect("found just now"));
            Segment::Kept(table)
        });
        (segment, found.upper)
    }

    /// Counts everything, in parallel.
    fn totals(&self) -> Totals {
        *self.totals.get_or_init(|| {
            let groups = (0..self.out.groups.len() as u32).into_par_iter();
            let totals = groups.with_min_len(GROUPS_PER_TASK).map(|group| {
                let live = self.live(group) & vertices_below(self.bound, group);
                (live.count_ones(), self.group_entries(&self.out, group, Form::AsItIs))
            });
            let (vertices, entries) = totals.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            Totals { vertices, entries }
        })
    }

    /// The vertices of a group that exist, a bit each.
    #[inline]
    fn live(&self, group: u32) -> u64 {
        let base = self.base(&self.out, group);
        if !base.has_vertex_rows() {
            return base.runs.live;
        }
        let live = |local| u64::from(base.live_at(local, self.version)) << local;
        (0..GROUP as u8).map(live).sum()
    }

    /// How many entries the lists of a group have.
    fn group_entries(&self, table: &SideTable<W>, group: u32, form: Form) -> u64 {
        let base = match form {
            Form::AsItIs => self.base(table, group),
            Form::Settled => self.settled_base(table, group),
        };
        let hubs = base.hubs().map(|(local, _)| {
            u64::from(self.hub_runs(table, group << GROUP_BITS | u32::from(local), form).degree)
        });
        let runs = base.runs.ids.len() as u64;
        runs.wrapping_add_signed(entries_pending(base, self.version)) + hubs.sum::<u64>()
    }

    /// Settles everything, in parallel; how many entries each group of the out side has.
    fn settle(&self) -> Vec<u32> {
        let sizes = |table: &SideTable<W>| {
            let groups = (0..table.groups.len() as u32).into_par_iter();
            let size = |group| self.group_entries(table, group, Form::Settled) as u32;
            groups.with_min_len(GROUPS_PER_TASK).map(size).collect()
        };
        if let Some(incoming) = &self.incoming {
            let _: Vec<u32> = sizes(incoming);
        }
        sizes(&self.out)
    }

    #[inline]
    fn degree(&self, table: &SideTable<W>, v: VertexId) -> u32 {
        let base = self.base(table, group_of(v));
        match Self::hub_of(base, v) {
            Some(_) => self.hub_runs(table, v, Form::AsItIs).degree,
            None => length(base, local_of(v), self.version),
        }
    }

    #[inline]
    fn runs<B>(
        &self,
        table: &SideTable<W>,
        v: VertexId,
        mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let base = self.base(table, group_of(v));
        if Self::hub_of(base, v).is_none() {
            return pieces(base, local_of(v), self.version, f);
        }
        for segment in &self.hub_runs(table, v, Form::AsItIs).segments {
            segment.pieces(self.version, &mut f)?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn range(
        &self,
        table: &SideTable<W>,
        range: Range<VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) {
        let mut v = range.start;
        while v < range.end {
            let base = self.settled_base(table, group_of(v));
            table.prefetch_after(group_of(v));
            let end = range.end.min((group_of(v) + 1) << GROUP_BITS);
            let mut start = base.span(local_of(v)).start;
            for v in v..end {
                let stop = usize::from(base.runs.ends[usize::from(local_of(v))]);
                if start < stop {
                    f(v, &base.runs.ids[start..stop]);
                } else if base.hub(local_of(v)).is_some() {
                    for segment in &self.hub_runs(table, v, Form::Settled).segments {
                        f(v, segment.ids());
                    }
                }
                start = stop;
            }
            v = end;
        }
    }
}

/// A snapshot of the live layout as a graph; see [`GraphView`].
pub struct View<'s, W> {
    tables: &'s Tables<W>,
    /// Held by the view that a snapshot gives out; views made from it live no longer than it.
    _reading: Option<Use<'s>>,
}

impl<'s, W: Weight> View<'s, W> {
    pub(crate) fn new(tables: &'s Tables<W>, reading: Use<'s>) -> Self {
        Self { tables, _reading: Some(reading) }
    }

    fn incoming(&self) -> &'s SideTable<W> {
        self.tables.side(Side::In)
    }
}

impl<W: Weight> GraphView for View<'_, W> {
    type Weight = W;
    type Flat<'a>
        = FlatView<'a, W>
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
        v < self.tables.bound && {
            let base = self.tables.base(&self.tables.out, group_of(v));
            base.live_at(local_of(v), self.tables.version)
        }
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.tables.degree(&self.tables.out, v)
    }

    #[inline]
    fn in_degree(&self, v: VertexId) -> u32 {
        self.tables.degree(self.incoming(), v)
    }

    #[inline]
    fn runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.tables.runs(&self.tables.out, v, |run, _| f(run))
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.tables.runs(&self.tables.out, v, f)
    }

    #[inline]
    fn in_runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.tables.runs(self.incoming(), v, |run, _| f(run))
    }

    #[inline]
    fn range(&self, range: Range<VertexId>, f: impl FnMut(VertexId, &[VertexId])) {
        self.tables.range(&self.tables.out, range, f);
    }

    #[inline]
    fn in_range(&self, range: Range<VertexId>, f: impl FnMut(VertexId, &[VertexId])) {
        self.tables.range(self.incoming(), range, f);
    }

    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]> {
        let base = self.tables.base(&self.tables.out, group_of(v));
        let in_one = !base.is_dirty(local_of(v)) && Tables::hub_of(base, v).is_none();
        in_one.then(|| base.run(local_of(v)))
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        let tables = self.tables;
        let sizes: Vec<u32> =
            tables.settle().into_iter().map(|entries| entries + GROUP as u32).collect();
        let splits = splits_by_offsets(&prefix_sums(&sizes), entries_per_task);
        let to_vertices = |range: Range<u32>| {
            range.start << GROUP_BITS..(range.end << GROUP_BITS).min(tables.bound)
        };
        splits.into_iter().map(to_vertices).collect()
    }

    fn flat(&self) -> FlatView<'_, W> {
        FlatView::build(self.tables)
    }
}

/// A [`View`] with one packed run per vertex.
pub struct FlatView<'a, W> {
    view: View<'a, W>,
    out: PackedRuns<'a>,
    incoming: Option<PackedRuns<'a>>,
}

impl<'a, W: Weight> FlatView<'a, W> {
    fn build(tables: &'a Tables<W>) -> Self {
        tables.settle();
        let pack = |table: &'a SideTable<W>| {
            PackedRuns::build(tables.bound, |v| {
                let base = tables.settled_base(table, group_of(v));
                Tables::hub_of(base, v).is_none().then(|| base.run(local_of(v)))
            })
        };
        Self {
            out: pack(&tables.out),
            incoming: tables.incoming.as_ref().map(pack),
            view: View { tables, _reading: None },
        }
    }

    #[inline]
    fn packed_in(&self) -> &PackedRuns<'a> {
        self.incoming.as_ref().unwrap_or(&self.out)
    }
}

/// The run of `v` if it is packed, else what `elsewhere` passes.
#[inline]
fn packed_runs<B, F: FnMut(&[VertexId]) -> ControlFlow<B>>(
    packed: &PackedRuns<'_>,
    v: VertexId,
    mut f: F,
    elsewhere: impl FnOnce(F) -> ControlFlow<B>,
) -> ControlFlow<B> {
    match packed.get(v) {
        Some([]) => ControlFlow::Continue(()),
        Some(run) => f(run),
        None => elsewhere(f),
    }
}

impl<W: Weight> GraphView for FlatView<'_, W> {
    type Weight = W;
    type Flat<'b>
        = &'b Self
    where
        Self: 'b;

    #[inline]
    fn is_directed(&self) -> bool {
        self.incoming.is_some()
    }

    #[inline]
    fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    fn vertex_count(&self) -> u32 {
        self.view.vertex_count()
    }

    fn entry_count(&self) -> u64 {
        self.view.entry_count()
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.view.contains(v)
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.out.len_of(v).unwrap_or_else(|| self.view.degree(v))
    }

    #[inline]
    fn in_degree(&self, v: VertexId) -> u32 {
        self.packed_in().len_of(v).unwrap_or_else(|| self.view.in_degree(v))
    }

    #[inline]
    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        packed_runs(&self.out, v, f, |f| self.view.runs(v, f))
    }

    #[inline]
    fn weighted_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.view.weighted_runs(v, f)
    }

    #[inline]
    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        packed_runs(self.packed_in(), v, f, |f| self.view.in_runs(v, f))
    }

    #[inline]
    fn range(&self, range: Range<VertexId>, f: impl FnMut(VertexId, &[VertexId])) {
        self.view.range(range, f);
    }

    #[inline]
    fn in_range(&self, range: Range<VertexId>, f: impl FnMut(VertexId, &[VertexId])) {
        self.view.in_range(range, f);
    }

    #[inline]
    fn contiguous(&self, v: VertexId) -> Option<&[VertexId]> {
        self.out.get(v)
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        self.view.splits(entries_per_task)
    }

    #[inline]
    fn flat(&self) -> &Self {
        self
    }
}
