//! A bijection on 64-bit words whose results look random, and its inverse.
//!
//! Sorting distinct words by `mix(word ^ seed)` puts them into a seeded random order and makes
//! equal words neighbours, so that shuffling and finding duplicates are one sort. The constants
//! and shifts are those of the SplitMix64 finaliser.

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
    fn streams_differ_by_seed_and_by_number() {
        assert_ne!(stream(1, 2), stream(2, 1));
        assert_ne!(stream(1, 1), stream(1, 2));
    }
}
