//! A table of fixed capacity that one writer appends to while all may read what was published.
//!
//! # Layout
//!   One allocation, column after column: `[weight; K] [id: u32; K] [stamp: u32; K] [tag: u8; K]`.
//!   Scanning for an id touches the ids only.
//! # Invariants
//!   - D1 Rows `< len` are initialised and never written again.
//!   - D2 Row `claimed - 1 >= len`, if there is one, belongs to the writer that claimed it.
//! # Checked by
//!   loom: `models::loom_delta_*`.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use crate::raw::prefetch::prefetch;
use crate::sync::{AtomicU32, Ordering};

/// Rows of a table at most: a merge packs row numbers into 26 bits.
pub(crate) const ROWS_MAX: usize = 1 << 26;

/// One row of a [`Delta`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row<W> {
    /// What the row is about, for the owner of the table to say.
    pub(crate) id: u32,
    pub(crate) tag: u8,
    /// When, counted from a start that the owner of the table knows.
    pub(crate) stamp: u32,
    pub(crate) weight: W,
}

/// The rows published at one moment, by column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a, W> {
    pub(crate) ids: &'a [u32],
    pub(crate) stamps: &'a [u32],
    pub(crate) tags: &'a [u8],
    pub(crate) weights: &'a [W],
}

impl<W: Copy> Rows<'_, W> {
    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Row `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> Row<W> {
        Row { id: self.ids[i], tag: self.tags[i], stamp: self.stamps[i], weight: self.weights[i] }
    }
}

/// An append-only table with room for a fixed number of rows.
pub(crate) struct Delta<W> {
    columns: NonNull<u8>,
    capacity: u32,
    /// Rows that may be read. Stored with Release by the writer after the row, loaded with
    /// Acquire by readers.
    len: AtomicU32,
    /// Rows that were given to a writer: `len`, or `len + 1` while one is written.
    claimed: AtomicU32,
    _owns: PhantomData<W>,
}

// SAFETY: rows are written by one thread at a time (D2) and read by others after they were
// published with Release (D1); `W` is plain data that may cross threads.
unsafe impl<W: Send + Sync> Send for Delta<W> {}
// SAFETY: as above.
unsafe impl<W: Send + Sync> Sync for Delta<W> {}

impl<W: Copy> Delta<W> {
    /// An empty table for `capacity` rows.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, ROWS_MAX);
        let layout = Self::layout(capacity);
        // SAFETY: the layout is not empty, as `capacity >= 1` and a row has an id.
        let columns = NonNull::new(unsafe { alloc(layout) });
        let columns = columns.unwrap_or_else(|| handle_alloc_error(layout));
        Self {
            columns,
            capacity: capacity as u32,
            len: AtomicU32::new(0),
            claimed: AtomicU32::new(0),
            _owns: PhantomData,
        }
    }

    /// The first cell of each column.
    #[inline]
    fn starts(&self) -> (NonNull<W>, NonNull<u32>, NonNull<u32>, NonNull<u8>) {
        let capacity = self.capacity as usize;
        let weights = self.columns.cast::<W>();
        // SAFETY: each column ends within the allocation of `layout(capacity)`, in this order;
        // the weights come first and their size is a multiple of their alignment, which is at
        // least that of `u32` or they have no size.
        unsafe {
            let ids = weights.add(capacity).cast::<u32>();
            let stamps = ids.add(capacity);
            let tags = stamps.add(capacity).cast::<u8>();
            (weights, ids, stamps, tags)
        }
    }

    /// How many rows fit.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    /// Appends a row and publishes it.
    ///
    /// # Panics
    /// If the table is full, or if two threads append at once: the owner orders its writers.
    #[inline]
    pub(crate) fn push(&self, row: Row<W>) {
        let at = self.len.load(Ordering::Relaxed);
        assert!(at < self.capacity, "a delta is given room before it is written");
        let claim = self.claimed.compare_exchange(at, at + 1, Ordering::Acquire, Ordering::Relaxed);
        assert!(claim.is_ok(), "a delta has one writer at a time");
        let (weights, ids, stamps, tags) = self.starts();
        let i = at as usize;
        // SAFETY: `i < capacity` (asserted above), so each cell lies in its column. Row `i` was
        // claimed above by this thread alone (D2) and is not published, so nobody reads it (D1).
        unsafe {
            weights.add(i).write(row.weight);
            ids.add(i).write(row.id);
            stamps.add(i).write(row.stamp);
            tags.add(i).write(row.tag);
        }
        self.len.store(at + 1, Ordering::Release);
    }

    /// Asks for all ids, and for the place of the next row in the other columns.
    #[inline]
    pub(crate) fn prefetch(&self) {
        let len = self.len();
        let (weights, ids, stamps, tags) = self.starts();
        prefetch(ids.as_ptr(), (len + 1) * size_of::<u32>());
        prefetch(stamps.as_ptr().wrapping_add(len), 1);
        prefetch(tags.as_ptr().wrapping_add(len), 1);
        prefetch(weights.as_ptr().wrapping_add(len), size_of::<W>());
    }

    /// The rows published so far.
    #[inline]
    pub(crate) fn rows(&self) -> Rows<'_, W> {
        let len = self.len();
        let (weights, ids, stamps, tags) = self.starts();
        // SAFETY: `len <= capacity` rows were written before `len` was stored with Release and
        // are never written again (D1); the columns live as long as `self`.
        unsafe {
            Rows {
                ids: slice::from_raw_parts(ids.as_ptr(), len),
                stamps: slice::from_raw_parts(stamps.as_ptr(), len),
                tags: slice::from_raw_parts(tags.as_ptr(), len),
                weights: slice::from_raw_parts(weights.as_ptr(), len),
            }
        }
    }
}

impl<W> Delta<W> {
    fn layout(capacity: usize) -> Layout {
        let row = size_of::<W>() + 2 * size_of::<u32>() + size_of::<u8>();
        let align = align_of::<W>().max(align_of::<u32>());
        Layout::from_size_align(row * capacity, align).expect("at most 2^26 rows of 17 bytes")
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        Self::layout(self.capacity as usize).size()
    }
}

impl<W> Drop for Delta<W> {
    fn drop(&mut self) {
        // SAFETY: allocated in `with_capacity` with this layout; weights are `Copy`, so nothing
        // in the rows needs dropping.
        unsafe { dealloc(self.columns.as_ptr(), Self::layout(self.capacity as usize)) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_by_column_with_and_without_weights() {
        let delta = Delta::with_capacity(3);
        for i in 0..3u32 {
            delta.push(Row { id: 10 + i, tag: i as u8, stamp: 100 + i, weight: f64::from(i) });
        }
        let rows = delta.rows();
        assert_eq!((rows.ids, rows.stamps), (&[10, 11, 12][..], &[100, 101, 102][..]));
        assert_eq!((rows.tags, rows.weights), (&[0, 1, 2][..], &[0.0, 1.0, 2.0][..]));

        let plain = Delta::with_capacity(1);
        plain.push(Row { id: 7, tag: 8, stamp: 9, weight: () });
        assert_eq!(plain.rows().row(0), Row { id: 7, tag: 8, stamp: 9, weight: () });
    }

    #[test]
    #[should_panic(expected = "given room")]
    fn a_full_table_takes_no_row() {
        let delta = Delta::with_capacity(1);
        delta.push(Row { id: 0, tag: 0, stamp: 0, weight: () });
        delta.push(Row { id: 0, tag: 0, stamp: 0, weight: () });
    }

    #[test]
    fn readers_see_whole_rows_while_a_writer_appends() {
        let delta = Delta::with_capacity(10_000);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..10_000 {
                    delta.push(Row { id: i, tag: i as u8, stamp: !i, weight: f64::from(i) });
                }
            });
            while delta.len() < 10_000 {
                let rows = delta.rows();
                let Some(last) = rows.len().checked_sub(1) else {
                    continue;
                };
                let i = last as u32;
                let whole = Row { id: i, tag: i as u8, stamp: !i, weight: f64::from(i) };
                assert_eq!(rows.row(last), whole);
            }
        });
    }
}
