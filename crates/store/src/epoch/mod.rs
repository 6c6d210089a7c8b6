//! Versions in time: who gives them out, which one is visible, and who still needs an old one.
//!
//! The protocols are told in `docs/design/versions.md`.

mod clock;
mod lease;
mod positions;

pub(crate) use clock::{Clock, Ticket};
pub(crate) use lease::{LEASES_MAX, LeaseInfo, LeaseKind, LeaseSlot, Leases, NoFreeLease};

use std::sync::Arc;

use self::positions::Positions;
use crate::account::Account;
use crate::fault::{Fault, planted};
use crate::log::{Log, Stopped};
use crate::raw::{Pins, Retention};

/// The clock, the leases and the pins of one database, and what its versions take.
pub(crate) struct Versions {
    pub(crate) clock: Clock,
    pub(crate) leases: Leases,
    pub(crate) pins: Pins,
    pub(crate) account: Account,
    pub(crate) positions: Positions,
    /// Where commits are written down, unless the database lives in memory only.
    pub(crate) log: Option<Arc<Log>>,
}

impl Versions {
    /// A database at version `start` that nobody reads.
    pub(crate) fn new(start: u64) -> Self {
        Self::logged(start, None)
    }

    /// A database whose commits are written down.
    pub(crate) fn logged(start: u64, log: Option<Arc<Log>>) -> Self {
        Self {
            clock: Clock::new(start),
            leases: Leases::new(),
            pins: Pins::new(),
            account: Account::default(),
            positions: Positions::default(),
            log,
        }
    }

    /// Takes the version of a commit whose record is `record`. From here on nothing may refuse it.
    #[expect(clippy::inline_always, reason = "on the way of every commit of an edge")]
    #[inline(always)]
    pub(crate) fn take(&self, record: &[u8]) -> Result<Ticket<'_>, Stopped> {
        match &self.log {
            None => Ok(self.clock.take()),
            Some(log) => log.append(&self.clock, record),
        }
    }

    /// The version taken last, once it is visible.
    pub(crate) fn settled(&self) -> Result<u64, Stopped> {
        let failed = || self.log.as_ref().is_some_and(|log| log.has_failed());
        self.clock.settled(failed).ok_or(Stopped::Before)
    }

    /// As [`Versions::take`], unless another version than `last` was taken last.
    pub(crate) fn take_after(
        &self,
        record: &[u8],
        last: u64,
    ) -> Result<Option<Ticket<'_>>, Stopped> {
        match &self.log {
            None => Ok(self.clock.take_after(last)),
            Some(log) => log.append_after(&self.clock, record, last),
        }
    }

    /// Makes a version visible whose changes are in place, once it is as durable as it must be.
    #[expect(clippy::inline_always, reason = "on the way of every commit of an edge")]
    #[inline(always)]
    pub(crate) fn finish(&self, ticket: Ticket<'_>) -> Result<(), Stopped> {
        if let Some(log) = &self.log
            && let Err(stopped) = log.wait(ticket.version())
        {
            if planted(Fault::FailedIsVisible) {
                ticket.complete();
            } else {
                ticket.abandon();
            }
            return Err(stopped);
        }
        ticket.complete();
        Ok(())
    }
}

impl Retention for Versions {
    #[inline]
    fn need(&self, from: u64, to: u64) -> bool {
        self.leases.need(from, to)
    }
}
