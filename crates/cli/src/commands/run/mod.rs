//! `evergraph run`: an algorithm on a snapshot of the live store.
//!
//! Read or make the graph, load it by transactions, replay the updates, open a snapshot, compute,
//! check if asked to, write the result.

mod compute;
mod formats;
mod summary;
mod values;

use std::time::{Duration, Instant};

use evergraph::graph::progress::Progress;
use evergraph::graph::read::KeyChoice;
use evergraph::graph::update::UpdateReader;
use evergraph::graph::{EdgeList, GraphView, Key, KeyKind, KeyRef};
use evergraph::{Database, LoadOptions, Replayed, Snapshot, algo, with_view};
use rayon::ThreadPoolBuilder;

use crate::failure::Failure;
use crate::input::{self, Input};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Bar;
use crate::resolve::{Algorithm, RunPlan, Updates};
use compute::{Answer, Question};

/// What there is to tell in the end.
struct Report<'a> {
    plan: &'a RunPlan,
    graph: GraphFacts,
    answer: Answer,
    /// The key of every id, none where there is no vertex.
    keys: Vec<Option<Key>>,
    times: Times,
}

/// The graph that was looked at.
struct GraphFacts {
    vertices: u64,
    edges: u64,
    directed: bool,
    weighted: bool,
    version: u64,
    replayed: Option<Replayed>,
    bytes_read: u64,
    edges_loaded: u64,
}

/// How long each step took.
#[derive(Clone, Copy, Default)]
struct Times {
    read: Duration,
    load: Duration,
    replay: Option<Duration>,
    compute: Duration,
    verify: Option<Duration>,
}

/// Does what the plan says.
pub(crate) fn run(plan: &RunPlan, interrupt: &Interrupt) -> Result<(), Failure> {
    plan.destination.check()?;
    if let Some(updates) = &plan.updates {
        // Only whether it can be opened, before the work that comes first.
        UpdateReader::open(&updates.path, KeyChoice::Auto, &())?;
    }
    if let Some(threads) = plan.threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::Failed(format!("cannot start {threads} threads: {error}")))?;
    }
    let Input { list, time, bytes } = input::read(&plan.graph, interrupt)?;
    let mut times = Times { read: time, ..Times::default() };
    if matches!(plan.algorithm, Algorithm::Sssp { .. }) && list.weights.is_none() {
        output::note("note: the graph has no weights, so each edge counts 1 (--weighted)");
    }
    let db = open(plan, &list);
    times.load = input::load(&db, &list, LoadOptions::default(), interrupt)?;
    let edges_loaded = list.edges.len() as u64;
    drop(list);
    let replayed = match &plan.updates {
        None => None,
        Some(updates) => {
            let bar = Bar::replaying(interrupt);
            let replayed = replay(&db, updates, &bar)?;
            times.replay = Some(bar.elapsed());
            Some(replayed)
        }
    };
    let snapshot = db.snapshot()?;
    let keys = snapshot.keys()?;
    let question = question(plan, &snapshot, (&keys, interrupt))?;
    let bar = Bar::wheel(interrupt, plan.algorithm.name());
    let answer = compute::compute(&question, &snapshot)?;
    times.compute = bar.elapsed();
    drop(bar);
    if plan.verify {
        let start = Instant::now();
        let _wheel = Bar::wheel(interrupt, "verifying");
        interrupt.ending_at_once(|| compute::verify(&question, &snapshot, &answer))?;
        times.verify = Some(start.elapsed());
    }
    interrupt.check()?;
    let graph = GraphFacts {
        replayed,
        bytes_read: bytes,
        edges_loaded,
        ..facts(&snapshot, db.stats().edges)?
    };
    write(&Report { plan, graph, answer, keys, times })
}

/// An empty database for the graph.
fn open(plan: &RunPlan, list: &EdgeList) -> Database {
    let options = input::database_options(&plan.graph, list);
    // An update may name any number, and dense keys are ids: a large one would be a large graph.
    let dense = list.keys.kind() == KeyKind::Dense;
    let options = if dense && plan.updates.is_some() { options.number_keys() } else { options };
    options.in_memory()
}

fn replay(db: &Database, updates: &Updates, bar: &dyn Progress) -> Result<Replayed, Failure> {
    Ok(evergraph::replay(db, &updates.path, &updates.options, bar)?)
}

/// The algorithm with the ids of this snapshot.
fn question<'a>(
    plan: &'a RunPlan,
    snapshot: &Snapshot,
    (keys, interrupt): (&[Option<Key>], &Interrupt),
) -> Result<Question<'a>, Failure> {
    let algorithm = &plan.algorithm;
    let source = match algorithm {
        Algorithm::Bfs { source } | Algorithm::Sssp { source } => find(snapshot, source)?,
        _ => 0,
    };
    let labels = match (algorithm, snapshot.key_kind()) {
        (Algorithm::Cdlp { .. }, KeyKind::Number) => {
            Some(keys.iter().map(|key| number(key.as_ref())).collect())
        }
        _ => None,
    };
    Ok(Question { algorithm, source, labels, cancel: interrupt.cancel() })
}

/// The id of the vertex that a word of the user names.
fn find(snapshot: &Snapshot, word: &str) -> Result<u32, Failure> {
    let key = match (snapshot.key_kind(), word.parse()) {
        (KeyKind::Text, _) => KeyRef::Text(word),
        (_, Ok(number)) => KeyRef::Number(number),
        _ => {
            return Err(Failure::Failed(format!(
                "the source {word} is not in the graph; its vertices are numbers (--keys text)"
            )));
        }
    };
    Ok(algo::source(snapshot, key)?)
}

/// The number that a vertex is called by; of no meaning where there is no vertex.
fn number(key: Option<&Key>) -> u64 {
    match key {
        Some(Key::Number(number)) => *number,
        _ => 0,
    }
}

fn facts(snapshot: &Snapshot, edges: u64) -> Result<GraphFacts, Failure> {
    let view = snapshot.view()?;
    Ok(with_view!(view, |view| GraphFacts {
        vertices: view.vertex_count().into(),
        edges,
        directed: view.is_directed(),
        weighted: !matches!(snapshot.view()?, evergraph::AnyView::Plain(_)),
        version: snapshot.version().0,
        replayed: None,
        bytes_read: 0,
        edges_loaded: 0,
    }))
}

fn write(report: &Report<'_>) -> Result<(), Failure> {
    use crate::args::OutputFormat;
    let format = report.plan.format;
    if report.times.verify.is_some() && format != OutputFormat::Table {
        output::note("verified");
    }
    report.plan.destination.write(|out| match format {
        OutputFormat::Table => summary::write(report, out),
        OutputFormat::Graphalytics => formats::graphalytics(report, out),
        OutputFormat::Csv => formats::csv(report, out),
        OutputFormat::Json => formats::json(report, out),
    })
}
