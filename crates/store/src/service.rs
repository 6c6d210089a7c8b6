//! Threads in the background, and the one that does the work nobody waits for; they end with the
//! database.
//!
//! # Protocol
//!   A thread waits on a condition with a time limit; dropping its [`Background`] raises `stop`
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

/// A thread that works in the background until it is dropped.
pub(crate) struct Background {
    rest: Arc<Rest>,
    thread: Option<JoinHandle>,
}

/// Where a thread in the background rests, and hears that it is to end.
pub(crate) struct Rest {
    /// Raised once, by the drop of the handle.
    stop: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Rest {
    /// Whether the thread is to end.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Rests for so long, or until the thread is to end: then true.
    pub(crate) fn pause(&self, period: Duration) -> bool {
        let mut guard = self.lock.lock();
        if !self.is_over() {
            self.wake.wait_for(&mut guard, period);
        }
        self.is_over()
    }
}

impl Background {
    /// Starts a thread that works until its rest is over.
    pub(crate) fn start(name: &str, work: impl FnOnce(&Rest) + Send + 'static) -> Self {
        let rest =
            Rest { stop: AtomicBool::new(false), lock: Mutex::new(()), wake: Condvar::new() };
        let rest = Arc::new(rest);
        let of_thread = Arc::clone(&rest);
        let thread = spawn(name, move || work(&of_thread));
        Self { rest, thread: Some(thread) }
    }
}

/// What the service thread does.
pub(crate) fn serve(inner: &Inner, rest: &Rest) {
    let start = Instant::now();
    let mut period = PERIOD_MAX;
    while !rest.pause(period) {
        inner.versions.leases.set_now(ticks(start.elapsed()));
        let round = inner.service_round(|| !rest.is_over());
        period = next_period(period, round);
    }
}

fn ticks(time: Duration) -> u64 {
    (time.as_millis() / TICK.as_millis()) as u64
}

fn next_period(period: Duration, round: Round) -> Duration {
    match round {
        Round { waiting: 0, .. } => PERIOD_MAX,
        Round { waiting, done } if done * WORTHWHILE >= waiting => PERIOD_MIN,
        _ => (2 * period).min(5 * PERIOD_MAX),
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        {
            let _guard = self.rest.lock.lock();
            self.rest.stop.store(true, Ordering::Release);
            self.rest.wake.notify_all();
        }
        if let Some(thread) = self.thread.take() {
            // A panic there was printed by the thread; the database itself is unharmed.
            drop(thread.join());
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn ticks_are_tenths_of_a_second() {
        assert_eq!(ticks(Duration::from_millis(99)), 0);
        assert_eq!(ticks(Duration::from_millis(1_250)), 12);
    }

    #[test]
    #[cfg_attr(torture, ignore = "all periods are the shortest")]
    fn rounds_come_more_slowly_while_little_gets_done() {
        let after = |period, waiting, done| next_period(period, Round { waiting, done });
        assert_eq!(after(PERIOD_MIN, 0, 100), PERIOD_MAX, "nothing is left");
        assert_eq!(after(PERIOD_MAX, 80, 10), PERIOD_MIN, "an eighth got done");
        assert_eq!(after(PERIOD_MIN, 80, 9), 2 * PERIOD_MIN);
        assert_eq!(after(PERIOD_MAX, 80, 0), 2 * PERIOD_MAX);
        assert_eq!(after(4 * PERIOD_MAX, 80, 0), 5 * PERIOD_MAX, "but not for ever");
    }

    #[test]
    fn a_thread_rests_until_it_is_to_end() {
        const REST: Duration = Duration::from_millis(50);
        let (tell, heard) = mpsc::channel();
        let background = Background::start("test", move |rest| {
            let start = Instant::now();
            let first = rest.pause(REST);
            tell.send((first, start.elapsed())).expect("somebody listens");
            while !rest.pause(Duration::from_mins(10)) {}
            tell.send((rest.is_over(), start.elapsed())).expect("somebody listens");
        });
        let (is_over, time) = heard.recv().expect("it is told");
        assert!(!is_over && time >= REST, "{time:?}");
        drop(background);
        // Whoever drops it waits for it.
        let (is_over, time) = heard.try_recv().expect("it has ended");
        assert!(is_over && time < Duration::from_mins(5), "{time:?}");
    }
}
