//! Sorting many words that look random: cut into buckets by their leading bits, then each bucket
//! sorted in cache. The result depends on the words alone, not on the number of threads.

use rayon::prelude::*;

/// Words per bucket: 32 Ki words are 256 KiB and sort inside a second-level cache.
const WORDS_PER_BUCKET: usize = 1 << 15;
/// Most bits that choose a bucket; more buckets than this outgrow the address translation cache.
const BUCKET_BITS_MAX: u32 = 12;
/// Parts per thread, so that a slow part does not hold up the rest.
const PARTS_PER_THREAD: usize = 4;

/// One task's words, by bucket.
pub(crate) struct Partition {
    buckets: Vec<Vec<u64>>,
    bits: u32,
}

impl Partition {
    /// Puts `word` into its bucket.
    #[inline]
    pub(crate) fn push(&mut self, word: u64) {
        // Two shifts, because a shift by all 64 bits is not defined.
        let bucket = word >> 1 >> (63 - self.bits);
        self.buckets[bucket as usize].push(word);
    }
}

/// The words that `fill` pushes for the pieces `0 .. pieces`, sorted: buckets in ascending order,
/// ascending within. `words` is about how many there will be.
///
/// Takes 8 bytes a word, and 8 more for the words of the buckets being sorted.
pub(crate) fn sort_in_buckets(
    pieces: usize,
    words: usize,
    fill: impl Fn(usize, &mut Partition) + Sync,
) -> Vec<Vec<u64>> {
    let bits = (words / WORDS_PER_BUCKET).checked_ilog2().unwrap_or(0).min(BUCKET_BITS_MAX);
    let parts = (PARTS_PER_THREAD * rayon::current_num_threads()).min(pieces);
    let parts: Vec<Partition> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let mut partition = Partition::new(bits, words / parts);
            let (start, end) = (pieces * part / parts, pieces * (part + 1) / parts);
            for piece in start..end {
                fill(piece, &mut partition);
            }
            partition
        })
        .collect();
    transpose(parts, bits)
        .into_par_iter()
        .map(|pieces| {
            let mut bucket = pieces.concat();
            drop(pieces);
            bucket.sort_unstable();
            bucket
        })
        .collect()
}

impl Partition {
    fn new(bits: u32, words: usize) -> Self {
        // A sixteenth above the mean holds nearly every bucket without growing it.
        let mean = words >> bits;
        let bucket = || Vec::with_capacity(mean + mean / 16 + 8);
        Self { buckets: std::iter::repeat_with(bucket).take(1 << bits).collect(), bits }
    }
}

/// From buckets by part to parts by bucket.
fn transpose(parts: Vec<Partition>, bits: u32) -> Vec<Vec<Vec<u64>>> {
    let mut buckets: Vec<Vec<Vec<u64>>> = vec![Vec::with_capacity(parts.len()); 1 << bits];
    for part in parts {
        for (bucket, words) in buckets.iter_mut().zip(part.buckets) {
            bucket.push(words);
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn the_buckets_one_after_the_other_are_the_sorted_words() {
        for words in [0usize, 1, 1000, 300_000] {
            let mut expected: Vec<u64> = (0..words as u64).map(|i| mix(i / 2)).collect();
            let pieces = words.div_ceil(1000);
            let sorted = sort_in_buckets(pieces, words, |piece, partition| {
                for &word in &expected[piece * 1000..words.min((piece + 1) * 1000)] {
                    partition.push(word);
                }
            });
            expected.sort_unstable();
            assert_eq!(sorted.concat(), expected, "{words} words");
            assert!(words < 300_000 || sorted.len() > 1);
        }
    }
}
