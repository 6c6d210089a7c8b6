//! The checker: against every order of small histories, and against published verdicts.

use std::path::PathBuf;

use evergraph_verify::campaign::{self, Counts};
use evergraph_verify::checker::{self, Kind, RealTime};
use evergraph_verify::history::{History, edn};
use evergraph_verify::level::Level;
use evergraph_verify::{brute, seed};

/// Rounds of five thousand histories each.
const ROUNDS: u64 = 30;

#[test]
fn the_checker_agrees_with_every_order_of_small_histories() {
    let mut total = Counts::default();
    for seed in seed::of_test(ROUNDS) {
        let counts = campaign::orders(seed);
        total += counts.unwrap_or_else(|problem| panic!("EVERGRAPH_SEED={seed}: {problem}"));
    }
    println!("{} histories were tried in every order", total.runs);
}

/// A published history, or `None` without the data.
#[expect(clippy::print_stdout, reason = "a test says what it skipped")]
fn published(name: &str) -> Option<History> {
    let Some(data) = std::env::var_os("EVERGRAPH_DATA") else {
        println!("skipped: {name}; EVERGRAPH_DATA is not set");
        return None;
    };
    let path = PathBuf::from(data).join("elle/histories").join(name);
    let text = std::fs::read_to_string(&path).expect("the data has it");
    Some(edn::read(&text).expect("it is a history"))
}

fn kinds(history: &History, real_time: RealTime) -> Vec<Kind> {
    let verdict = checker::check(history, real_time);
    let mut kinds: Vec<Kind> = verdict.anomalies.iter().map(|anomaly| anomaly.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn the_example_of_the_paper_reads_past_a_write() {
    let Some(history) = published("paper-example.edn") else { return };
    assert_eq!(kinds(&history, RealTime::Ignored), [Kind::GSingle]);
    assert!(!brute::admits(&history, Level::Snapshot, RealTime::Ignored));
}

#[test]
fn a_published_history_is_write_skew_and_nothing_worse() {
    let Some(history) = published("si-without-g-single.edn") else { return };
    assert_eq!(kinds(&history, RealTime::Ignored), [Kind::G2Item]);
    assert!(brute::admits(&history, Level::Snapshot, RealTime::Ignored));
    assert!(!brute::admits(&history, Level::Serializable, RealTime::Ignored));
}

#[test]
fn a_published_history_breaks_real_time_only() {
    let Some(history) = published("huge-scc.edn") else { return };
    assert_eq!(kinds(&history, RealTime::Ignored), []);
    let verdict = checker::check(&history, RealTime::Heeded);
    assert!(!verdict.admits(Level::Snapshot));
    assert!(verdict.anomalies.iter().all(|anomaly| anomaly.real_time));
}
