//! What the tests of the store share: the model, and seeds that are printed and can be given.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod model;

use std::ops::Range;

/// A seed per case, from `EVERGRAPH_SEED` (one case, to replay) or counted from a fixed start;
/// how many is `EVERGRAPH_CASES` or `usual`.
pub(crate) fn seeds(usual: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>());
    if let Some(seed) = number("EVERGRAPH_SEED") {
        let seed = seed.expect("EVERGRAPH_SEED is a number");
        return seed..seed + 1;
    }
    let usual = usual.div_ceil(if cfg!(torture) { 4 } else { 1 });
    let cases =
        number("EVERGRAPH_CASES").map_or(usual, |n| n.expect("EVERGRAPH_CASES is a number"));
    1..cases + 1
}

/// How often something is done in a case: under torture each time takes as long as many.
pub(crate) const fn rounds(usual: usize) -> usize {
    if cfg!(torture) { usual / 10 } else { usual }
}

/// Runs a case per seed; a failure names its seed.
pub(crate) fn for_each_seed(usual: u64, mut case: impl FnMut(u64)) {
    for seed in seeds(usual) {
        let guard = NameSeed(seed);
        case(seed);
        std::mem::forget(guard);
    }
}

/// Names the seed if the case panics.
struct NameSeed(u64);

impl Drop for NameSeed {
    #[expect(clippy::print_stderr, reason = "a failing test says how to replay it")]
    fn drop(&mut self) {
        eprintln!("replay with EVERGRAPH_SEED={}", self.0);
    }
}
