//! Lists that lie side by side in one array, looked up without checks: kernels ask for each list
//! of the graph again and again, and a static CSR checks nothing either.
//!
//! # Layout
//!   `spans[i]` is where list `i` begins, in the low half, and ends, in the high half: one word, so
//!   that a list costs one look. [`ELSEWHERE`] says that a list does not lie here.
//! # Invariants
//!   - L1 Every span but `ELSEWHERE` lies in `ids` and in `weights`; `new` checks each.
//!   - L2 Nothing is written after `new`.
//! # Checked by
//!   the tests below; tests/model.rs.

use std::ops::Range;
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

    #[inline]
    fn span(&self, at: usize) -> Option<Range<usize>> {
        let span = self.spans[at % N];
        (span != ELSEWHERE).then(|| unpacked(span))
    }

    /// List `at % N`, if it lies here.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&[T]> {
        // SAFETY: a span of this table that is not `ELSEWHERE` lies in `ids` (L1, L2).
        self.span(at).map(|span| unsafe { self.ids.get_unchecked(span) })
    }

    /// List `at % N` and what stands beside it, if it lies here.
    #[inline]
    pub(crate) fn get_weighted(&self, at: usize) -> Option<(&[T], &[W])> {
        let span = self.span(at)?;
        // SAFETY: a span of this table that is not `ELSEWHERE` lies in `ids` and in `weights`
        // (L1, L2).
        Some(unsafe { (self.ids.get_unchecked(span.clone()), self.weights.get_unchecked(span)) })
    }

    /// Passes the lists of `range` that are not empty, with their numbers, up to the first that
    /// lies elsewhere; its number, or the end of the range. The range does not pass a multiple of
    /// `N`.
    #[inline]
    pub(crate) fn each(&self, range: Range<u32>, mut f: impl FnMut(u32, &[T])) -> u32 {
        let first = range.start as usize % N;
        let spans = &self.spans[first..first + range.len()];
        let end = range.end;
        for (at, &span) in range.zip(spans) {
            if span == ELSEWHERE {
                return at;
            }
            let span = unpacked(span);
            if !span.is_empty() {
                // SAFETY: as in `get`.
                f(at, unsafe { self.ids.get_unchecked(span) });
            }
        }
        end
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
        assert_eq!(lists.each(4..8, |at, list| passed.push((at, list.to_vec()))), 7);
        assert_eq!(passed, [(4, vec![10, 11]), (6, vec![12])]);
        assert_eq!(lists.each(0..3, |_, _| {}), 3);
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
