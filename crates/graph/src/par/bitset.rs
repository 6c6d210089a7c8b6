//! A set of vertex ids that many threads fill at once.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::VertexId;

/// A bit per vertex, settable from many threads.
///
/// All accesses are `Relaxed`: a kernel's parallel loop ends (joins) before its next loop reads
/// what was set, and within a loop a stale answer is allowed.
pub struct AtomicBitset {
    words: Vec<AtomicU64>,
}

impl AtomicBitset {
    /// An empty set for ids `< bound`.
    pub fn new(bound: u32) -> Self {
        let words = (bound as usize).div_ceil(64);
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Whether `v` is in the set.
    #[inline]
    pub fn contains(&self, v: VertexId) -> bool {
        self.words[v as usize / 64].load(Ordering::Relaxed) >> (v % 64) & 1 == 1
    }

    /// Adds `v`; true if it was not there before.
    #[inline]
    pub fn insert(&self, v: VertexId) -> bool {
        let bit = 1 << (v % 64);
        self.words[v as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Takes every id out.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// The 64 ids from `64 * index`, a bit each.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.words[index].load(Ordering::Relaxed)
    }

    /// Replaces the 64 ids from `64 * index`.
    #[inline]
    pub fn set_word(&self, index: usize, bits: u64) {
        self.words[index].store(bits, Ordering::Relaxed);
    }
}
