//! The time of day and how long something took: the one place that asks the system.

use std::time::{Duration, Instant, SystemTime};

/// How often a thread in the background looks whether there is something to do, or it is to end.
pub(crate) const PERIOD: Duration = Duration::from_millis(100);

/// Microseconds since 1970.
pub(crate) fn now() -> u64 {
    micros(SystemTime::now())
}

/// This moment, to see later how long ago it was.
pub(crate) fn moment() -> Instant {
    Instant::now()
}

/// A time as microseconds since 1970; 0 if it was before.
pub(crate) fn micros(time: SystemTime) -> u64 {
    whole_micros(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// A duration in microseconds, as far as they can be told.
pub(crate) fn whole_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The time that is so many microseconds after 1970 began.
pub(crate) fn at(micros: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}

/// How long is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    start: Instant,
    limit: Duration,
}

impl Limit {
    /// From now on.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { start: Instant::now(), limit }
    }

    /// How long is left.
    pub(crate) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }
}
