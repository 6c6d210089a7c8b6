//! A bijection on 64-bit words whose results look random, and its inverse.
//!
//! Sorting distinct words by `mix(word ^ seed)` puts them into a seeded random order and makes
//! equal words neighbours, so that shuffling and finding duplicates are one sort. The constants
//! and shifts are those of the `SplitMix64` finaliser.

/// The step between the seeds of two streams: 2^64 divided by the golden ratio, odd.
const STREAM: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

const _: () = assert!(unmix(mix(STREAM)) == STREAM);

/// A word that looks random and from which [`unmix`] finds back to `x`.
#[inline]
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(FIRST);
    x = (x ^ (x >> 27)).wrapping_mul(SECOND);
    x ^ (x >> 31)
}

/// The word of which [`mix`] made `x`.
#[inline]
pub(crate) const fn unmix(mut x: u64) -> u64 {
    x ^= x >> 31 ^ x >> 62;
    x = x.wrapping_mul(const { inverse(SECOND) });
    x ^= x >> 27 ^ x >> 54;
    x = x.wrapping_mul(const { inverse(FIRST) });
    x ^ x >> 30 ^ x >> 60
}

/// A seed of its own for each stream (weights, labels, a block of edges) of one seed.
#[inline]
pub(crate) const fn stream(seed: u64, stream: u64) -> u64 {
    mix(mix(seed).wrapping_add(stream.wrapping_mul(STREAM)))
}

/// A random-looking permutation of `0 .. len`, computed rather than stored.
///
/// Each round is a permutation of all numbers of so many bits: an odd factor carries low bits up,
/// the shift brings high bits down. Numbers that land outside go round again until they land
/// inside, at most once in two on average.
pub(crate) struct Permutation {
    rounds: [(u64, u64); 4],
    len: u64,
    mask: u64,
    shift: u32,
}

impl Permutation {
    pub(crate) fn new(seed: u64, len: u64) -> Self {
        let bits = (u64::BITS - len.saturating_sub(1).leading_zeros()).max(1);
        let word = |i: u64| stream(seed, i);
        Self {
            rounds: [0, 1, 2, 3].map(|i| (word(2 * i) | 1, word(2 * i + 1))),
            len,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
        }
    }

    /// Where `i` goes. Needs `i < len`.
    #[inline]
    pub(crate) fn at(&self, i: u64) -> u64 {
        debug_assert!(i < self.len, "{i} is not below {}", self.len);
        let mut x = i;
        loop {
            for (factor, addend) in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(addend) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.len {
                return x;
            }
        }
    }
}

/// The factor that undoes `odd` modulo 2^64. Each Newton step doubles the correct bits: 3, 6, 12,
/// 24, 48, 96.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut step = 0;
    while step < 5 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmix_undoes_mix() {
        for word in (0..10_000).map(|i| stream(7, i)).chain([0, 1, u64::MAX]) {
            assert_eq!(unmix(mix(word)), word);
        }
    }

    #[test]
    fn permutations_are_permutations_that_scatter() {
        for len in [1, 2, 3, 5, 8, 1000, 1024, 40_000] {
            let permutation = Permutation::new(9, len);
            let mut all: Vec<u64> = (0..len).map(|i| permutation.at(i)).collect();
            let near = all.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 16).count();
            assert!(len < 1000 || near < all.len() / 10, "{near} of {len}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..len), "{len}");
        }
    }

    #[test]
    fn streams_differ_by_seed_and_by_number() {
        assert_ne!(stream(1, 2), stream(2, 1));
        assert_ne!(stream(1, 1), stream(1, 2));
    }
}
