//! `evergraph demo`: analyse a graph while it changes, and prove that nothing went wrong.
//!
//! # Phases
//!   1. Read or make the graph; load it into the live store, one transaction per edge.
//!   2. `live`: writers commit at full rate and note what they committed (`writer`, `record`);
//!      analysts run algorithms on snapshots, and on static copies of them (`analyst`); a table
//!      shows both (`board`).
//!   3. Replay the notes in the order of versions into a model that shares no code with the store
//!      (`model`), and compare every list of every vertex (`compare`).
//!   4. If the store is a database in a folder, close it, open it again from its files, and compare
//!      that with the model, too.

mod analyst;
mod board;
mod compare;
mod live;
mod model;
mod record;
mod writer;

use std::path::Path;
use std::time::{Duration, Instant};

use evergraph::graph::EdgeList;
use evergraph::{Database, Durability, LoadOptions, StoreError};
use indicatif::HumanBytes;

use crate::database;
use crate::failure::Failure;
use crate::input::{self, describe};
use crate::interrupt::Interrupt;
use crate::numbers::{Seconds, count, counted, per_second};
use crate::output;
use crate::progress::Bar;
use crate::resolve::{DemoPlan, DurablePlace};
use compare::Differences;
use live::{Ended, Live};
use model::{Flaw, Model};
use record::Record;

/// Up to so many edges a transaction each loads them in well under a minute; larger graphs are
/// loaded by larger transactions, to get to the point.
const SINGLE_EDGE_LOAD_MAX: usize = 1 << 24;

/// Shows the main job.
pub(crate) fn demo(plan: &DemoPlan, interrupt: &Interrupt) -> Result<(), Failure> {
    if let Some(place) = &plan.durable {
        must_be_new(&place.path)?;
    }
    let input = input::read(&plan.graph, interrupt)?;
    let list = &input.list;
    if list.edges.is_empty() {
        let name = &plan.graph.name;
        return Err(Failure::Failed(format!("{name} has no edges; the demo needs some to change")));
    }
    let kind = (list.directed, list.weights.is_some());
    let what = describe(list.keys.len().into(), list.edges.len() as u64, kind);
    say(&format!("{}: {what}, in {}", plan.graph.name, Seconds(input.time)))?;

    let db = open(plan, list, interrupt)?;
    load(&db, plan, (list, interrupt))?;
    let loaded = db.version().0;
    let live = Live { db: &db, list, plan, interrupt, record_bytes_max: record::BYTES_MAX };
    let (records, ended) = live.run()?;
    say(&told(&ended, plan.time))?;
    let start = Instant::now();
    let model = {
        let _wheel = Bar::wheel(interrupt, "verifying");
        interrupt.ending_at_once(|| verify(&db, (list, loaded), &records))?
    };
    say(&format!("replayed and compared in {}", Seconds(start.elapsed())))?;
    let version = db.version();
    if let Some(place) = &plan.durable {
        reopen(db, &place.path, (list, &model, interrupt))?;
    }
    // Plain, for programs that look for this line.
    say(&format!("verified: {} edges, {} commits", model.edge_count(), version.0))
}

/// An empty database for the graph, in memory or in a folder.
fn open(plan: &DemoPlan, list: &EdgeList, interrupt: &Interrupt) -> Result<Database, Failure> {
    let options = input::database_options(&plan.graph, list);
    match &plan.durable {
        None => Ok(options.in_memory()),
        Some(DurablePlace { path, durability }) => {
            Ok(database::open(path, options.durability(*durability), interrupt)?)
        }
    }
}

/// Fails if there is a database already: the demo begins with an empty one.
fn must_be_new(path: &Path) -> Result<(), Failure> {
    database::must_be_free(path)?;
    if database::holds_database(path) {
        return Err(StoreError::Exists { path: path.to_path_buf() }.into());
    }
    Ok(())
}

/// Closes the database, opens it again, and compares what its files hold with the model.
fn reopen(
    db: Database,
    path: &Path,
    (list, model, interrupt): (&EdgeList, &Model, &Interrupt),
) -> Result<(), Failure> {
    let version = db.version();
    let start = Instant::now();
    db.close()?;
    let closed = start.elapsed();
    let start = Instant::now();
    // The work is done: Ctrl-C, which may have ended the live part, does not end this.
    let db = database::open_read_only(path, &Interrupt::default())?;
    let opened = start.elapsed();
    if db.version() != version {
        return Err(Failure::Failed(format!(
            "not verified: closed at version {version}, the files have version {}",
            db.version()
        )));
    }
    let start = Instant::now();
    let differences = {
        let _wheel = Bar::wheel(interrupt, "verifying");
        interrupt.ending_at_once(|| compare::compare(&db, list, model))?
    };
    report(&differences)?;
    let files = db.files()?;
    let bytes = HumanBytes(files.segment_bytes + files.checkpoint_bytes);
    say(&format!(
        "closed in {}, opened again in {} from {bytes}, compared in {}",
        Seconds(closed),
        Seconds(opened),
        Seconds(start.elapsed())
    ))
}

fn say(line: &str) -> Result<(), Failure> {
    output::print(&format!("{line}\n"))
}

/// Loads the graph and says how fast that went.
fn load(
    db: &Database,
    plan: &DemoPlan,
    (list, interrupt): (&EdgeList, &Interrupt),
) -> Result<(), Failure> {
    // Where each commit waits for the disk, one per edge would take too long.
    let waits = plan.durable.as_ref().is_some_and(|place| place.durability == Durability::Sync);
    let single = list.edges.len() <= SINGLE_EDGE_LOAD_MAX && !waits;
    let options = if single { LoadOptions { batch: 1 } } else { LoadOptions::default() };
    let time = input::load(db, list, options, interrupt)?;
    let transactions = db.version().0;
    let threads = counted(rayon::current_num_threads() as u64, "thread", "threads");
    let size = if single { " of one edge or vertex each" } else { "" };
    let transactions_counted = counted(transactions, "transaction", "transactions");
    let rate = per_second(if single { transactions } else { list.edges.len() as u64 }, time);
    let unit = if single { "commits/s" } else { "edges/s" };
    say(&format!(
        "loaded by {transactions_counted}{size} in {}, {rate} {unit} on {threads}\n",
        Seconds(time)
    ))
}

/// How the live part ended.
fn told(ended: &Ended, planned: Duration) -> String {
    let Ended { commits, conflicts, refused, time, why } = ended;
    let why = match why {
        live::Why::Time => String::new(),
        live::Why::Interrupt => format!(" of {}, on Ctrl-C", Seconds(planned)),
        live::Why::RecordFull => format!(
            " of {}, because the record of changes has reached its limit of {}",
            Seconds(planned),
            HumanBytes(record::BYTES_MAX as u64)
        ),
    };
    let rate = per_second(*commits, *time);
    format!(
        "\n{} in {}{why}: {rate}/s; {} tried again, {} refused because an edge was there or gone",
        counted(*commits, "commit", "commits"),
        Seconds(*time),
        counted(*conflicts, "conflict", "conflicts"),
        count(*refused),
    )
}

/// Compares the database with the model of the loaded graph and of everything that was recorded.
fn verify(
    db: &Database,
    (list, loaded): (&EdgeList, u64),
    records: &[Record],
) -> Result<Model, Failure> {
    let mut model = Model::of(list);
    let key = |v| list.keys.key(v).map_or(String::new(), |key| key.to_string());
    let told = |flaw: Flaw| Failure::Failed(format!("not verified: {}", flaw.told(key)));
    let last = model.replay(loaded, records).map_err(told)?;
    let version = db.version().0;
    if last != version {
        return Err(Failure::Failed(format!(
            "not verified: the store is at version {version}, the last commit recorded is {last}"
        )));
    }
    let differences = compare::compare(db, list, &model)?;
    report(&differences)?;
    Ok(model)
}

/// Fails if there are differences, after telling the first of them.
fn report(differences: &Differences) -> Result<(), Failure> {
    if differences.count == 0 {
        return Ok(());
    }
    for difference in &differences.first {
        output::note(difference);
    }
    Err(Failure::Failed(format!(
        "not verified: {} between the live graph and the model of all commits; the first {} stand \
         above",
        counted(differences.count, "difference", "differences"),
        differences.first.len()
    )))
}
