//! Lists that lie side by side in one array, looked up without checks: kernels ask for each list
//! of the graph again and again, and a static CSR checks nothing either.
//!
//! # Layout
//!   `spans[i]` is where list `i` begins, in the low half, and ends, in the high half: one word, so
//!   that a list costs one look. [`ELSEWHERE`] says that a list does not lie here.
//!   A [`ListTable`] puts the lists of many stretches one behind the other. Where each stretch
//!   lies stands in one small array, so that a look goes over no more than one step that a static
//!   CSR does not make.
//! # Invariants
//!   - L1 Every span but `ELSEWHERE` lies in `ids` and in `weights`; `new` checks each.
//!   - L2 Nothing is written after `new`.
//!   - L3 What a place of a table refers to is kept by the lists of the same table, and does not
//!     move: the spans are shared, the entries lie in a leaf, or there are none.
//! # Checked by
//!   the tests below; tests/model.rs.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use super::slice::Slice;

/// The span of a list that does not lie here.
pub(crate) const ELSEWHERE: u64 = u64::MAX;

/// `N` lists of `T`, with a `W` beside each entry; some may lie elsewhere. `N` is a power of two.
pub(crate) struct Lists<T, W, const N: usize> {
    spans: Arc<[u64; N]>,
    ids: Slice<T>,
    weights: Slice<W>,
}

/// The word for a span.
#[inline]
pub(crate) fn packed(span: &Range<usize>) -> u64 {
    (span.end as u64) << u32::BITS | span.start as u64
}

#[inline]
fn unpacked(span: u64) -> Range<usize> {
    span as u32 as usize..(span >> u32::BITS) as usize
}

impl<T: Copy, W: Copy, const N: usize> Lists<T, W, N> {
    /// No list lies here.
    pub(crate) fn nowhere() -> Self {
        let spans = vec![ELSEWHERE; N].into_boxed_slice();
        Self::new(spans, Vec::new().into(), Vec::new().into())
    }

    /// Lists by their spans.
    ///
    /// # Panics
    /// If there are not `N`, or one does not lie in `ids` and `weights`.
    pub(crate) fn new(spans: Box<[u64]>, ids: Slice<T>, weights: Slice<W>) -> Self {
        assert!(N.is_power_of_two(), "the place of a list is taken modulo their number");
        let most = ids.len().min(weights.len());
        let fits = |&span: &u64| {
            let lies = unpacked(span);
            span == ELSEWHERE || lies.start <= lies.end && lies.end <= most
        };
        assert!(spans.iter().all(fits), "a list lies outside of the array");
        let spans = Arc::<[u64]>::from(spans).try_into().expect("a span for each list");
        Self { spans, ids, weights }
    }

    /// The same lists for somebody else.
    pub(crate) fn share(&self) -> Self {
        let (ids, weights) = (self.ids.share(), self.weights.share());
        Self { spans: Arc::clone(&self.spans), ids, weights }
    }

    fn place(&self) -> Place<T, W, N> {
        Place {
            spans: NonNull::from(&*self.spans),
            ids: NonNull::from(&*self.ids).cast(),
            weights: NonNull::from(&*self.weights).cast(),
        }
    }

    /// The lists as a reader looks them up.
    #[inline]
    fn looked_up(&self) -> Looked<'_, T, W, N> {
        Looked { place: self.place(), _lists: PhantomData }
    }

    /// List `at % N`, if it lies here.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&[T]> {
        self.looked_up().get(at)
    }

    /// List `at % N` and what stands beside it, if it lies here.
    #[inline]
    pub(crate) fn get_weighted(&self, at: usize) -> Option<(&[T], &[W])> {
        self.looked_up().get_weighted(at)
    }

    /// As [`Places::each`], of this stretch.
    #[inline]
    pub(crate) fn each(
        &self,
        range: Range<u32>,
        f: impl FnMut(u32, &[T]) -> ControlFlow<()>,
    ) -> u32 {
        self.looked_up().each(range, f)
    }
}

/// Where the lists of a stretch lie.
struct Place<T, W, const N: usize> {
    spans: NonNull<[u64; N]>,
    ids: NonNull<T>,
    weights: NonNull<W>,
}

impl<T, W, const N: usize> Clone for Place<T, W, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, W, const N: usize> Copy for Place<T, W, N> {}

/// A place whose lists are kept meanwhile.
struct Looked<'l, T, W, const N: usize> {
    place: Place<T, W, N>,
    _lists: PhantomData<&'l Lists<T, W, N>>,
}

impl<'l, T, W, const N: usize> Looked<'l, T, W, N> {
    #[inline]
    fn spans(&self) -> &'l [u64; N] {
        // SAFETY: the lists that the place is of live for `'l` (L3), and nobody writes (L2).
        unsafe { self.place.spans.as_ref() }
    }

    /// # Safety
    /// The span is one of `spans` that is not `ELSEWHERE`.
    #[inline]
    unsafe fn list(&self, span: &Range<usize>) -> &'l [T] {
        // SAFETY: such a span lies in `ids` (L1), which live for `'l` (L3) and are not written.
        unsafe { slice::from_raw_parts(self.place.ids.add(span.start).as_ptr(), span.len()) }
    }

    #[inline]
    fn span(&self, at: usize) -> Option<Range<usize>> {
        let span = self.spans()[at % N];
        (span != ELSEWHERE).then(|| unpacked(span))
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&'l [T]> {
        // SAFETY: one of the spans.
        self.span(at).map(|span| unsafe { self.list(&span) })
    }

    #[inline]
    fn get_weighted(&self, at: usize) -> Option<(&'l [T], &'l [W])> {
        let span = self.span(at)?;
        // SAFETY: one of the spans; it lies in `weights`, too (L1), which live as long (L3).
        Some(unsafe {
            let weights = self.place.weights.add(span.start).as_ptr();
            (self.list(&span), slice::from_raw_parts(weights, span.len()))
        })
    }

    #[inline]
    fn each(&self, range: Range<u32>, mut f: impl FnMut(u32, &[T]) -> ControlFlow<()>) -> u32 {
        let first = range.start as usize % N;
        let spans = &self.spans()[first..first + range.len()];
        let end = range.end;
        for (at, &span) in range.zip(spans) {
            if span == ELSEWHERE {
                return at;
            }
            let span = unpacked(span);
            if !span.is_empty() {
                // SAFETY: one of the spans.
                let list = unsafe { self.list(&span) };
                // It comes as one run, so none is left to be passed over.
                let _ = f(at, list);
            }
        }
        end
    }
}

/// The lists of many stretches of `N`, looked up by their number among all.
pub(crate) struct ListTable<T, W, const N: usize> {
    places: Box<[Place<T, W, N>]>,
    /// What keeps them.
    _lists: Box<[Lists<T, W, N>]>,
}

// SAFETY: places are read only, and what they refer to is that of the lists, which may be sent.
unsafe impl<T: Send + Sync, W: Send + Sync, const N: usize> Send for ListTable<T, W, N> {}
// SAFETY: as above, and which may be shared.
unsafe impl<T: Send + Sync, W: Send + Sync, const N: usize> Sync for ListTable<T, W, N> {}

impl<T: Copy, W: Copy, const N: usize> ListTable<T, W, N> {
    pub(crate) fn new(lists: Box<[Lists<T, W, N>]>) -> Self {
        Self { places: lists.iter().map(Lists::place).collect(), _lists: lists }
    }

    /// The lists, one step closer.
    #[inline]
    pub(crate) fn places(&self) -> Places<'_, T, W, N> {
        Places(&self.places)
    }
}

/// The lists of a [`ListTable`], looked up by their number among all.
pub(crate) struct Places<'l, T, W, const N: usize>(&'l [Place<T, W, N>]);

// SAFETY: places are read only, and what they refer to is that of the lists, which may be shared.
unsafe impl<T: Sync, W: Sync, const N: usize> Send for Places<'_, T, W, N> {}
// SAFETY: as above.
unsafe impl<T: Sync, W: Sync, const N: usize> Sync for Places<'_, T, W, N> {}

impl<'l, T, W, const N: usize> Places<'l, T, W, N> {
    #[inline]
    fn looked_up(&self, at: usize) -> Looked<'l, T, W, N> {
        Looked { place: self.0[at / N], _lists: PhantomData }
    }

    /// List `at`, if it lies here.
    ///
    /// # Panics
    /// If there is no such stretch.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&'l [T]> {
        self.looked_up(at).get(at)
    }

    /// List `at` and what stands beside it, if it lies here.
    ///
    /// # Panics
    /// If there is no such stretch.
    #[inline]
    pub(crate) fn get_weighted(&self, at: usize) -> Option<(&'l [T], &'l [W])> {
        self.looked_up(at).get_weighted(at)
    }

    /// Passes the lists of `range` that are not empty, with their numbers, up to the first that
    /// lies elsewhere; its number, or the end of the range. The range lies in one stretch.
    #[inline]
    pub(crate) fn each(
        &self,
        range: Range<u32>,
        f: impl FnMut(u32, &[T]) -> ControlFlow<()>,
    ) -> u32 {
        self.looked_up(range.start as usize).each(range, f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn lists(spans: [u64; 4]) -> Lists<u32, u8, 4> {
        Lists::new(Box::new(spans), vec![10u32, 11, 12].into(), vec![0u8, 1, 2].into())
    }

    #[test]
    fn lists_are_found_or_lie_elsewhere() {
        let lists = lists([packed(&(0..2)), ELSEWHERE, packed(&(3..3)), packed(&(2..3))]);
        assert_eq!(lists.get(0), Some(&[10, 11][..]));
        assert_eq!(lists.get(4 + 3), Some(&[12][..]));
        assert_eq!((lists.get(1), lists.get(2)), (None, Some(&[][..])));
        assert_eq!(lists.get_weighted(0), Some((&[10, 11][..], &[0, 1][..])));
        assert_eq!(Lists::<u32, (), 4>::nowhere().get(2), None);
    }

    #[test]
    fn passing_ends_where_a_list_lies_elsewhere() {
        let lists = lists([packed(&(0..2)), packed(&(2..2)), packed(&(2..3)), ELSEWHERE]);
        let mut passed = Vec::new();
        let mut pass = |at, list: &[u32]| {
            passed.push((at, list.to_vec()));
            ControlFlow::Continue(())
        };
        assert_eq!(lists.each(4..8, &mut pass), 7);
        assert_eq!(passed, [(4, vec![10, 11]), (6, vec![12])]);
        assert_eq!(lists.each(0..3, |_, _| ControlFlow::Continue(())), 3);
    }

    #[test]
    #[should_panic(expected = "outside")]
    fn a_list_that_ends_behind_the_array_is_refused() {
        lists([packed(&(0..4)), 0, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "outside")]
    fn a_list_that_ends_before_it_begins_is_refused() {
        lists([packed(&(2..2)), 2, 0, 0]);
    }
}
