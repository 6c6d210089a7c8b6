//! Work that nobody waits for: pending rows of groups that writers left alone become runs, and
//! old versions that nobody can read any more are dropped.
//!
//! # Queues
//!   A group is queued when a writer makes room in it (pending rows) and when a merge had to keep
//!   the old base (history). A flag on the slot keeps it from being queued twice; it is lowered
//!   before the group is looked at, so that whatever comes later queues it again.

use evergraph_graph::Weight;

use super::base::Base;
use super::layout::{Task, has_pending, newest_with_hubs};
use super::leaf::STRETCH;
use super::{Address, FatTree, Side};
use crate::raw::Locked;
use crate::sync::{Mutex, Ordering};

/// Groups that wait for the service thread.
#[derive(Default)]
pub(super) struct Queues {
    pending: Mutex<Vec<Address>>,
    history: Mutex<Vec<Address>>,
}

/// A stretch is laid out when more than one in so many of its groups is read elsewhere.
const ELSEWHERE_SHARE: u32 = 16;
/// A leaf that is not replaced yet goes when it holds at most one in so many groups: a published
/// leaf keeps the memory of all of them.
const HELD_SHARE: u32 = 4;

/// Which groups a round settles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Those with no change after this version.
    pub(crate) since: u64,
}

impl<W: Weight> FatTree<W> {
    /// Has the group settled once writers have left it alone.
    #[expect(clippy::inline_always, reason = "on the way of every commit of an edge")]
    #[inline(always)]
    pub(super) fn queue_pending(&self, address: Address) {
        if self.slot(address).in_pending_queue.raise() {
            self.push_pending(address);
        }
    }

    #[cold]
    fn push_pending(&self, address: Address) {
        self.queues.pending.lock().push(address);
    }

    /// Has the old versions of the group dropped once nobody reads them.
    pub(super) fn queue_history(&self, address: Address) {
        if self.slot(address).in_history_queue.raise() {
            self.queues.history.lock().push(address);
        }
    }

    /// Groups with pending rows, or whose stretch is to be laid out, at most.
    pub(crate) fn groups_pending(&self) -> usize {
        self.queues.pending.lock().len()
    }

    /// Groups with old versions, at most.
    pub(crate) fn groups_with_history(&self) -> usize {
        self.queues.history.lock().len()
    }

    /// Settles the queued groups that are idle, and lays stretches out that are idle as a whole;
    /// the others stay queued. Returns how many groups were settled. `proceed` is asked before
    /// each stretch.
    pub(crate) fn settle(&self, idle: Idle, mut proceed: impl FnMut() -> bool) -> usize {
        let mut queued = std::mem::take(&mut *self.queues.pending.lock());
        queued.sort_unstable();
        let mut left = Vec::new();
        let mut settled = 0;
        for of_stretch in queued.chunk_by(|a, b| stretch_at(*a) == stretch_at(*b)) {
            // A reader that lays everything out needs no help, and may need the core.
            if !proceed() || self.sweepers.load(Ordering::Relaxed) > 0 {
                left.extend_from_slice(of_stretch);
                continue;
            }
            let in_leaf = self.lay_out_if_idle(stretch_at(of_stretch[0]), idle.since);
            for &address in of_stretch {
                // What is settled but not laid out waits for its stretch to be idle.
                if self.settle_group(address, idle.since, in_leaf) {
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
    /// and is visible. True if nothing is pending and, if `done_then`, the group is taken out of
    /// the queue.
    pub(super) fn settle_group(&self, address: Address, idle_since: u64, done_then: bool) -> bool {
        let limit = self.versions.clock.visible();
        let idle_since = idle_since.min(limit);
        self.work_on(address, &mut Task { limit, idle_since, draft: None });
        let slot = self.slot(address);
        let locked = slot.chain.lock();
        let done = locked.head().is_none_or(|head| {
            newest_with_hubs(head.value) <= idle_since && !has_pending(head.value, u64::MAX)
        });
        if done && done_then {
            // Under the latch: a writer that comes later finds the flag down and queues.
            slot.in_pending_queue.lower();
        }
        done && done_then
    }

    /// Lays a stretch out if none of its groups was changed after `idle_since` and many are not
    /// in its leaf; a leaf that holds hardly any is withdrawn. False if the stretch should be laid
    /// out later.
    fn lay_out_if_idle(&self, (side, stretch): (Side, usize), idle_since: u64) -> bool {
        let limit = self.versions.clock.visible();
        let directory = self.directory(side);
        let leaf = directory.leaves.one_at(limit, stretch);
        let first = stretch as u32 * STRETCH;
        let (mut written, mut elsewhere, mut idle) = (0, 0, true);
        for group in first..first + STRETCH {
            let Some(slot) = directory.get(group) else { break };
            let locked = slot.chain.lock();
            let Some(head) = locked.head() else { continue };
            written += 1;
            elsewhere += u32::from(leaf.as_ref().is_none_or(|leaf| !leaf.holds(group)));
            idle &= newest_with_hubs(head.value) <= idle_since;
        }
        if elsewhere * ELSEWHERE_SHARE <= written {
            return true;
        }
        if idle {
            self.lay_out((side, stretch), limit, limit + 1);
        } else if leaf.is_some() && elsewhere * HELD_SHARE >= written * (HELD_SHARE - 1) {
            directory.leaves.withdraw(stretch);
        }
        idle
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

/// The stretch of a group.
fn stretch_at(address: Address) -> (Side, usize) {
    (address.side, (address.group / STRETCH) as usize)
}
