//! Work that nobody waits for: pending rows of groups that writers left alone become runs, and
//! old versions that nobody can read any more are dropped.
//!
//! # Queues
//!   A group is queued when a writer makes room in it (pending rows) and when a merge had to keep
//!   the old base (history). A flag on the slot keeps it from being queued twice; it is lowered
//!   before the group is looked at, so that whatever comes later queues it again.

use evergraph_graph::Weight;

use super::base::Base;
use super::hub::Segments;
use super::leaf::{Leaf, Shelf};
use super::merge::Goal;
use super::pieces::entries_pending;
use super::{Address, FatTree};
use crate::raw::{Locked, Retention};
use crate::sync::Mutex;

/// Groups that wait for the service thread.
#[derive(Default)]
pub(super) struct Queues {
    pending: Mutex<Vec<Address>>,
    history: Mutex<Vec<Address>>,
}

/// Groups that are laid out together: some 2 MB at average degree 30.
const STRETCH: u32 = 256;
/// A stretch is laid out when this share of its entries lies elsewhere and is idle.
const DISPLACED_SHARE: (u64, u64) = (3, 10);
/// Segments of a hub that are settled before the latch is given up: some 100 us.
const SEGMENTS_PER_PART: usize = 32;

/// Where the settling of the hubs of a group goes on.
#[derive(Clone, Copy)]
struct Place {
    local: u8,
    id: u32,
}

/// What is done to a group.
struct Task<'l, W> {
    /// Nothing, if it was changed after this version.
    idle_since: u64,
    what: What,
    shelf: Shelf<'l, W>,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    /// Pending rows become runs.
    Settle,
    /// All runs are put on the shelf, as far as nobody reads the old ones.
    LayOut,
}

/// Which groups a round settles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Those with no change after this version.
    pub(crate) since: u64,
}

impl<W: Weight> FatTree<W> {
    /// Has the group settled once writers have left it alone.
    #[inline]
    pub(super) fn queue_pending(&self, address: Address) {
        if self.slot(address).in_pending_queue.raise() {
            self.queues.pending.lock().push(address);
        }
    }

    /// Has the old versions of the group dropped once nobody reads them.
    pub(super) fn queue_history(&self, address: Address) {
        if self.slot(address).in_history_queue.raise() {
            self.queues.history.lock().push(address);
        }
    }

    /// Groups with pending rows, at most.
    pub(crate) fn groups_pending(&self) -> usize {
        self.queues.pending.lock().len()
    }

    /// Groups with old versions, at most.
    pub(crate) fn groups_with_history(&self) -> usize {
        self.queues.history.lock().len()
    }

    /// Settles the queued groups that are idle; the others stay queued. Returns how many were
    /// settled. `proceed` is asked before each stretch of groups.
    pub(crate) fn settle(&self, idle: Idle, mut proceed: impl FnMut() -> bool) -> usize {
        let mut queued = std::mem::take(&mut *self.queues.pending.lock());
        queued.sort_unstable();
        let stretch = |address: &Address| (address.side, address.group / STRETCH);
        let mut left = Vec::new();
        let mut settled = 0;
        for of_stretch in queued.chunk_by(|a, b| stretch(a) == stretch(b)) {
            if !proceed() {
                left.extend_from_slice(of_stretch);
                continue;
            }
            self.lay_out_if_scattered(of_stretch[0], idle.since);
            for &address in of_stretch {
                if self.settle_group(address, idle.since) {
                    settled += 1;
                } else {
                    left.push(address);
                }
            }
        }
        self.queues.pending.lock().append(&mut left);
        settled
    }

    /// Turns every pending row of a group into runs, if its last change is not after `idle_since`
    /// and is visible. True if nothing is pending and the group need not be queued any more.
    pub(super) fn settle_group(&self, address: Address, idle_since: u64) -> bool {
        let mut task = Task { idle_since, what: What::Settle, shelf: Shelf::Anywhere };
        self.work_on(address, &mut task);
        let slot = self.slot(address);
        let locked = slot.chain.lock();
        let done = locked.head().is_none_or(|head| {
            let limit = idle_since.min(self.versions.clock.visible());
            newest_with_hubs(head.value) <= limit && !has_pending(head.value)
        });
        if done {
            // Under the latch: a writer that comes later finds the flag down and queues.
            slot.in_pending_queue.lower();
        }
        done
    }

    /// Puts all runs of a stretch side by side, if too many lie elsewhere.
    fn lay_out_if_scattered(&self, of_stretch: Address, idle_since: u64) {
        let first = of_stretch.group / STRETCH * STRETCH;
        let address = |group| Address { group, ..of_stretch };
        let (mut entries, mut displaced) = (0, 0);
        for group in first..first + STRETCH {
            let (here, elsewhere) = self.entries_of(address(group), idle_since);
            entries += here;
            displaced += elsewhere;
        }
        let (part, of) = DISPLACED_SHARE;
        if displaced * of <= entries * part {
            return;
        }
        let mut leaf = Leaf::with_capacity(entries as usize);
        for group in first..first + STRETCH {
            let shelf = Shelf::Leaf(&mut leaf);
            let mut task = Task { idle_since, what: What::LayOut, shelf };
            self.work_on(address(group), &mut task);
        }
    }

    /// How many entries a group has, and how many of them are idle but in no leaf.
    fn entries_of(&self, address: Address, idle_since: u64) -> (u64, u64) {
        let Some(slot) = self.directory(address.side).get(address.group) else { return (0, 0) };
        let locked = slot.chain.lock();
        let Some(head) = locked.head() else { return (0, 0) };
        let idle = newest_with_hubs(head.value) <= idle_since;
        let mut counts = (0, 0);
        let mut count = |base: &Base<W>| {
            let pending = entries_pending(base, u64::MAX);
            let entries = (base.runs.ids.len() as u64).wrapping_add_signed(pending);
            counts.0 += entries;
            if idle && (base.has_rows() || !base.runs.ids.is_in_leaf()) {
                counts.1 += entries;
            }
        };
        count(head.value);
        for (_, hub) in head.value.hubs() {
            hub.with_segments(|segments| {
                for cell in segments.cells() {
                    cell.lock().head().into_iter().for_each(|head| count(head.value));
                }
            });
        }
        counts
    }

    /// Does a task to a group and the segments of its hubs.
    fn work_on(&self, address: Address, task: &mut Task<'_, W>) {
        let Some(slot) = self.directory(address.side).get(address.group) else { return };
        let mut locked = slot.chain.lock();
        self.work_on_runs(address, &mut locked, task);
        let mut next = Some(Place { local: 0, id: 0 });
        // The latch is given up between two parts: whoever waits for it waits for one part.
        while let Some(place) = next {
            next = self.work_on_segments(address, &locked, place, task);
            drop(locked);
            locked = slot.chain.lock();
        }
    }

    /// Whether a base is to be replaced.
    fn is_due(&self, base: &Base<W>, what: What) -> bool {
        let visible = self.versions.clock.visible();
        match what {
            What::Settle => base.has_rows(),
            // One that somebody reads would have to stay: memory would double.
            What::LayOut => base.has_rows() || !self.versions.need(base.since, visible + 1),
        }
    }

    fn work_on_runs(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        task: &mut Task<'_, W>,
    ) {
        let limit = self.versions.clock.visible();
        let Some(head) = locked.head() else { return };
        let idle = newest_with_hubs(head.value) <= task.idle_since.min(limit);
        let hubs_change = || head.value.hubs().any(|(_, hub)| self.wants_group_merge(hub));
        if idle && (self.is_due(head.value, task.what) || hubs_change()) {
            let shelf = task.shelf.again();
            self.merge_group(address, locked, Goal { shelf, ..Goal::new(limit, 0) });
        }
    }

    /// Does a task to some segments of the hubs of a group from `place` on; where to go on.
    fn work_on_segments(
        &self,
        address: Address,
        locked: &Locked<'_, Base<W>>,
        place: Place,
        task: &mut Task<'_, W>,
    ) -> Option<Place> {
        let limit = self.versions.clock.visible();
        let head = locked.head()?.value;
        if newest_with_hubs(head) > task.idle_since.min(limit) {
            return None;
        }
        let (local, hub) = head.hubs().find(|&(local, _)| local >= place.local)?;
        let start = if place.local == local { place.id } else { 0 };
        let mut index = hub.with_segments(|segments| segments.index(start));
        for _ in 0..SEGMENTS_PER_PART {
            let due = hub.with_segments(|segments| {
                let cell = segments.cells().get(index)?.lock();
                Some(cell.head().is_some_and(|head| self.is_due(head.value, task.what)))
            });
            match due {
                None => return Some(Place { local: local + 1, id: 0 }),
                Some(true) => {
                    let shelf = task.shelf.again();
                    let goal = Goal { shelf, ..Goal::new(limit, 0) };
                    self.merge_segment(address, hub, index, goal);
                }
                Some(false) => {}
            }
            index += 1;
        }
        let fence = hub.with_segments(|segments| segments.fences().get(index).copied());
        Some(fence.map_or(Place { local: local + 1, id: 0 }, |id| Place { local, id }))
    }

    /// Drops old versions that nobody reads, in the groups that are queued for it; groups that
    /// still have some stay queued.
    pub(crate) fn prune(&self) {
        let mut queued = std::mem::take(&mut *self.queues.history.lock());
        queued.retain(|&address| {
            let slot = self.slot(address);
            let mut locked = slot.chain.lock();
            slot.in_history_queue.lower();
            let kept = self.prune_group(&mut locked);
            drop(locked);
            kept && slot.in_history_queue.raise()
        });
        self.queues.history.lock().append(&mut queued);
        self.versions.pins.collect();
    }

    /// True if old versions are left.
    fn prune_group(&self, locked: &mut Locked<'_, Base<W>>) -> bool {
        let mut kept = locked.prune(&*self.versions, &self.versions.pins);
        for state in locked.states() {
            for (_, hub) in state.value.hubs() {
                hub.with_segments(|segments| {
                    for cell in segments.cells() {
                        kept |= cell.lock().prune(&*self.versions, &self.versions.pins);
                    }
                });
            }
        }
        kept
    }
}

/// The version of the last change to a group, its hubs included.
fn newest_with_hubs<W: Weight>(base: &Base<W>) -> u64 {
    base.hubs().map(|(_, hub)| hub.newest()).fold(base.newest(), u64::max)
}

/// Whether rows are pending in a group or in a segment of its hubs.
fn has_pending<W: Weight>(base: &Base<W>) -> bool {
    let in_segments = |segments: &Segments<W>| {
        let mut cells = segments.cells().iter();
        cells.any(|cell| cell.lock().head().is_some_and(|head| head.value.has_rows()))
    };
    base.has_rows() || base.hubs().any(|(_, hub)| hub.with_segments(in_segments))
}
