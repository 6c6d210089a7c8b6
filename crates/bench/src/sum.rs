//! The sum of a list, which is all that a scan does with it: little enough that memory is what a
//! scan waits for.
//!
//! A list ends where no branch predictor expects it. So there is one branch for the size of a list
//! and one for the end of its whole blocks; what is left behind them is taken in with the last
//! block again, without those that were counted.

use evergraph::graph::VertexId;

/// Ids added at a time: four vectors of the least machine, one of the widest.
const BLOCK: usize = 16;

/// For each number of ids at the end of a block that count: all bits where one does.
static COUNTED: [[u32; BLOCK]; BLOCK] = counted();

const fn counted() -> [[u32; BLOCK]; BLOCK] {
    let mut masks = [[0; BLOCK]; BLOCK];
    let mut count = 0;
    while count < BLOCK {
        let mut at = BLOCK - count;
        while at < BLOCK {
            masks[count][at] = u32::MAX;
            at += 1;
        }
        count += 1;
    }
    masks
}

/// The sum of a list, or of a piece of one, modulo 2^32.
#[inline]
pub(crate) fn sum(run: &[VertexId]) -> u32 {
    match run.len() {
        0..4 => sum_of_three(run),
        4..8 => sum_of_blocks::<4>(run),
        8..BLOCK => sum_of_blocks::<8>(run),
        _ => sum_of_blocks::<BLOCK>(run),
    }
}

/// At most three, without a branch for each.
#[inline]
fn sum_of_three(run: &[VertexId]) -> u32 {
    let [Some(first), Some(last)] = [run.first(), run.last()] else { return 0 };
    let middle = if run.len() > 2 { run[1] } else { 0 };
    let last = if run.len() > 1 { *last } else { 0 };
    first.wrapping_add(middle).wrapping_add(last)
}

/// At least `N`, which is at most [`BLOCK`].
#[inline]
fn sum_of_blocks<const N: usize>(run: &[VertexId]) -> u32 {
    let mut sums = [0_u32; N];
    let mut add = |block: &[VertexId; N], mask: &[u32; N]| {
        for ((sum, id), mask) in sums.iter_mut().zip(block).zip(mask) {
            *sum = sum.wrapping_add(id & mask);
        }
    };
    let (blocks, rest) = run.as_chunks::<N>();
    for block in blocks {
        add(block, &[u32::MAX; N]);
    }
    if let (Some(last), Some(mask)) = (run.last_chunk(), COUNTED[rest.len()].last_chunk()) {
        add(last, mask);
    }
    sums.iter().fold(0, |sum, &part| sum.wrapping_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_counts_once() {
        for length in 0..100 {
            let run: Vec<u32> = (0..length).map(|i| u32::MAX / 3 - i * i).collect();
            let expected = run.iter().fold(0, |sum: u32, &id| sum.wrapping_add(id));
            assert_eq!(sum(&run), expected, "{length} ids");
        }
    }
}
