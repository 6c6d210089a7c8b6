//! Epochs: who may still be looking at memory that was unlinked.
//!
//! # Protocol
//!   A reader that follows shared pointers holds a [`Pin`]: it claims a free slot with the epoch
//!   it read, fences, and only then looks at pointers.
//!   Whoever unlinks memory calls [`Pins::retire`] afterwards: it moves the epoch from `e` to
//!   `e + 1`, fences, and reads the slots. The memory is freed once no slot holds an epoch `<= e`.
//! # Why that is safe
//!   - A pin with an epoch `> e` read it from the move to `e + 1` or a later one, which comes after
//!     the unlink: it cannot find the memory any more.
//!   - A pin whose slot still looked free to the retirer fences after the retirer did, so it too
//!     sees the unlink.
//!   - Slots belong to no thread, so a thread that ends or panics leaves nothing behind but what
//!     the drop of its pin clears.
//! # Checked by
//!   loom: `models::loom_pin_*`.

use crate::fault::{Fault, planted};
use crate::sync::{
    AtomicU64, AtomicUsize, Mutex, NEAR_A_WRAP, Ordering, Padded, fence, thread_index, wait_until,
};

/// Pins at once; more wait. Pins last for one point read.
const PINS_MAX: usize = if cfg!(any(loom, shuttle)) {
    2
} else if cfg!(torture) {
    8
} else {
    256
};

/// A free slot. A pin at epoch `e` stores `e + 1`.
const FREE: u64 = 0;

/// The pins and the retired memory of one engine.
pub(crate) struct Pins {
    /// Moved by `fetch_add` with `AcqRel` after each unlink; read with Acquire by pins.
    epoch: Padded<AtomicU64>,
    slots: Box<[Padded<AtomicU64>]>,
    /// Slots from here on were never used. Grows only.
    used: AtomicUsize,
    /// What was unlinked and may still be looked at, with the epoch of the unlink.
    bag: Mutex<Vec<(u64, Box<dyn Send>)>>,
    /// The length of `bag`, so that an empty one costs no lock. A hint.
    bagged: AtomicUsize,
}

/// While it lives, nothing that could be reached when it was made is freed.
#[must_use]
pub(crate) struct Pin<'a> {
    slot: &'a AtomicU64,
}

impl Pins {
    pub(crate) fn new() -> Self {
        Self {
            epoch: Padded(AtomicU64::new(NEAR_A_WRAP)),
            slots: (0..PINS_MAX).map(|_| Padded(AtomicU64::new(FREE))).collect(),
            used: AtomicUsize::new(0),
            bag: Mutex::new(Vec::new()),
            bagged: AtomicUsize::new(0),
        }
    }

    /// Pins the current epoch.
    #[inline]
    pub(crate) fn pin(&self) -> Pin<'_> {
        let start = thread_index() % PINS_MAX;
        let slot = self.claim(start).unwrap_or_else(|| {
            let mut claimed = None;
            wait_until(|| {
                claimed = self.claim(start);
                claimed.is_some()
            });
            claimed.expect("waited until a slot was claimed")
        });
        fence(Ordering::SeqCst);
        Pin { slot }
    }

    #[inline]
    fn claim(&self, start: usize) -> Option<&AtomicU64> {
        let epoch = self.epoch.load(Ordering::Acquire) + 1;
        (0..PINS_MAX).find_map(|step| {
            let at = (start + step) % PINS_MAX;
            let slot = &self.slots[at].0;
            // The slot must count before it is claimed, or a scan could end short of it.
            if self.used.load(Ordering::Relaxed) <= at {
                self.used.fetch_max(at + 1, Ordering::SeqCst);
            }
            let free = slot.load(Ordering::Relaxed) == FREE;
            let claimed = free
                && slot.compare_exchange(FREE, epoch, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            claimed.then_some(slot)
        })
    }

    /// The oldest epoch that is pinned.
    fn oldest(&self) -> u64 {
        fence(Ordering::SeqCst);
        let used = self.used.load(Ordering::SeqCst);
        let epochs = self.slots[..used].iter().map(|slot| slot.load(Ordering::Acquire));
        epochs.filter(|&word| word != FREE).map(|word| word - 1).min().unwrap_or(u64::MAX)
    }

    /// Frees `garbage`, which must be unlinked already, as soon as no pin can see it.
    pub(crate) fn retire(&self, garbage: Box<dyn Send>) {
        let unlinked_in = self.epoch.fetch_add(1, Ordering::AcqRel);
        if self.oldest() > unlinked_in || planted(Fault::PinsIgnored) {
            drop(garbage);
        } else {
            let mut bag = self.bag.lock();
            bag.push((unlinked_in, garbage));
            self.bagged.store(bag.len(), Ordering::Relaxed);
        }
        self.collect();
    }

    /// Frees what was retired and can no longer be seen.
    pub(crate) fn collect(&self) {
        if self.bagged.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(mut bag) = self.bag.try_lock() else {
            return;
        };
        let oldest = self.oldest();
        let (free, keep) = std::mem::take(&mut *bag).into_iter().partition(|&(e, _)| e < oldest);
        *bag = keep;
        self.bagged.store(bag.len(), Ordering::Relaxed);
        // Unlocked first: what is dropped here may be large.
        drop(bag);
        drop::<Vec<_>>(free);
    }

    /// How many pieces of memory wait to be freed.
    #[cfg(all(test, not(loom)))]
    fn waiting(&self) -> usize {
        self.bagged.load(Ordering::Relaxed)
    }
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.store(FREE, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn memory_lives_as_long_as_a_pin_that_may_see_it() {
        let pins = Pins::new();
        let garbage = Arc::new(());
        let (early, late) = (pins.pin(), pins.pin());
        pins.retire(Box::new(Arc::clone(&garbage)));
        assert_eq!(Arc::strong_count(&garbage), 2);
        drop(early);
        pins.collect();
        assert_eq!((Arc::strong_count(&garbage), pins.waiting()), (2, 1));
        drop(late);
        let after = pins.pin();
        pins.collect();
        assert_eq!((Arc::strong_count(&garbage), pins.waiting()), (1, 0));
        drop(after);
    }

    #[test]
    fn without_pins_memory_is_freed_at_once() {
        let pins = Pins::new();
        let garbage = Arc::new(());
        pins.retire(Box::new(Arc::clone(&garbage)));
        assert_eq!((Arc::strong_count(&garbage), pins.waiting()), (1, 0));
    }
}
