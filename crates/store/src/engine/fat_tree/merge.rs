//! Deltas become runs; hubs leave their group, are packed again, and come back.
//!
//! # Invariants
//!   - M1 Only changes up to a version that is visible are folded in, and the retention test of
//!     the old base comes after: so no snapshot that opens later can need the old base.
//!   - M2 Everything here happens before a commit takes its version, or outside of commits.
//!   - M3 A base of a version that folded nothing in replaces its predecessor from the next
//!     version on (`from` of `raw/chain.rs`).
//! # Checked by
//!   tests/model.rs with tiny sizes; `check.rs`.

use std::sync::Arc;

use evergraph_graph::Weight;

use super::base::{Base, GROUP, Op, Runs, STAMP_MAX, put_in_place};
use super::fold::{Folded, fold};
use super::hub::{CutAs, Destination, Hub};
use super::leaf::Shelf;
use super::{Address, FatTree};
use crate::fault::{Fault, planted};
use crate::raw::Locked;

/// Whether what is written is merged first, also where there is room.
const MERGES_ALWAYS: bool = cfg!(torture);

/// The hubs of a group, by local vertex.
type Hubs<W> = Vec<(u8, Arc<Hub<W>>)>;

/// What a merge is to reach.
pub(crate) struct Goal<'l, W> {
    /// Changes up to here go into the runs; visible, or the version of a lease.
    pub(crate) limit: u64,
    /// Rows that must fit behind those that are carried over.
    pub(crate) rows: usize,
    /// Where the runs go.
    pub(crate) shelf: Shelf<'l, W>,
}

impl<W> Goal<'_, W> {
    /// Runs anywhere.
    pub(crate) fn new(limit: u64, rows: usize) -> Self {
        Self { limit, rows, shelf: Shelf::Anywhere }
    }
}

/// A full segment is cut into pieces that are full to two thirds.
const PIECE_SHARE: (usize, usize) = (2, 3);
/// A hub whose segments are full to less than one part in so many is packed again.
const SPARSE_SHARE: u64 = 4;

impl<W: Weight> FatTree<W> {
    /// Gives the delta of a group room for `rows` more rows.
    pub(crate) fn make_room(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        rows: usize,
    ) {
        if locked.head().is_none() {
            let live = self.untouched(address.group).runs.live;
            let base = Base::new(Runs::empty(live), 0, &self.versions.account);
            locked.install((0, 0), base, &*self.versions, &self.versions.pins);
        }
        if MERGES_ALWAYS {
            self.merge_group(address, locked, Goal::new(self.versions.clock.visible(), rows));
        }
        while !self.has_room(locked, rows) {
            let limit = self.versions.clock.visible() + u64::from(planted(Fault::MergeInvisible));
            self.merge_group(address, locked, Goal::new(limit, rows));
        }
        self.queue_pending(address);
    }

    /// Whether the newest base has room, making its delta if it has none.
    fn has_room(&self, locked: &Locked<'_, Base<W>>, rows: usize) -> bool {
        let Some(head) = locked.head() else {
            return false;
        };
        if self.versions.clock.visible() - head.version > 2 * AGE_MAX {
            return false;
        }
        if head.value.room() < rows {
            let usual = self.tuning.delta_rows(head.value.runs.ids.len());
            // An old delta that is full stays full: a new base is needed.
            return head.value.make_delta(usual.max(rows));
        }
        true
    }

    /// Gives the segment of a hub that holds `id` room for `rows` more rows. The caller holds the
    /// latch of the group.
    pub(crate) fn make_segment_room(
        &self,
        address: Address,
        hub: &Hub<W>,
        (id, rows): (u32, usize),
    ) {
        let mut must_merge = MERGES_ALWAYS;
        loop {
            let index = hub.with_segments(|segments| segments.index(id));
            let ready =
                hub.with_segments(|segments| self.has_room(&segments.cells()[index].lock(), rows));
            if ready && !std::mem::replace(&mut must_merge, false) {
                return;
            }
            let goal = Goal::new(self.versions.clock.visible(), rows);
            self.merge_segment(address, hub, index, goal);
        }
    }

    /// Puts a base in place that has every change up to the limit in its runs.
    pub(crate) fn merge_group(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        mut goal: Goal<'_, W>,
    ) {
        let Some(state) = locked.at(goal.limit) else { return };
        let since = state.version;
        let mut folded = fold_fresh(state.value, goal.limit);
        let mut hubs: Hubs<W> =
            state.value.hubs().map(|(local, hub)| (local, Arc::clone(hub))).collect();
        self.return_small_hubs(&mut hubs, &mut folded, &mut goal);
        self.extract_hubs(address, &mut hubs, &mut folded, &mut goal);
        let version = folded.version;
        let from = if version == since { goal.limit + 1 } else { version };
        let base = self.base_of(folded, hubs, goal);
        put_in_place(locked, (version, from), base, &self.versions);
        if locked.has_history() {
            self.queue_history(address);
        }
    }

    /// Puts the runs of a group that has none in place.
    pub(super) fn install_loaded(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        mut folded: Folded<W>,
        mut goal: Goal<'_, W>,
    ) {
        let mut hubs = Hubs::new();
        self.extract_hubs(address, &mut hubs, &mut folded, &mut goal);
        let version = folded.version;
        let base = self.base_of(folded, hubs, goal);
        locked.install((version, version), base, &*self.versions, &self.versions.pins);
    }

    fn base_of(&self, folded: Folded<W>, hubs: Hubs<W>, mut goal: Goal<'_, W>) -> Base<W> {
        let (ids, weights) = goal.shelf.place(folded.ids, folded.weights);
        let runs = Runs {
            ends: folded.ends.map(|end| u16::try_from(end).expect("hubs were extracted")),
            ids,
            weights,
            live: folded.live,
            hubs: hubs.iter().fold(0, |mask, (local, _)| mask | 1 << local),
            hub_list: hubs.into_iter().map(|(_, hub)| hub).collect(),
        };
        let entries = runs.ids.len();
        let account = &self.versions.account;
        let base = Base::marked(runs, folded.version, goal.shelf.mark(), account);
        if !folded.carried.is_empty() {
            base.make_delta(folded.carried.len() + goal.rows.max(self.tuning.delta_rows(entries)));
            for (op, version) in &folded.carried {
                base.append(op, *version);
            }
        }
        base
    }

    /// Takes vertices with long runs out of a group that is too large, the longest first.
    fn extract_hubs(
        &self,
        address: Address,
        hubs: &mut Hubs<W>,
        folded: &mut Folded<W>,
        goal: &mut Goal<'_, W>,
    ) {
        let length = |folded: &Folded<W>, local| folded.span(local).len();
        while folded.ids.len() > self.tuning.group_entries_max {
            let longest = (0..GROUP as u8).max_by_key(|&local| length(folded, local));
            let local = longest.expect("a group has vertices");
            if length(folded, local) < self.tuning.hub_entries_min {
                return;
            }
            let (ids, weights) = folded.cut_out(local);
            let size = (folded.version, self.piece_entries());
            let hub = Arc::new(Hub::new(&ids, &weights, size, self.destination(&mut goal.shelf)));
            let is_of_hub = |op: &Op<W>| op.local == local && op.id != super::base::VERTEX;
            let carried = std::mem::take(&mut folded.carried);
            let (of_hub, others) = carried.into_iter().partition(|(op, _)| is_of_hub(op));
            folded.carried = others;
            self.append_carried(address, &hub, of_hub, goal.rows);
            let at = hubs.partition_point(|&(other, _)| other < local);
            hubs.insert(at, (local, hub));
        }
    }

    /// Gives a new hub the changes to it that are not visible yet.
    fn append_carried(
        &self,
        address: Address,
        hub: &Hub<W>,
        carried: Vec<(Op<W>, u64)>,
        rows: usize,
    ) {
        let count = carried.len();
        for (op, version) in carried {
            self.make_segment_room(address, hub, (op.id, count + rows));
            hub.append(&op, version);
        }
    }

    /// Takes hubs that became small back into the group, and packs those again whose segments
    /// became sparse.
    fn return_small_hubs(
        &self,
        hubs: &mut Hubs<W>,
        folded: &mut Folded<W>,
        goal: &mut Goal<'_, W>,
    ) {
        hubs.retain_mut(|(local, hub)| {
            let small = self.is_small(hub);
            if !(small || self.is_sparse(hub)) || hub.newest() > goal.limit {
                return true;
            }
            let (ids, weights) = hub.collect_now();
            folded.version = folded.version.max(hub.newest());
            if small {
                folded.put_in(*local, &ids, &weights);
            } else {
                let size = (folded.version, self.piece_entries());
                let into = self.destination(&mut goal.shelf);
                *hub = Arc::new(Hub::new(&ids, &weights, size, into));
            }
            !small
        });
    }

    fn is_small(&self, hub: &Hub<W>) -> bool {
        hub.entries() < self.tuning.hub_entries_min as u64 / 2
    }

    fn is_sparse(&self, hub: &Hub<W>) -> bool {
        let cells = hub.with_segments(|segments| segments.cells().len() as u64);
        cells > 1
            && hub.entries() * SPARSE_SHARE < cells * self.tuning.segment_entries_max as u64 / 2
    }

    /// Whether a hub should be looked at by the next merge of its group.
    pub(crate) fn wants_group_merge(&self, hub: &Hub<W>) -> bool {
        hub.newest() <= self.versions.clock.visible() && (self.is_small(hub) || self.is_sparse(hub))
    }

    fn destination<'a>(&'a self, shelf: &'a mut Shelf<'_, W>) -> Destination<'a, W> {
        Destination { versions: &self.versions, shelf: shelf.again() }
    }

    fn piece_entries(&self) -> usize {
        (self.tuning.segment_entries_max * PIECE_SHARE.0 / PIECE_SHARE.1).max(1)
    }

    /// Folds the changes up to `limit` into the newest state of a segment of a hub, and cuts it
    /// if it became too long. The caller holds the latch of the group.
    pub(crate) fn merge_segment(
        &self,
        address: Address,
        hub: &Hub<W>,
        index: usize,
        mut goal: Goal<'_, W>,
    ) {
        let limit = goal.limit;
        let (since, folded) = hub.with_segments(|segments| {
            let cell = segments.cells()[index].lock();
            let head = cell.head().expect("a cell is made with a state");
            assert!(head.version <= limit, "only the newest state of a segment is cut (H2)");
            (head.version, fold_fresh(head.value, limit))
        });
        let whole = folded.ids.len() <= self.tuning.segment_entries_max;
        let entries = if whole { folded.ids.len() } else { self.piece_entries() };
        let from = if folded.version == since { limit + 1 } else { folded.version };
        let room = goal.rows.max(self.tuning.delta_rows(entries));
        let into = self.destination(&mut goal.shelf);
        if hub.replace(index, folded, &CutAs { from, entries, room }, into) {
            self.queue_history(address);
        }
    }
}

/// Versions between a base and the newest row it can stamp; a base that is older is renewed.
const AGE_MAX: u64 = if cfg!(torture) { 4 } else { STAMP_MAX as u64 / 4 };

/// Folds, and calls the result of `limit` if its last change is so old that stamps run out:
/// nothing changed between the two.
fn fold_fresh<W: Weight>(base: &Base<W>, limit: u64) -> Folded<W> {
    let mut folded = fold(base, limit);
    if limit.saturating_sub(folded.version) > AGE_MAX {
        folded.version = limit;
    }
    folded
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Changes, Directed, EdgeChange, Effect, Ends, Side, Tuning};
    use super::*;
    use crate::epoch::{LeaseKind, Versions};

    const GROUP_OF_HUB: Address = Address { side: Side::Out, group: 0 };

    /// Commits a change of the edge from 0.
    fn commit(tree: &FatTree<()>, target: u32, effect: Effect) {
        let Versions { clock, leases, .. } = &*tree.versions;
        let (slot, snapshot) = leases.open(clock, LeaseKind::Writer).expect("few are open");
        let needs = Ends { source: true, target: true };
        let expected = effect == Effect::Remove;
        let edge = EdgeChange { source: 0, target, expected, effect, needs, operation: 0 };
        tree.commit(Changes { edges: &[edge], ..Changes::default() }, None, snapshot)
            .expect("it fits");
        leases.close(slot);
    }

    fn is_hub(tree: &FatTree<()>) -> bool {
        tree.settle_group(GROUP_OF_HUB, u64::MAX, true);
        let locked = tree.slot(GROUP_OF_HUB).chain.lock();
        locked.head().is_some_and(|head| head.value.hub(0).is_some())
    }

    #[test]
    fn a_hub_leaves_its_group_and_comes_back() {
        let versions = Arc::new(Versions::new(0));
        let tree = FatTree::<()>::new(versions, Directed::Yes, 64, Tuning::tiny());
        (1..20).for_each(|target| commit(&tree, target, Effect::Add(1.0)));
        assert!(!is_hub(&tree), "the group has room");
        (20..40).for_each(|target| commit(&tree, target, Effect::Add(1.0)));
        assert!(is_hub(&tree), "the group is too large");
        (2..40).for_each(|target| commit(&tree, target, Effect::Remove));
        // The next change finds it small.
        commit(&tree, 50, Effect::Add(1.0));
        assert!(!is_hub(&tree), "the hub is small");
        assert_eq!(tree.list(Side::Out, 0, u64::MAX).ids, [1, 50]);
        assert_eq!(tree.check(64), Ok(()));
    }

    /// Whoever commits a large batch merges it: reading need not look through it.
    #[test]
    fn a_large_batch_is_merged_by_its_commit() {
        let tuning = Tuning::tiny();
        let rows_left = |batch: usize| {
            let tree = FatTree::<()>::new(Arc::new(Versions::new(0)), Directed::Yes, 64, tuning);
            let needs = Ends { source: true, target: true };
            let (expected, effect, operation) = (false, Effect::Add(1.0), 0);
            let edges: Vec<EdgeChange> = (1..=batch as u32)
                .map(|target| EdgeChange { source: 0, target, expected, effect, needs, operation })
                .collect();
            tree.commit(Changes { edges: &edges, ..Changes::default() }, None, 0).expect("it fits");
            let locked = tree.slot(GROUP_OF_HUB).chain.lock();
            locked.head().is_some_and(|head| head.value.has_rows())
        };
        // Twice what a delta holds.
        assert!(rows_left(2 * tuning.delta_max));
        assert!(!rows_left(2 * tuning.delta_max + 1) && !rows_left(5 * tuning.delta_max));
    }

    /// It is the age of a base that counts: else a commit would look for room for ever.
    #[test]
    fn bases_have_room_however_large_versions_are() {
        let versions = Arc::new(Versions::new(3 * AGE_MAX));
        let tree = FatTree::<()>::new(versions, Directed::Yes, 64, Tuning::tiny());
        (1..20).for_each(|target| commit(&tree, target, Effect::Add(1.0)));
        assert!(tree.list(Side::Out, 0, u64::MAX).ids.iter().copied().eq(1..20));
    }

    /// Rows that cannot be folded yet, when their vertex becomes a hub, belong to the hub.
    #[test]
    fn a_new_hub_takes_the_rows_along_that_are_carried_over() {
        let versions = Arc::new(Versions::new(0));
        let large_deltas = Tuning { delta_min: 64, delta_max: 64, ..Tuning::tiny() };
        let tree = FatTree::<()>::new(versions, Directed::Yes, 64, large_deltas);
        (1..40).for_each(|target| commit(&tree, target, Effect::Add(1.0)));
        {
            let mut locked = tree.slot(GROUP_OF_HUB).chain.lock();
            let all_but_five = Goal::new(tree.versions.clock.visible() - 5, 0);
            tree.merge_group(GROUP_OF_HUB, &mut locked, all_but_five);
            let hub = locked.head().and_then(|head| head.value.hub(0));
            assert_eq!(hub.map(|hub| hub.edge_now(39).is_some()), Some(true));
        }
        assert!(tree.list(Side::Out, 0, u64::MAX).ids.iter().copied().eq(1..40));
        assert_eq!(tree.check(64), Ok(()));
    }
}
