//! Immutable arrays that lie by themselves, or side by side in a leaf.
//!
//! # Layout
//!   A *leaf* is one allocation that a builder fills from the left; each [`Slice`] cut from it
//!   holds a share of the leaf. With its last slice the memory goes back to the *pool* it came
//!   from: a graph that is laid out again and again takes the same pages each time, where the
//!   system would have to clear new ones. What nobody takes for a while is freed.
//! # Invariants
//!   - S1 What lies left of the builder's `used` is initialised and never written again.
//!   - S2 What lies right of it belongs to the one builder of the leaf.
//!   - S3 Slices of one leaf that were placed one after the other lie side by side.

use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use crate::account::Account;
use crate::sync::Mutex;

/// An immutable array.
pub(crate) struct Slice<T> {
    start: NonNull<T>,
    len: usize,
    /// The leaf it lies in, or none if it is an allocation of its own.
    leaf: Option<Arc<Leaf<T>>>,
}

/// Memory that is not initialised.
type Memory<T> = Box<[MaybeUninit<T>]>;

/// The memory of a leaf: that of a leaked [`Memory`].
struct Leaf<T> {
    start: NonNull<T>,
    capacity: usize,
    pool: Weak<LeafPool<T>>,
}

/// Memory of leaves that are gone.
pub(crate) struct LeafPool<T> {
    spares: Mutex<Vec<Spare<T>>>,
    /// Counts all memory that the pool made: that of leaves, and what is spare.
    account: Account,
}

struct Spare<T> {
    memory: Memory<T>,
    /// How often the pool was trimmed since it came back.
    age: u32,
}

/// Fills a leaf.
pub(crate) struct LeafBuilder<T> {
    leaf: Arc<Leaf<T>>,
    used: usize,
}

// SAFETY: a slice is read only, from any thread, and its memory is freed by whichever thread drops
// the last share: sound for plain data that may cross threads.
unsafe impl<T: Send + Sync> Send for Slice<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Slice<T> {}
// SAFETY: a leaf gives no access to its memory but through slices and the one builder.
unsafe impl<T: Send + Sync> Send for Leaf<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Leaf<T> {}

impl<T: Copy> From<Vec<T>> for Slice<T> {
    fn from(values: Vec<T>) -> Self {
        let values = Box::leak(values.into_boxed_slice());
        Self { len: values.len(), start: NonNull::from(values).cast(), leaf: None }
    }
}

impl<T> Deref for Slice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `len` are those of a leaked box, or of the part of a leaf that was
        // initialised when the slice was cut (S1) and that lives as long as the share in `leaf`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> Slice<T> {
    /// Bytes of its own allocation, none if it lies in a leaf.
    pub(crate) fn own_bytes(&self) -> usize {
        if self.leaf.is_some() { 0 } else { self.len * size_of::<T>() }
    }

    /// The same array again; it lies in a leaf, or is empty.
    pub(crate) fn share(&self) -> Self {
        let leaf = self.leaf.clone();
        assert!(leaf.is_some() || self.len == 0, "only a leaf has shares");
        Self { start: self.start, len: self.len, leaf }
    }
}

impl<T> Drop for Slice<T> {
    fn drop(&mut self) {
        if self.leaf.is_none() {
            let values = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
            // SAFETY: not in a leaf, so leaked from a box in `from`; dropped once, here.
            drop(unsafe { Box::from_raw(values) });
        }
    }
}

impl<T: Copy> LeafBuilder<T> {
    /// A leaf for `capacity` values, in memory from the pool.
    pub(crate) fn with_capacity(capacity: usize, pool: &Arc<LeafPool<T>>) -> Self {
        let memory = pool.take(capacity);
        let (capacity, pool) = (memory.len(), Arc::downgrade(pool));
        let start = NonNull::from(Box::leak(memory)).cast();
        Self { leaf: Arc::new(Leaf { start, capacity, pool }), used: 0 }
    }

    /// Copies values into the leaf, behind the ones before; gives them back if they do not fit.
    pub(crate) fn place(&mut self, values: Vec<T>) -> Result<Slice<T>, Vec<T>> {
        let len = values.len();
        if self.leaf.capacity - self.used < len {
            return Err(values);
        }
        // SAFETY: `used + len <= capacity` (checked above), so the target lies in the allocation;
        // it belongs to this builder (S2), so nobody reads it, and `values` lies elsewhere.
        let start = unsafe {
            let start = self.leaf.start.add(self.used);
            std::ptr::copy_nonoverlapping(values.as_ptr(), start.as_ptr(), len);
            start
        };
        self.used += len;
        Ok(Slice { start, len, leaf: Some(Arc::clone(&self.leaf)) })
    }

    /// Where a slice begins that was placed in this leaf.
    pub(crate) fn offset_of(&self, slice: &Slice<T>) -> Option<usize> {
        let here = slice.leaf.as_ref().is_some_and(|leaf| Arc::ptr_eq(leaf, &self.leaf));
        let bytes = || slice.start.addr().get() - self.leaf.start.addr().get();
        here.then(|| bytes() / size_of::<T>().max(1))
    }

    /// Everything that was placed, as one slice.
    pub(crate) fn finish(self) -> Slice<T> {
        Slice { start: self.leaf.start, len: self.used, leaf: Some(self.leaf) }
    }
}

impl<T> Drop for Leaf<T> {
    fn drop(&mut self) {
        let memory = self.start.cast::<MaybeUninit<T>>().as_ptr();
        let memory = std::ptr::slice_from_raw_parts_mut(memory, self.capacity);
        // SAFETY: leaked from a box of this length in `with_capacity`; the last share is gone, so
        // nobody looks at it; values need no drop (`T: Copy` where they are placed).
        let memory = unsafe { Box::from_raw(memory) };
        if let Some(pool) = self.pool.upgrade() {
            pool.give(memory);
        }
    }
}

/// Memory may be larger than the leaf that takes it by one part in so many, more or less. What is
/// too large at the end was never touched.
const SLACK: usize = 32;
/// Memory that was there at so many trims and was not taken is freed: some 3 s.
const AGE_MAX: u32 = 30;

impl<T> LeafPool<T> {
    /// An empty pool.
    pub(crate) fn new(account: Account) -> Self {
        Self { spares: Mutex::new(Vec::new()), account }
    }

    /// Memory for at least `capacity` values, and not for many more.
    fn take(&self, capacity: usize) -> Memory<T> {
        let step = (capacity / SLACK).max(1).next_power_of_two() / 2;
        let capacity = capacity.next_multiple_of(step.max(1));
        let mut spares = self.spares.lock();
        let fits = |spare: &Spare<T>| {
            (capacity..=capacity + capacity / SLACK).contains(&spare.memory.len())
        };
        let spare = spares.iter().rposition(fits).map(|at| spares.swap_remove(at).memory);
        drop(spares);
        spare.unwrap_or_else(|| {
            self.account.add(capacity * size_of::<T>());
            Box::new_uninit_slice(capacity)
        })
    }

    fn give(&self, memory: Memory<T>) {
        self.spares.lock().push(Spare { memory, age: 0 });
    }

    /// Frees what nobody took lately.
    pub(crate) fn trim(&self) {
        let mut spares = self.spares.lock();
        spares.iter_mut().for_each(|spare| spare.age += 1);
        let old: Vec<_> = spares.extract_if(.., |spare| spare.age > AGE_MAX).collect();
        drop(spares);
        self.account.sub(old.iter().map(|spare| size_of_val(&*spare.memory)).sum());
        drop(old);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn pool<T>() -> Arc<LeafPool<T>> {
        Arc::new(LeafPool::new(Account::default()))
    }

    #[test]
    fn slices_outlive_their_builder_and_each_other() {
        let pool = pool();
        let mut builder = LeafBuilder::with_capacity(5, &pool);
        let first = builder.place(vec![1u32, 2]).expect("fits");
        let second = builder.place(vec![3, 4, 5]).expect("fits");
        assert_eq!(builder.place(vec![6]).err(), Some(vec![6]));
        assert!(builder.place(vec![]).is_ok_and(|empty| empty.is_empty()));
        assert_eq!((builder.offset_of(&first), builder.offset_of(&second)), (Some(0), Some(2)));
        assert_eq!(builder.offset_of(&vec![1].into()), None);
        let whole = builder.finish();
        assert_eq!(&*whole, [1, 2, 3, 4, 5]);
        drop(whole);
        drop(first);
        assert_eq!(&*second, [3, 4, 5]);
    }

    #[test]
    fn a_slice_may_own_its_memory_and_weights_may_have_no_size() {
        let own = Slice::from(vec![7u32, 8]);
        assert_eq!(&*own, [7, 8]);
        let mut builder = LeafBuilder::with_capacity(3, &pool());
        assert_eq!(builder.place(vec![(); 3]).map(|slice| slice.len()).ok(), Some(3));
        assert!(Slice::<u32>::from(Vec::new()).is_empty());
    }

    #[test]
    fn memory_is_taken_again_until_it_is_too_old() {
        let pool = pool::<u32>();
        let leaf_at = |capacity| LeafBuilder::with_capacity(capacity, &pool).leaf.start;
        let first = leaf_at(800);
        assert_eq!(leaf_at(790), first);
        assert_eq!(pool.spares.lock().len(), 1);
        assert_ne!(leaf_at(600), leaf_at(900));
        assert_eq!(pool.spares.lock().len(), 3, "neither far larger nor smaller memory is taken");
        for _ in 0..AGE_MAX {
            pool.trim();
        }
        assert_eq!(pool.spares.lock().len(), 3);
        pool.trim();
        assert_eq!((pool.spares.lock().len(), pool.account.bytes()), (0, 0));
    }
}
