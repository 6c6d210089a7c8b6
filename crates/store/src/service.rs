//! The service thread: does the work that nobody waits for, and ends with the database.
//!
//! # Protocol
//!   The thread waits on a condition with a time limit; [`ServiceThread::drop`] raises `stop`
//!   under the lock, wakes it and joins it. It looks at `stop` between pieces of work, so closing
//!   a database waits for one piece at most.
//!   Rounds come more slowly while writers keep changing what is queued: looking at groups that
//!   cannot be settled yet costs as much as settling them.
//! # Checked by
//!   loom: `models::loom_service_*`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::database::{Inner, Round, TICK};
use crate::sync::{AtomicBool, Condvar, JoinHandle, Mutex, Ordering, spawn};

/// Between two rounds that find work to do.
const PERIOD_MIN: Duration = Duration::from_millis(if cfg!(torture) { 1 } else { 10 });
/// Between two rounds that find none, or only work that must wait.
const PERIOD_MAX: Duration = if cfg!(torture) { PERIOD_MIN } else { TICK };
/// A round that gets less than one in so many groups done is followed by a longer wait.
const WORTHWHILE: usize = 8;

/// The service thread of a database.
pub(crate) struct ServiceThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle>,
}

struct Shared {
    /// Raised once, by the drop of the handle.
    stop: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl ServiceThread {
    /// Starts the thread of a database.
    pub(crate) fn start(inner: Arc<Inner>) -> Self {
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = spawn("evergraph-service", move || serve(&inner, &of_thread));
        Self { shared, thread: Some(thread) }
    }
}

fn serve(inner: &Inner, shared: &Shared) {
    let start = Instant::now();
    let mut period = PERIOD_MAX;
    let stopped = || shared.stop.load(Ordering::Acquire);
    loop {
        let mut guard = shared.lock.lock();
        if stopped() {
            return;
        }
        shared.wake.wait_for(&mut guard, period);
        drop(guard);
        let ticks = start.elapsed().as_millis() / TICK.as_millis();
        inner.versions.leases.set_now(ticks as u64);
        let round = inner.service_round(|| !stopped());
        period = next_period(period, round);
    }
}

fn next_period(period: Duration, round: Round) -> Duration {
    match round {
        Round { waiting: 0, .. } => PERIOD_MAX,
        Round { waiting, done } if done * WORTHWHILE >= waiting => PERIOD_MIN,
        _ => (2 * period).min(5 * PERIOD_MAX),
    }
}

impl Drop for ServiceThread {
    fn drop(&mut self) {
        {
            let _guard = self.shared.lock.lock();
            self.shared.stop.store(true, Ordering::Release);
            self.shared.wake.notify_all();
        }
        if let Some(thread) = self.thread.take() {
            // A panic there was printed by the thread; the database itself is unharmed.
            drop(thread.join());
        }
    }
}
