//! References that stay good as long as a lease.
//!
//! A snapshot resolves each group once, under the group's latch, and keeps the reference; from
//! then on its readers look at it without latch, pin or version.
//!
//! # Why that is safe
//!   [`super::chain::Locked::lend`] gives the state of the leased version `s`. It leaves its chain
//!   only if no lease in `[version, from)` is open (C4 of `chain.rs`), and that it was lent makes
//!   `from` larger than `s`. So `s` lies in that interval until the lease ends. Chains live as long
//!   as their owner. The table holds both: the lease and the owner of the chains.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::sync::{AtomicPtr, Ordering};

/// A table of references to values that a lease keeps.
///
/// `K` is what keeps them: the lease and the owner of the chains.
pub(crate) struct LeasedTable<T, K> {
    /// Null until resolved. Stored with Release, loaded with Acquire. A cell may be stored again;
    /// what was there before is kept by the lease as well.
    cells: Box<[AtomicPtr<T>]>,
    _keeper: Arc<K>,
}

impl<T, K> LeasedTable<T, K> {
    /// A table of `len` unresolved cells, kept by `keeper`.
    pub(crate) fn new(len: usize, keeper: Arc<K>) -> Self {
        let null = || AtomicPtr::new(std::ptr::null_mut());
        Self { cells: std::iter::repeat_with(null).take(len).collect(), _keeper: keeper }
    }

    /// How many cells there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The value of cell `i`, if it is resolved.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> Option<&T> {
        // SAFETY: `set` stored a pointer that `lend` gave for the lease held by `keeper`; both
        // the lease and the chain live as long as `self` (see the head of this file).
        unsafe { self.cells[i].load(Ordering::Acquire).as_ref() }
    }

    /// The value of cell `i`, if there is such a cell and it is resolved.
    #[inline]
    pub(crate) fn get_if_any(&self, i: usize) -> Option<&T> {
        if i < self.len() { self.get(i) } else { None }
    }

    /// Resolves cell `i` to a value lent for the lease of this table.
    #[inline]
    pub(crate) fn set(&self, i: usize, lent: NonNull<T>) -> &T {
        self.cells[i].store(lent.as_ptr(), Ordering::Release);
        // SAFETY: as in `get`.
        unsafe { &*lent.as_ptr() }
    }
}
