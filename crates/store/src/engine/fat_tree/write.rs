//! A commit: a checked set of changes becomes one version.
//!
//! # Steps
//!   0. The changes become rows, group by group. If they are many, each group is looked at by
//!      itself, before all are locked (`ahead.rs`).
//!   1. Lock every group that is touched, in address order: no two commits wait for each other.
//!   2. Check every change: both ends exist, the edge is there or is not, and nobody changed it
//!      since the snapshot of the transaction (first updater wins). A refusal changes nothing.
//!      What a serializable transaction read is validated too (`validate.rs`).
//!   3. Make room: full deltas are merged now, before the version is taken (M2 of `merge.rs`).
//!   4. Take the version, and write the record into the log if there is one; append. Nothing can
//!      refuse the commit any more.
//!   5. Unlock; wait for the disk if that was asked for; complete the version; merge what a large
//!      batch left too long. If the disk fails, the version never becomes visible.
//! # Invariants
//!   - I6 All entries of a change carry one version: no half of an edge is ever visible.
//!   - W1 Every change that needs a vertex locks a group that knows whether it exists, so an edge
//!     never dangles.
//! # Checked by
//!   tests/model.rs, tests/concurrent.rs.

use evergraph_graph::{VertexId, Weight};
use smallvec::SmallVec;

use super::ahead::Ahead;
use super::base::{Base, GROUP_BITS, Kind, Op, VERTEX, group_of, local_of};
use super::merge::Goal;
use super::validate::{Reads, Stale, list_changed_after, role, vertex_changed_after};
use super::{Address, FatTree, Side};
use crate::Version;
use crate::fault::{Fault, planted};
use crate::log::Stopped;
use crate::raw::Locked;
use crate::sync::Ordering;

/// Groups, lists and rows of a small transaction: these many stay off the heap.
const INLINE: usize = 4;
/// A delta with this many times its usual rows is merged right after the commit.
const OVERLONG: usize = 2;

/// What an edge change does in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The edge is checked and stays as it is.
    None,
    /// The edge is put in.
    Add(f64),
    /// The edge gets another weight.
    Set(f64),
    /// The edge is taken out.
    Remove,
}

/// Which ends of an edge must exist before the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) source: bool,
    pub(crate) target: bool,
}

/// All that a transaction does to one edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EdgeChange {
    pub(crate) source: VertexId,
    pub(crate) target: VertexId,
    /// Whether the edge must be there before.
    pub(crate) expected: bool,
    pub(crate) effect: Effect,
    pub(crate) needs: Ends,
    /// Which operation of the transaction asked for it first.
    pub(crate) operation: usize,
}

impl EdgeChange {
    /// What a row says about it, if there is to be one.
    #[inline]
    pub(super) fn row(&self) -> Option<(Kind, f64)> {
        match self.effect {
            Effect::None => None,
            Effect::Add(weight) => Some((Kind::Add, weight)),
            Effect::Set(weight) => Some((Kind::Set, weight)),
            Effect::Remove => Some((Kind::Remove, 0.0)),
        }
    }

    /// Whether there are not rows about it that say all there is to check.
    #[inline]
    fn lacks_rows(&self) -> bool {
        self.effect == Effect::None || self.forgets_twin()
    }

    #[inline]
    fn forgets_twin(&self) -> bool {
        planted(Fault::HalfEdge) || planted(Fault::TwinLeft) && self.effect == Effect::Remove
    }
}

/// All that a transaction does to one vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VertexChange {
    pub(crate) vertex: VertexId,
    /// Whether the vertex must be there before.
    pub(crate) expected: bool,
    /// Whether it is there afterwards.
    pub(crate) present: bool,
    /// Whether its edges must be those of the snapshot: it was removed on the way.
    pub(crate) removed: bool,
    pub(crate) operation: usize,
}

/// All that a transaction does: at most one change per vertex and per edge (an undirected one in
/// either direction).
#[derive(Clone, Copy, Default)]
pub(crate) struct Changes<'a> {
    pub(crate) vertices: &'a [VertexChange],
    pub(crate) edges: &'a [EdgeChange],
    /// How far readers of the log are.
    pub(crate) positions: &'a [(Box<str>, Version)],
    /// The same for the log; empty if there is none.
    pub(crate) record: &'a [u8],
}

/// Why a commit was refused, with the operation that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    UnknownVertex {
        vertex: VertexId,
        operation: usize,
    },
    DuplicateVertex {
        vertex: VertexId,
        operation: usize,
    },
    DuplicateEdge {
        source: VertexId,
        target: VertexId,
        operation: usize,
    },
    MissingEdge {
        source: VertexId,
        target: VertexId,
        operation: usize,
    },
    /// Somebody else changed it after the transaction began.
    VertexConflict {
        vertex: VertexId,
        operation: usize,
    },
    EdgeConflict {
        source: VertexId,
        target: VertexId,
        operation: usize,
    },
    /// Somebody else changed what the transaction had read.
    Stale(Stale),
    /// It could not be written down.
    Log(Stopped),
    /// It would take more memory than there may be.
    MemoryLimit {
        limit: u64,
        used: u64,
    },
}

/// A row for the list of one group.
#[derive(Clone, Copy)]
pub(super) struct Entry<W> {
    pub(super) address: Address,
    pub(super) op: Op<W>,
    pub(super) checks: Checks,
}

/// What is to be checked where a row goes.
#[derive(Clone, Copy, Default)]
pub(super) struct Checks {
    /// The owner of the list must exist.
    pub(super) owner: bool,
    /// The edge must be there, or must not: this is the list of its source.
    pub(super) edge: bool,
}

/// The groups of one commit, locked.
pub(super) struct Groups<'t, W> {
    pub(super) addresses: SmallVec<[Address; INLINE]>,
    pub(super) locked: SmallVec<[Locked<'t, Base<W>>; INLINE]>,
}

impl<'t, W: Weight> Groups<'t, W> {
    /// Locks groups, which ascend.
    pub(super) fn lock(tree: &'t FatTree<W>, addresses: SmallVec<[Address; INLINE]>) -> Self {
        let locked = addresses.iter().map(|&address| tree.slot(address).chain.lock()).collect();
        Self { addresses, locked }
    }

    fn index(&self, address: Address) -> usize {
        self.addresses.binary_search(&address).expect("every group that is touched was locked")
    }

    pub(super) fn get(&self, address: Address) -> &Locked<'t, Base<W>> {
        &self.locked[self.index(address)]
    }

    /// As [`Groups::get`], for a caller who comes by in address order: `place` is where the one
    /// before was found.
    #[inline]
    fn get_from(&self, place: &mut usize, address: Address) -> &Locked<'t, Base<W>> {
        if self.addresses[*place] != address {
            *place = self.index(address);
        }
        &self.locked[*place]
    }
}

impl<W: Weight> FatTree<W> {
    /// Makes the changes at one new version, which is visible on return; or none of them.
    ///
    /// `snapshot` is what the transaction read; its lease is still open. `reads` is what it found
    /// there, if that must not have changed.
    pub(crate) fn commit(
        &self,
        changes: Changes<'_>,
        reads: Option<&Reads<'_>>,
        snapshot: u64,
    ) -> Result<u64, Refusal> {
        let Changes { vertices, edges, .. } = changes;
        let early = planted(Fault::VersionBeforeLatches).then(|| self.versions.clock.take());
        let entries = self.entries(vertices, edges);
        if let Some(reads) = reads.filter(|_| planted(Fault::ValidatesFirst)) {
            self.validate(&self.lock((changes, &entries), Some(reads)), reads.found, snapshot)?;
        }
        let ahead = self.look_ahead(&entries, snapshot);
        let mut groups = self.lock((changes, &entries), reads);
        for change in vertices {
            self.check_vertex(&groups, change, snapshot)?;
        }
        self.check_edges(&groups, (edges, &entries), ahead, snapshot)?;
        if let Some(reads) = reads.filter(|_| !planted(Fault::ValidatesFirst)) {
            self.validate(&groups, reads.found, snapshot)?;
        }
        let overlong = self.make_all_room(&mut groups, &entries);
        let entered = self.vertex_set.enter(role(reads, !vertices.is_empty()));
        if let Some(reads) = reads {
            self.validate_vertices(reads, snapshot)?;
        }
        let entered = (!planted(Fault::SetLeftEarly)).then_some(entered);
        let ticket = early.map_or_else(|| self.take(reads, changes.record), Ok)?;
        let version = ticket.version();
        if changes_set(vertices, reads) {
            self.vertex_set.change(version, vertices.iter().map(|change| change.vertex));
        }
        let mut place = 0;
        for entry in &entries {
            let early = entry.address.side == Side::In && planted(Fault::InListsEarly);
            let version = version - u64::from(early);
            append(groups.get_from(&mut place, entry.address), &entry.op, version);
        }
        if !changes.positions.is_empty() {
            self.versions.positions.set(version, changes.positions);
        }
        // Before the version is visible: who finds all visible finds all counted.
        let gained = gained_by(vertices, edges);
        self.count(gained);
        drop(entered);
        drop(groups);
        if let Err(stopped) = self.versions.finish(ticket) {
            // It never becomes visible.
            self.count((-gained.0, -gained.1));
            return Err(Refusal::Log(stopped));
        }
        for address in overlong {
            self.settle_group(address, u64::MAX, true);
        }
        Ok(version)
    }

    /// Runs `f`, while nobody can add the vertex, if the vertex does not exist for anybody: not
    /// now, not at any of `versions`, and not at one that is still to become visible. False if it
    /// exists only for a reader, who will be gone some day.
    ///
    /// `versions` are those of all leases, listed after `visible` was read.
    pub(crate) fn if_gone(
        &self,
        v: VertexId,
        (visible, versions): (u64, &[u64]),
        f: impl FnOnce(),
    ) -> bool {
        let locked = self.slot(Self::address(Side::Out, v)).chain.lock();
        if self.is_live(&locked, v) {
            return true;
        }
        let local = local_of(v);
        let live_at = |&version: &u64| {
            let state = locked.at(version).map(|state| state.value);
            state.unwrap_or_else(|| self.untouched(group_of(v))).live_at(local, version)
        };
        let seen = states_after(&locked, visible).any(|s| s.changed_after(visible, local, VERTEX))
            || versions.iter().chain([&visible]).any(live_at);
        if !seen {
            f();
        }
        !seen
    }

    #[inline]
    pub(super) fn address(side: Side, v: VertexId) -> Address {
        Address { side, group: group_of(v) }
    }

    /// Where an edge stands in the list of its target.
    #[inline]
    pub(super) fn target_side(&self) -> Side {
        if self.is_directed() { Side::In } else { Side::Out }
    }

    /// Step 1: the groups of all rows, of what is checked only, and of what was read.
    pub(super) fn lock(
        &self,
        (changes, entries): (Changes<'_>, &[Entry<W>]),
        reads: Option<&Reads<'_>>,
    ) -> Groups<'_, W> {
        let Changes { vertices, edges, .. } = changes;
        let mut addresses = SmallVec::new();
        addresses.extend(by_group(entries).map(|of_group| of_group[0].address));
        for change in vertices {
            addresses.extend(self.sides().map(|side| Self::address(side, change.vertex)));
        }
        for change in edges.iter().filter(|change| change.lacks_rows()) {
            addresses.push(Self::address(Side::Out, change.source));
            addresses.push(Self::address(self.target_side(), change.target));
        }
        if let Some(reads) = reads {
            addresses.extend(reads.found.iter().map(|&read| self.address_of_read(read)));
        }
        if !addresses.is_sorted() {
            addresses.sort_unstable();
        }
        addresses.dedup();
        if addresses.len() <= INLINE {
            addresses.iter().for_each(|&address| self.slot(address).chain.prefetch());
        }
        let groups = Groups::lock(self, addresses);
        if let [change] = edges {
            self.prefetch(&groups, change);
        }
        groups
    }

    /// Asks for what the steps that follow will touch, of both ends at once.
    fn prefetch(&self, groups: &Groups<'_, W>, change: &EdgeChange) {
        let ends = [(Side::Out, change.source), (self.target_side(), change.target)];
        for (side, v) in ends {
            if let Some(head) = groups.get(Self::address(side, v)).head() {
                head.value.prefetch(local_of(v));
            }
        }
    }

    /// Step 2 for a vertex.
    fn check_vertex(
        &self,
        groups: &Groups<'_, W>,
        change: &VertexChange,
        snapshot: u64,
    ) -> Result<(), Refusal> {
        let VertexChange { vertex, operation, .. } = *change;
        for side in self.sides() {
            let locked = groups.get(Self::address(side, vertex));
            let changed = if change.removed && !planted(Fault::DepartureUnchecked) {
                list_changed_after(locked, snapshot, vertex)
            } else {
                vertex_changed_after(locked, snapshot, vertex)
            };
            if changed && (change.expected || !planted(Fault::KeyConflictUnseen)) {
                return Err(Refusal::VertexConflict { vertex, operation });
            }
        }
        let live = self.is_live(groups.get(Self::address(Side::Out, vertex)), vertex);
        match (change.expected, live) {
            (true, false) => Err(Refusal::UnknownVertex { vertex, operation }),
            (false, true) => Err(Refusal::DuplicateVertex { vertex, operation }),
            _ => Ok(()),
        }
    }

    /// Step 2 for all edges.
    fn check_edges(
        &self,
        groups: &Groups<'_, W>,
        (edges, entries): (&[EdgeChange], &[Entry<W>]),
        ahead: Option<Vec<Ahead>>,
        snapshot: u64,
    ) -> Result<(), Refusal> {
        // What is not in order is looked for edge by edge, so that the refusal names it.
        let in_order =
            ahead.is_some_and(|ahead| self.is_still_in_order(groups, entries, &ahead, snapshot));
        let mut place = 0;
        for change in edges.iter().filter(|change| !in_order || change.lacks_rows()) {
            self.check_edge(groups, &mut place, change, snapshot)?;
        }
        Ok(())
    }

    /// Step 2 for an edge. One of its two lists is enough (both say the same, I6). `place` is where
    /// the source before was found.
    fn check_edge(
        &self,
        groups: &Groups<'_, W>,
        place: &mut usize,
        change: &EdgeChange,
        snapshot: u64,
    ) -> Result<(), Refusal> {
        let EdgeChange { source, target, operation, .. } = *change;
        let out = groups.get_from(place, Self::address(Side::Out, source));
        if change.needs.source {
            self.check_end(out, source, operation, snapshot)?;
        }
        if change.needs.target {
            let end = groups.get(Self::address(self.target_side(), target));
            self.check_end(end, target, operation, snapshot)?;
        }
        if edge_has_conflict(out, (source, target), snapshot) {
            return Err(Refusal::EdgeConflict { source, target, operation });
        }
        match (change.expected, edge_now(out, source, target).is_some()) {
            (true, false) => Err(Refusal::MissingEdge { source, target, operation }),
            (false, true) if !planted(Fault::EdgeTwice) => {
                Err(Refusal::DuplicateEdge { source, target, operation })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_end(
        &self,
        locked: &Locked<'_, Base<W>>,
        vertex: VertexId,
        operation: usize,
        snapshot: u64,
    ) -> Result<(), Refusal> {
        if planted(Fault::EndsUnchecked) {
            return Ok(());
        }
        if vertex_changed_after(locked, snapshot, vertex) {
            return Err(Refusal::VertexConflict { vertex, operation });
        }
        if self.is_live(locked, vertex) {
            return Ok(());
        }
        Err(Refusal::UnknownVertex { vertex, operation })
    }

    fn is_live(&self, locked: &Locked<'_, Base<W>>, v: VertexId) -> bool {
        let head = locked.head().map_or_else(|| self.untouched(group_of(v)), |head| head.value);
        head.live_at(local_of(v), u64::MAX)
    }

    /// The rows that the changes become, group by group.
    pub(super) fn entries(
        &self,
        vertices: &[VertexChange],
        edges: &[EdgeChange],
    ) -> SmallVec<[Entry<W>; INLINE]> {
        let mut entries: SmallVec<[Entry<W>; INLINE]> =
            SmallVec::with_capacity(2 * (vertices.len() + edges.len()));
        for change in vertices.iter().filter(|change| change.expected != change.present) {
            let kind = if change.present { Kind::Add } else { Kind::Remove };
            let weight = W::default();
            let op = Op { local: local_of(change.vertex), id: VERTEX, kind, weight };
            for side in self.sides() {
                let (address, checks) = (Self::address(side, change.vertex), Checks::default());
                entries.push(Entry { address, op, checks });
            }
        }
        for change in edges {
            let Some((kind, weight)) = change.row() else { continue };
            let mut push = |side, owner, id, checks| {
                let op = Op { local: local_of(owner), id, kind, weight: W::from_f64(weight) };
                entries.push(Entry { address: Self::address(side, owner), op, checks });
            };
            let needs = change.needs;
            let checks = Checks { owner: needs.source, edge: true };
            push(Side::Out, change.source, change.target, checks);
            if change.forgets_twin() {
                continue;
            }
            if self.is_directed() || change.source != change.target {
                let checks = Checks { owner: needs.target, edge: false };
                push(self.target_side(), change.target, change.source, checks);
            }
        }
        if entries.len() > 2 {
            entries.sort_unstable_by_key(Entry::key);
        }
        entries
    }

    /// Step 3; the groups whose deltas will be too long.
    fn make_all_room(
        &self,
        groups: &mut Groups<'_, W>,
        entries: &[Entry<W>],
    ) -> SmallVec<[Address; INLINE]> {
        let mut overlong = SmallVec::new();
        for of_group in by_group(entries) {
            let address = of_group[0].address;
            let index = groups.index(address);
            if self.make_room_for(&mut groups.locked[index], of_group) {
                overlong.push(address);
            }
        }
        overlong
    }

    /// Makes room for the rows of one group; true if its delta will be too long.
    pub(super) fn make_room_for(
        &self,
        locked: &mut Locked<'_, Base<W>>,
        of_group: &[Entry<W>],
    ) -> bool {
        let address = of_group[0].address;
        self.merge_for_hubs(address, locked, of_group);
        let inline = of_group.iter().filter(|entry| !is_of_hub(locked, &entry.op)).count();
        self.make_room(address, locked, inline);
        self.make_hub_room(address, locked, of_group);
        of_group.len() > OVERLONG * self.tuning.delta_max
    }

    /// Merges the group if a hub that is about to be written should change its form.
    fn merge_for_hubs(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        entries: &[Entry<W>],
    ) {
        let wants = locked.head().is_some_and(|head| {
            head.value.runs.hubs != 0
                && entries.iter().any(|entry| {
                    let hub = head.value.hub(entry.op.local);
                    hub.is_some_and(|hub| self.wants_group_merge(hub))
                })
        });
        if wants {
            let goal = Goal::new(self.versions.clock.visible(), entries.len());
            self.merge_group(address, locked, goal);
        }
    }

    fn make_hub_room(&self, address: Address, locked: &Locked<'_, Base<W>>, entries: &[Entry<W>]) {
        let Some(head) = locked.head().filter(|head| head.value.runs.hubs != 0) else {
            return;
        };
        let mut of_hubs = entries.iter().filter(|entry| is_of_hub(locked, &entry.op)).peekable();
        while let Some(first) = of_hubs.next() {
            let hub = head.value.hub(first.op.local).expect("only entries of hubs are left");
            // Entries are sorted: those of one segment are neighbours.
            let upper = hub.with_segments(|segments| {
                segments.fences().get(segments.index(first.op.id) + 1).copied()
            });
            let mut rows = 1;
            while of_hubs.peek().is_some_and(|next| {
                next.op.local == first.op.local && upper.is_none_or(|upper| next.op.id < upper)
            }) {
                of_hubs.next();
                rows += 1;
            }
            self.make_segment_room(address, hub, (first.op.id, rows));
            // A cut may have moved some of them to new segments: those need room as well.
            let pieces = hub.with_segments(|segments| {
                let fences = segments.fences();
                let from = segments.index(first.op.id) + 1;
                let to = upper
                    .map_or(fences.len(), |upper| fences.partition_point(|&fence| fence < upper));
                fences[from.min(to)..to].to_vec()
            });
            for fence in pieces {
                self.make_segment_room(address, hub, (fence, rows));
            }
        }
    }

    /// Counts vertices and edges that there are more of, or fewer.
    #[inline]
    pub(super) fn count(&self, (vertices, edges): (i64, i64)) {
        if edges != 0 {
            self.counts.edges.fetch_add(edges.cast_unsigned(), Ordering::Relaxed);
        }
        if vertices != 0 {
            self.counts.vertices.fetch_add(vertices.cast_unsigned(), Ordering::Relaxed);
        }
    }
}

impl<W> Entry<W> {
    /// What rows are sorted by: the side, and the owner of the list before the other end.
    #[inline]
    fn key(&self) -> (Side, u64) {
        let owner = u64::from(self.address.group) << GROUP_BITS | u64::from(self.op.local);
        (self.address.side, owner << u32::BITS | u64::from(self.op.id))
    }
}

/// The rows of each group.
pub(super) fn by_group<W>(entries: &[Entry<W>]) -> impl Iterator<Item = &[Entry<W>]> {
    entries.chunk_by(|a, b| a.address == b.address)
}

/// How many edges there are more after a change.
#[inline]
pub(super) fn gained(effect: Effect) -> i64 {
    match effect {
        Effect::Add(_) => 1,
        Effect::Remove => -1,
        Effect::Set(_) | Effect::None => 0,
    }
}

/// How many vertices and edges there are more after changes.
#[inline]
fn gained_by(vertices: &[VertexChange], edges: &[EdgeChange]) -> (i64, i64) {
    let edges = edges.iter().map(|change| gained(change.effect)).sum();
    let vertices =
        vertices.iter().map(|change| i64::from(change.present) - i64::from(change.expected)).sum();
    (vertices, edges)
}

/// Whether the set of vertices is another one after a commit.
#[inline]
fn changes_set(vertices: &[VertexChange], reads: Option<&Reads<'_>>) -> bool {
    let overlooked = planted(Fault::SetMissesSnapshots) && reads.is_none()
        || planted(Fault::SetMissesRemovals) && vertices.iter().all(|change| !change.present);
    !vertices.is_empty() && !overlooked
}

/// Step 4 for one row.
#[inline]
pub(super) fn append<W: Weight>(locked: &Locked<'_, Base<W>>, op: &Op<W>, version: u64) {
    let head = locked.head().expect("room was made").value;
    match head.hub(op.local).filter(|_| op.id != VERTEX) {
        Some(hub) => hub.append(op, version),
        None => head.append(op, version),
    }
}

#[inline]
fn is_of_hub<W: Weight>(locked: &Locked<'_, Base<W>>, op: &Op<W>) -> bool {
    op.id != VERTEX && locked.head().is_some_and(|head| head.value.hub(op.local).is_some())
}

/// The states in which changes after `version` may be found, newest first. The lease of a writer
/// at `version` keeps them all.
pub(super) fn states_after<'a, W: Weight>(
    locked: &'a Locked<'_, Base<W>>,
    version: u64,
) -> impl Iterator<Item = &'a Base<W>> {
    let mut reached = false;
    locked
        .states()
        .take_while(move |state| !std::mem::replace(&mut reached, state.version <= version))
        .map(|state| state.value)
}

/// The weight of the edge now, if there is one.
pub(super) fn edge_now<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    source: VertexId,
    target: VertexId,
) -> Option<W> {
    let head = locked.head()?.value;
    match head.hub(local_of(source)) {
        Some(hub) => hub.edge_now(target),
        None => head.edge_at(local_of(source), target, u64::MAX),
    }
}

/// Whether somebody changed the edge after the snapshot.
#[expect(clippy::inline_always, reason = "on the way of every commit of an edge")]
#[inline(always)]
pub(super) fn edge_has_conflict<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    (source, target): (VertexId, VertexId),
    snapshot: u64,
) -> bool {
    let seen_from = snapshot + u64::from(planted(Fault::EdgeConflictLate));
    edge_changed_after(locked, seen_from, source, target) && !planted(Fault::EdgeConflictUnseen)
}

/// Whether somebody changed the edge after `version`.
#[expect(clippy::inline_always, reason = "on the way of every commit of an edge")]
#[inline(always)]
pub(super) fn edge_changed_after<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    version: u64,
    source: VertexId,
    target: VertexId,
) -> bool {
    let local = local_of(source);
    for state in states_after(locked, version) {
        if state.changed_after(version, local, target) {
            return true;
        }
        let of_hub = state.hub(local).map(|hub| hub.changed_after(version, target));
        if let Some(Some(changed)) = of_hub {
            return changed;
        }
    }
    false
}
