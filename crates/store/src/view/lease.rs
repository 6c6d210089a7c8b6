//! The lease of a snapshot: while it is held, its version can be read.
//!
//! # Invariants
//!   - L1 The slot is freed once: by whoever moves the state to ENDED.
//!   - L2 While a [`Use`] lives the slot is held: an expiry waits for the last one to go.
//! # Checked by
//!   loom: `models::loom_lease_expiry`.

use std::sync::Arc;

use crate::Version;
use crate::epoch::{LeaseSlot, Versions};
use crate::fault::{Fault, planted};
use crate::sync::{AtomicU32, Ordering};

/// The state of a lease: uses in the high bits, and two flags.
const EXPIRED: u32 = 1;
const ENDED: u32 = 2;
const ONE_USE: u32 = 4;

/// A held version.
pub(crate) struct Lease {
    versions: Arc<Versions>,
    slot: LeaseSlot,
    version: u64,
    /// Coarse time of opening, as in `Leases::now`.
    opened: u64,
    /// Changed by read-modify-writes with `AcqRel` only: what was read under a use happens before
    /// the slot is freed.
    state: AtomicU32,
}

/// The right to read at the version of a lease.
pub(crate) struct Use<'a> {
    lease: &'a Lease,
}

impl Lease {
    pub(crate) fn new(versions: Arc<Versions>, slot: LeaseSlot, version: u64) -> Self {
        let opened = versions.leases.now();
        Self { versions, slot, version, opened, state: AtomicU32::new(0) }
    }

    pub(crate) fn version(&self) -> Version {
        Version(self.version)
    }

    /// Coarse time of opening, as in `Leases::now`.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Whether nobody has ended it.
    pub(crate) fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) & (EXPIRED | ENDED) == 0
    }

    /// Starts to read; `None` if the lease has expired.
    pub(crate) fn enter(&self) -> Option<Use<'_>> {
        let entered = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            (state & (EXPIRED | ENDED) == 0).then_some(state + ONE_USE)
        });
        entered.ok().map(|_| Use { lease: self })
    }

    /// Lets nobody start to read any more, and frees the slot once nobody reads.
    pub(crate) fn expire(&self) {
        let before = self.state.fetch_or(EXPIRED, Ordering::AcqRel);
        if planted(Fault::ExpiryIgnoresReaders) && before & EXPIRED == 0 {
            self.state.store(EXPIRED, Ordering::Release);
        }
        self.end_if_unused();
    }

    fn end_if_unused(&self) {
        let ended = self.state.compare_exchange(
            EXPIRED,
            EXPIRED | ENDED,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if ended.is_ok() {
            self.versions.leases.close(self.slot);
        }
    }

    /// Opens a second lease on the same version; `None` if this one has expired.
    pub(crate) fn again(&self) -> Option<Result<Self, crate::epoch::NoFreeLease>> {
        // While it is used this lease cannot end, so the version is kept until the new one is.
        let _use = self.enter()?;
        let slot = self.versions.leases.reopen(self.version);
        Some(slot.map(|slot| Self::new(Arc::clone(&self.versions), slot, self.version)))
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        let before = self.lease.state.fetch_sub(ONE_USE, Ordering::AcqRel);
        if before == ONE_USE | EXPIRED {
            self.lease.end_if_unused();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.expire();
    }
}
