//! `insert_rate`: the whole graph by single-edge transactions, existence checked, from an empty
//! database. With dense keys, and through the vertex dictionary; there the vertices are added
//! first, which is not timed. If it is asked for, by serializable transactions too.

use super::{Session, check, on};
use crate::args::Level;
use crate::input::Input;
use crate::live::{Keys, Live, load_each};
use crate::report::Row;
use crate::samples::{Pairs, Samples};
use crate::{Error, Result};

/// A way to insert a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way {
    keys: Keys,
    level: Level,
}

/// The one that others are compared with.
const BASE: Way = Way { keys: Keys::Dense, level: Level::Snapshot };

impl Way {
    /// What [`BASE`] has in place of what is different here.
    fn baseline(self) -> Option<&'static str> {
        match self {
            BASE => None,
            Self { level: Level::Snapshot, .. } => Some(BASE.keys.name()),
            Self { level: Level::Serializable, .. } => Some(BASE.level.name()),
        }
    }
}

/// Measures all ways in turns.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let mut ways = vec![BASE, Way { keys: Keys::Sparse, ..BASE }];
    let asked = Way { level: session.args.isolation, ..BASE };
    if asked != BASE {
        ways.push(asked);
    }
    let mut rates = vec![Samples::default(); ways.len()];
    for round in 0..session.repeats() {
        for (&way, rates) in ways.iter().zip(&mut rates) {
            let (keys, level) = (way.keys.name(), way.level.name());
            let of = format!("{} of {}", round + 1, session.repeats());
            let step = format!("inserting, {keys} keys, {level}, {of}");
            session.begin(&input.name, threads, &step)?;
            rates.push(load(session, input, threads, (way, round))?);
        }
    }
    for (&way, samples) in ways.iter().zip(&rates) {
        let row = Row::of("insert_rate", "edges/s", samples);
        let isolation = (way.level != BASE.level).then(|| way.level.name());
        let row = Row { keys: Some(way.keys.name()), isolation, compared: 1, ..row };
        let pairs = Pairs { ours: samples.clone(), base: rates[0].clone() };
        let row = match way.baseline() {
            Some(baseline) => row.beside(&pairs, baseline),
            None => row,
        };
        session.report.add(on(input, threads, row));
    }
    Ok(())
}

/// Loads a new database; edges per second. The first one is compared with the graph edge by edge.
fn load(
    session: &Session<'_>,
    input: &Input,
    threads: usize,
    (Way { keys, level }, round): (Way, usize),
) -> Result<f64> {
    let options = input.options().isolation(level.isolation());
    let db = match keys {
        Keys::Dense => options.dense_keys(input.vertices()).in_memory(),
        Keys::Sparse => options.number_keys().in_memory(),
    };
    let live = Live { db: &db, keys };
    if keys == Keys::Sparse {
        live.add_vertices(input.vertices())?;
    }
    let time = load_each(live, input, threads, session.reporter)?;
    if db.stats().edges != input.len() as u64 {
        return Err(Error::Differs { what: "the number of edges".into(), other: "the graph" });
    }
    if round == 0 {
        check(&db, &input.twin()?)?;
    }
    Ok(input.len() as f64 / time.as_secs_f64())
}
