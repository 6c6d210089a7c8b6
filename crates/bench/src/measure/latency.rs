//! `commit_latency_p999`, `pause_max` and their like: how long single-edge transactions take, from
//! `begin` until `commit` has returned, while threads write as fast as they can and the service of
//! the database works. First the whole graph is added; then, as often as there are repeats, an
//! eighth of its edges is removed and put back.
//!
//! A machine that stops a thread for a while shows in the worst figures: the longest gap that a
//! thread sees which only reads the clock stands beside them.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::{Session, check, on};
use crate::Result;
use crate::crew::{cut, together};
use crate::input::{Edge, Input};
use crate::live::{Action, Churn, Live};
use crate::report::Row;
use crate::samples::Samples;

/// Three digits: a quantile is right to a thousandth.
const DIGITS: u8 = 3;
/// How long the machine itself is watched, per repeat.
const WATCH: Duration = Duration::from_secs(1);

/// Latencies in nanoseconds.
type Latencies = Histogram<u64>;

/// A quantile, and what its figure is called.
const QUANTILES: [(&str, f64); 4] = [
    ("commit_latency_p50", 0.5),
    ("commit_latency_p99", 0.99),
    ("commit_latency_p999", 0.999),
    ("pause_max", 1.0),
];

/// Measures all of them.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let db = input.database();
    let live = Live::dense(&db);
    let mut parts = Vec::new();
    session.begin(&input.name, threads, "latency of commits, loading")?;
    let edges: Vec<Edge> = (0..input.len()).map(|place| input.edge(place)).collect();
    parts.push(timed(session, live, (Action::Add, &edges), threads)?);
    drop(edges);
    let mut churn = Churn::new(live, threads, session.args.seed);
    for round in 0..session.repeats() {
        let repeats = session.repeats();
        let step = format!("latency of commits, changing, {} of {repeats}", round + 1);
        session.begin(&input.name, threads, &step)?;
        let (removed, added) = churn.next(input);
        let mut part = timed(session, live, (Action::Remove, &removed), threads)?;
        merge(&mut part, &timed(session, live, (Action::Add, &added), threads)?);
        parts.push(part);
    }
    check(&db, &input.twin()?)?;
    let machine = watch_machine(session, input, threads)?;
    let mut all = latencies();
    for part in &parts {
        merge(&mut all, part);
    }
    for (metric, quantile) in QUANTILES {
        let of = |part: &Latencies| micros(part.value_at_quantile(quantile));
        let samples = Samples(parts.iter().map(of).collect());
        let row = Row { value: Some(of(&all)), compared: 1, ..Row::of(metric, "us", &samples) };
        let row = if metric == "pause_max" { row.against("machine", machine.max()) } else { row };
        session.report.add(on(input, threads, row));
    }
    Ok(())
}

/// The longest gap, in microseconds, that each of so many threads sees that only reads the clock.
fn watch_machine(session: &Session<'_>, input: &Input, threads: usize) -> Result<Samples> {
    session.begin(&input.name, threads, "pauses of the machine itself")?;
    let time = WATCH.min(session.args.idle) * session.repeats() as u32;
    let outcome = together(session.reporter, 0, vec![(); threads], |(), worker| {
        let start = Instant::now();
        let (mut last, mut longest) = (start, Duration::ZERO);
        while last.duration_since(start) < time {
            let now = Instant::now();
            longest = longest.max(now.duration_since(last));
            last = now;
            worker.count(1)?;
        }
        Ok(longest)
    })?;
    let gaps = outcome.results.into_iter().map(|gap| micros(gap.as_nanos() as u64));
    Ok(Samples(gaps.collect()))
}

/// Changes the edges, each in a transaction of its own; how long each took.
fn timed(
    session: &Session<'_>,
    live: Live<'_>,
    (action, edges): (Action, &[Edge]),
    threads: usize,
) -> Result<Latencies> {
    let shares = cut(edges.len(), threads).into_iter().map(|range| &edges[range]).collect();
    let work = |edges: &[Edge], worker: &crate::crew::Worker<'_>| {
        let mut latencies = latencies();
        for &edge in edges {
            let start = Instant::now();
            live.commit(action, edge)?;
            latencies.saturating_record(start.elapsed().as_nanos() as u64);
            worker.count(1)?;
        }
        Ok(latencies)
    };
    let outcome = together(session.reporter, edges.len() as u64, shares, work)?;
    let mut all = latencies();
    for part in &outcome.results {
        merge(&mut all, part);
    }
    Ok(all)
}

/// Room for anything from a nanosecond to a minute.
fn latencies() -> Latencies {
    const MINUTE: u64 = 60_000_000_000;
    Histogram::new_with_bounds(1, MINUTE, DIGITS).expect("the bounds and digits are allowed")
}

fn merge(all: &mut Latencies, part: &Latencies) {
    all.add(part).expect("all have the same bounds");
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_all_threads() {
        let (mut one, mut other) = (latencies(), latencies());
        (0..999).for_each(|_| one.saturating_record(1_000));
        other.saturating_record(5_000_000);
        merge(&mut one, &other);
        assert!((micros(one.value_at_quantile(0.5)) - 1.0).abs() < 0.01);
        assert!((micros(one.value_at_quantile(1.0)) - 5_000.0).abs() < 10.0);
    }
}
