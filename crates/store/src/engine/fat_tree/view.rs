//! A whole graph at one version, as algorithms read it.
//!
//! # How
//!   *Resolved*: a table with one reference per group, filled on first touch. To resolve a group
//!   its latch is taken once: what is pending at the version is folded into runs and put in place
//!   for everybody, and the reference is kept for as long as the lease. From then on readers
//!   follow it without latch, pin, version or branch on pending rows.
//!   *Flat*: eight bytes per vertex, built from the resolved table in parallel: random access
//!   then costs one dependent line, as in a static CSR.
//! # Invariants
//!   - R1 What a table refers to has nothing pending at the version of the table.
//!   - R2 No pin is held while a table is filled, so nothing that is replaced meanwhile stays.
//! # Checked by
//!   tests/model.rs, tests/concurrent.rs.

use std::ops::{ControlFlow, Range};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use evergraph_graph::par::prefix_sums;
use evergraph_graph::{GraphView, VertexId, Weight};
use hashbrown::HashMap;
use rayon::prelude::*;

use super::base::{Base, GROUP, GROUP_BITS, group_of, local_of};
use super::hub::Hub;
use super::read::ListAt;
use super::{Address, FatTree, Side};
use crate::raw::{LeasedTable, PackedRuns, prefetch};
use crate::sync::RwLock;
use crate::view::{Lease, Use};

/// What keeps the states that a table refers to: the lease, and the owner of the chains.
pub(crate) struct Keeper<W> {
    pub(crate) tree: Arc<FatTree<W>>,
    pub(crate) lease: Arc<Lease>,
}

type Groups<W> = LeasedTable<Base<W>, Keeper<W>>;

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
    groups: Groups<W>,
    hubs: RwLock<HashMap<VertexId, Arc<HubRuns<W>>>>,
}

/// The segments of a hub at one version.
struct HubRuns<W> {
    segments: Vec<Segment<W>>,
    degree: u32,
}

enum Segment<W> {
    /// A state that the lease keeps; a table of one cell.
    Kept(Groups<W>),
    /// An old state with rows pending, folded for this snapshot alone.
    Own(ListAt<W>),
}

impl<W: Weight> Segment<W> {
    #[inline]
    fn runs(&self) -> (&[VertexId], &[W]) {
        match self {
            Self::Kept(table) => {
                let base = table.get(0).expect("set when it was made");
                (base.run(0), base.run_weights(0))
            }
            Self::Own(list) => (&list.ids, &list.weights),
        }
    }
}

#[derive(Clone, Copy)]
struct Totals {
    vertices: u32,
    entries: u64,
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
            let ids = &next.runs.ids;
            prefetch(ids.as_ptr(), size_of_val::<[VertexId]>(ids).min(START_PREFETCHED));
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
            None => self.resolve(table, group),
        }
    }

    /// Fills the cell of a group.
    #[cold]
    fn resolve<'t>(&'t self, table: &'t SideTable<W>, group: u32) -> &'t Base<W> {
        let tree = &self.keeper.tree;
        let address = Address { side: table.side, group };
        let lent = match tree.directory(table.side).get(group) {
            Some(slot) => {
                let mut locked = slot.chain.lock();
                if locked.at(self.version).is_some_and(|s| s.value.is_pending_at(self.version)) {
                    tree.merge_group(address, &mut locked, self.version, 0);
                }
                locked.lend(self.version)
            }
            None => None,
        };
        let lent = lent.unwrap_or_else(|| NonNull::from(tree.untouched(group)));
        table.groups.set(group as usize, lent)
    }

    /// Where the neighbours of `v` are.
    #[inline]
    fn place<'t>(&'t self, table: &'t SideTable<W>, v: VertexId) -> Place<'t, W> {
        let base = self.base(table, group_of(v));
        let span = base.span(local_of(v));
        if span.is_empty() && base.hub(local_of(v)).is_some() {
            return Place::Hub(self.hub_runs(table, v));
        }
        Place::Run(base, span)
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
        let address = Address { side: table.side, group };
        let mut segments = Vec::new();
        let mut next = Some(0);
        while let Some(id) = next {
            let _latch = slot.chain.lock();
            let (segment, upper) = self.resolve_segment(address, hub, id);
            next = upper;
            if !segment.runs().0.is_empty() {
                segments.push(segment);
            }
        }
        let degree = segments.iter().map(|segment| segment.runs().0.len() as u32).sum();
        HubRuns { segments, degree }
    }

    /// The segment that covers `id` at the version, and where the next one begins. The latch of
    /// the group is held.
    fn resolve_segment(
        &self,
        address: Address,
        hub: &Hub<W>,
        id: VertexId,
    ) -> (Segment<W>, Option<VertexId>) {
        let tree = &self.keeper.tree;
        let found = hub.state_at(id, self.version).expect("the hub is in a state of this version");
        if found.is_newest && found.is_pending {
            tree.merge_segment(address, hub, found.index, self.version, 0);
            return self.resolve_segment(address, hub, id);
        }
        let segment = hub.with_segments(|segments| {
            let cell = segments.cells()[found.index].lock();
            if found.is_pending {
                let state = cell.at(self.version).expect("found just now").value;
                return Segment::Own(ListAt::of_segment(state, self.version));
            }
            let table = LeasedTable::new(1, Arc::clone(&self.keeper));
            table.set(0, cell.lend(self.version).expect("found just now"));
            Segment::Kept(table)
        });
        (segment, found.upper)
    }

    /// Resolves everything, in parallel.
    fn resolve_all(&self) -> Totals {
        *self.totals.get_or_init(|| {
            if let Some(incoming) = &self.incoming {
                (0..incoming.groups.len() as u32).into_par_iter().for_each(|group| {
                    self.group_entries(incoming, group);
                });
            }
            let totals = (0..self.out.groups.len() as u32).into_par_iter().map(|group| {
                let live = self.base(&self.out, group).runs.live & self.below_bound(group);
                (live.count_ones(), self.group_entries(&self.out, group))
            });
            let (vertices, entries) = totals.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            Totals { vertices, entries }
        })
    }

    /// The vertices of a group that have an id below the bound, a bit each.
    fn below_bound(&self, group: u32) -> u64 {
        super::directory::vertices_below(self.bound, group)
    }

    fn group_entries(&self, table: &SideTable<W>, group: u32) -> u64 {
        let base = self.base(table, group);
        let hubs = base.hubs().map(|(local, _)| {
            u64::from(self.hub_runs(table, group << GROUP_BITS | u32::from(local)).degree)
        });
        base.runs.ids.len() as u64 + hubs.sum::<u64>()
    }

    fn degree(&self, table: &SideTable<W>, v: VertexId) -> u32 {
        match self.place(table, v) {
            Place::Run(_, span) => span.len() as u32,
            Place::Hub(runs) => runs.degree,
        }
    }

    #[inline]
    fn runs<B>(
        &self,
        table: &SideTable<W>,
        v: VertexId,
        mut f: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.place(table, v) {
            Place::Run(_, span) if span.is_empty() => {}
            Place::Run(base, span) => f(&base.runs.ids[span.clone()], &base.runs.weights[span])?,
            Place::Hub(runs) => {
                for segment in &runs.segments {
                    let (ids, weights) = segment.runs();
                    f(ids, weights)?;
                }
            }
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
            let base = self.base(table, group_of(v));
            table.prefetch_after(group_of(v));
            let end = range.end.min((group_of(v) + 1) << GROUP_BITS);
            let mut start = base.span(local_of(v)).start;
            for v in v..end {
                let stop = usize::from(base.runs.ends[usize::from(local_of(v))]);
                if start < stop {
                    f(v, &base.runs.ids[start..stop]);
                } else if base.hub(local_of(v)).is_some() {
                    for segment in &self.hub_runs(table, v).segments {
                        f(v, segment.runs().0);
                    }
                }
                start = stop;
            }
            v = end;
        }
    }
}

/// Where the neighbours of a vertex are.
enum Place<'t, W> {
    /// In a run of a group.
    Run(&'t Base<W>, Range<usize>),
    /// In segments.
    Hub(Arc<HubRuns<W>>),
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
        self.tables.resolve_all().vertices
    }

    fn entry_count(&self) -> u64 {
        self.tables.resolve_all().entries
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        v < self.tables.bound
            && self.tables.base(&self.tables.out, group_of(v)).runs.live >> local_of(v) & 1 == 1
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
        match self.tables.place(&self.tables.out, v) {
            Place::Run(base, span) => Some(&base.runs.ids[span]),
            Place::Hub(_) => None,
        }
    }

    fn splits(&self, entries_per_task: usize) -> Vec<Range<VertexId>> {
        let tables = self.tables;
        let sizes: Vec<u32> = (0..tables.out.groups.len() as u32)
            .into_par_iter()
            .map(|group| tables.group_entries(&tables.out, group) as u32 + GROUP as u32)
            .collect();
        let splits =
            evergraph_graph::par::splits_by_offsets(&prefix_sums(&sizes), entries_per_task);
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
        let pack = |table: &'a SideTable<W>| {
            PackedRuns::build(tables.bound, |v| match tables.place(table, v) {
                Place::Run(base, span) => Some(&base.runs.ids[span]),
                Place::Hub(_) => None,
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
