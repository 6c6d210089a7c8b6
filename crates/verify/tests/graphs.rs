//! Histories of one graph that threads change together, at each level and at both.

use evergraph_verify::campaign::{self, Counts};
use evergraph_verify::seed;

/// Rounds of three histories each.
const ROUNDS: u64 = 12;

#[test]
fn histories_of_a_graph_are_as_if_run_alone() {
    let mut total = Counts::default();
    for seed in seed::of_test(ROUNDS) {
        let counts = campaign::graphs(seed);
        total += counts.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}");
    assert!(total.conflicts > 0, "the threads never met");
    // That it is seen where it is allowed proves that the histories could show it.
    assert!(total.skews > 0, "no transaction under snapshot isolation read what changed");
}
