//! Versions in time: who gives them out, which one is visible, and who still needs an old one.
//!
//! The protocols are told in `docs/design/versions.md`.

mod clock;
mod lease;

pub(crate) use clock::{Clock, Ticket};
pub(crate) use lease::{LEASES_MAX, LeaseInfo, LeaseKind, LeaseSlot, Leases, NoFreeLease};

use crate::account::Account;
use crate::raw::{Pins, Retention};

/// The clock, the leases and the pins of one database, and what its versions take.
pub(crate) struct Versions {
    pub(crate) clock: Clock,
    pub(crate) leases: Leases,
    pub(crate) pins: Pins,
    pub(crate) account: Account,
}

impl Versions {
    /// A database at version `start` that nobody reads.
    pub(crate) fn new(start: u64) -> Self {
        Self {
            clock: Clock::new(start),
            leases: Leases::new(),
            pins: Pins::new(),
            account: Account::default(),
        }
    }
}

impl Retention for Versions {
    #[inline]
    fn need(&self, from: u64, to: u64) -> bool {
        self.leases.need(from, to)
    }
}
