//! Every bit, byte and sector of databases.

use evergraph_verify::crash::damage::{self, Damages};
use evergraph_verify::seed;

#[test]
fn damage_is_told_and_loses_nothing_silently() {
    let mut total = Damages::default();
    for seed in seed::of_test(1) {
        let damages = damage::damages(seed, 1);
        total += damages.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}");
    assert!(total.refused > total.made / 10, "damage does not matter");
}
