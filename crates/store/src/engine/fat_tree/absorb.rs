//! Many changes that nobody checked become one version: whoever comes last wins.
//!
//! # Steps
//!   1. Every change becomes an item of the list of each of its ends. Items are sorted by list, and
//!      cut into tasks of whole groups. What happens to one edge is folded to one wish.
//!   2. Vertices that are missing are wished for too.
//!   3. Group by group, under its latch: wishes are compared with what is there, and become rows or
//!      nothing. Room is made.
//!   4. Lock every group, in address order. Tasks of which a group was changed since are done again.
//!   5. Steps 4 and 5 of `write.rs`: version and record, rows, unlock, disk, visible, merge.
//!
//!   Tasks are worked off in the threads of a pool while the caller waits. The long part is step 3, in
//!   which others wait for one group at most; all latches are held while rows are appended.
//! # Invariants
//!   - A1 Wishes about one edge are folded in the order of the changes, for both of its lists: so
//!     both come to the same (I6 of `write.rs`).
//!   - A2 What is there afterwards does not depend on how changes are cut into batches.
//!   - A3 A wish that puts an edge in finds both ends under the latches, each in its own group, or
//!     the whole batch starts again at step 2 (W1 of `write.rs`).
//!   - A4 No thread of the pool waits for a latch while the caller holds some.
//!   - A5 What was resolved holds under the latches: a change of a group since then is newer than what
//!     was the newest one in it.
//! # Source
//!   Archiving of `GraphOne` (Kumar, Huang, FAST 2019, section 4.2): cut by range of source, then work
//!   without atomics. What differs: a batch is checked, and is one version of a store that others
//!   write too.
//! # Checked by
//!   tests/ingest.rs; loom: `models::loom_absorb_*`.

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP_BITS, Kind, Op, VERTEX, group_of, local_of};
use super::layout::newest_with_hubs;
use super::validate::role;
use super::vertex_set::Entered;
use super::write::{Checks, Entry, Groups, append, by_group, edge_now, gained};
use super::{Address, Changes, EdgeChange, Effect, Ends, FatTree, Refusal, Side, VertexChange};
use crate::epoch::Ticket;
use crate::fault::{Fault, planted};
use crate::log::Stopped;
use crate::log::record::Record;
use crate::pool::Pool;
use crate::raw::{Lent, Locked};

/// What is to be true of an edge, whatever was there before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wish {
    /// It is there, with this weight.
    Put(f64),
    /// If it is there, it has this weight.
    Set(f64),
    /// It is not there.
    Drop,
}

impl Wish {
    /// This wish, and then another.
    fn then(self, later: Self) -> Self {
        match (self, later) {
            (Self::Put(_), Self::Set(weight)) => Self::Put(weight),
            (Self::Drop, Self::Set(_)) => Self::Drop,
            _ => later,
        }
    }
}

/// A change that nobody checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unchecked {
    pub(crate) source: VertexId,
    pub(crate) target: VertexId,
    pub(crate) wish: Wish,
}

/// Writes batches down.
pub(crate) trait Scribe {
    /// Makes sure that there is room for a record of these vertices and so many edges. Called
    /// before anything is latched: it may wait for the disk.
    fn admit(&self, vertices: &[VertexChange], edges: usize) -> Result<(), Stopped>;

    /// The record.
    fn record(&self, changes: Changes<'_>) -> Record;
}

/// A change in the list of one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    /// The owner of the list and whom it is about, in the halves of a number.
    edge: u64,
    /// Where the change stands in the batch, and what it does in the lowest bits: most batches are
    /// resolved without a look at the changes, which lie anywhere.
    order: u32,
}

/// What an item does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Put,
    Set,
    Drop,
    /// It puts the owner itself in.
    Vertex,
}

const DOES_BITS: u32 = 2;
/// Changes of a batch, at most.
pub(crate) const BATCH_MAX: usize = 1 << (u32::BITS - DOES_BITS - 1);

impl Item {
    #[inline]
    fn new(owner: VertexId, id: u32, order: u32) -> Self {
        Self { edge: u64::from(owner) << 32 | u64::from(id), order }
    }

    /// That a vertex is to be there.
    fn vertex(v: VertexId) -> Self {
        Self::new(v, VERTEX, Does::Vertex as u32)
    }

    #[inline]
    fn owner(self) -> VertexId {
        (self.edge >> 32) as VertexId
    }

    #[inline]
    fn id(self) -> u32 {
        self.edge as u32
    }

    #[inline]
    fn group(self) -> u32 {
        group_of(self.owner())
    }

    #[inline]
    fn does(self) -> Does {
        match self.order & ((1 << DOES_BITS) - 1) {
            0 => Does::Put,
            1 => Does::Set,
            2 => Does::Drop,
            _ => Does::Vertex,
        }
    }

    /// What it wishes for an edge.
    #[inline]
    fn wish<W: Weight>(self, changes: &[Unchecked]) -> Wish {
        match self.does() {
            Does::Drop => Wish::Drop,
            Does::Put if !W::WEIGHTED => Wish::Put(1.0),
            _ => changes[(self.order >> DOES_BITS) as usize].wish,
        }
    }
}

/// The order of the change that stands at a place of a batch.
#[inline]
fn order(at: usize, wish: Wish) -> u32 {
    let does = match wish {
        Wish::Put(_) => Does::Put,
        Wish::Set(_) => Does::Set,
        Wish::Drop => Does::Drop,
    };
    (at as u32) << DOES_BITS | does as u32
}

/// The items of one side, sorted.
struct Sorted {
    side: Side,
    items: Vec<Item>,
}

/// Items that one thread works off: those of some groups.
#[derive(Clone, Copy)]
struct Task<'i> {
    side: Side,
    items: &'i [Item],
}

/// A task, and what it comes to.
struct Work<'i, W> {
    task: Task<'i>,
    outcome: Outcome<W>,
}

/// The same under the latches.
struct Latched<'w, 'i, 'l, 't, W> {
    work: &'w mut Work<'i, W>,
    /// Those of its groups.
    latches: Lent<'l, 't, Base<W>>,
}

/// What the wishes of a task come to.
struct Outcome<W> {
    /// Sorted by group.
    entries: Vec<Entry<W>>,
    /// The newest change in each group.
    newest: Vec<u64>,
    /// Groups whose deltas will be too long.
    overlong: Vec<Address>,
    vertices: Vec<VertexChange>,
    /// Edges that change in their first list; only if they are noted.
    edges: Vec<EdgeChange>,
    /// By how many edges there are more.
    gained: i64,
    /// A vertex that is needed is missing: it was removed after step 2.
    incomplete: bool,
}

/// Items per task.
const TASK: usize = if cfg!(any(loom, torture)) { 2 } else { 1 << 12 };

impl<W: Weight> FatTree<W> {
    /// Makes unchecked changes at one new version, which is visible on return. Ends of edges that
    /// are put in are made where they are missing. If nothing is to be changed, there is no new
    /// version: the newest is returned.
    pub(crate) fn absorb(
        &self,
        changes: &[Unchecked],
        pool: &Pool,
        scribe: Option<&dyn Scribe>,
    ) -> Result<u64, Refusal> {
        let mut sides = self.sort(changes, pool);
        loop {
            let missing = self.missing(&sides, pool);
            if let Some(scribe) = scribe {
                let vertices: Vec<_> = missing.iter().copied().map(added).collect();
                scribe.admit(&vertices, changes.len()).map_err(Refusal::Log)?;
            }
            for sorted in sides.iter_mut().filter(|_| !missing.is_empty()) {
                sorted.items.extend(missing.iter().copied().map(Item::vertex));
                pool.sort(&mut sorted.items);
                sorted.items.dedup();
            }
            if let Some(version) = self.absorb_sorted(&sides, (changes, scribe), pool)? {
                return Ok(version);
            }
        }
    }

    /// Step 1.
    fn sort(&self, changes: &[Unchecked], pool: &Pool) -> Vec<Sorted> {
        let directed = self.is_directed();
        let items = |side| {
            let mut items = Vec::with_capacity(changes.len() << u32::from(!directed));
            for (at, &Unchecked { source, target, wish }) in changes.iter().enumerate() {
                let order = order(at, wish);
                if side == Side::Out {
                    items.push(Item::new(source, target, order));
                }
                if side == self.target_side() && (directed || source != target) {
                    items.push(Item::new(target, source, order));
                }
            }
            pool.sort(&mut items);
            Sorted { side, items }
        };
        self.sides().map(items).collect()
    }

    /// Step 2: the vertices that are needed and not there, ascending.
    fn missing(&self, sides: &[Sorted], pool: &Pool) -> Vec<VertexId> {
        let mut found: Vec<(Task<'_>, Vec<VertexId>)> =
            tasks(sides).into_iter().map(|task| (task, Vec::new())).collect();
        pool.for_each(&mut found, |(task, missing)| {
            for of_group in groups(task.items) {
                let live = self.live_now(of_group[0].group());
                let needs = |item: &&Item| {
                    item.does() == Does::Put && live >> local_of(item.owner()) & 1 == 0
                };
                missing.extend(of_group.iter().filter(needs).map(|item| item.owner()));
                missing.dedup();
            }
        });
        let mut missing: Vec<_> = found.into_iter().flat_map(|(_, missing)| missing).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// The vertices of a group that are there now.
    fn live_now(&self, group: u32) -> u64 {
        let pin = self.versions.pins.pin();
        self.base_at(Side::Out, group << GROUP_BITS, u64::MAX, &pin).live_mask(u64::MAX)
    }

    /// Steps 3 to 5; `None` if a vertex is missing after all.
    fn absorb_sorted(
        &self,
        sides: &[Sorted],
        (changes, scribe): (&[Unchecked], Option<&dyn Scribe>),
        pool: &Pool,
    ) -> Result<Option<u64>, Refusal> {
        let noted = scribe.is_some();
        let mut work: Vec<_> = tasks(sides).into_iter().map(Work::new).collect();
        pool.for_each(&mut work, |Work { task, outcome }| {
            for of_group in groups(task.items) {
                let address = task.address(of_group);
                let locked = &mut self.slot(address).chain.lock();
                self.resolve((address, locked), of_group, (changes, noted), outcome);
            }
        });
        let addresses = work.iter().flat_map(|work| work.task.addresses()).collect();
        let mut groups = Groups::lock(self, addresses);
        let mut latches = Lent::new(&mut groups.locked);
        let lend = |work| Latched::new(work, &mut latches);
        let mut latched: Vec<_> = work.iter_mut().map(lend).collect();
        pool.for_each(&mut latched, |latched| self.renew(latched, (changes, noted)));
        if latched.iter().any(|latched| latched.work.outcome.incomplete) {
            return Ok(None);
        }
        let outcomes = || latched.iter().map(|latched| &latched.work.outcome);
        let vertices: Vec<_> = outcomes().flat_map(|o| o.vertices.iter().copied()).collect();
        let edges: i64 = outcomes().map(|outcome| outcome.gained).sum();
        let taken = self.take_for(outcomes(), &vertices, scribe)?;
        let Some((ticket, entered)) = taken else {
            drop(latched);
            drop(groups);
            return self.versions.settled().map(Some).map_err(Refusal::Log);
        };
        let version = ticket.version();
        pool.for_each(&mut latched, |latched| latched.append(version));
        let gained = (vertices.len().cast_signed() as i64, edges);
        self.count(gained);
        drop(entered);
        drop(latched);
        drop(groups);
        if let Err(stopped) = self.versions.finish(ticket) {
            self.count((-gained.0, -gained.1));
            return Err(Refusal::Log(stopped));
        }
        let overlong = work.iter().flat_map(|work| work.outcome.overlong.iter().copied());
        pool.for_each(&mut overlong.collect::<Vec<_>>(), |address| {
            self.settle_group(*address, u64::MAX, true);
        });
        Ok(Some(version))
    }

    /// Takes the version, and writes the record; `None` if there is nothing to change.
    fn take_for<'w>(
        &self,
        outcomes: impl Iterator<Item = &'w Outcome<W>> + Clone,
        vertices: &[VertexChange],
        scribe: Option<&dyn Scribe>,
    ) -> Result<Option<(Ticket<'_>, Entered<'_>)>, Refusal> {
        if outcomes.clone().all(|outcome| outcome.entries.is_empty()) {
            return Ok(None);
        }
        let record = scribe.map_or_else(Record::new, |scribe| {
            let edges = outcomes.flat_map(|outcome| outcome.edges.iter().copied());
            let edges: Vec<_> = edges.skip(usize::from(planted(Fault::BatchRecordShort))).collect();
            scribe.record(Changes { vertices, edges: &edges, ..Changes::default() })
        });
        let entered = self.vertex_set.enter(role(None, !vertices.is_empty()));
        let ticket = self.take(None, &record)?;
        if !vertices.is_empty() {
            let ids = vertices.iter().map(|change| change.vertex);
            self.vertex_set.change(ticket.version(), ids);
        }
        Ok(Some((ticket, entered)))
    }

    /// Step 3 for a group, which is latched.
    fn resolve(
        &self,
        (address, locked): (Address, &mut Locked<'_, Base<W>>),
        of_group: &[Item],
        (changes, noted): (&[Unchecked], bool),
        outcome: &mut Outcome<W>,
    ) {
        let from = outcome.entries.len();
        let live = self.resolve_vertices(outcome, (address, locked), of_group);
        let of_edges = of_group.chunk_by(|a, b| a.edge == b.edge);
        for of_edge in of_edges.filter(|of_edge| of_edge[0].id() != VERTEX) {
            let puts = of_edge.iter().any(|item| item.does() == Does::Put);
            if puts && live >> local_of(of_edge[0].owner()) & 1 == 0 {
                outcome.incomplete = !planted(Fault::BatchEndsUnchecked);
            }
            if let Some(change) = resolve_edge(locked, of_edge, changes) {
                outcome.push(address, change);
                if self.is_first(address.side, change.source, change.target) {
                    outcome.gained += gained(change.effect);
                    outcome.edges.extend(noted.then_some(change));
                }
            }
        }
        outcome.newest.push(newest(locked));
        let rows = &outcome.entries[from..];
        if !rows.is_empty() && self.make_room_for(locked, rows) {
            outcome.overlong.push(address);
        }
    }

    /// Step 4: makes sure that what was resolved still holds, and that there is still room.
    fn renew(
        &self,
        latched: &mut Latched<'_, '_, '_, '_, W>,
        (changes, noted): (&[Unchecked], bool),
    ) {
        let Latched { work: Work { task, outcome }, latches } = latched;
        let mut at = outcome.newest.iter().enumerate();
        let holds = at.all(|(place, &seen)| latches.with(place, |locked| newest(locked)) == seen);
        if !holds && !planted(Fault::BatchNotRenewed) {
            *outcome = Outcome::default();
            for (place, of_group) in groups(task.items).enumerate() {
                let address = task.address(of_group);
                latches.with(place, |locked| {
                    self.resolve((address, locked), of_group, (changes, noted), outcome);
                });
            }
            return;
        }
        task.each_with(&outcome.entries, |place, entries| {
            latches.with(place, |locked| _ = self.make_room_for(locked, entries));
        });
    }

    /// Adds the vertices of a group that are wished for and not there; those that are there then,
    /// a bit each.
    fn resolve_vertices(
        &self,
        outcome: &mut Outcome<W>,
        (address, locked): (Address, &Locked<'_, Base<W>>),
        of_group: &[Item],
    ) -> u64 {
        let head = locked.head().map(|placed| placed.value);
        let mut live = head.unwrap_or_else(|| self.untouched(address.group)).live_mask(u64::MAX);
        for item in of_group.iter().filter(|item| item.does() == Does::Vertex) {
            let bit = 1 << local_of(item.owner());
            if live & bit == 0 {
                let (local, id, weight) = (local_of(item.owner()), VERTEX, W::default());
                let op = Op { local, id, kind: Kind::Add, weight };
                outcome.entries.push(Entry { address, op, checks: Checks::default() });
                let added = added(item.owner());
                outcome.vertices.extend((address.side == Side::Out).then_some(added));
            }
            live |= bit;
        }
        live
    }

    /// Whether this is the first of the two lists in which an edge stands.
    fn is_first(&self, side: Side, owner: VertexId, id: VertexId) -> bool {
        side == Side::Out && (self.is_directed() || owner <= id)
    }
}

/// What all items about one edge come to; `None` if it is as it is to be.
fn resolve_edge<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    of_edge: &[Item],
    changes: &[Unchecked],
) -> Option<EdgeChange> {
    let (source, target) = (of_edge[0].owner(), of_edge[0].id());
    let wishes = of_edge.iter().map(|item| item.wish::<W>(changes));
    let first_wins = planted(Fault::BatchFirstWins);
    let wish = wishes.reduce(|wish, later| if first_wins { wish } else { wish.then(later) });
    let now = edge_now(locked, source, target);
    let effect = match (wish?, now) {
        (Wish::Put(weight), None) => Effect::Add(weight),
        (Wish::Put(weight) | Wish::Set(weight), Some(now)) if W::from_f64(weight) != now => {
            Effect::Set(weight)
        }
        (Wish::Drop, Some(_)) => Effect::Remove,
        _ => return None,
    };
    let needs = Ends { source: true, target: true };
    Some(EdgeChange { source, target, expected: now.is_some(), effect, needs, operation: 0 })
}

impl<W: Weight> Outcome<W> {
    fn push(&mut self, address: Address, change: EdgeChange) {
        self.entries.extend(change.row().map(|(kind, weight)| {
            let (local, weight) = (local_of(change.source), W::from_f64(weight));
            let op = Op { local, id: change.target, kind, weight };
            Entry { address, op, checks: Checks::default() }
        }));
    }
}

impl<W> Default for Outcome<W> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            newest: Vec::new(),
            overlong: Vec::new(),
            vertices: Vec::new(),
            edges: Vec::new(),
            gained: 0,
            incomplete: false,
        }
    }
}

impl<'i, W> Work<'i, W> {
    fn new(task: Task<'i>) -> Self {
        Self { task, outcome: Outcome::default() }
    }
}

impl<'w, 'i, 'l, 't, W: Weight> Latched<'w, 'i, 'l, 't, W> {
    /// With the first of the latches that are left.
    fn new(work: &'w mut Work<'i, W>, left: &mut Lent<'l, 't, Base<W>>) -> Self {
        let latches = left.take(work.outcome.newest.len());
        Self { work, latches }
    }

    /// Step 5 for the groups of a task.
    fn append(&mut self, version: u64) {
        let Self { work: Work { task, outcome }, latches } = self;
        task.each_with(&outcome.entries, |place, entries| {
            latches.with(place, |locked| {
                for entry in entries {
                    append(locked, &entry.op, version);
                }
            });
        });
    }
}

/// The version of the last change to a group.
pub(super) fn newest<W: Weight>(locked: &Locked<'_, Base<W>>) -> u64 {
    locked.head().map_or(0, |head| newest_with_hubs(head.value))
}

impl<'i> Task<'i> {
    fn address(&self, of_group: &[Item]) -> Address {
        Address { side: self.side, group: of_group[0].group() }
    }

    /// Passes those entries on that each group has, with its place among the groups.
    fn each_with<W>(&self, entries: &[Entry<W>], mut pass: impl FnMut(usize, &[Entry<W>])) {
        let mut of_groups = by_group(entries).peekable();
        for (place, of_items) in groups(self.items).enumerate() {
            let address = self.address(of_items);
            if let Some(entries) = of_groups.next_if(|entries| entries[0].address == address) {
                pass(place, entries);
            }
        }
    }

    /// Its groups, ascending.
    fn addresses(self) -> impl Iterator<Item = Address> + use<'i> {
        groups(self.items).map(move |of_group| self.address(of_group))
    }
}

/// The items of each group.
fn groups(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    items.chunk_by(|a, b| a.group() == b.group())
}

/// Cuts sorted items between groups, into tasks in address order.
fn tasks(sides: &[Sorted]) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    for Sorted { side, items } in sides {
        let mut left = &items[..];
        while let Some(last) = left.get(TASK - 1).or(left.last()) {
            let end = left.partition_point(|item| item.group() <= last.group());
            let (items, rest) = left.split_at(end);
            tasks.push(Task { side: *side, items });
            left = rest;
        }
    }
    tasks
}

/// The change by which a vertex is added.
fn added(vertex: VertexId) -> VertexChange {
    VertexChange { vertex, expected: false, present: true, removed: false, operation: 0 }
}
