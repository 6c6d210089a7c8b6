//! The snapshot that an algorithm runs on: of a graph that is read or made, loaded by transactions
//! and changed by a log; or of a database in a folder, as it is or as it was.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use evergraph::graph::read::KeyChoice;
use evergraph::graph::update::UpdateReader;
use evergraph::graph::{EdgeList, GraphView, KeyKind};
use evergraph::{Database, LoadOptions, Replayed, Snapshot, When, with_view};

use crate::database;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::resolve::{GraphInput, Origin, RunInput, RunPlan, Updates};

/// A snapshot, and how it came to be.
pub(super) struct Prepared {
    pub(super) snapshot: Snapshot,
    /// Edges of that version, each counted once.
    pub(super) edges: u64,
    pub(super) steps: Steps,
    /// Lays the graph out while it lives.
    pub(super) db: Option<Database>,
}

/// What was done before the algorithm, and how long it took.
pub(super) enum Steps {
    /// A graph was loaded, or nothing if there was none.
    Loaded { loaded: Option<Loaded>, replayed: Option<(Replayed, Duration)> },
    /// A database was opened.
    Opened(Duration),
}

/// What was loaded.
#[derive(Clone, Copy, Default)]
pub(super) struct Loaded {
    pub(super) read: Duration,
    pub(super) load: Duration,
    /// How many bytes were read; 0 if the graph was made.
    pub(super) bytes: u64,
    pub(super) edges: u64,
}

/// Makes the snapshot that the plan asks for.
pub(super) fn prepare(plan: &RunPlan, interrupt: &Interrupt) -> Result<Prepared, Failure> {
    match &plan.input {
        RunInput::Graph { graph, updates } => load(graph, updates.as_ref(), interrupt),
        RunInput::Folder { path, at } => open(path, *at, interrupt),
    }
}

fn load(
    graph: &GraphInput,
    updates: Option<&Updates>,
    interrupt: &Interrupt,
) -> Result<Prepared, Failure> {
    if let Some(updates) = updates {
        // Only whether it can be opened, before the work that comes first.
        UpdateReader::open(&updates.path, KeyChoice::Auto, &())?;
    }
    let Input { list, time, bytes } = input::read(graph, interrupt)?;
    let db = empty_database(graph, updates, &list);
    let load = input::load(&db, &list, LoadOptions::default(), interrupt)?;
    let loaded = Loaded { read: time, load, bytes, edges: list.edges.len() as u64 };
    drop(list);
    let replayed = updates.map(|updates| replay(&db, updates, interrupt)).transpose()?;
    let loaded = matches!(graph.origin, Origin::Source(_)).then_some(loaded);
    let steps = Steps::Loaded { loaded, replayed };
    Ok(Prepared { snapshot: db.snapshot()?, edges: db.stats().edges, steps, db: Some(db) })
}

/// An empty database for the graph.
fn empty_database(graph: &GraphInput, updates: Option<&Updates>, list: &EdgeList) -> Database {
    let options = input::database_options(graph, list);
    // An update may name any number, and dense keys are ids: a large one would be a large graph.
    let dense = list.keys.kind() == KeyKind::Dense;
    let options = if dense && updates.is_some() { options.number_keys() } else { options };
    options.in_memory()
}

fn replay(
    db: &Database,
    updates: &Updates,
    interrupt: &Interrupt,
) -> Result<(Replayed, Duration), Failure> {
    let bar = Bar::replaying(interrupt);
    let replayed = evergraph::replay(db, &updates.path, &updates.options, &bar)?;
    Ok((replayed, bar.elapsed()))
}

fn open(path: &Path, at: Option<When>, interrupt: &Interrupt) -> Result<Prepared, Failure> {
    let start = Instant::now();
    let db = database::open_read_only(path, interrupt)?;
    let snapshot = match at {
        None => db.snapshot()?,
        Some(when) => {
            let _wheel = Bar::wheel(interrupt, "going back");
            interrupt.ending_at_once(|| db.snapshot_at(when))?
        }
    };
    let edges = with_view!(snapshot.view()?, |view| edges_of(view));
    Ok(Prepared { snapshot, edges, steps: Steps::Opened(start.elapsed()), db: None })
}

/// Edges of a view, each counted once: one without a direction stands in the lists of both its
/// ends, a loop in one.
fn edges_of(view: &impl GraphView) -> u64 {
    if view.is_directed() {
        return view.entry_count();
    }
    let has_loop = |v: &u32| {
        let found = view.runs(*v, |run| match run.binary_search(v) {
            Ok(_) => ControlFlow::Break(()),
            Err(_) => ControlFlow::Continue(()),
        });
        found.is_break()
    };
    let loops = (0..view.vertex_bound()).filter(has_loop).count() as u64;
    u64::midpoint(view.entry_count(), loops)
}
