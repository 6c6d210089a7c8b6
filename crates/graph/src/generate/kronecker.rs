//! Kronecker pairs as in the Graph500 specification, and the random names of their ends.
//!
//! The adjacency matrix is quartered once per level; an edge falls into the quarters with the
//! probabilities 0.57, 0.19, 0.19 and 0.05. That makes vertices with few set bits the hubs, so the
//! vertices are renamed afterwards.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::VertexId;
use crate::mix::stream;

/// The chances of the first quarters, added up, in parts of 2^32.
const UPPER_LEFT: u32 = parts(57);
const UPPER: u32 = parts(57 + 19);
const UPPER_AND_LEFT: u32 = parts(57 + 19 + 19);

const fn parts(percent: u64) -> u32 {
    ((percent << 32) / 100) as u32
}

/// Draws a pair of `scale` bits each; two levels from one random word.
#[inline]
pub(super) fn pair(random: &mut Pcg64Mcg, scale: u32) -> (VertexId, VertexId) {
    let mut ends = (0, 0);
    for _ in 0..scale / 2 {
        let word = random.next_u64();
        ends = descend(ends, word as u32);
        ends = descend(ends, (word >> 32) as u32);
    }
    if scale % 2 == 1 {
        ends = descend(ends, random.next_u64() as u32);
    }
    ends
}

/// Chooses a quarter: one more bit for each end.
#[inline]
fn descend((row, column): (VertexId, VertexId), chance: u32) -> (VertexId, VertexId) {
    let lower = chance >= UPPER;
    // Right are the second and the fourth quarter.
    let right = (chance >= UPPER_LEFT) ^ lower ^ (chance >= UPPER_AND_LEFT);
    (row << 1 | VertexId::from(lower), column << 1 | VertexId::from(right))
}

/// A random-looking permutation of the vertices, computed rather than stored.
///
/// Each round is a permutation of the numbers of `scale` bits: an odd factor carries low bits up,
/// the shift brings high bits down.
pub(super) struct Labels {
    rounds: [(u64, u64); 4],
    mask: u64,
    shift: u32,
}

impl Labels {
    pub(super) fn new(seed: u64, scale: u32) -> Self {
        let word = |i: u64| stream(seed, i);
        Self {
            rounds: [0, 1, 2, 3].map(|i| (word(2 * i) | 1, word(2 * i + 1))),
            mask: u64::MAX >> (u64::BITS - scale),
            shift: scale.div_ceil(2),
        }
    }

    #[inline]
    pub(super) fn label(&self, vertex: VertexId) -> VertexId {
        let mut x = u64::from(vertex);
        for (factor, addend) in self.rounds {
            x = x.wrapping_mul(factor).wrapping_add(addend) & self.mask;
            x ^= x >> self.shift;
        }
        x as VertexId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_permutation_that_scatters() {
        for scale in [1, 2, 3, 10, 15] {
            let labels = Labels::new(9, scale);
            let mut all: Vec<u32> = (0..1 << scale).map(|v| labels.label(v)).collect();
            let near = all.windows(2).filter(|p| p[0].abs_diff(p[1]) < 16).count();
            assert!(scale < 10 || near < all.len() / 10, "{near} of {}", all.len());
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << scale), "scale {scale}");
        }
    }

    #[test]
    fn the_quarters_have_their_chances() {
        const DRAWS: usize = 100_000;
        let mut random = Pcg64Mcg::new(5);
        let mut quarters = [0; 4];
        for _ in 0..DRAWS {
            let (row, column) = pair(&mut random, 1);
            quarters[(2 * row + column) as usize] += 1;
        }
        for (count, percent) in quarters.into_iter().zip([57, 19, 19, 5]) {
            let expected = DRAWS * percent / 100;
            assert!(usize::abs_diff(count, expected) < DRAWS / 200, "{quarters:?}");
        }
    }
}
