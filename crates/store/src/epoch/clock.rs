//! The commit clock: gives out versions and says up to which all of them are in place.
//!
//! # Protocol
//!   1. A committer calls [`Clock::take`] when nothing can fail any more and gets a [`Ticket`]
//!      with the next version `v`. Until it completes, no snapshot is at `v` or later.
//!   2. It puts its changes in place, each stamped `v`.
//!   3. [`Ticket::complete`] marks `v` in the ring; whoever finds `visible + 1` marked moves
//!      `visible` on, also for others. It returns when `visible >= v`, so whatever begins after
//!      a commit has returned sees that commit.
//! # Invariants
//!   - `visible` only grows; at `visible == s` every version `<= s` is complete.
//!   - At most as many versions are taken and not visible as the ring has places.
//! # Checked by
//!   loom: `models::loom_clock_*`.

use crate::fault::{Fault, planted};
use crate::sync::{AtomicU64, Ordering, Padded, fence, wait_until};

/// Versions that may be in flight at once; a power of two. More than any number of committing
/// threads; a committer that finds the ring full waits.
const RING: usize = if cfg!(any(loom, shuttle, torture)) { 2 } else { 1024 };

/// Gives out versions in order and makes them visible in order.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The version taken last. Read-modify-writes order takers: with Acquire, and with Release by
    /// [`Clock::take_after`], so that what it looked at before is older than what later takers do.
    taken: Padded<AtomicU64>,
    /// Every version up to this one is complete. Advanced by compare-exchange with Release after
    /// the ring entry was read with Acquire; readers load with Acquire and so see the changes.
    visible: Padded<AtomicU64>,
    /// `ring[v % len] == v` once `v` is complete. Stored with Release by the holder of `v`.
    ring: Box<[AtomicU64]>,
}

/// A version that was taken and is not complete yet. Dropping it completes it: a committer that
/// panics leaves a hole in no sequence.
#[derive(Debug)]
#[must_use]
pub(crate) struct Ticket<'a> {
    clock: &'a Clock,
    version: u64,
}

impl Clock {
    /// A clock at version `start`.
    pub(crate) fn new(start: u64) -> Self {
        Self::with_ring(start, RING)
    }

    /// A clock with a ring of `places`, a power of two.
    pub(crate) fn with_ring(start: u64, places: usize) -> Self {
        assert!(places.is_power_of_two(), "a version finds its place by its low bits");
        Self {
            taken: Padded(AtomicU64::new(start)),
            visible: Padded(AtomicU64::new(start)),
            ring: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The newest version that is in place together with all before it.
    #[inline]
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    /// Takes the next version.
    #[inline]
    pub(crate) fn take(&self) -> Ticket<'_> {
        let version = self.taken.fetch_add(1, Ordering::Acquire) + 1;
        let fits = || version <= self.visible() + self.ring.len() as u64;
        if !fits() {
            wait_until(fits);
        }
        if planted(Fault::VisibleEarly) {
            self.mark(version);
        }
        Ticket { clock: self, version }
    }

    /// Takes the next version, unless as many are in flight as may be. The caller holds a lock that
    /// every taker of this clock holds.
    #[inline]
    pub(crate) fn try_take(&self) -> Option<Ticket<'_>> {
        self.has_room().then(|| self.take())
    }

    /// Whether a version could be taken now.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        // Relaxed: the lock of the takers orders what they take.
        self.taken.load(Ordering::Relaxed) < self.visible() + self.ring.len() as u64
    }

    /// The version taken last, once it is visible; `None` if it never will be, as `failed` says.
    pub(crate) fn settled(&self, failed: impl Fn() -> bool) -> Option<u64> {
        let taken = self.taken.load(Ordering::Relaxed);
        wait_until(|| self.visible() >= taken || failed());
        (self.visible() >= taken).then_some(taken)
    }

    /// Takes the version after `last`, unless another was taken since.
    pub(crate) fn take_after(&self, last: u64) -> Option<Ticket<'_>> {
        let version = last + 1;
        let taken = self.taken.compare_exchange(last, version, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok().then(|| Ticket { clock: self, version })
    }

    /// The ring cell of `version`.
    #[inline]
    fn cell(&self, version: u64) -> &AtomicU64 {
        &self.ring[version as usize & (self.ring.len() - 1)]
    }

    /// Marks a version complete, and moves `visible` on if it was waited for.
    #[inline]
    fn mark(&self, version: u64) {
        self.cell(version).store(version, Ordering::Release);
        // Two neighbours that complete at once must not both miss the other's mark: each marks,
        // fences, then looks.
        fence(Ordering::SeqCst);
        self.advance();
    }

    /// Moves `visible` over every complete version that follows it.
    #[inline]
    fn advance(&self) {
        let mut visible = self.visible.load(Ordering::Acquire);
        while self.cell(visible + 1).load(Ordering::Acquire) == visible + 1 {
            // Success or not, somebody moved it: look at what follows.
            visible = match self.visible.compare_exchange(
                visible,
                visible + 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => visible + 1,
                Err(newer) => newer,
            };
        }
    }
}

impl Ticket<'_> {
    /// The version taken.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Marks the version complete and waits until it is visible.
    #[inline]
    pub(crate) fn complete(self) {
        drop(self);
    }

    /// Leaves the version incomplete for ever: neither it nor any later one becomes visible. For
    /// a commit that may not have reached the disk; nobody takes a version after it.
    pub(crate) fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Drop for Ticket<'_> {
    #[inline]
    fn drop(&mut self) {
        let Self { clock, version } = *self;
        clock.mark(version);
        if clock.visible() < version && !planted(Fault::ReturnEarly) {
            wait_until(|| clock.visible() >= version);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn versions_are_dense_and_visible_after_complete() {
        let clock = Clock::new(7);
        let ticket = clock.take();
        assert_eq!((ticket.version(), clock.visible()), (8, 7));
        ticket.complete();
        assert_eq!(clock.visible(), 8);
    }

    #[test]
    fn a_dropped_ticket_leaves_no_hole() {
        let clock = Clock::new(0);
        drop(clock.take());
        assert_eq!(clock.take().version(), 2);
        assert_eq!(clock.visible(), 2);
    }

    #[test]
    fn many_threads_complete_more_versions_than_the_ring_holds() {
        let clock = Clock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let ticket = clock.take();
                        let version = ticket.version();
                        ticket.complete();
                        assert!(clock.visible() >= version);
                    }
                });
            }
        });
        assert_eq!(clock.visible(), 20_000);
    }
}
