//! How much memory the store holds: one counter, changed where blocks are allocated and freed.
//!
//! # Invariants
//!   - A1 What counts a block when it is made takes the same number off when it is freed: by a
//!     [`Charge`], from the same fields, or as the size of a table before and after. So the account
//!     cannot drift.
//! # What is counted
//!   Bases with their runs and deltas, old ones included, until they are freed; leaves, and the
//!   memory of leaves that waits to be used again; directories; the dictionary; what open
//!   transactions buffer and note, unless it is so little that it lies in the transaction itself.
//!   Not counted: what the allocator adds to each block, what a commit needs while it runs, the
//!   tables of views, and tables that every database has whatever it holds.
//! # Checked by
//!   tests/memory.rs, against the allocator.

use std::sync::Arc;

use crate::sync::{Ordering, Tally};

/// The account of one database. Cheap to clone: all clones are the same account.
#[derive(Clone, Default)]
pub(crate) struct Account(Arc<Tally>);

impl Account {
    /// Bytes held now. Changed and read `Relaxed`: nothing is ordered by it.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts memory that was allocated.
    #[inline]
    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Takes memory off that was freed.
    #[inline]
    pub(crate) fn sub(&self, bytes: usize) {
        self.0.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Counts memory until the charge is dropped.
    pub(crate) fn charge(&self, bytes: usize) -> Charge {
        self.add(bytes);
        Charge { account: self.clone(), bytes }
    }
}

/// Memory that is counted as long as this lives.
pub(crate) struct Charge {
    account: Account,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.sub(self.bytes);
    }
}
