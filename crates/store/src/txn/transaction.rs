//! A transaction, as the user holds it.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::RangeBounds;

use evergraph_graph::{Key, KeyRef, VertexId};
use hashbrown::HashMap;

use super::overlay::Overlay;
use super::read_set::{ReadList, ReadSet};
use super::refusal::refuse;
use super::text_bytes;
use super::write_set::{Action, Operation, WriteSet};
use crate::database::Inner;
use crate::engine::fat_tree::{Changes, Directed, Read, Reads, Refusal, Side};
use crate::epoch::{LeaseSlot, Leases};
use crate::error::{CommitError, Error};
use crate::fault::{Fault, planted};
use crate::log::record::Record;
use crate::options::{Isolation, SelfLoops};
use crate::{Result, Version};

/// Changes that become visible together, or not at all.
///
/// A transaction reads the database as it was when it began, with its own changes applied. If
/// another transaction changed the same vertex or edge and committed first,
/// [`Transaction::commit`] answers [`Error::Conflict`]; under [`Isolation::Serializable`] also if
/// another changed what this one has read.
///
/// Changes are buffered. A call refuses at once what can never be right (a key that nobody ever
/// added, a loop where they are forbidden); whether the rest fits the database is checked by the
/// commit, in the order of the calls. Dropping a transaction rolls it back.
pub struct Transaction<'db> {
    db: &'db Inner,
    lease: LeaseSlot,
    snapshot: u64,
    writes: WriteSet,
    /// Calls of changing methods so far.
    calls: u32,
    isolation: Isolation,
    committed: bool,
    /// Bytes that are in the account for this transaction.
    counted: Cell<usize>,
    /// What most transactions never need, out of their way.
    aside: OnceCell<Box<Aside>>,
}

/// Whether each commit does the work of the service as well.
const SERVICE_AT_COMMIT: bool = cfg!(torture);

/// What a transaction keeps that does more than change edges. Made when it is first needed.
#[derive(Default)]
struct Aside {
    /// Keys this transaction is to add, reserved until it ends.
    added: HashMap<VertexId, Key>,
    /// Bytes of the texts of these keys.
    texts: usize,
    overlay: RefCell<Option<Overlay>>,
    /// How far readers of the log are, if this transaction says so.
    positions: Vec<(Box<str>, Version)>,
    /// Made by the first read, if what was read matters.
    reads: RefCell<Option<ReadSet>>,
}

impl Aside {
    fn bytes(&self) -> usize {
        let overlay = self.overlay.borrow().as_ref().map_or(0, Overlay::bytes);
        let reads = self.reads.borrow().as_ref().map_or(0, ReadSet::bytes);
        size_of::<Self>() + self.added.allocation_size() + self.texts + overlay + reads
    }
}

/// While it lives, the transaction does not expire.
struct InUse<'db> {
    leases: &'db Leases,
    lease: LeaseSlot,
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.leases.leave(self.lease);
    }
}

impl<'db> Transaction<'db> {
    #[inline]
    pub(crate) fn new(
        db: &'db Inner,
        (lease, snapshot): (LeaseSlot, u64),
        isolation: Isolation,
    ) -> Self {
        Self {
            db,
            lease,
            snapshot,
            writes: WriteSet::default(),
            calls: 0,
            isolation,
            committed: false,
            counted: Cell::new(0),
            aside: OnceCell::new(),
        }
    }

    /// The version the transaction reads.
    pub fn snapshot_version(&self) -> Version {
        Version(self.snapshot)
    }

    /// What other transactions may do to this one.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// How many changes are buffered.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether nothing is buffered.
    pub fn is_empty(&self) -> bool {
        self.writes.len() == 0
    }

    /// Counts a call and makes sure that it can be buffered.
    #[inline]
    fn call(&mut self) -> Result<u32> {
        let call = self.calls;
        self.calls += 1;
        self.check_room(1)?;
        Ok(call)
    }

    /// Makes sure that so many more operations can be buffered.
    #[inline]
    fn check_room(&self, operations: usize) -> Result<()> {
        let max = self.db.options.max_transaction;
        if self.writes.len() + operations > max {
            return Err(Error::TransactionTooLarge { max });
        }
        Ok(())
    }

    /// Whether the transaction may expire.
    #[inline]
    fn ages(&self) -> bool {
        self.db.options.max_transaction_age.is_some()
    }

    /// Keeps the transaction from expiring during a call, if it could.
    #[inline]
    fn enter(&self) -> Result<Option<InUse<'db>>> {
        if !self.ages() {
            return Ok(None);
        }
        self.start_use()?;
        Ok(Some(InUse { leases: &self.db.versions.leases, lease: self.lease }))
    }

    #[cold]
    fn start_use(&self) -> Result<()> {
        if self.db.versions.leases.enter(self.lease) {
            return Ok(());
        }
        Err(Error::TransactionExpired { version: Version(self.snapshot) })
    }

    /// Buffers an operation.
    #[inline]
    fn push(&mut self, operation: Operation) {
        let grows = self.writes.is_full();
        self.writes.push(operation);
        if grows {
            self.count();
        }
    }

    /// Makes sure that there is memory for one more operation.
    #[inline]
    fn check_memory(&self) -> Result<()> {
        if self.db.options.memory_limit.is_none() || !self.writes.is_full() {
            return Ok(());
        }
        // The buffer becomes twice as large.
        let excess = self.db.excess(self.writes.bytes() as u64);
        excess.map_or(Ok(()), |(limit, used)| Err(Error::MemoryLimit { limit, used }))
    }

    /// Counts the memory that the transaction takes now, within a use.
    #[cold]
    fn count(&self) {
        let now = self.writes.bytes() + self.aside.get().map_or(0, |aside| aside.bytes());
        let before = self.counted.replace(now);
        let account = &self.db.versions.account;
        match now.checked_sub(before) {
            Some(0) => {}
            Some(more) => account.add(more),
            None => account.sub(before - now),
        }
        if self.ages() {
            self.db.versions.leases.count(self.lease, now);
        }
    }

    #[inline]
    fn aside(&self) -> &Aside {
        self.aside.get_or_init(Box::default)
    }

    fn aside_mut(&mut self) -> &mut Aside {
        self.aside();
        self.aside.get_mut().expect("it was just made")
    }

    /// Adds a vertex.
    pub fn add_vertex<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<()> {
        let _use = self.enter()?;
        let call = self.call()?;
        let key = key.into();
        let source = self.db.reserve(key)?;
        let aside = self.aside_mut();
        if aside.added.insert(source, key.to_owned()).is_some() {
            self.db.dictionary.unreserve(key);
        } else {
            aside.texts += text_bytes(key);
        }
        self.push(Operation { action: Action::AddVertex, source, target: source, call });
        self.count();
        Ok(())
    }

    /// Removes a vertex and all its edges.
    pub fn remove_vertex<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<()> {
        let _use = self.enter()?;
        let call = self.call()?;
        let v = self.known_id(key.into())?;
        let out = self.list(Side::Out, v).into_iter().map(|(target, _)| (v, target));
        let mut edges: Vec<(VertexId, VertexId)> = out.collect();
        if self.db.engine.is_directed() {
            let others = self.list(Side::In, v).into_iter().filter(|&(u, _)| u != v);
            edges.extend(others.map(|(source, _)| (source, v)));
        }
        self.check_room(edges.len() + 1)?;
        for (source, target) in edges {
            self.push(Operation { action: Action::RemoveEdge, source, target, call });
        }
        let action = Action::RemoveVertex;
        self.push(Operation { action, source: v, target: v, call });
        Ok(())
    }

    /// Adds an edge, of weight 1 where edges carry one.
    #[inline]
    pub fn add_edge<'k>(
        &mut self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<()> {
        self.change_edge(source.into(), target.into(), Action::AddEdge(1.0))
    }

    /// Adds an edge with a weight.
    #[inline]
    pub fn add_weighted_edge<'k>(
        &mut self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
        weight: f64,
    ) -> Result<()> {
        let (source, target) = (source.into(), target.into());
        self.db.check_weight(source, target, weight)?;
        self.change_edge(source, target, Action::AddEdge(weight))
    }

    /// Gives an edge another weight.
    #[inline]
    pub fn set_weight<'k>(
        &mut self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
        weight: f64,
    ) -> Result<()> {
        let (source, target) = (source.into(), target.into());
        self.db.check_weight(source, target, weight)?;
        self.change_edge(source, target, Action::SetWeight(weight))
    }

    /// Removes an edge.
    #[inline]
    pub fn remove_edge<'k>(
        &mut self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<()> {
        self.change_edge(source.into(), target.into(), Action::RemoveEdge)
    }

    #[inline]
    fn change_edge(
        &mut self,
        source: KeyRef<'_>,
        target: KeyRef<'_>,
        action: Action,
    ) -> Result<()> {
        let _use = self.enter()?;
        let call = self.call()?;
        let (source_id, target_id) = (self.given_id(source)?, self.given_id(target)?);
        let adds = matches!(action, Action::AddEdge(_));
        if adds && source_id == target_id && self.db.options.self_loops == SelfLoops::Forbidden {
            return Err(Error::SelfLoop { key: source.to_owned() });
        }
        if action != Action::RemoveEdge {
            self.check_memory()?;
        }
        self.push(Operation { action, source: source_id, target: target_id, call });
        Ok(())
    }

    /// Notes how far the reader of that name is, [`crate::Follower::position`]: together with what this
    /// transaction changes, or not at all. [`Database::position`](crate::Database::position) tells.
    pub fn set_position(&mut self, name: &str, version: Version) {
        // Whoever has expired hears of it from the commit.
        let Ok(_use) = self.enter() else { return };
        let positions = &mut self.aside_mut().positions;
        positions.retain(|(other, _)| **other != *name);
        positions.push((name.into(), version));
    }

    /// Whether a vertex exists.
    pub fn has_vertex<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<bool> {
        let _use = self.enter()?;
        let found = self.find(key.into())?;
        if let Some(v) = found {
            self.note(|reads| reads.find(Read::Vertex(v)));
        }
        Ok(found.is_some())
    }

    /// Whether an edge exists. Unknown ends are an error.
    pub fn has_edge<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<bool> {
        Ok(self.weight(source, target)?.is_some())
    }

    /// The weight of an edge, if it exists; 1 if edges carry none.
    pub fn weight<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<Option<f64>> {
        let _use = self.enter()?;
        let (source, target) = (self.known_id(source.into())?, self.known_id(target.into())?);
        if let Some(own) = self.overlaid(|overlay| overlay.edge(source, target)).flatten() {
            return Ok(own);
        }
        let weight = self.db.engine.edge(source, target, self.snapshot);
        self.note(|reads| {
            reads.find(Read::Edge(source, target));
            if weight.is_none() && !planted(Fault::AbsentEdgeEndsNotNoted) {
                // An edge says that its ends exist; that there is none does not.
                reads.find(Read::Vertex(source));
                reads.find(Read::Vertex(target));
            }
        });
        Ok(weight)
    }

    /// How many neighbours a vertex has (out-neighbours if edges have a direction).
    pub fn degree<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<u32> {
        self.degree_on(Side::Out, key.into())
    }

    /// How many in-neighbours a vertex has.
    pub fn in_degree<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<u32> {
        self.degree_on(Side::In, key.into())
    }

    fn degree_on(&self, side: Side, key: KeyRef<'_>) -> Result<u32> {
        let _use = self.enter()?;
        let v = self.known_id(key)?;
        if !planted(Fault::DegreeNotNoted) {
            self.note(|reads| reads.find(Read::List(side, v)));
        }
        if self.is_empty() {
            return Ok(self.db.engine.degree(side, v, self.snapshot));
        }
        Ok(self.list(side, v).len() as u32)
    }

    /// The neighbours of a vertex with the weights of the edges, in id order.
    pub fn neighbours<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Vec<(Key, f64)>> {
        self.neighbours_on(Side::Out, key.into())
    }

    /// The in-neighbours of a vertex with the weights of the edges, in id order.
    pub fn in_neighbours<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Vec<(Key, f64)>> {
        self.neighbours_on(Side::In, key.into())
    }

    fn neighbours_on(&self, side: Side, key: KeyRef<'_>) -> Result<Vec<(Key, f64)>> {
        let _use = self.enter()?;
        let v = self.known_id(key)?;
        self.note(|reads| reads.find(Read::List(side, v)));
        let list = self.list(side, v);
        Ok(list.into_iter().map(|(id, weight)| (self.db.key_of(id), weight)).collect())
    }

    /// The keys of all vertices, in id order.
    pub fn vertices(&self) -> Result<Vec<Key>> {
        let _use = self.enter()?;
        Ok(self.vertex_ids().into_iter().map(|v| self.db.key_of(v)).collect())
    }

    /// How many vertices there are. It looks at every group of vertices.
    pub fn vertex_count(&self) -> Result<u64> {
        let _use = self.enter()?;
        Ok(self.vertex_ids().len() as u64)
    }

    /// The keys of the vertices in a range of keys, ascending. It looks at every vertex, as
    /// [`Transaction::vertices`] does; but for a serializable transaction only vertices with such
    /// keys are conflicts, if they come or go.
    ///
    /// ```
    /// # use evergraph_store::{Database, Isolation};
    /// # use evergraph_graph::Key;
    /// let db = Database::options().isolation(Isolation::Serializable).in_memory();
    /// db.transaction(0, |tx| [3u64, 14, 15].into_iter().try_for_each(|v| tx.add_vertex(v)))?;
    /// let mut tx = db.begin()?;
    /// assert_eq!(tx.vertices_in(10u64..15)?, [Key::Number(14)]);
    /// tx.add_vertex(12u64)?;
    /// db.transaction(0, |tx| tx.add_vertex(20u64))?; // is no conflict
    /// tx.commit()?;
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    pub fn vertices_in<'k, K: Into<KeyRef<'k>> + Copy>(
        &self,
        range: impl RangeBounds<K>,
    ) -> Result<Vec<Key>> {
        let _use = self.enter()?;
        let range = self.db.range(&range)?;
        let keys = self.db.keys_in(&range, self.ids());
        if !planted(Fault::RangesNotNoted) {
            self.note(|reads| reads.find_range(range));
        }
        Ok(keys)
    }

    /// How many edges there are, each counted once. It looks at every group of vertices. For a
    /// serializable transaction it is a conflict if there are more or fewer when it commits.
    pub fn edge_count(&self) -> Result<u64> {
        let _use = self.enter()?;
        let db = self.db;
        let count = db.engine.edge_count_at(db.dictionary.bound(), self.snapshot);
        if !planted(Fault::EdgeCountNotNoted) {
            self.note(|reads| reads.find_edges(count));
        }
        let is_there = |u, v| db.engine.edge(u, v, self.snapshot).is_some();
        let added = self.overlaid(|overlay| overlay.edges_added(is_there)).unwrap_or(0);
        Ok(count.wrapping_add_signed(added))
    }

    fn vertex_ids(&self) -> Vec<VertexId> {
        if !planted(Fault::SetNotNoted) {
            self.note(ReadSet::find_vertices);
        }
        self.ids()
    }

    /// The vertices, ascending.
    fn ids(&self) -> Vec<VertexId> {
        let db = self.db;
        let mut ids = Some(db.engine.vertices(db.dictionary.bound(), self.snapshot));
        let mut take = || ids.take().unwrap_or_default();
        self.overlaid(|overlay| overlay.apply_to_vertices(take())).unwrap_or_else(take)
    }

    /// Notes what was read, if that matters.
    #[inline]
    fn note(&self, note: impl FnOnce(&mut ReadSet)) {
        if self.isolation == Isolation::Serializable {
            note(self.aside().reads.borrow_mut().get_or_insert_default());
            self.count();
        }
    }

    /// The id of a key that was added at some time.
    #[inline]
    fn given_id(&self, key: KeyRef<'_>) -> Result<VertexId> {
        match self.db.id(key)? {
            Some(id) => Ok(id),
            None => Err(self.unknown(key)),
        }
    }

    /// The error about a key that nobody ever added. That is an answer, too.
    #[cold]
    fn unknown(&self, key: KeyRef<'_>) -> Error {
        if !planted(Fault::AbsentChangeNotNoted) {
            self.note(|reads| reads.miss(key));
        }
        Error::UnknownVertex { key: key.to_owned() }
    }

    /// The id of a vertex that exists for this transaction.
    fn known_id(&self, key: KeyRef<'_>) -> Result<VertexId> {
        self.find(key)?.ok_or_else(|| Error::UnknownVertex { key: key.to_owned() })
    }

    /// The id of a vertex, if it exists for this transaction.
    fn find(&self, key: KeyRef<'_>) -> Result<Option<VertexId>> {
        let id = self.db.id(key)?;
        if let Some(v) = id
            && let Some(own) = self.overlaid(|overlay| overlay.vertex(v)).flatten()
        {
            return Ok(own.then_some(v));
        }
        let live = id.filter(|&v| self.db.engine.has_vertex(v, self.snapshot));
        if live.is_none() && !planted(Fault::AbsentReadNotNoted) {
            self.note(|reads| reads.miss(key));
        }
        Ok(live)
    }

    fn list(&self, side: Side, v: VertexId) -> Vec<(VertexId, f64)> {
        let list = self.db.engine.list(side, v, self.snapshot);
        if self.is_empty() || planted(Fault::OwnListsHidden) {
            return list;
        }
        let mut list = Some(list);
        let mut take = || list.take().unwrap_or_default();
        self.overlaid(|overlay| overlay.apply(side, v, take())).unwrap_or_else(take)
    }

    /// What the overlay says; `None` if nothing was written.
    fn overlaid<R>(&self, ask: impl FnOnce(&Overlay) -> R) -> Option<R> {
        if self.is_empty() {
            return None;
        }
        let directed = if self.db.engine.is_directed() { Directed::Yes } else { Directed::No };
        let (aside, operations) = (self.aside(), self.writes.operations());
        let is_new = !aside.overlay.borrow().as_ref().is_some_and(|o| o.has(operations));
        if is_new {
            let mut overlay = aside.overlay.borrow_mut();
            overlay.get_or_insert_with(|| Overlay::new(directed)).update(operations);
            drop(overlay);
            self.count();
        }
        aside.overlay.borrow().as_ref().map(ask)
    }

    /// Makes the changes, all at one version, which every snapshot opened afterwards shows; or
    /// none of them. A transaction without changes answers the version it read.
    pub fn commit(self) -> Result<Version, CommitError> {
        if self.ages() {
            return self.commit_aging();
        }
        self.commit_now()
    }

    /// Commits unless the transaction has expired.
    #[cold]
    fn commit_aging(self) -> Result<Version, CommitError> {
        let expired = |error| CommitError { operation: None, error };
        self.start_use().map_err(expired)?;
        // The use ends with the lease.
        self.commit_now()
    }

    #[inline]
    fn commit_now(mut self) -> Result<Version, CommitError> {
        if self.is_empty() && self.aside.get().is_none_or(|aside| aside.positions.is_empty()) {
            return Ok(Version(self.snapshot));
        }
        if self.isolation == Isolation::Serializable
            && let Some(reads) = self.take_reads()
        {
            return self.commit_as_read(&reads);
        }
        self.commit_with(None).map_err(|refusal| refuse(self.db, refusal, None))
    }

    /// What was read, if anything was.
    #[cold]
    fn take_reads(&mut self) -> Option<ReadList> {
        let reads = self.aside.get_mut()?.reads.get_mut().take();
        reads.map(ReadSet::into_list)
    }

    /// Commits if what was read did not change.
    #[cold]
    fn commit_as_read(&mut self, reads: &ReadList) -> Result<Version, CommitError> {
        let db = self.db;
        let committed = reads.with(&db.dictionary, |reads| self.commit_with(Some(reads)));
        committed.map_err(|refusal| refuse(db, refusal, Some(reads)))
    }

    /// Commits what the changes come to.
    #[inline]
    fn commit_with(&mut self, reads: Option<&Reads<'_>>) -> Result<Version, Refusal> {
        let folded = self.writes.fold(|| !self.db.engine.is_directed())?;
        let mut record = Record::new();
        let positions = self.aside.get().map_or(&[][..], |aside| &aside.positions);
        let (vertices, edges) = (&folded.vertices[..], &folded.edges[..]);
        let mut changes = Changes { vertices, edges, positions, record: &[] };
        self.db.admit(changes)?;
        self.db.record(changes, &mut record).map_err(Refusal::Log)?;
        changes.record = &record;
        let committed = self.db.engine.commit(changes, reads, self.snapshot);
        if planted(Fault::RefusalLeavesEdge) && committed.is_err() {
            let edges = &folded.edges[..folded.edges.len().min(1)];
            _ = self.db.engine.commit(Changes { edges, ..Changes::default() }, None, self.snapshot);
        }
        let version = committed?;
        self.committed = true;
        if SERVICE_AT_COMMIT {
            self.db.service_round(|| true);
        }
        let gone = folded.vertices.iter().filter(|change| !change.present);
        self.db.retire_ids(gone.map(|change| change.vertex), version);
        Ok(Version(version))
    }

    /// Takes the reservations back; keys that are not added after all may go.
    fn give_back(&self, added: &HashMap<VertexId, Key>) {
        for key in added.values().filter(|_| self.committed || !planted(Fault::ReservationLeft)) {
            self.db.dictionary.unreserve(key.as_ref());
        }
        if !self.committed {
            self.db.retire_ids(added.keys().copied(), 0);
        }
    }

    /// Ends the lease. False if it has expired: then what was counted is off the account.
    #[inline]
    fn end_lease(&self) -> bool {
        let leases = &self.db.versions.leases;
        if self.ages() {
            return leases.close_unless_expired(self.lease);
        }
        leases.close(self.lease);
        true
    }

    /// Drops the changes. The same as dropping the transaction, in words.
    pub fn rollback(self) {
        drop(self);
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.end_lease() && self.counted.get() > 0 && !planted(Fault::BuffersForgotten) {
            self.db.versions.account.sub(self.counted.get());
        }
        if let Some(aside) = self.aside.get() {
            self.give_back(&aside.added);
        }
    }
}
