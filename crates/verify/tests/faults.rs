//! Calls of the disk that fail.

use evergraph_verify::crash::inject::{self, Faults};
use evergraph_verify::seed;

/// One in so many calls is tried, in each way.
const ONE_IN: u64 = 8;

#[test]
fn what_was_acknowledged_survives_every_error() {
    let mut total = Faults::default();
    for seed in seed::of_test(1) {
        let faults = inject::faults(seed, ONE_IN);
        total += faults.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}");
}

#[test]
fn a_full_disk_refuses_commits_and_loses_none() {
    let mut total = Faults::default();
    for seed in seed::of_test(1) {
        let faults = inject::full_disks(seed);
        total += faults.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{total:?}");
    assert!(total.refused > 100, "the disks are too large");
}
