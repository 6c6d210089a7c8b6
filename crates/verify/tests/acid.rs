//! The LDBC ACID tests, with 2 to 16 threads.

use evergraph_verify::campaign::{self, Counts};
use evergraph_verify::seed;

/// Rounds of all twelve tests.
const ROUNDS: u64 = 10;

#[test]
fn the_ldbc_acid_tests_pass() {
    let mut total = Counts::default();
    for seed in seed::of_test(ROUNDS) {
        let counts = campaign::acid_tests(seed);
        total += counts.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}");
}
