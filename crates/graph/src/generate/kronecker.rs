//! Kronecker pairs as in the Graph500 specification.
//!
//! The adjacency matrix is quartered once per level; an edge falls into the quarters with the
//! probabilities 0.57, 0.19, 0.19 and 0.05. That makes vertices with few set bits the hubs, so the
//! caller renames the vertices afterwards.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::VertexId;

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

#[cfg(test)]
mod tests {
    use super::*;

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
