//! Many changes that nobody checked become one version: whoever comes last wins.
//!
//! # Steps
//!   1. Every change becomes an item of the list of each of its ends. Items are sorted by list, and
//!      cut into tasks of whole groups. What happens to one edge is folded to one wish.
//!   2. Vertices that are missing are wished for too.
//!   3. Lock every group, in address order. A wish is compared with what is there, and becomes a row
//!      or nothing. Room is made.
//!   4. Steps 4 and 5 of `write.rs`: version and record, rows, unlock, disk, visible, merge.
//!
//!   Tasks are worked off in the threads of a pool, those of steps 1 to 4 while the caller waits.
//! # Invariants
//!   - A1 Wishes about one edge are folded in the order of the changes, for both of its lists: so
//!     both come to the same (I6 of `write.rs`).
//!   - A2 What is there afterwards does not depend on how changes are cut into batches.
//!   - A3 A wish that puts an edge in finds both ends under the latches, each in its own group, or
//!     the whole batch starts again at step 2 (W1 of `write.rs`).
//!   - A4 No thread of the pool waits for a latch while the caller holds some.
//! # Source
//!   Archiving of `GraphOne` (Kumar, Huang, FAST 2019, section 4.2): cut by range of source, then work
//!   without atomics. What differs: a batch is checked, and is one version of a store that others
//!   write too.
//! # Checked by
//!   tests/ingest.rs; loom: `models::loom_absorb_*`.

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP_BITS, Kind, Op, VERTEX, group_of, local_of};
use super::validate::role;
use super::vertex_set::Entered;
use super::write::{Entry, Groups, append, edge_now, gained};
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

/// A task under the latches.
struct Work<'i, 'l, 't, W> {
    task: Task<'i>,
    /// Those of its groups.
    latches: Lent<'l, 't, Base<W>>,
    outcome: Outcome<W>,
}

/// What the wishes of a task come to.
struct Outcome<W> {
    /// Sorted by group.
    entries: Vec<Entry<W>>,
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

    /// Steps 3 and 4; `None` if a vertex is missing after all.
    fn absorb_sorted(
        &self,
        sides: &[Sorted],
        (changes, scribe): (&[Unchecked], Option<&dyn Scribe>),
        pool: &Pool,
    ) -> Result<Option<u64>, Refusal> {
        let tasks = tasks(sides);
        let addresses = tasks.iter().flat_map(|task| task.addresses()).collect();
        let mut groups = Groups::lock(self, addresses);
        let mut latches = Lent::new(&mut groups.locked);
        let mut work = Vec::with_capacity(tasks.len());
        for task in tasks {
            let (latches, outcome) = (latches.take(task.addresses().count()), Outcome::default());
            work.push(Work { task, latches, outcome });
        }
        let noted = scribe.is_some();
        pool.for_each(&mut work, |work| self.resolve(work, changes, noted));
        if work.iter().any(|work| work.outcome.incomplete) {
            return Ok(None);
        }
        let vertices: Vec<_> =
            work.iter().flat_map(|work| work.outcome.vertices.iter().copied()).collect();
        let ticket = self.take_for(&work, &vertices, scribe)?;
        let Some((ticket, entered)) = ticket else {
            drop(work);
            drop(groups);
            return self.versions.settled().map(Some).map_err(Refusal::Log);
        };
        let version = ticket.version();
        pool.for_each(&mut work, |work| work.append(version));
        let edges: i64 = work.iter().map(|work| work.outcome.gained).sum();
        let gained = (vertices.len().cast_signed() as i64, edges);
        self.count(gained);
        drop(entered);
        let mut overlong: Vec<Address> = Vec::new();
        for work in &mut work {
            overlong.append(&mut work.outcome.overlong);
        }
        drop(work);
        drop(groups);
        if let Err(stopped) = self.versions.finish(ticket) {
            self.count((-gained.0, -gained.1));
            return Err(Refusal::Log(stopped));
        }
        pool.for_each(&mut overlong, |address| {
            self.settle_group(*address, u64::MAX, true);
        });
        Ok(Some(version))
    }

    /// Takes the version, and writes the record; `None` if there is nothing to change.
    fn take_for(
        &self,
        work: &[Work<'_, '_, '_, W>],
        vertices: &[VertexChange],
        scribe: Option<&dyn Scribe>,
    ) -> Result<Option<(Ticket<'_>, Entered<'_>)>, Refusal> {
        if work.iter().all(|work| work.outcome.entries.is_empty()) {
            return Ok(None);
        }
        let record = scribe.map_or_else(Record::new, |scribe| {
            let edges = work.iter().flat_map(|work| work.outcome.edges.iter().copied());
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

    /// Step 3 for the groups of a task, which are latched.
    fn resolve(&self, work: &mut Work<'_, '_, '_, W>, changes: &[Unchecked], noted: bool) {
        let Work { task, latches, outcome } = work;
        for (place, of_group) in groups(task.items).enumerate() {
            let address = task.address(of_group);
            let from = outcome.entries.len();
            latches.with(place, |locked| {
                let live = self.resolve_vertices(outcome, (address, locked), of_group);
                for of_edge in of_group.chunk_by(|a, b| a.edge == b.edge) {
                    if of_edge[0].id() == VERTEX {
                        continue;
                    }
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
                let rows = &outcome.entries[from..];
                if !rows.is_empty() && self.make_room_for(locked, rows) {
                    outcome.overlong.push(address);
                }
            });
        }
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
                outcome.entries.push(Entry { address, op: Op { local, id, kind: Kind::Add, weight } });
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
            Entry { address, op: Op { local, id: change.target, kind, weight } }
        }));
    }
}

impl<W> Default for Outcome<W> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            overlong: Vec::new(),
            vertices: Vec::new(),
            edges: Vec::new(),
            gained: 0,
            incomplete: false,
        }
    }
}

impl<W: Weight> Work<'_, '_, '_, W> {
    /// Step 4 for the groups of a task.
    fn append(&mut self, version: u64) {
        let of_groups = self.outcome.entries.chunk_by(|a, b| a.address == b.address);
        let mut of_groups = of_groups.peekable();
        for (place, of_items) in groups(self.task.items).enumerate() {
            let address = self.task.address(of_items);
            if let Some(entries) = of_groups.next_if(|entries| entries[0].address == address) {
                self.latches.with(place, |locked| {
                    for entry in entries {
                        append(locked, &entry.op, version);
                    }
                });
            }
        }
    }
}

impl<'i> Task<'i> {
    fn address(&self, of_group: &[Item]) -> Address {
        Address { side: self.side, group: of_group[0].group() }
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
