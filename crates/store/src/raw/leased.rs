//! References that stay good as long as a lease, and runs packed into eight bytes.
//!
//! A snapshot resolves each group once, under the group's latch, and keeps the reference; from
//! then on its readers look at it without latch, pin or version.
//!
//! # Why that is safe
//!   [`super::chain::Locked::lend`] gives the state of the leased version `s`. It leaves its chain
//!   only if no lease in `[version, from)` is open (C4 of `chain.rs`). What takes its place comes
//!   from changes after `s`; or the state was lent by `lend_pending`, which makes `from` larger
//!   than `s`. So `s` lies in that interval until the lease ends. Chains live as long as their
//!   owner. The table holds both: the lease and the owner of the chains.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;
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

/// A run in eight bytes: the address of its first id in the low 48 bits, its length in the high
/// 16. [`PackedRuns::ELSEWHERE`] as length says that the run is not one slice.
#[derive(Clone, Copy, Debug)]
struct Packed(u64);

/// Addresses of user memory have no more bits on the machines we run on; checked for each run.
const ADDRESS_BITS: u32 = 48;

impl Packed {
    /// The run of a vertex whose neighbours do not lie in one slice.
    const ELSEWHERE: Self = Self((PackedRuns::ELSEWHERE as u64) << ADDRESS_BITS);

    /// Packs a run; one that does not fit is [`Packed::ELSEWHERE`].
    fn new(run: &[u32]) -> Self {
        let address = run.as_ptr().addr() as u64;
        if run.len() >= PackedRuns::ELSEWHERE || address >> ADDRESS_BITS != 0 {
            return Self::ELSEWHERE;
        }
        // Only the address is kept; `expose_provenance` makes the way back legal.
        let _ = run.as_ptr().expose_provenance();
        Self((run.len() as u64) << ADDRESS_BITS | address)
    }

    /// The length, which is all there is to know of an empty run.
    #[inline]
    fn len(self) -> usize {
        (self.0 >> ADDRESS_BITS) as usize
    }
}

/// One packed run per vertex: random access costs one dependent line, as in a static CSR.
///
/// `'a` is the life of the [`LeasedTable`] whose values the runs lie in.
pub(crate) struct PackedRuns<'a> {
    runs: Vec<Packed>,
    _values: PhantomData<&'a [u32]>,
}

impl<'a> PackedRuns<'a> {
    /// The length that says: not one slice.
    const ELSEWHERE: usize = u16::MAX as usize;

    /// Packs `run_of(v)` for each vertex `< bound`, in parallel; `None` is a vertex whose
    /// neighbours do not lie in one slice.
    pub(crate) fn build(bound: u32, run_of: impl Fn(u32) -> Option<&'a [u32]> + Sync) -> Self {
        use rayon::prelude::*;
        let pack = |v| run_of(v).map_or(Packed::ELSEWHERE, Packed::new);
        let runs = (0..bound).into_par_iter().with_min_len(4096).map(pack).collect();
        Self { runs, _values: PhantomData }
    }

    /// The run of `v`, if it is one slice.
    #[inline]
    pub(crate) fn get(&self, v: u32) -> Option<&'a [u32]> {
        let packed = self.runs[v as usize];
        if packed.len() == Self::ELSEWHERE {
            return None;
        }
        let address = (packed.0 & ((1 << ADDRESS_BITS) - 1)) as usize;
        // SAFETY: `build` packed the address and length of a slice that lives for `'a`, with its
        // provenance exposed. An empty slice has an aligned, non-null address too.
        Some(unsafe {
            slice::from_raw_parts(std::ptr::with_exposed_provenance(address), packed.len())
        })
    }

    /// How many neighbours `v` has, if they lie in one slice.
    #[inline]
    pub(crate) fn len_of(&self, v: u32) -> Option<u32> {
        let len = self.runs[v as usize].len();
        (len != Self::ELSEWHERE).then_some(len as u32)
    }
}
