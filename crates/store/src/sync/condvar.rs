//! A condition to wait for, beside a lock of `parking_lot`.
//!
//! The one of `parking_lot` keeps those who wait in a table of the whole process. Threads in the
//! background wait most of the time, so a forked child would nearly always find some of them there,
//! whose stacks are given to its own threads. Here who waits is known to the condition alone.
//!
//! # Invariants
//!   - `waiting` is raised under the lock of the caller, so whoever changes what is waited for under
//!     that lock, and notifies afterwards, sees it.
//!   - Between giving up the lock of the caller and waiting, `turn` is held: no notification is lost.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::MutexGuard;

/// A condition to wait for.
#[derive(Debug, Default)]
pub(crate) struct Condvar {
    /// How many wait. Raised and lowered by them, under the lock of the caller; read by whoever
    /// notifies, after it held that lock. So `Relaxed`.
    waiting: AtomicUsize,
    /// Raised by every notification.
    turn: std::sync::Mutex<u64>,
    wake: std::sync::Condvar,
}

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Gives up the lock and waits for a notification; then takes the lock again.
    pub(crate) fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.aside(guard, |turn| {
            let before = *turn;
            drop(self.wake.wait_while(turn, |turn| *turn == before));
        });
    }

    /// As [`Condvar::wait`], for so long at most.
    pub(crate) fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, limit: Duration) {
        self.aside(guard, |turn| {
            let before = *turn;
            drop(self.wake.wait_timeout_while(turn, limit, |turn| *turn == before));
        });
    }

    /// Waits as one of those who do, without the lock.
    fn aside<'a, T: ?Sized>(
        &'a self,
        guard: &mut MutexGuard<'_, T>,
        wait: impl FnOnce(std::sync::MutexGuard<'a, u64>),
    ) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        MutexGuard::unlocked(guard, || wait(turn));
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes all who wait.
    pub(crate) fn notify_all(&self) {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.wake.notify_all();
    }
}
