//! Work that nobody waits for: pending rows of groups that writers left alone become runs, and
//! old versions that nobody can read any more are dropped.
//!
//! # Queues
//!   A group is queued when a writer makes room in it (pending rows) and when a merge had to keep
//!   the old base (history). A flag on the slot keeps it from being queued twice; it is lowered
//!   before the group is looked at, so that whatever comes later queues it again.

use evergraph_graph::Weight;

use super::base::Base;
use super::hub::Hub;
use super::{Address, FatTree};
use crate::raw::Locked;
use crate::sync::Mutex;

/// Groups that wait for the service thread.
#[derive(Default)]
pub(super) struct Queues {
    pending: Mutex<Vec<Address>>,
    history: Mutex<Vec<Address>>,
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
            if !proceed() {
                return true;
            }
            let slot = self.slot(address);
            let mut locked = slot.chain.lock();
            let done = self.settle_locked(address, &mut locked, idle.since);
            if done {
                // Under the latch: a writer that comes later finds the flag down and queues.
                slot.in_pending_queue.lower();
                settled += 1;
            }
            !done
        });
        self.queues.pending.lock().append(&mut queued);
        settled
    }

    /// Turns every pending row of a group into runs, if all of them are visible.
    pub(super) fn settle_group(&self, address: Address) {
        self.settle_locked(address, &mut self.slot(address).chain.lock(), u64::MAX);
    }

    /// Turns every pending row of a group into runs, if its last change is not after `idle_since`
    /// and is visible. True if nothing is pending any more.
    fn settle_locked(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        idle_since: u64,
    ) -> bool {
        let limit = self.versions.clock.visible();
        let Some(head) = locked.head() else {
            return true;
        };
        if newest_with_hubs(head.value) > idle_since.min(limit) {
            return false;
        }
        let hubs_change = head.value.hubs().any(|(_, hub)| self.wants_group_merge(hub));
        if head.value.has_rows() || hubs_change {
            self.merge_group(address, locked, limit, 0);
        }
        if let Some(head) = locked.head() {
            for (_, hub) in head.value.hubs() {
                self.settle_hub(address, hub, limit);
            }
        }
        true
    }

    fn settle_hub(&self, address: Address, hub: &Hub<W>, limit: u64) {
        let mut index = 0;
        while index < hub.with_segments(|segments| segments.cells().len()) {
            let pending = hub.with_segments(|segments| {
                let cell = segments.cells()[index].lock();
                cell.head().is_some_and(|head| head.value.has_rows())
            });
            if pending {
                self.merge_segment(address, hub, index, limit, 0);
            }
            index += 1;
        }
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
