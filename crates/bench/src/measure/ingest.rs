//! Taking changes in unchecked: `ingest_append_rate`, how fast one thread appends the whole graph to
//! the window while nothing is archived; `ingest_rate`, from the first append until everything is
//! archived and visible, beside single-edge transactions; kernels while changes are ingested.

use std::time::{Duration, Instant};

use evergraph::{Database, Durability, Full, Ingest, IngestOptions};

use super::durable::OnDisk;
use super::mixed::{self, Writer};
use super::{Session, check, on};
use crate::Result;
use crate::input::Input;
use crate::live::{Action, Live, load_each};
use crate::report::Row;
use crate::samples::{Pairs, Samples};

/// Edges between two looks at whether to go on.
const LOOK: usize = 1 << 14;

/// Measures all of it.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let options = IngestOptions { threads, ..IngestOptions::default() };
    measure_append(session, input)?;
    measure_archived(session, input, options)?;
    mixed::measure_kernels(session, input, Writer::Ingest)
}

fn measure_append(session: &mut Session<'_>, input: &Input) -> Result<()> {
    let options = IngestOptions {
        threshold: usize::MAX,
        backlog: usize::MAX,
        delay: Duration::MAX,
        full: Full::Refuse,
        ..IngestOptions::default()
    };
    let mut rates = Samples::default();
    for round in 0..session.repeats() {
        let of = format!("{} of {}", round + 1, session.repeats());
        session.begin(&input.name, 1, &format!("appending, {of}"))?;
        let db = input.options().dense_keys(input.vertices()).ingest(options).in_memory();
        let ingest = db.ingest()?;
        let start = Instant::now();
        append(session, &ingest, input)?;
        rates.push(input.len() as f64 / start.elapsed().as_secs_f64());
        if round == 0 {
            ingest.flush()?;
            check(&db, &input.twin()?)?;
        }
    }
    let row = Row::of("ingest_append_rate", "edges/s", &rates);
    session.report.add(on(input, 1, Row { compared: 1, ..row }));
    Ok(())
}

/// Appends the whole graph, edge by edge.
fn append(session: &Session<'_>, ingest: &Ingest, input: &Input) -> Result<()> {
    for from in (0..input.len()).step_by(LOOK) {
        let to = input.len().min(from + LOOK);
        for place in from..to {
            change(ingest, Action::Add, input, place)?;
        }
        session.go_on((to - from) as u64)?;
    }
    Ok(())
}

/// Ingests one edge of the graph, or takes it out.
#[inline]
pub(super) fn change(ingest: &Ingest, action: Action, input: &Input, place: usize) -> Result<()> {
    let edge = input.edge(place);
    let (from, to) = (u64::from(edge.from), u64::from(edge.to));
    match action {
        Action::Remove => ingest.remove_edge(from, to)?,
        Action::Add if input.is_weighted() => ingest.add_weighted_edge(from, to, edge.weight)?,
        Action::Add => ingest.add_edge(from, to)?,
    }
    Ok(())
}

fn measure_archived(
    session: &mut Session<'_>,
    input: &Input,
    options: IngestOptions,
) -> Result<()> {
    for (name, mode) in [("memory", None), ("os", Some(Durability::Os))] {
        let mut pairs = Pairs::default();
        for round in 0..session.repeats() {
            let of = format!("{} of {}", round + 1, session.repeats());
            session.begin(&input.name, options.threads, &format!("archiving, {name}, {of}"))?;
            let checked = round == 0;
            let rate = match mode {
                None => {
                    let made = input.options().dense_keys(input.vertices()).ingest(options);
                    archive(session, &made.in_memory(), input, checked)?
                }
                Some(mode) => {
                    let disk = OnDisk::with(session, input, (mode, options))?;
                    archive(session, disk.db(), input, checked)?
                }
            };
            pairs.ours.push(rate);
            session.begin(&input.name, 1, &format!("single transactions, {of}"))?;
            let db = input.database();
            let time = load_each(Live::dense(&db), input, 1, session.reporter)?;
            pairs.base.push(input.len() as f64 / time.as_secs_f64());
        }
        let row = Row::of("ingest_rate", "edges/s", &pairs.ours);
        let row = Row { durability: Some(name), compared: 1, ..row };
        session.report.add(on(input, options.threads, row.beside(&pairs, "single transactions")));
    }
    Ok(())
}

/// Ingests the whole graph and waits until it is there; edges per second.
fn archive(session: &Session<'_>, db: &Database, input: &Input, checked: bool) -> Result<f64> {
    let ingest = db.ingest()?;
    let start = Instant::now();
    append(session, &ingest, input)?;
    ingest.flush()?;
    let rate = input.len() as f64 / start.elapsed().as_secs_f64();
    if checked {
        check(db, &input.twin()?)?;
    }
    Ok(rate)
}
