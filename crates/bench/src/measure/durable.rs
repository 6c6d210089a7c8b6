//! What it costs that commits survive: `durable_insert_rate`, the whole graph by single-edge
//! transactions in each mode beside a database in memory; `sync_rate`, committers who all wait for
//! the disk beside one who does; `checkpoint_insert_rate`, with one checkpoint after the other beside
//! none.

use std::time::{Duration, Instant};

use evergraph::{Database, Durability, IngestOptions};
use tempfile::TempDir;

use super::{Session, check, on};
use crate::crew::{cut, together};
use crate::input::Input;
use crate::live::{Action, Live, load_each};
use crate::report::Row;
use crate::samples::{Pairs, Samples};
use crate::{Error, Result};

/// How long whoever waits for the disk is watched, per sample.
const WATCH: Duration = Duration::from_secs(2);
/// Committers who wait for the disk at the same time.
const COMMITTERS: [usize; 3] = [1, 4, 16];
/// The pause of the mode in which commits are synced in groups.
const GROUP: Duration = Duration::from_millis(10);

/// The modes in which commits do not wait, and what they are called.
const MODES: [(&str, Option<Durability>); 4] = [
    ("memory", None),
    ("none", Some(Durability::None)),
    ("os", Some(Durability::Os)),
    ("group", Some(Durability::Group(GROUP))),
];

/// A database on the disk, and the folder that goes with it.
pub(super) struct OnDisk {
    pub(super) db: Option<Database>,
    folder: TempDir,
    ingest: IngestOptions,
}

impl OnDisk {
    pub(super) fn new(
        session: &Session<'_>,
        input: &Input,
        durability: Durability,
    ) -> Result<Self> {
        Self::with(session, input, (durability, IngestOptions::default()))
    }

    pub(super) fn with(
        session: &Session<'_>,
        input: &Input,
        (durability, ingest): (Durability, IngestOptions),
    ) -> Result<Self> {
        let folder = match &session.args.disk {
            Some(disk) => tempfile::tempdir_in(disk),
            None => tempfile::tempdir(),
        };
        let mut made = Self { db: None, folder: folder.map_err(Error::Disk)?, ingest };
        made.open(input, durability)?;
        Ok(made)
    }

    pub(super) fn open(&mut self, input: &Input, durability: Durability) -> Result<&Database> {
        self.db = None;
        let options = input.options().dense_keys(input.vertices()).durability(durability);
        Ok(self.db.insert(options.ingest(self.ingest).open(self.folder.path())?))
    }

    pub(super) fn db(&self) -> &Database {
        self.db.as_ref().expect("it is open but for a moment")
    }

    /// Closes it, and says how that went.
    pub(super) fn close(&mut self) -> Result<()> {
        Ok(self.db.take().map_or(Ok(()), Database::close)?)
    }
}

/// Measures all of it.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    measure_modes(session, input, threads)?;
    measure_sync(session, input)?;
    measure_checkpoints(session, input, threads)
}

fn measure_modes(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let mut rates = vec![Samples::default(); MODES.len()];
    for round in 0..session.repeats() {
        for ((name, mode), rates) in MODES.into_iter().zip(&mut rates) {
            let of = format!("{} of {}", round + 1, session.repeats());
            session.begin(&input.name, threads, &format!("inserting, {name}, {of}"))?;
            let rate = match mode {
                None => insert(session, &input.database(), input, threads)?,
                Some(mode) => {
                    let mut disk = OnDisk::new(session, input, mode)?;
                    let rate = insert(session, disk.db(), input, threads)?;
                    if round == 0 {
                        disk.close()?;
                        check(disk.open(input, mode)?, &input.twin()?)?;
                    }
                    rate
                }
            };
            rates.push(rate);
        }
    }
    for ((name, _), samples) in MODES.into_iter().zip(&rates) {
        let pairs = Pairs { ours: samples.clone(), base: rates[0].clone() };
        let row = Row::of("durable_insert_rate", "edges/s", samples);
        let row = Row { durability: Some(name), compared: 1, ..row };
        let row = if name == "memory" { row } else { row.beside(&pairs, "memory") };
        session.report.add(on(input, threads, row));
    }
    Ok(())
}

/// Inserts the whole graph; edges per second. What is not on the disk by then is not waited for.
fn insert(session: &Session<'_>, db: &Database, input: &Input, threads: usize) -> Result<f64> {
    let time = load_each(Live::dense(db), input, threads, session.reporter)?;
    Ok(input.len() as f64 / time.as_secs_f64())
}

fn measure_sync(session: &mut Session<'_>, input: &Input) -> Result<()> {
    let mut rates = vec![Samples::default(); COMMITTERS.len()];
    for round in 0..session.repeats() {
        for (committers, rates) in COMMITTERS.into_iter().zip(&mut rates) {
            let of = format!("{} of {}", round + 1, session.repeats());
            session.begin(&input.name, committers, &format!("waiting for the disk, {of}"))?;
            let disk = OnDisk::new(session, input, Durability::Sync)?;
            rates.push(commit_for_a_while(session, disk.db(), input, committers)?);
        }
    }
    for (committers, samples) in COMMITTERS.into_iter().zip(&rates) {
        let pairs = Pairs { ours: samples.clone(), base: rates[0].clone() };
        let row = Row::of("sync_rate", "commits/s", samples);
        let row = Row { durability: Some("sync"), ..row };
        let row = if committers == 1 { row } else { row.beside(&pairs, "one committer") };
        session.report.add(on(input, committers, row));
    }
    Ok(())
}

/// Commits edges one by one until the time is over; commits per second.
fn commit_for_a_while(
    session: &Session<'_>,
    db: &Database,
    input: &Input,
    committers: usize,
) -> Result<f64> {
    let live = Live::dense(db);
    let deadline = Instant::now() + WATCH;
    let outcome = together(session.reporter, 0, cut(input.len(), committers), |places, worker| {
        let mut done = 0u64;
        for place in places {
            if Instant::now() >= deadline {
                break;
            }
            live.commit(Action::Add, input.edge(place))?;
            worker.count(1)?;
            done += 1;
        }
        Ok(done)
    })?;
    Ok(outcome.results.iter().sum::<u64>() as f64 / outcome.time.as_secs_f64())
}

fn measure_checkpoints(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let mut pairs = Pairs::default();
    let mut made = 0;
    for round in 0..session.repeats() {
        for with in [false, true] {
            let of = format!("{} of {}", round + 1, session.repeats());
            let step = format!("inserting, checkpoints: {with}, {of}");
            session.begin(&input.name, threads, &step)?;
            let disk = OnDisk::new(session, input, Durability::Os)?;
            let (rate, checkpoints) = insert_beside(session, disk.db(), (input, threads), with)?;
            made += checkpoints;
            if with { pairs.ours.push(rate) } else { pairs.base.push(rate) }
        }
    }
    let row = Row::of("checkpoint_insert_rate", "edges/s", &pairs.ours);
    let remark = Some(format!("{made} checkpoints were made"));
    let row = Row { durability: Some("os"), remark, ..row };
    session.report.add(on(input, threads, row.beside(&pairs, "no checkpoint")));
    Ok(())
}

/// Inserts the whole graph, and makes one checkpoint as soon as half of it is there; edges per
/// second, and how many checkpoints there were.
fn insert_beside(
    session: &Session<'_>,
    db: &Database,
    (input, threads): (&Input, usize),
    with: bool,
) -> Result<(f64, usize)> {
    std::thread::scope(|scope| {
        let checkpoints = scope.spawn(move || -> Result<usize> {
            let half = input.len() as u64 / 2;
            while with && db.version().0 < half {
                std::thread::sleep(Duration::from_millis(1));
            }
            if with {
                db.checkpoint()?;
            }
            Ok(usize::from(with))
        });
        let rate = insert(session, db, input, threads);
        let made = checkpoints.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((rate?, made?))
    })
}
