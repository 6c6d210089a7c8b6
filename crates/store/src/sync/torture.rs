//! `--cfg torture`: real threads that lose the processor wherever another one could do harm.
//!
//! Each operation of an atomic or a latch is preceded by a pause, and so is what is done under a
//! latch that was just taken.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::atomic;
use std::time::Duration;

use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// One pause in so many is a long one, in which other threads get far.
const LONG_PAUSES: u32 = 512;
const LONG_PAUSE: Duration = Duration::from_micros(50);

/// Lets other threads run.
fn pause() {
    thread_local! {
        static PAUSES: Cell<u32> = const { Cell::new(0) };
    }
    let pauses = PAUSES.get().wrapping_add(1);
    PAUSES.set(pauses);
    if pauses.is_multiple_of(LONG_PAUSES) {
        std::thread::sleep(LONG_PAUSE);
    } else {
        std::thread::yield_now();
    }
}

/// An atomic with a pause before each operation.
#[derive(Debug, Default)]
pub(crate) struct Paused<A>(A);

pub(crate) type AtomicBool = Paused<atomic::AtomicBool>;
pub(crate) type AtomicPtr<T> = Paused<atomic::AtomicPtr<T>>;
pub(crate) type AtomicU32 = Paused<atomic::AtomicU32>;
pub(crate) type AtomicU64 = Paused<atomic::AtomicU64>;
pub(crate) type AtomicUsize = Paused<atomic::AtomicUsize>;

impl<A> Paused<A> {
    pub(crate) fn new<V>(value: V) -> Self
    where
        A: From<V>,
    {
        Self(A::from(value))
    }
}

impl<A> Deref for Paused<A> {
    type Target = A;

    fn deref(&self) -> &A {
        pause();
        &self.0
    }
}

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        pause();
        let guard = self.0.lock();
        pause();
        guard
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        pause();
        self.0.try_lock()
    }
}

#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(parking_lot::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(parking_lot::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        pause();
        let guard = self.0.read();
        pause();
        guard
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        pause();
        let guard = self.0.write();
        pause();
        guard
    }
}
