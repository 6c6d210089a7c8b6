//! Seeds: named when something fails, and given to replay it.

use std::ops::Range;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// The random numbers of a seed.
pub fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// The seeds of a test: the one of `EVERGRAPH_SEED`, or as many as `EVERGRAPH_CASES` or `usual`
/// says, counted from 1.
pub fn of_test(usual: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse());
    if let Some(seed) = number("EVERGRAPH_SEED") {
        let seed: u64 = seed.expect("EVERGRAPH_SEED is a number");
        return seed..seed + 1;
    }
    let cases =
        number("EVERGRAPH_CASES").map_or(usual, |n| n.expect("EVERGRAPH_CASES is a number"));
    1..cases + 1
}
