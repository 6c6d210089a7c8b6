//! The versions of one piece of the graph, newest first.
//!
//! # Layout
//!   `head -> Node { version, from, value, prev } -> ... -> null`
//! # Invariants
//!   - C1 Nodes are linked and unlinked only by the holder of the latch.
//!   - C2 `version` does not grow along `prev`. The state at `s` is in the first node with
//!     `version <= s`; without one, the chain did not exist at `s`.
//!   - C3 A node that leaves the chain is retired afterwards, never freed directly: a reader that
//!     is pinned may stand on it.
//!   - C4 A node leaves the chain only if no lease may read it: none in `[version, from)` of its
//!     successor (I5 of `docs/design/versions.md`). `from` of a node is its own version, but never
//!     less than the first version at which no lease can be holding its predecessor (`lent_to`),
//!     and never less than `from` of the predecessor: what is behind that one becomes its own.
//! # Who may look at a node
//!   The holder of the latch (C1); the holder of a pin (C3); the holder of a lease to which the
//!   node was given under the latch (C4, see `leased.rs`).
//! # Checked by
//!   loom: `models::loom_chain_*`.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::fault::{Fault, planted};
use crate::raw::pin::{Pin, Pins};
use crate::raw::prefetch::prefetch;
use crate::sync::{AtomicPtr, AtomicU64, Mutex, MutexGuard, Ordering};

/// Versions of a `T`, newest first, with the latch that orders their writers.
pub(crate) struct Chain<T> {
    /// The newest node or null. Stored with Release under the latch, loaded with Acquire by
    /// readers: a node is complete before it can be reached.
    head: AtomicPtr<Node<T>>,
    latch: Mutex<()>,
    _owns: PhantomData<Box<Node<T>>>,
}

struct Node<T> {
    version: u64,
    from: u64,
    value: T,
    /// The first version at which nobody holds the node (`lend`).
    /// Changed and read under the latch, `Relaxed`.
    lent_to: AtomicU64,
    /// The next older node or null. Changed under the latch with Release, read with Acquire.
    prev: AtomicPtr<Node<T>>,
}

// SAFETY: a chain owns its nodes and hands out `&T` to several threads, and nodes are dropped by
// whichever thread collects them: both are sound for `T: Send + Sync`.
unsafe impl<T: Send + Sync> Send for Chain<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chain<T> {}

/// A value with the version it holds the state of.
pub(crate) struct Placed<'a, T> {
    pub(crate) version: u64,
    pub(crate) value: &'a T,
}

impl<T> Clone for Placed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Placed<'_, T> {}

/// Says which versions may still be read.
pub(crate) trait Retention {
    /// Whether somebody may still read a state in `[from, to)`.
    fn need(&self, from: u64, to: u64) -> bool;
}

/// The latch of a chain, held.
pub(crate) struct Locked<'a, T> {
    chain: &'a Chain<T>,
    _latch: MutexGuard<'a, ()>,
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self {
            head: AtomicPtr::new(std::ptr::null_mut()),
            latch: Mutex::new(()),
            _owns: PhantomData,
        }
    }
}

/// The node behind a pointer of a chain, if there is one.
///
/// # Safety
/// `pointer` is null or came from a chain, and for `'a` the caller may look at the node (see the
/// head of this file).
unsafe fn follow<'a, T>(pointer: *mut Node<T>) -> Option<&'a Node<T>> {
    // SAFETY: nodes are made by `Box` in `install` and freed only after nobody may look at them.
    unsafe { pointer.as_ref() }
}

impl<T> Chain<T> {
    /// Bytes of a state, without what the value refers to.
    pub(crate) const STATE_BYTES: usize = size_of::<Node<T>>();
}

impl<T: Send + Sync + 'static> Chain<T> {
    /// The state at `version`, for as long as the pin is held.
    #[inline]
    pub(crate) fn at<'a>(&'a self, version: u64, _pin: &'a Pin<'_>) -> Option<Placed<'a, T>> {
        let mut pointer = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: reached through the chain while pinned (C3).
            let node = unsafe { follow(pointer) }?;
            if node.version <= version {
                return Some(node.placed());
            }
            pointer = node.prev.load(Ordering::Acquire);
        }
    }

    /// Asks for the newest node, which is about to be looked at.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.head.load(Ordering::Relaxed), size_of::<Node<T>>());
    }

    /// Takes the latch.
    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        Locked { chain: self, _latch: self.latch.lock() }
    }
}

impl<T> Node<T> {
    #[inline]
    fn placed(&self) -> Placed<'_, T> {
        Placed { version: self.version, value: &self.value }
    }
}

impl<'c, T: Send + Sync + 'static> Locked<'c, T> {
    #[inline]
    #[expect(clippy::unused_self, reason = "the borrow of `self` says that the latch is held")]
    fn node(&self, pointer: &AtomicPtr<Node<T>>) -> Option<&Node<T>> {
        // SAFETY: the latch is held as long as `self` is borrowed; no node is unlinked (C1).
        unsafe { follow(pointer.load(Ordering::Acquire)) }
    }

    fn nodes(&self) -> impl Iterator<Item = &Node<T>> {
        std::iter::successors(self.node(&self.chain.head), |node| self.node(&node.prev))
    }

    /// The newest state.
    #[inline]
    pub(crate) fn head(&self) -> Option<Placed<'_, T>> {
        self.node(&self.chain.head).map(Node::placed)
    }

    /// The state at `version`.
    #[inline]
    pub(crate) fn at(&self, version: u64) -> Option<Placed<'_, T>> {
        self.nodes().find(|node| node.version <= version).map(Node::placed)
    }

    /// All states, newest first.
    pub(crate) fn states(&self) -> impl Iterator<Item = Placed<'_, T>> {
        self.nodes().map(Node::placed)
    }

    /// Puts `value` in place as the state at `version`, before the newest state that is not
    /// younger, and drops that one if nobody needs it.
    ///
    /// If `value` replaces a state of the same version, `from` is one more than the newest
    /// version at which a lease may be reading the old one; else it is `version`.
    pub(crate) fn install(
        &mut self,
        (version, from): (u64, u64),
        value: T,
        retention: &impl Retention,
        pins: &Pins,
    ) {
        debug_assert!(version <= from, "a state is read from its own version at the earliest");
        let link = self.link_before(version);
        let older = link.load(Ordering::Acquire);
        let held = |older: &Node<T>| older.from.max(older.lent_to.load(Ordering::Relaxed));
        let held = self.node(link).map_or(0, held);
        let from = if planted(Fault::LentForgotten) { from } else { from.max(held) };
        let (lent_to, prev) = (AtomicU64::new(0), AtomicPtr::new(older));
        let node = Node { version, from, value, lent_to, prev };
        link.store(Box::into_raw(Box::new(node)), Ordering::Release);
        self.drop_unneeded(link, retention, pins);
    }

    /// The pointer to the first node with `node.version <= version`.
    fn link_before(&self, version: u64) -> &'c AtomicPtr<Node<T>> {
        let mut link = &self.chain.head;
        loop {
            // SAFETY: the latch is held (C1) and nothing is unlinked before `install` is done
            // with the link, which lies in the chain or in a node of it.
            match unsafe { follow::<'c, T>(link.load(Ordering::Acquire)) } {
                Some(node) if node.version > version => link = &node.prev,
                _ => return link,
            }
        }
    }

    /// Unlinks the node behind the node of `link` if nobody needs it.
    fn drop_unneeded(
        &mut self,
        link: &AtomicPtr<Node<T>>,
        retention: &impl Retention,
        pins: &Pins,
    ) -> bool {
        let Some(node) = self.node(link) else {
            return false;
        };
        let Some(older) = self.node(&node.prev) else {
            return false;
        };
        if retention.need(older.version, node.from) {
            return false;
        }
        let unlinked = node.prev.swap(older.prev.load(Ordering::Acquire), Ordering::AcqRel);
        // SAFETY: made by `Box` in `install`; unlinked just now under the latch, so exactly once
        // (C1). The box is not looked into before the pins have left (C3).
        pins.retire(unsafe { Box::from_raw(unlinked) });
        true
    }

    /// Drops every state that nobody needs; true if more than the newest is left.
    pub(crate) fn prune(&mut self, retention: &impl Retention, pins: &Pins) -> bool {
        let mut link = &self.chain.head;
        loop {
            while self.drop_unneeded(link, retention, pins) {}
            // SAFETY: as in `link_before`; what `drop_unneeded` unlinks lies behind `link`'s node.
            match unsafe { follow::<'c, T>(link.load(Ordering::Acquire)) } {
                Some(node) if !node.prev.load(Ordering::Acquire).is_null() => link = &node.prev,
                _ => break,
            }
        }
        self.has_history()
    }

    /// Whether there is more than the newest state.
    pub(crate) fn has_history(&self) -> bool {
        self.node(&self.chain.head).is_some_and(|node| !node.prev.load(Ordering::Acquire).is_null())
    }

    /// The state at `version` as a pointer for a [`super::LeasedTable`] of a lease on `version`.
    ///
    /// It is kept as long as the lease, even if another one means the same meanwhile (C4).
    pub(crate) fn lend(&self, version: u64) -> Option<NonNull<T>> {
        let node = self.nodes().find(|node| node.version <= version)?;
        let lent_to = node.lent_to.load(Ordering::Relaxed).max(version + 1);
        node.lent_to.store(lent_to, Ordering::Relaxed);
        Some(NonNull::from(&node.value))
    }
}

/// Latches that their holder lends to other threads for as long as it waits for them.
pub(crate) struct Lent<'l, 'c, T>(&'l mut [Locked<'c, T>]);

// SAFETY: the guard of a latch must be dropped by the thread that took it, which is why `Locked`
// does not cross threads by itself. What crosses here is a borrow: the guards stay with their
// holder, who drops them after the borrow has ended. `with` does not let them be moved out or
// swapped: no other `Locked` has the lifetime its closure sees. All else is sound for `T: Send + Sync`.
unsafe impl<T: Send + Sync> Send for Lent<'_, '_, T> {}

impl<'l, 'c, T> Lent<'l, 'c, T> {
    pub(crate) fn new(latches: &'l mut [Locked<'c, T>]) -> Self {
        Self(latches)
    }

    /// Takes the first `count` latches off.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        let (first, left) = std::mem::take(&mut self.0).split_at_mut(count);
        self.0 = left;
        Self(first)
    }

    /// Works on what one latch guards.
    pub(crate) fn with<R>(
        &mut self,
        at: usize,
        work: impl for<'x> FnOnce(&mut Locked<'x, T>) -> R,
    ) -> R {
        work(&mut self.0[at])
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut pointer = self.head.load(Ordering::Acquire);
        while !pointer.is_null() {
            // SAFETY: made by `Box` in `install`, linked, so not retired; `&mut self` says that
            // nobody holds the latch, a pin or a lease on this chain any more.
            let node = unsafe { Box::from_raw(pointer) };
            pointer = node.prev.load(Ordering::Acquire);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Keeps the versions it lists.
    struct Keep(&'static [u64]);

    impl Retention for Keep {
        fn need(&self, from: u64, to: u64) -> bool {
            self.0.iter().any(|version| (from..to).contains(version))
        }
    }

    fn chain_of(versions: &[u64], keep: &Keep, pins: &Pins) -> Chain<Arc<u64>> {
        let chain = Chain::default();
        for &version in versions {
            chain.lock().install((version, version), Arc::new(version), keep, pins);
        }
        chain
    }

    fn states(chain: &Chain<Arc<u64>>) -> Vec<u64> {
        chain.lock().states().map(|placed| **placed.value).collect()
    }

    #[test]
    fn a_state_is_found_by_the_version_of_the_reader() {
        let pins = Pins::new();
        let chain = chain_of(&[1, 5, 9], &Keep(&[1, 5, 9]), &pins);
        let pin = pins.pin();
        let at = |version| chain.at(version, &pin).map(|placed| **placed.value);
        assert_eq!(
            [at(0), at(1), at(4), at(5), at(100)],
            [None, Some(1), Some(1), Some(5), Some(9)]
        );
    }

    #[test]
    fn only_what_a_lease_may_read_is_kept() {
        let pins = Pins::new();
        let chain = chain_of(&[1, 5, 9, 12], &Keep(&[6]), &pins);
        assert_eq!(states(&chain), [12, 5]);
        assert!(!chain.lock().prune(&Keep(&[]), &pins));
        assert_eq!(states(&chain), [12]);
    }

    #[test]
    fn an_older_state_goes_in_behind_the_newer_ones() {
        let pins = Pins::new();
        let chain = chain_of(&[1, 9], &Keep(&[2, 7]), &pins);
        chain.lock().install((5, 5), Arc::new(5), &Keep(&[2, 7]), &pins);
        assert_eq!(states(&chain), [9, 5, 1]);
        chain.lock().install((6, 6), Arc::new(6), &Keep(&[2, 7]), &pins);
        assert_eq!(states(&chain), [9, 6, 1]);
    }

    #[test]
    fn what_was_lent_is_kept() {
        let pins = Pins::new();
        let chain = chain_of(&[1], &Keep(&[7]), &pins);
        assert!(chain.lock().lend(7).is_some());
        // A fold of what was pending at 7 would else take the place of 1 at once.
        chain.lock().install((5, 5), Arc::new(5), &Keep(&[7]), &pins);
        assert_eq!(states(&chain), [5, 1]);
        assert!(!chain.lock().prune(&Keep(&[8]), &pins));
    }

    #[test]
    fn what_was_lent_is_kept_whatever_takes_its_place_later() {
        let pins = Pins::new();
        let chain = chain_of(&[1], &Keep(&[7]), &pins);
        assert!(chain.lock().lend(7).is_some());
        // Laid out at a version that was read before the lease of 7 was opened, and again.
        chain.lock().install((1, 4), Arc::new(10), &Keep(&[7]), &pins);
        chain.lock().install((1, 5), Arc::new(11), &Keep(&[7]), &pins);
        assert_eq!(states(&chain).last(), Some(&1));
        assert!(chain.lock().prune(&Keep(&[7]), &pins));
        assert_eq!(states(&chain).last(), Some(&1));
        assert!(!chain.lock().prune(&Keep(&[]), &pins));
    }

    #[test]
    fn what_leaves_the_chain_lives_until_the_pins_have_left() {
        let pins = Pins::new();
        let chain = chain_of(&[1], &Keep(&[]), &pins);
        let pin = pins.pin();
        let old = Arc::clone(chain.at(1, &pin).expect("installed").value);
        chain.lock().install((2, 2), Arc::new(2), &Keep(&[]), &pins);
        assert_eq!(Arc::strong_count(&old), 2);
        drop(pin);
        pins.collect();
        assert_eq!(Arc::strong_count(&old), 1);
    }
}
