//! `insert_rate`: the whole graph by single-edge transactions, existence checked, from an empty
//! database. With dense keys, and through the vertex dictionary; there the vertices are added
//! first, which is not timed.

use super::{Session, check, on};
use crate::input::Input;
use crate::live::{Keys, Live, load_each};
use crate::report::Row;
use crate::samples::{Pairs, Samples};
use crate::{Error, Result};

/// Measures both in turns.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let mut rates = Pairs::default();
    let mut compared = 0;
    for round in 0..session.repeats() {
        for keys in [Keys::Dense, Keys::Sparse] {
            let (name, repeats) = (keys.name(), session.repeats());
            let step = format!("inserting, {name} keys, {} of {repeats}", round + 1);
            session.begin(&input.name, threads, &step)?;
            let rate = load(session, input, threads, (keys, round))?;
            match keys {
                Keys::Dense => rates.base.push(rate),
                Keys::Sparse => rates.ours.push(rate),
            }
        }
        compared += usize::from(round == 0);
    }
    let row = |keys: Keys, samples: &Samples| {
        let row = Row::of("insert_rate", "edges/s", samples);
        on(input, threads, Row { keys: Some(keys.name()), compared, ..row })
    };
    session.report.add(row(Keys::Dense, &rates.base));
    session.report.add(row(Keys::Sparse, &rates.ours).beside(&rates, "dense"));
    Ok(())
}

/// Loads a new database; edges per second. The first one is compared with the graph edge by edge.
fn load(
    session: &Session<'_>,
    input: &Input,
    threads: usize,
    (keys, round): (Keys, usize),
) -> Result<f64> {
    let db = match keys {
        Keys::Dense => input.database(),
        Keys::Sparse => input.options().number_keys().in_memory(),
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
