//! The one place the store takes atomics, locks and threads from: `std` and `parking_lot`, or
//! `loom` when a model is checked (`RUSTFLAGS="--cfg loom"`).
//!
//! Protocol code uses nothing else, so every protocol can be put under the model checker as it is.

#[cfg(not(loom))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

#[cfg(loom)]
pub(crate) use loom::hint::spin_loop;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub(crate) use loom::thread::yield_now;

#[cfg(not(loom))]
pub(crate) use parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

#[cfg(loom)]
pub(crate) use model::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Loom's locks in the shape of `parking_lot`'s: no poisoning.
#[cfg(loom)]
mod model {
    use std::time::Duration;

    pub(crate) use loom::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no model panics while it holds a lock")
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    #[derive(Debug)]
    pub(crate) struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::RwLock::new(value))
        }

        pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().expect("no model panics while it holds a lock")
        }

        pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().expect("no model panics while it holds a lock")
        }
    }

    impl<T: Default> Default for RwLock<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    /// Waits for a notice; the lock is free meanwhile.
    pub(crate) fn wait<'a, T>(notice: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        notice.0.wait(guard).expect("no model panics while it holds a lock")
    }

    #[derive(Debug)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }

        /// Waits for a notice; models have no clock, so the time limit never passes.
        pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) {
            // Loom's `wait` takes the guard by value; a model that needs it calls loom directly.
            let _ = guard;
            super::yield_now();
        }
    }
}

/// Waits for a notice; the lock is free meanwhile.
#[cfg(not(loom))]
pub(crate) fn wait<'a, T>(notice: &Condvar, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    notice.wait(&mut guard);
    guard
}

/// Waits for a notice; the lock is free meanwhile.
#[cfg(loom)]
pub(crate) use model::wait;

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
const SPINS_BEFORE_YIELD: u32 = 64;

/// Waits for `ready`, first spinning, then yielding.
pub(crate) fn wait_until(mut ready: impl FnMut() -> bool) {
    let mut spins = 0;
    while !ready() {
        if spins < SPINS_BEFORE_YIELD && !cfg!(loom) {
            spins += 1;
            spin_loop();
        } else {
            yield_now();
        }
    }
}
