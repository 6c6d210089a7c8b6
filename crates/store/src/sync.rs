//! The one place the store takes atomics, locks and threads from: `std` and `parking_lot`, or what
//! takes their place where schedules are tried (`--cfg loom`, `--cfg shuttle`, `--cfg torture`).
//!
//! Protocol code uses nothing else, so every protocol can be put under a model checker as it is.
//! What each build is for is said in `docs/design/testing.md`.

#[cfg(any(loom, shuttle))]
mod checked;
#[cfg(torture)]
mod torture;

#[cfg(any(loom, shuttle))]
pub(crate) use checked::*;
#[cfg(torture)]
pub(crate) use torture::*;

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::OnceLock;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::{Ordering, fence};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread::yield_now;

#[cfg(not(any(loom, shuttle, torture)))]
pub(crate) use parking_lot::{Mutex, RwLock};
#[cfg(not(any(loom, shuttle, torture)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

#[cfg(not(any(loom, shuttle)))]
mod condvar;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use condvar::Condvar;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A thread that was started by [`spawn`].
#[cfg(not(any(loom, shuttle)))]
pub(crate) type JoinHandle = std::thread::JoinHandle<()>;

/// Starts a thread.
#[cfg(not(any(loom, shuttle)))]
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle {
    let thread = std::thread::Builder::new().name(name.into()).spawn(work);
    thread.expect("a process that opens a database may start a thread")
}

/// Where clocks start. Under torture it is just before what 32 bits hold: what keeps less than the
/// whole of a version, an epoch or a tick then loses it within a few commits.
pub(crate) const NEAR_A_WRAP: u64 = if cfg!(torture) { u32::MAX as u64 - 20 } else { 0 };

/// A counter that no protocol depends on: models need not try its interleavings.
pub(crate) type Tally = std::sync::atomic::AtomicU64;

/// A small number that differs between the threads of this process (until 2^32 threads have
/// lived): where a thread starts to look for a free slot, so that threads do not share lines.
pub(crate) fn thread_index() -> usize {
    use std::cell::Cell;
    // Not from the façade: the number is a hint, no protocol depends on it.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    thread_local! {
        static INDEX: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    if cfg!(any(loom, shuttle)) {
        // Their threads are no threads of the system, and a schedule must replay.
        return 0;
    }
    INDEX.with(|index| {
        if index.get() == usize::MAX {
            index.set(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
        index.get()
    })
}

/// Keeps a hot atomic on a line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Rounds of spinning before a waiter gives up its time slice: what is waited for takes tens of
/// nanoseconds unless its thread lost the processor.
const SPINS_BEFORE_YIELD: u32 = if cfg!(any(loom, shuttle, torture)) { 0 } else { 64 };

/// Waits for `ready`, first spinning, then yielding.
pub(crate) fn wait_until(mut ready: impl FnMut() -> bool) {
    let mut spins = 0;
    while !ready() {
        if spins < SPINS_BEFORE_YIELD {
            spins += 1;
            spin_loop();
        } else {
            yield_now();
        }
    }
}
