//! Whether what a serializable transaction read still holds when it commits.
//!
//! # Steps
//!   Between step 2 and step 4 of `write.rs`, with the groups that were read latched beside those
//!   that are written:
//!   1. A group that nobody changed since the snapshot tells nothing new: one comparison.
//!   2. Else the rows about the very edge, list or vertex decide.
//!   3. Who read the set of vertices, a part of it, or found a key absent, keeps the set as it is
//!      (`vertex_set.rs`) and looks again.
//!   4. Who read how many edges there are takes its version only while nobody else has taken one
//!      that is not visible yet, and the count is the same.
//! # Invariants
//!   - SV1 From its validation until its rows are in place, no other commit appends a row to a
//!     group that the transaction read: whatever changes it later has a later version.
//! # Checked by
//!   loom: `models::loom_validation_*`; tests/isolation.rs. The proof is in
//!   `docs/design/isolation.md`.

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, VERTEX, group_of, local_of};
use super::layout::newest_with_hubs;
use super::vertex_set::Role;
use super::write::{Groups, Refusal, edge_changed_after, states_after};
use super::{Address, FatTree, Side};
use crate::epoch::Ticket;
use crate::fault::{Fault, planted};
use crate::raw::Locked;
use crate::sync::Ordering;

/// Something that a transaction found in its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Read {
    /// That a vertex exists.
    Vertex(VertexId),
    /// An edge with its weight, or that there is none.
    Edge(VertexId, VertexId),
    /// The neighbours of a vertex, or how many there are.
    List(Side, VertexId),
}

/// All that a transaction found in its snapshot.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reads<'a> {
    pub(crate) found: &'a [Read],
    /// Whether it read which vertices there are.
    pub(crate) vertices: bool,
    /// Says which of the keys that were absent have an id now: their numbers, and the ids. None
    /// if it found no key absent.
    pub(crate) absent: Option<&'a dyn Fn() -> Vec<(usize, VertexId)>>,
    /// Says whether the key of a vertex lies in a range that was read. None if it read none.
    pub(crate) in_range: Option<&'a dyn Fn(VertexId) -> bool>,
    /// How many edges there were, if it read that.
    pub(crate) edges: Option<u64>,
}

/// What was read and does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stale {
    /// Something found in the snapshot was changed.
    Found(Read),
    /// A key is there that was absent; its number.
    Key(usize),
    /// There are other vertices now.
    Vertices,
    /// There are more edges or fewer now.
    Edges,
}

impl Reads<'_> {
    /// What a commit with these reads has to do with the set of vertices.
    fn role(&self) -> Role {
        let relies = self.vertices || self.absent.is_some() || self.in_range.is_some();
        if relies { Role::Relying } else { Role::Outside }
    }
}

/// What a commit has to do with the set of vertices.
#[inline]
pub(super) fn role(reads: Option<&Reads<'_>>, changes_vertices: bool) -> Role {
    match reads.map_or(Role::Outside, Reads::role) {
        Role::Outside if changes_vertices && !planted(Fault::SetNotEntered) => Role::Changing,
        role => role,
    }
}

impl<W: Weight> FatTree<W> {
    /// The group that knows about something that was read.
    pub(super) fn address_of_read(&self, read: Read) -> Address {
        let (side, v) = match read {
            Read::Vertex(v) | Read::Edge(v, _) | Read::List(Side::Out, v) => (Side::Out, v),
            Read::List(Side::In, v) => (self.target_side(), v),
        };
        Address { side, group: group_of(v) }
    }

    /// Steps 1 and 2.
    #[cold]
    pub(super) fn validate(
        &self,
        groups: &Groups<'_, W>,
        found: &[Read],
        snapshot: u64,
    ) -> Result<(), Refusal> {
        let mut held = 0;
        for &read in found {
            let locked = groups.get(self.address_of_read(read));
            let group_is_as_it_was =
                locked.head().is_none_or(|head| newest_for(head.value) <= snapshot);
            if group_is_as_it_was {
                continue;
            }
            if planted(Fault::AnyChangeRefuses) || changed_after(locked, read, snapshot) {
                return Err(Refusal::Stale(Stale::Found(read)));
            }
            held += 1;
        }
        if held > 0 {
            self.counts.conflicts_avoided.fetch_add(held, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Step 3. The caller relies on the set of vertices ([`Role::Relying`]) if it has to.
    #[cold]
    pub(super) fn validate_vertices(
        &self,
        reads: &Reads<'_>,
        snapshot: u64,
    ) -> Result<(), Refusal> {
        let changed = reads.vertices && self.vertex_set.changed_after(snapshot);
        if changed && !planted(Fault::SetNotValidated) {
            return Err(Refusal::Stale(Stale::Vertices));
        }
        if let Some(in_range) = reads.in_range
            && self.vertex_set.any_changed_after(snapshot, in_range)
            && !planted(Fault::RangesNotValidated)
        {
            return Err(Refusal::Stale(Stale::Vertices));
        }
        let absent = reads.absent.filter(|_| !planted(Fault::AbsentNotValidated));
        let Some(absent) = absent else { return Ok(()) };
        // At no version in particular: what is in place now is all that comes before this commit.
        let is_there = |&(_, v): &(usize, VertexId)| self.has_vertex(v, u64::MAX);
        match absent().into_iter().find(is_there) {
            Some((key, _)) => Err(Refusal::Stale(Stale::Key(key))),
            None => Ok(()),
        }
    }
}

/// The version of the last change to a group.
fn newest_for<W: Weight>(base: &Base<W>) -> u64 {
    if planted(Fault::HubsOverlooked) { base.newest() } else { newest_with_hubs(base) }
}

/// Tries to take a version at a moment when nobody else is in the middle of a commit.
const TAKE_TRIES: usize = 64;

impl<W: Weight> FatTree<W> {
    /// Step 4, and 4 of `write.rs`: takes a version.
    #[inline]
    pub(super) fn take(
        &self,
        reads: Option<&Reads<'_>>,
        record: &[u8],
    ) -> Result<Ticket<'_>, Refusal> {
        match reads.and_then(|reads| reads.edges) {
            Some(edges) if !planted(Fault::EdgeCountNotValidated) => self.take_at(edges, record),
            _ => self.versions.take(record).map_err(Refusal::Log),
        }
    }

    /// Takes a version before which there are so many edges.
    #[cold]
    fn take_at(&self, edges: u64, record: &[u8]) -> Result<Ticket<'_>, Refusal> {
        for _ in 0..TAKE_TRIES {
            // Every commit up to `last` has counted; one that comes later takes a version first.
            // Those commits need no latch any more, so waiting for them with latches held is safe.
            let last = self.versions.settled().map_err(Refusal::Log)?;
            if self.edge_count() != edges {
                break;
            }
            if planted(Fault::EdgeCountRaced) {
                return self.versions.take(record).map_err(Refusal::Log);
            }
            if let Some(ticket) = self.versions.take_after(record, last).map_err(Refusal::Log)? {
                return Ok(ticket);
            }
        }
        Err(Refusal::Stale(Stale::Edges))
    }
}

fn changed_after<W: Weight>(locked: &Locked<'_, Base<W>>, read: Read, version: u64) -> bool {
    match read {
        _ if planted(Fault::ReadsNotValidated) => false,
        Read::Vertex(_) if planted(Fault::VerticesNotValidated) => false,
        Read::List(..) if planted(Fault::ListsNotValidated) => false,
        Read::Vertex(v) => vertex_changed_after(locked, version, v),
        Read::Edge(source, target) => edge_changed_after(locked, version, source, target),
        Read::List(_, v) => list_changed_after(locked, version, v),
    }
}

/// Whether somebody added or removed the vertex after `version`.
#[inline]
pub(super) fn vertex_changed_after<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    version: u64,
    v: VertexId,
) -> bool {
    states_after(locked, version).any(|state| state.changed_after(version, local_of(v), VERTEX))
}

/// Whether somebody changed the vertex or any edge in its list after `version`.
pub(super) fn list_changed_after<W: Weight>(
    locked: &Locked<'_, Base<W>>,
    version: u64,
    v: VertexId,
) -> bool {
    states_after(locked, version).any(|state| {
        let hub = state.hub(local_of(v)).filter(|_| !planted(Fault::HubListsNotValidated));
        state.touched_after(version, local_of(v)) || hub.is_some_and(|hub| hub.newest() > version)
    })
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn whoever_relies_on_the_set_of_vertices_in_any_way_is_alone() {
        let absent: &dyn Fn() -> Vec<(usize, VertexId)> = &Vec::new;
        let in_range: &dyn Fn(VertexId) -> bool = &|_| true;
        let none = Reads::default();
        let each = [
            Reads { vertices: true, ..none },
            Reads { absent: Some(absent), ..none },
            Reads { in_range: Some(in_range), ..none },
        ];
        for reads in &each {
            assert_eq!(role(Some(reads), false), Role::Relying);
            assert_eq!(role(Some(reads), true), Role::Relying);
        }
        assert_eq!((role(Some(&none), false), role(None, false)), (Role::Outside, Role::Outside));
        assert_eq!((role(Some(&none), true), role(None, true)), (Role::Changing, Role::Changing));
    }
}
