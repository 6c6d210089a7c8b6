//! What a commit of many rows does before it latches all its groups at once: while it has them all,
//! every other writer waits.
//!
//! # Steps
//!   1. Group by group, under its latch alone: the edges and their ends are checked, and room is
//!      made for the rows.
//!   2. Under all latches: a group is as it was found but for the rows that came since. None of
//!      them may be about an edge or a vertex that this commit relies on: it would be a conflict.
//! # Invariants
//!   - P1 What was in order is in order under all latches if no later row is about it. All rows
//!     that came since are later than the newest one of then, and later than the snapshot: what
//!     that holds was in place before it was opened.
//!   - P2 Making room changes no state at any version (M1, M3 of `merge.rs`), so a refused commit
//!     leaves nothing behind.
//! # Checked by
//!   tests/model.rs and tests/concurrent.rs with tiny sizes; loom: `models::loom_ahead_*`.

use evergraph_graph::Weight;

use super::FatTree;
use super::absorb::newest;
use super::base::{Base, GROUP_BITS, Kind, VERTEX};
use super::write::{Entry, Groups, by_group, edge_has_conflict, edge_now, states_after};
use crate::fault::{Fault, planted};
use crate::raw::Locked;

/// What was found in a group.
pub(super) struct Ahead {
    in_order: bool,
    /// The version of the last change.
    newest: u64,
}

impl<W: Weight> FatTree<W> {
    /// Step 1, for the groups of sorted rows; `None` if the rows are few.
    #[inline]
    pub(super) fn look_ahead(&self, entries: &[Entry<W>], snapshot: u64) -> Option<Vec<Ahead>> {
        if entries.len() < self.tuning.ahead_min {
            return None;
        }
        let look = |of_group: &[Entry<W>]| {
            let locked = &mut self.slot(of_group[0].address).chain.lock();
            let in_order = self.is_in_order(locked, of_group, snapshot);
            let ahead = Ahead { in_order, newest: newest(locked) };
            self.make_room_for(locked, of_group);
            ahead
        };
        Some(by_group(entries).map(look).collect())
    }

    /// Step 2: whether all edges can be changed as they are to be.
    pub(super) fn is_still_in_order(
        &self,
        groups: &Groups<'_, W>,
        entries: &[Entry<W>],
        ahead: &[Ahead],
        snapshot: u64,
    ) -> bool {
        let mut locked = groups.addresses.iter().zip(&groups.locked);
        by_group(entries).zip(ahead).all(|(of_group, ahead)| {
            let address = of_group[0].address;
            let found = locked.find(|&(&other, _)| other == address);
            let (_, locked) = found.expect("every group that is touched was locked");
            let version = ahead.newest.max(snapshot);
            ahead.in_order
                && (is_kept(locked, of_group, version) || planted(Fault::AheadNotRenewed))
                && self.hubs_are_in_order(locked, of_group, (version, snapshot))
        })
    }

    /// Looks again at those rows that are about hubs that were changed after `version`. A hub that
    /// came back into its group since then is found in an older state.
    fn hubs_are_in_order(
        &self,
        locked: &Locked<'_, Base<W>>,
        of_group: &[Entry<W>],
        (version, snapshot): (u64, u64),
    ) -> bool {
        let hubs = states_after(locked, version).flat_map(Base::hubs);
        let changed = hubs.filter(|(_, hub)| hub.newest() > version);
        let changed = changed.fold(0u64, |mask, (local, _)| mask | 1 << local);
        let of_lists = of_group.chunk_by(|a, b| a.op.local == b.op.local);
        changed == 0
            || of_lists
                .filter(|list| changed >> list[0].op.local & 1 == 1)
                .all(|list| self.is_in_order(locked, list, snapshot))
    }

    /// Whether the edges and owners of some rows of one group are as they have to be.
    fn is_in_order(
        &self,
        locked: &Locked<'_, Base<W>>,
        of_group: &[Entry<W>],
        snapshot: u64,
    ) -> bool {
        let mut owner_found = None;
        of_group.iter().filter(|entry| entry.op.id != VERTEX).all(|entry| {
            let (local, id) = (entry.op.local, entry.op.id);
            let owner = entry.address.group << GROUP_BITS | u32::from(local);
            if entry.checks.owner && owner_found != Some(owner) {
                if self.check_end(locked, owner, 0, snapshot).is_err() {
                    return false;
                }
                owner_found = Some(owner);
            }
            let expected = entry.op.kind != Kind::Add;
            let is_as_expected = || {
                let twice_passes = planted(Fault::EdgeTwice) && !expected;
                twice_passes || edge_now(locked, owner, id).is_some() == expected
            };
            !entry.checks.edge
                || !edge_has_conflict(locked, (owner, id), snapshot) && is_as_expected()
        })
    }
}

/// Whether no row after `version` is about what sorted rows of one group rely on; segments of hubs
/// aside.
fn is_kept<W: Weight>(locked: &Locked<'_, Base<W>>, of_group: &[Entry<W>], version: u64) -> bool {
    let is_relied_on = |(local, id): (u8, u32)| {
        if id == VERTEX {
            return of_group.iter().any(|entry| entry.op.local == local && entry.checks.owner);
        }
        let place = of_group.binary_search_by_key(&(local, id), |e| (e.op.local, e.op.id));
        place.is_ok_and(|at| of_group[at].checks.edge)
    };
    states_after(locked, version).all(|state| !state.rows_after(version).any(is_relied_on))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::super::{Changes, Directed, EdgeChange, Effect, Ends, Tuning, VertexChange};
    use super::*;
    use crate::epoch::{LeaseKind, Versions};

    type Tree = FatTree<()>;

    fn change(target: u32, effect: Effect) -> EdgeChange {
        let expected = effect == Effect::Remove;
        let needs = Ends { source: true, target: true };
        EdgeChange { source: 0, target, expected, effect, needs, operation: 0 }
    }

    /// Commits a change of the edge from 0.
    fn commit(tree: &Tree, target: u32, effect: Effect) {
        let snapshot = tree.versions.clock.visible();
        let edges = [change(target, effect)];
        let changes = Changes { edges: &edges, ..Changes::default() };
        tree.commit(changes, None, snapshot).expect("nobody is in the way");
    }

    /// Whether new edges from 0 are still in order after something happened to a graph in which 0
    /// has edges to `1..=edges`.
    fn in_order_after(edges: u32, happens: impl Fn(&Tree)) -> bool {
        let tree = Tree::new(Arc::new(Versions::new(0)), Directed::Yes, 64, Tuning::tiny());
        (1..=edges).for_each(|target| commit(&tree, target, Effect::Add(1.0)));
        let Versions { clock, leases, .. } = &*tree.versions;
        let (slot, snapshot) = leases.open(clock, LeaseKind::Writer).expect("few are open");
        let edges = [60, 61, 62].map(|target| change(target, Effect::Add(1.0)));
        let changes = Changes { edges: &edges, ..Changes::default() };
        let entries = tree.entries(&[], &edges);
        let ahead = tree.look_ahead(&entries, snapshot).expect("they are many for tiny sizes");
        happens(&tree);
        let groups = tree.lock((changes, &entries), None);
        let in_order = tree.is_still_in_order(&groups, &entries, &ahead, snapshot);
        drop(groups);
        leases.close(slot);
        in_order
    }

    #[test]
    fn only_changes_of_the_same_edges_and_ends_matter() {
        // In the group, and in a hub.
        for edges in [2, 40] {
            assert!(in_order_after(edges, |_| {}));
            assert!(in_order_after(edges, |tree| commit(tree, 50, Effect::Add(1.0))));
            assert!(!in_order_after(edges, |tree| commit(tree, 61, Effect::Add(1.0))));
            let comes_and_goes = |tree: &Tree| {
                commit(tree, 61, Effect::Add(1.0));
                commit(tree, 61, Effect::Remove);
            };
            assert!(!in_order_after(edges, comes_and_goes));
        }
    }

    #[test]
    fn a_hub_that_came_back_is_looked_at_too() {
        let shrinks = |target| {
            move |tree: &Tree| {
                commit(tree, target, Effect::Add(1.0));
                (1..=40).for_each(|target| commit(tree, target, Effect::Remove));
                // The next change finds it small.
                commit(tree, 51, Effect::Add(1.0));
            }
        };
        assert!(in_order_after(40, shrinks(50)));
        assert!(!in_order_after(40, shrinks(61)));
    }

    #[test]
    fn an_end_that_went_matters() {
        let goes = |vertex| {
            move |tree: &Tree| {
                let (expected, present, operation) = (true, false, 0);
                let gone = VertexChange { vertex, expected, present, removed: true, operation };
                let changes = Changes { vertices: &[gone], ..Changes::default() };
                let snapshot = tree.versions.clock.visible();
                tree.commit(changes, None, snapshot).expect("nobody is in the way");
            }
        };
        assert!(in_order_after(2, goes(50)));
        assert!(!in_order_after(2, goes(61)));
    }
}
