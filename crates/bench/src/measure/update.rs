//! `update_rate`: insertions and deletions of temporary edges at about constant size, over time.
//!
//! # How
//!   The graph is loaded edge by edge, timed. Then come so many times its edges as updates, made
//!   before (`evergraph::graph::update::Workload`), so that making them takes no time from the
//!   writers and no pause helps them. A thread gets the updates of its share of all pairs, in
//!   their order: an edge is inserted before it is deleted. In the end the graph is the given one,
//!   which is checked.

use evergraph::Database;
use evergraph::graph::VertexId;
use evergraph::graph::update::{Update, Workload, WorkloadOptions};

use super::{Session, check, on};
use crate::crew::{Outcome, together};
use crate::input::{Edge, Input};
use crate::live::{Action, Live};
use crate::report::{Row, Series};
use crate::samples::Samples;
use crate::{Error, Result};

/// A window of the throughput, in seconds.
const WINDOW: f64 = 1.0;
/// Fewer windows than this say nothing about whether throughput is even.
const WINDOWS_MIN: usize = 3;
/// The weight of a temporary edge; it decides nothing.
const TEMPORARY_WEIGHT: f64 = 0.5;
/// Updates that are made between two looks at whether to stop.
const LOOK: u64 = 1 << 20;

/// Measures the rate of the load, and that of the updates.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    session.begin(&input.name, threads, "making updates")?;
    let mut workload = workload(session, input)?;
    for _ in 0..input.len() {
        workload.next();
    }
    let shares = deal(session, &mut workload, threads)?;
    drop(workload);
    let db = input.database();
    session.begin(&input.name, threads, "loading edge by edge")?;
    let live = Live::dense(&db);
    let time = crate::live::load_each(live, input, threads, session.reporter)?;
    let insert_rate = input.len() as f64 / time.as_secs_f64();
    session.begin(&input.name, threads, "updating")?;
    let outcome = run(session, &db, &shares)?;
    check(&db, &input.twin()?)?;
    let updates: usize = shares.iter().map(Share::len).sum();
    let total = updates as f64 / outcome.time.as_secs_f64();
    let rates = windows(&outcome.progress).unwrap_or_else(|| total.into());
    let row = Row::of("update_rate", "updates/s", &rates);
    let row = Row { value: Some(total), compared: 1, ..row }.against("insert_rate", insert_rate);
    session.report.add(on(input, threads, row));
    let plural = if threads == 1 { "" } else { "s" };
    session.report.throughput.push(Series {
        name: format!("{threads} thread{plural}"),
        points: slopes(&outcome.progress),
    });
    Ok(())
}

/// All edges in random order, then updates; the same for the same seed.
pub(super) fn workload<'g>(session: &Session<'_>, input: &'g Input) -> Result<Workload<'g>> {
    let (seed, updates_per_edge) = (session.args.seed, session.args.updates_per_edge);
    let options = WorkloadOptions { updates_per_edge, seed, ..WorkloadOptions::default() };
    Ok(Workload::new(&input.list, &options)?)
}

/// The updates of one thread.
#[derive(Default)]
struct Share {
    ends: Vec<(VertexId, VertexId)>,
    actions: Vec<Action>,
}

impl Share {
    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Deals the updates out. All updates of an edge go to one thread, whichever way it is written.
fn deal(session: &Session<'_>, workload: &mut Workload<'_>, threads: usize) -> Result<Vec<Share>> {
    let mut shares: Vec<Share> = (0..threads).map(|_| Share::default()).collect();
    let total = workload.remaining();
    for (done, update) in (0..).zip(workload) {
        let (action, from, to) = parts(update);
        let share = &mut shares[owner(from, to, threads)];
        share.ends.push((from, to));
        share.actions.push(action);
        if done % LOOK == 0 && session.reporter.advance(done, Some(total)).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(shares)
}

/// What a workload's update does, and to which edge.
pub fn parts(update: Update<VertexId>) -> (Action, VertexId, VertexId) {
    match update {
        Update::AddEdge { from, to, .. } => (Action::Add, from, to),
        Update::DeleteEdge { from, to } => (Action::Remove, from, to),
        _ => unreachable!("workloads add and delete edges"),
    }
}

/// The thread to which an edge belongs.
pub(super) fn owner(from: VertexId, to: VertexId, threads: usize) -> usize {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let pair = u64::from(from.min(to)) << 32 | u64::from(from.max(to));
    ((u128::from(pair.wrapping_mul(SPREAD)) * threads as u128) >> u64::BITS) as usize
}

fn run(session: &Session<'_>, db: &Database, shares: &[Share]) -> Result<Outcome<()>> {
    let live = Live::dense(db);
    let total = shares.iter().map(|share| share.len() as u64).sum();
    together(session.reporter, total, shares.iter().collect(), |share: &Share, worker| {
        for (&(from, to), &action) in share.ends.iter().zip(&share.actions) {
            live.commit(action, Edge { from, to, weight: TEMPORARY_WEIGHT })?;
            worker.count(1)?;
        }
        Ok(())
    })
}

/// Updates per second in every whole window; `None` if there are too few.
fn windows(progress: &[(f64, u64)]) -> Option<Samples> {
    let mut rates = Samples::default();
    let (mut from, mut before) = progress.first().copied()?;
    for &(at, done) in progress {
        if at - from >= WINDOW {
            rates.push((done - before) as f64 / (at - from));
            (from, before) = (at, done);
        }
    }
    (rates.len() >= WINDOWS_MIN).then_some(rates)
}

/// The rate between each two looks.
fn slopes(progress: &[(f64, u64)]) -> Vec<(f64, f64)> {
    let pairs = progress.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    pairs
        .map(|pair| (pair[1].0, (pair[1].1 - pair[0].1) as f64 / (pair[1].0 - pair[0].0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_whole_second_is_a_window() {
        let progress: Vec<(f64, u64)> =
            (0..=35_u32).map(|i| (f64::from(i) / 10.0, u64::from(i.max(10)) * 100)).collect();
        // Nothing happened in the first second but what was there at once.
        let rates = windows(&progress).expect("three seconds");
        assert_eq!(rates.len(), 3);
        assert!((rates.min() - 0.0).abs() < 1e-6, "{rates:?}");
        assert!((rates.max() - 1000.0).abs() < 1e-6, "{rates:?}");
        assert!(windows(&progress[..25]).is_none());
    }

    #[test]
    fn an_edge_has_one_owner_and_all_have_some() {
        let mut counts = [0; 3];
        for v in 0..3000 {
            assert_eq!(owner(v, 7, 3), owner(7, v, 3));
            counts[owner(v, v / 2, 3)] += 1;
        }
        assert!(counts.iter().all(|&count| count > 700), "{counts:?}");
    }
}
