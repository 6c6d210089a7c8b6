//! Immutable arrays that lie by themselves, or side by side in a leaf.
//!
//! # Layout
//!   A *leaf* is one allocation that a builder fills from the left; each [`Slice`] cut from it
//!   holds a share of the leaf, which is freed with its last slice.
//! # Invariants
//!   - S1 What lies left of the builder's `used` is initialised and never written again.
//!   - S2 What lies right of it belongs to the one builder of the leaf.
//!   - S3 Slices of one leaf that were placed one after the other lie side by side.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// An immutable array.
pub(crate) struct Slice<T> {
    start: NonNull<T>,
    len: usize,
    /// The leaf it lies in, or none if it is an allocation of its own.
    leaf: Option<Arc<Leaf<T>>>,
}

/// The memory of a leaf.
struct Leaf<T> {
    start: NonNull<T>,
    capacity: usize,
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
    /// A leaf for `capacity` values.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let layout = Layout::array::<T>(capacity).expect("a leaf is far smaller than memory");
        let start = match layout.size() {
            0 => NonNull::dangling(),
            // SAFETY: the layout has a size.
            _ => NonNull::new(unsafe { alloc(layout) }.cast::<T>())
                .unwrap_or_else(|| handle_alloc_error(layout)),
        };
        Self { leaf: Arc::new(Leaf { start, capacity }), used: 0 }
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
        let layout = Layout::array::<T>(self.capacity).expect("made with it");
        if layout.size() > 0 {
            // SAFETY: allocated in `with_capacity` with this layout; the last share is gone.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn slices_outlive_their_builder_and_each_other() {
        let mut builder = LeafBuilder::with_capacity(5);
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
        let mut builder = LeafBuilder::with_capacity(3);
        assert_eq!(builder.place(vec![(); 3]).map(|slice| slice.len()).ok(), Some(3));
        assert!(Slice::<u32>::from(Vec::new()).is_empty());
    }
}
