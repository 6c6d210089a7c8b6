//! Histories that threads leave on the store.

use evergraph_verify::campaign::{self, Counts};
use evergraph_verify::seed;

/// Histories of twenty thousand transactions each: a million together.
const HISTORIES: u64 = 50;

#[test]
fn histories_of_the_store_show_its_levels() {
    let mut total = Counts::default();
    for seed in seed::of_test(HISTORIES) {
        let counts = campaign::histories(seed);
        total += counts.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    let rate = total.transactions as f64 / total.checking.as_secs_f64();
    println!("{total:?}, checked at {rate:.0} transactions/s");
    assert!(total.conflicts > 0, "the threads never met");
    // That it is seen where it is allowed proves that the histories could show it.
    assert!(total.skews > 0, "no history shows write skew");
}
