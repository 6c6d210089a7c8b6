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
    match number("EVERGRAPH_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..cases(usual) + 1,
    }
}

/// How many cases a test tries: as many as `EVERGRAPH_CASES` or `usual` says.
pub fn cases(usual: u64) -> u64 {
    number("EVERGRAPH_CASES").unwrap_or(usual)
}

fn number(name: &str) -> Option<u64> {
    let number = std::env::var(name).ok()?.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number")))
}
