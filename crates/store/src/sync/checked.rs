//! The types of a model checker, loom or shuttle, in the shape of `std`'s and `parking_lot`'s: no
//! poisoning, and a condition takes its guard by reference.

#[cfg(loom)]
use loom as checker;
#[cfg(shuttle)]
use shuttle as checker;

use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub(crate) use checker::hint::spin_loop;
pub(crate) use checker::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(crate) use checker::sync::{RwLockReadGuard, RwLockWriteGuard};
pub(crate) use checker::thread::yield_now;

pub(crate) type JoinHandle = checker::thread::JoinHandle<()>;

/// Starts a thread; those of a model have no names.
pub(crate) fn spawn(_: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle {
    checker::thread::spawn(work)
}

#[derive(Debug)]
pub(crate) struct Mutex<T>(checker::sync::Mutex<T>);

/// `None` only while a [`Condvar`] waits.
pub(crate) struct MutexGuard<'a, T>(Option<checker::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(checker::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect(NO_PANIC)))
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|guard| MutexGuard(Some(guard)))
    }
}

const NO_PANIC: &str = "no model panics while it holds a lock";
const NOT_WAITING: &str = "whoever waits uses no guard";

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(NOT_WAITING)
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(NOT_WAITING)
    }
}

#[derive(Debug)]
pub(crate) struct RwLock<T>(checker::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(checker::sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().expect(NO_PANIC)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().expect(NO_PANIC)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[derive(Debug)]
pub(crate) struct Condvar(checker::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(checker::sync::Condvar::new())
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits for a notice.
    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect(NOT_WAITING);
        guard.0 = Some(self.0.wait(held).expect(NO_PANIC));
    }

    /// Waits for a notice. Models have no clock, so the time limit never passes: a notice that
    /// gets lost is a deadlock.
    pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) {
        self.wait(guard);
    }
}

const EMPTY: u32 = 0;
const BEING_SET: u32 = 1;
const SET: u32 = 2;

/// A cell that is set once, by whoever comes first, while others wait. The value lies in a cell of
/// `std`, which the checker cannot see; who may look at it is said by `state`, which it can.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    state: AtomicU32,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self { value: std::sync::OnceLock::new(), state: AtomicU32::new(EMPTY) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) == SET { self.value.get() } else { None }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let claim = (EMPTY, BEING_SET);
        let (relaxed, acquire) = (Ordering::Relaxed, Ordering::Acquire);
        if self.state.compare_exchange(claim.0, claim.1, acquire, relaxed).is_ok() {
            let value = make();
            assert!(self.value.set(value).is_ok(), "set by whoever claimed it");
            self.state.store(SET, Ordering::Release);
        }
        super::wait_until(|| self.state.load(Ordering::Acquire) == SET);
        self.value.get().expect("set")
    }
}
