//! `snapshot_open`: opening a snapshot, fresh and settled, alone and while a thread writes; and
//! `has_edge_rate`: looking edges up in one, half of which are there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use evergraph::{Database, Snapshot};
use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Session, on};
use crate::crew::together;
use crate::input::{Input, Stream, random};
use crate::live::{Churn, Live};
use crate::report::{Row, State};
use crate::samples::Samples;
use crate::twin::Twin;
use crate::{Error, Result};

/// Snapshots opened per sample; the sample is their median.
const OPENED: usize = 1_000;
/// Edges looked up per thread and sample, at most: a second's work.
const LOOKUPS_MAX: usize = 1 << 21;

/// Measures both.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let twin = input.twin()?;
    let pairs = pairs_to_look_up(input, &twin, session.args.seed);
    let db = session.load(input, threads)?;
    let mut churn = Churn::new(Live::dense(&db), threads, session.args.seed);
    for state in [State::Fresh, State::Settled] {
        let (mut opens, mut lookups) = (Samples::default(), Samples::default());
        for round in 0..session.repeats() {
            let (name, repeats) = (state.name(), session.repeats());
            let step = format!("opening and looking up, {name}, {} of {repeats}", round + 1);
            session.begin(&input.name, threads, &step)?;
            match state {
                State::Fresh if round > 0 => churn.run(input, session.reporter)?,
                State::Settled if round == 0 => session.settle(&db)?,
                _ => {}
            }
            opens.push(open_many(&db)?);
            lookups.push(look_up(session, &db.snapshot()?, &pairs, threads)?);
        }
        let row = Row { state: Some(state), ..Row::of("snapshot_open", "us", &opens) };
        session.report.add(on(input, 1, row));
        let row = Row::of("has_edge_rate", "lookups/s/thread", &lookups);
        let row = Row { state: Some(state), compared: pairs.len(), ..row };
        session.report.add(on(input, threads, row));
    }
    measure_while_writing(session, input, &db)
}

/// Opens snapshots while one thread removes edges and puts them back.
fn measure_while_writing(session: &mut Session<'_>, input: &Input, db: &Database) -> Result<()> {
    session.begin(&input.name, 1, "opening while a thread writes")?;
    let done = AtomicBool::new(false);
    let mut opens = Samples::default();
    thread::scope(|scope| {
        let writer =
            scope.spawn(|| super::mixed::write_until(&done, Live::dense(db), input, |_| {}));
        for _ in 0..session.repeats() {
            let sample = open_many(db);
            match sample {
                Ok(sample) => opens.push(sample),
                Err(error) => {
                    done.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let row = Row { state: Some(State::Fresh), ..Row::of("snapshot_open", "us", &opens) };
    session.report.add(on(input, 1, Row { writers: 1, ..row }));
    Ok(())
}

/// Opens snapshots; the median time in microseconds.
fn open_many(db: &Database) -> Result<f64> {
    let mut times = Samples::default();
    for _ in 0..OPENED {
        let start = Instant::now();
        let snapshot = db.snapshot()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        drop(snapshot);
    }
    Ok(times.median())
}

/// An edge to look up, and whether it is there.
type Lookup = (u32, u32, bool);

/// As many edges of the graph as pairs that are none; both have ends drawn by degree.
fn pairs_to_look_up(input: &Input, twin: &Twin, seed: u64) -> Vec<Lookup> {
    let mut choice = random(seed, Stream::Lookups);
    let mut place = || choice.random_range(0..input.len());
    let count = (LOOKUPS_MAX / 2).min(input.len());
    let mut pairs = Vec::with_capacity(2 * count);
    for _ in 0..count {
        let edge = input.edge(place());
        pairs.push((edge.from, edge.to, true));
        let (from, to) = (input.edge(place()).from, input.edge(place()).to);
        pairs.push((from, to, twin.has_edge(from, to)));
    }
    pairs.shuffle(&mut random(seed, Stream::Lookups));
    pairs
}

/// Every thread looks all pairs up; look-ups per second of each.
fn look_up(
    session: &Session<'_>,
    snapshot: &Snapshot,
    pairs: &[Lookup],
    threads: usize,
) -> Result<f64> {
    let total = (pairs.len() * threads) as u64;
    let starts = (0..threads).map(|thread| pairs.len() * thread / threads).collect();
    let outcome = together(session.reporter, total, starts, |start: usize, worker| {
        for &(from, to, is_there) in pairs[start..].iter().chain(&pairs[..start]) {
            if snapshot.has_edge(from, to)? != is_there {
                return Err(Error::Differs { what: "has_edge".into(), other: "the static graph" });
            }
            worker.count(1)?;
        }
        Ok(())
    })?;
    Ok(pairs.len() as f64 / outcome.time.as_secs_f64())
}
