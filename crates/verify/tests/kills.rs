//! Real processes that are killed while they commit.

use std::path::Path;

use evergraph_verify::crash::kill;
use evergraph_verify::seed;

/// In each mode.
const KILLS: u64 = 120;

#[test]
fn what_was_acknowledged_survives_a_kill() {
    for seed in seed::of_test(1) {
        for mode in ["sync", "os"] {
            let program = Path::new(env!("CARGO_BIN_EXE_evergraph-verify"));
            let kills = kill::kills(program, mode, KILLS, seed);
            let kills = kills.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
            println!("{mode}: {kills:?}");
            assert!(kills.acknowledged > 0, "no commit was acknowledged");
        }
    }
}
