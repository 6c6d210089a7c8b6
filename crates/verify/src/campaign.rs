//! Campaigns: the proofs of this crate, each as rounds that a seed determines.

use std::time::{Duration, Instant};

use rand::RngExt;

use crate::acid::{self, Config};
use crate::checker::{self, RealTime};
use crate::crash::campaign::Effort;
use crate::crash::{self, damage, inject, kill};
use crate::graphs::{self, Levels};
use crate::history::invent;
use crate::history::record::{self, Workload};
use crate::history::{History, Txn};
use crate::level::Level;
use crate::scenario::judge::Trial;
use crate::scenario::{Layout, library};
use crate::tally::Tally;
use crate::{brute, seed};

/// What was counted, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Histories, scenarios or tests that were run.
    pub runs: u64,
    /// Transactions that were tried.
    pub transactions: u64,
    /// Interleavings that were tried one by one.
    pub interleavings: u64,
    /// Transactions that were refused because of another.
    pub conflicts: u64,
    /// Runs or interleavings that showed write skew, where it is allowed.
    pub skews: u64,
    /// Time spent in the checker of histories.
    pub checking: Duration,
    /// Disks that were looked at after a crash, an error or damage.
    pub images: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.transactions += other.transactions;
        self.interleavings += other.interleavings;
        self.conflicts += other.conflicts;
        self.skews += other.skews;
        self.checking += other.checking;
        self.images += other.images;
    }
}

impl From<Tally> for Counts {
    /// One run.
    fn from(tally: Tally) -> Self {
        Self {
            runs: 1,
            transactions: tally.committed + tally.conflicts,
            interleavings: tally.interleavings,
            conflicts: tally.conflicts,
            skews: tally.skews,
            ..Self::default()
        }
    }
}

/// A proof that can be run again and again.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// What it is called.
    pub name: &'static str,
    /// Runs one round; an error is the first anomaly.
    pub round: fn(u64) -> Result<Counts, String>,
}

/// All campaigns.
pub const CAMPAIGNS: [Campaign; 9] = [
    Campaign { name: "histories", round: histories },
    Campaign { name: "graphs", round: graphs },
    Campaign { name: "scenarios", round: scenarios },
    Campaign { name: "acid", round: acid_tests },
    Campaign { name: "orders", round: orders },
    Campaign { name: "crash", round: crashes },
    Campaign { name: "errors", round: errors },
    Campaign { name: "damage", round: damages },
    Campaign { name: "kills", round: kills },
];

/// Transactions of one recorded history.
const TRANSACTIONS: u32 = 20_000;

/// Records a history at each level and checks it.
pub fn histories(seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for level in Level::ALL {
        let workload = Workload::random(level, TRANSACTIONS, seed);
        let complain = |problem: String| format!("{workload:?}: {problem}");
        let recorded = record::record(&workload).map_err(|error| complain(error.to_string()))?;
        let start = Instant::now();
        let verdict = checker::check(&recorded.history, RealTime::Heeded);
        counts += Counts {
            runs: 1,
            transactions: recorded.history.txns.len() as u64,
            conflicts: recorded.conflicts,
            skews: u64::from(!verdict.admits(Level::Serializable)),
            checking: start.elapsed(),
            ..Counts::default()
        };
        verdict.complaint(&recorded.history, level).map_or(Ok(()), |text| Err(complain(text)))?;
    }
    Ok(counts)
}

/// Transactions of one history of a graph.
const GRAPH_TRANSACTIONS: u32 = 4_000;

/// Records a history of a graph at each level and at both, and runs it again.
pub fn graphs(seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let [first, second] = Level::ALL.map(Levels::All);
    for levels in [first, second, Levels::Mixed] {
        let workload = graphs::Workload::random(levels, GRAPH_TRANSACTIONS, seed);
        let tally = graphs::run(&workload).map_err(|error| format!("{workload:?}: {error}"))?;
        counts += tally.into();
    }
    Ok(counts)
}

/// Of so many scenarios, one is run in each round, in this many interleavings at most.
const SCENARIO_SHARE: u64 = 8;
const INTERLEAVINGS_MAX: usize = 10_000;

/// Runs a part of the scenarios at each level, in each layout.
fn scenarios(seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for (scenario, place) in library::all().iter().zip(0..) {
        if place % SCENARIO_SHARE != seed % SCENARIO_SHARE {
            continue;
        }
        for level in Level::ALL {
            for layout in Layout::ALL {
                let interleavings_max = INTERLEAVINGS_MAX;
                counts += scenario.judge(Trial { level, layout, interleavings_max, seed })?.into();
            }
        }
    }
    Ok(counts)
}

/// How many transactions each thread of an ACID test commits.
const ROUNDS: u32 = 100;

/// Runs every ACID test at each level.
pub fn acid_tests(seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let mut rng = seed::rng(seed);
    for level in Level::ALL {
        for (name, test) in acid::TESTS {
            let threads = [2, 4, 8, 16][rng.random_range(0..4)];
            let config = Config { level, threads, rounds: ROUNDS, is_tiny: rng.random(), seed };
            let tally = test(&config).map_err(|error| format!("{name}, {config:?}: {error}"))?;
            counts += tally.into();
        }
    }
    Ok(counts)
}

/// Calls after which crashes are tried in a round.
const EFFORT: Effort = Effort { one_in: [1, 4, 16], first: 8, later: 200 };

/// Crashes in every story.
fn crashes(seed: u64) -> Result<Counts, String> {
    let crashes = crash::campaign::crashes(seed, EFFORT)?;
    Ok(Counts { runs: crashes.points, images: crashes.total(), ..Counts::default() })
}

/// Of the calls of every story one in so many fails in a round.
const ERRORS_ONE_IN: u64 = 4;

/// Has calls of every story fail.
fn errors(seed: u64) -> Result<Counts, String> {
    let mut faults = inject::faults(seed, ERRORS_ONE_IN)?;
    faults += inject::full_disks(seed)?;
    Ok(Counts {
        runs: faults.stories,
        images: faults.stories + 3 * faults.refused,
        ..Counts::default()
    })
}

/// Damages every bit of some databases.
fn damages(seed: u64) -> Result<Counts, String> {
    let made = damage::damages(seed, 1)?.made;
    Ok(Counts { runs: 1, images: made, ..Counts::default() })
}

/// Processes that are killed in a round, in each mode.
const KILLS: u64 = 50;

/// Kills this program while it commits.
fn kills(seed: u64) -> Result<Counts, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut kills = kill::kills(&program, "sync", KILLS, seed)?;
    kills += kill::kills(&program, "os", KILLS, seed)?;
    Ok(Counts { runs: kills.kills, images: kills.kills, ..Counts::default() })
}

/// How many small histories are compared in a round.
const SMALL_HISTORIES: u64 = 5_000;

/// Compares the checker with every order of small histories. At least a tenth must be admitted at
/// each level, and a twentieth refused: otherwise there is nothing to tell apart.
pub fn orders(seed: u64) -> Result<Counts, String> {
    let mut rng = seed::rng(seed);
    let mut counts = Counts::default();
    let mut admitted = [0; 4];
    for _ in 0..SMALL_HISTORIES {
        let history = invent::history(&mut rng);
        let found = agreed(&history)?;
        admitted.iter_mut().zip(found).for_each(|(count, admits)| *count += u64::from(admits));
        let transactions = history.txns.len() as u64;
        counts += Counts { runs: 1, transactions, ..Counts::default() };
    }
    if admitted.iter().any(|&n| n * 10 < SMALL_HISTORIES || n * 20 > SMALL_HISTORIES * 19) {
        return Err(format!("of {SMALL_HISTORIES} histories the levels admit {admitted:?}"));
    }
    Ok(counts)
}

/// Whether a history is admitted, by real time and without, at each level; if the checker says the
/// same as trying every order.
fn agreed(history: &History) -> Result<[bool; 4], String> {
    let mut found = [false; 4];
    let times = [RealTime::Heeded, RealTime::Ignored];
    let cases = times.iter().flat_map(|&time| Level::ALL.map(|level| (time, level)));
    for (admits, (real_time, level)) in found.iter_mut().zip(cases) {
        let verdict = checker::check(history, real_time);
        *admits = brute::admits(history, level, real_time);
        if verdict.admits(level) != *admits {
            let txns: Vec<String> = history.txns.iter().map(Txn::to_string).collect();
            let (anomalies, txns) = (verdict.anomalies, txns.join("\n"));
            return Err(format!("{level}, {real_time:?}: found {anomalies:?} in\n{txns}"));
        }
    }
    Ok(found)
}
