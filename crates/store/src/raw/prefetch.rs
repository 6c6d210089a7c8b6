//! Asking for memory before it is needed: a commit touches some thirty lines in two groups, most
//! of them in no cache, and one after the other they would be what it spends its time on.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the `bytes` at `start`, at most. Any address is fine: nothing is read.
#[inline]
pub(crate) fn prefetch<T>(start: *const T, bytes: usize) {
    let start = start.cast::<u8>();
    for offset in (0..bytes).step_by(LINE) {
        prefetch_line(start.wrapping_add(offset));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint, it never faults and changes nothing that a program can see.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch_line(_: *const u8) {}
