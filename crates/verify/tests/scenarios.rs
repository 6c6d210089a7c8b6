//! Every scenario, in every interleaving, at every level that the store offers.

use evergraph_verify::level::Level;
use evergraph_verify::scenario::judge::Trial;
use evergraph_verify::scenario::{Layout, library};
use evergraph_verify::seed;
use evergraph_verify::tally::Tally;

/// A scenario with more interleavings than this, or than `EVERGRAPH_CASES` says, is sampled.
const INTERLEAVINGS_MAX: u64 = 2_000;
/// So many problems are enough to tell.
const PROBLEMS_MAX: usize = 3;

#[test]
fn every_interleaving_of_every_scenario_is_one_of_its_level() {
    let scenarios = library::all();
    assert!(scenarios.len() >= 120, "{} scenarios", scenarios.len());
    let interleavings_max = seed::cases(INTERLEAVINGS_MAX) as usize;
    let seed = seed::of_test(1).start;
    for level in Level::ALL {
        let mut total = Tally::default();
        let trials = scenarios.iter().flat_map(|scenario| {
            Layout::ALL.map(|layout| (scenario, Trial { level, layout, interleavings_max, seed }))
        });
        let mut problems = Vec::new();
        for (scenario, trial) in trials {
            match scenario.judge(trial) {
                Ok(tally) => total += tally,
                Err(problem) => problems.push(format!("seed {seed}: {problem}")),
            }
            if problems.len() == PROBLEMS_MAX {
                break;
            }
        }
        println!("{} scenarios, {level}: {total:?}", scenarios.len());
        assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
        assert!(total.skews > 0 || level == Level::Serializable);
    }
}
