//! `batch_rate`: transactions of many edges. Into an empty database until the whole graph is
//! there, and into a full one: all but the batches are there before.

use std::ops::Range;

use evergraph::Database;

use super::{Session, check, on};
use crate::crew::together;
use crate::input::{ENTRIES_PER_EDGE, Edge, Input};
use crate::live::{Action, Live};
use crate::report::Row;
use crate::samples::Samples;
use crate::twin::Twin;
use crate::{Error, Result};

/// Edges per transaction.
const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
/// Into a full database, so many edges are added at least: enough transactions of the smaller
/// sizes for a time that can be measured.
const ADDED_MIN: usize = 1 << 20;
/// How the graph is loaded before batches are added, and how they are removed.
const LOAD_BATCH: usize = 1 << 16;

/// Measures all sizes of which the graph has room for one batch per thread beside as many edges
/// that stay.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let fits = |size: &usize| 2 * size * threads <= input.len();
    let sizes: Vec<usize> = SIZES.into_iter().filter(fits).collect();
    if sizes.len() < SIZES.len() {
        let left_out: Vec<String> =
            SIZES.iter().filter(|&size| !fits(size)).map(ToString::to_string).collect();
        let left_out = left_out.join(" and ");
        session.reporter.note(&format!("{}: too few edges for batches of {left_out}", input.name));
    }
    if sizes.is_empty() {
        let (graph, edges) = (input.name.clone(), input.len());
        return Err(Error::TooSmall { graph, edges, needed: 2 * SIZES[0] * threads });
    }
    let twin = input.twin()?;
    for &batch in &sizes {
        measure_empty(session, (input, &twin), threads, batch)?;
    }
    measure_full(session, (input, &twin), threads, &sizes)
}

fn measure_empty(
    session: &mut Session<'_>,
    (input, twin): (&Input, &Twin),
    threads: usize,
    batch: usize,
) -> Result<()> {
    let mut rates = Samples::default();
    for round in 0..session.repeats() {
        begin(session, input, threads, ("empty", batch, round))?;
        let db = input.database();
        rates.push(commit(session, (&db, input), (Action::Add, 0..input.len(), batch), threads)?);
        if round == 0 {
            check(&db, twin)?;
        }
    }
    add(session, input, threads, ("empty", batch, &rates));
    Ok(())
}

fn measure_full(
    session: &mut Session<'_>,
    (input, twin): (&Input, &Twin),
    threads: usize,
    sizes: &[usize],
) -> Result<()> {
    let db = input.database();
    let all = 0..input.len();
    commit(session, (&db, input), (Action::Add, all, LOAD_BATCH), threads)?;
    for &batch in sizes {
        let mut rates = Samples::default();
        // A whole number of batches per thread, at most half of the graph.
        let least = batch * threads;
        let most = input.len() / 2 / least * least;
        let added = ADDED_MIN.next_multiple_of(least).min(most);
        for round in 0..session.repeats() {
            begin(session, input, threads, ("full", batch, round))?;
            commit(session, (&db, input), (Action::Remove, 0..added, LOAD_BATCH), threads)?;
            session.wait_settled(&db)?;
            rates.push(commit(session, (&db, input), (Action::Add, 0..added, batch), threads)?);
        }
        add(session, input, threads, ("full", batch, &rates));
    }
    check(&db, twin)
}

/// Commits the edges of a range, so many at a time, threads in turns; entries per second.
fn commit(
    session: &Session<'_>,
    (db, input): (&Database, &Input),
    (action, range, batch): (Action, Range<usize>, usize),
    threads: usize,
) -> Result<f64> {
    let live = Live::dense(db);
    let edges = range.len();
    let batches: Vec<Vec<Edge>> = range
        .clone()
        .step_by(batch)
        .map(|start| (start..range.end.min(start + batch)).map(|i| input.edge(i)).collect())
        .collect();
    let shares = (0..threads).map(|thread| batches.iter().skip(thread).step_by(threads)).collect();
    let outcome = together(session.reporter, edges as u64, shares, |batches, worker| {
        for edges in batches {
            live.commit_all(action, edges)?;
            worker.count(edges.len() as u64)?;
        }
        Ok(())
    })?;
    Ok((ENTRIES_PER_EDGE * edges) as f64 / outcome.time.as_secs_f64())
}

fn begin(
    session: &Session<'_>,
    input: &Input,
    threads: usize,
    (into, batch, round): (&str, usize, usize),
) -> Result<()> {
    let repeats = session.repeats();
    let step = format!("batches of {batch}, database {into}, {} of {repeats}", round + 1);
    session.begin(&input.name, threads, &step)
}

fn add(
    session: &mut Session<'_>,
    input: &Input,
    threads: usize,
    (into, batch, rates): (&'static str, usize, &Samples),
) {
    let row = Row::of("batch_rate", "entries/s", rates);
    let row = Row { into: Some(into), batch: Some(batch as u64), compared: 1, ..row };
    session.report.add(on(input, threads, row));
}
