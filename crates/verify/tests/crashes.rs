//! Crashes after every call of every story.

use evergraph_verify::crash::campaign::{self, Crashes, Effort};
use evergraph_verify::seed;

/// All images of crashes in stories; a part of those in recoveries.
const EFFORT: Effort = Effort { one_in: [1, 8, 32], first: 16, later: 400 };

#[test]
fn what_was_acknowledged_survives_every_crash() {
    let mut total = Crashes::default();
    for seed in seed::of_test(1) {
        let crashes = campaign::crashes(seed, EFFORT);
        total += crashes.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}, {} images", total.total());
}
