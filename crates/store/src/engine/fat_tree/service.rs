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
use super::{Address, FatTree};
use crate::raw::Locked;
use crate::sync::Mutex;

/// Groups that wait for the service thread.
#[derive(Default)]
pub(super) struct Queues {
    pending: Mutex<Vec<Address>>,
    history: Mutex<Vec<Address>>,
}

/// Segments of a hub that are settled before the latch is given up: some 100 us.
const SEGMENTS_PER_PART: usize = 32;

/// Where the settling of the hubs of a group goes on.
#[derive(Clone, Copy)]
struct Place {
    local: u8,
    id: u32,
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
    /// settled. `proceed` is asked before each group.
    pub(crate) fn settle(&self, idle: Idle, mut proceed: impl FnMut() -> bool) -> usize {
        let mut queued = std::mem::take(&mut *self.queues.pending.lock());
        let mut settled = 0;
        queued.retain(|&address| {
            if !proceed() || !self.settle_group(address, idle.since) {
                return true;
            }
            settled += 1;
            false
        });
        self.queues.pending.lock().append(&mut queued);
        settled
    }

    /// Turns every pending row of a group into runs, if its last change is not after `idle_since`
    /// and is visible. True if nothing is pending and the group need not be queued any more.
    pub(super) fn settle_group(&self, address: Address, idle_since: u64) -> bool {
        let slot = self.slot(address);
        let mut next = Some(Place { local: 0, id: 0 });
        let mut locked = slot.chain.lock();
        self.settle_runs(address, &mut locked, idle_since);
        // The latch is given up between two parts: whoever waits for it waits for one part.
        while let Some(place) = next {
            next = self.settle_segments(address, &locked, place, idle_since);
            drop(locked);
            locked = slot.chain.lock();
        }
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

    fn settle_runs(&self, address: Address, locked: &mut Locked<'_, Base<W>>, idle_since: u64) {
        let limit = self.versions.clock.visible();
        let Some(head) = locked.head() else { return };
        let idle = newest_with_hubs(head.value) <= idle_since.min(limit);
        let hubs_change = || head.value.hubs().any(|(_, hub)| self.wants_group_merge(hub));
        if idle && (head.value.has_rows() || hubs_change()) {
            self.merge_group(address, locked, limit, 0);
        }
    }

    /// Settles some segments of the hubs of a group from `place` on; where to go on.
    fn settle_segments(
        &self,
        address: Address,
        locked: &Locked<'_, Base<W>>,
        place: Place,
        idle_since: u64,
    ) -> Option<Place> {
        let limit = self.versions.clock.visible();
        let head = locked.head()?.value;
        if newest_with_hubs(head) > idle_since.min(limit) {
            return None;
        }
        let (local, hub) = head.hubs().find(|&(local, _)| local >= place.local)?;
        let start = if place.local == local { place.id } else { 0 };
        let mut index = hub.with_segments(|segments| segments.index(start));
        for _ in 0..SEGMENTS_PER_PART {
            let pending = hub.with_segments(|segments| {
                let cell = segments.cells().get(index)?;
                Some(cell.lock().head().is_some_and(|head| head.value.has_rows()))
            });
            match pending {
                None => return Some(Place { local: local + 1, id: 0 }),
                Some(true) => self.merge_segment(address, hub, index, limit, 0),
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
