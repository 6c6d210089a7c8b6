//! `recover_rate`: how fast a database in a folder is there again, from the log of every commit since
//! the beginning and from a checkpoint, beside loading the same edges into one in memory by large
//! transactions.

use std::time::Instant;

use evergraph::{Durability, LoadOptions, load_into, options_for};

use super::durable::OnDisk;
use super::{Session, check, on, pool};
use crate::Result;
use crate::input::Input;
use crate::report::Row;
use crate::samples::{Pairs, Samples};

/// Measures both.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let mode = Durability::Os;
    let pool = pool(threads)?;
    let mut disk = OnDisk::new(session, input, mode)?;
    session.begin(&input.name, threads, "loading into a folder")?;
    super::load_each(super::Live::dense(disk.db()), input, threads, session.reporter)?;
    disk.close()?;
    let twin = input.twin()?;
    for from in ["log", "checkpoint"] {
        let (mut opened, mut loaded) = (Samples::default(), Samples::default());
        if from == "checkpoint" {
            disk.open(input, mode)?.checkpoint()?;
            disk.close()?;
        }
        for round in 0..session.repeats() {
            let of = format!("{} of {}", round + 1, session.repeats());
            session.begin(&input.name, threads, &format!("opening from the {from}, {of}"))?;
            let start = Instant::now();
            let loading = options_for(&input.list).in_memory();
            let options = LoadOptions::default();
            pool.install(|| load_into(&loading, &input.list, &options, &()))?;
            loaded.push(input.len() as f64 / start.elapsed().as_secs_f64());
            drop(loading);
            let start = Instant::now();
            let db = pool.install(|| disk.open(input, mode))?;
            opened.push(input.len() as f64 / start.elapsed().as_secs_f64());
            if round == 0 {
                check(db, &twin)?;
            }
            disk.close()?;
        }
        let pairs = Pairs { ours: opened, base: loaded };
        let row = Row::of("recover_rate", "edges/s", &pairs.ours);
        let row = Row { after: Some(from), compared: 1, ..row };
        session.report.add(on(input, threads, row.beside(&pairs, "bulk load")));
    }
    Ok(())
}
