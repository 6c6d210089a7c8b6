//! `evergraph run`: an algorithm on a snapshot of the live store.
//!
//! Prepare the snapshot, compute, check if asked to, write the result.

mod compute;
mod formats;
mod prepare;
mod summary;
mod values;

use std::time::{Duration, Instant};

use evergraph::graph::{GraphView, Key, KeyKind, KeyRef};
use evergraph::{Snapshot, algo, with_view};
use rayon::ThreadPoolBuilder;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Bar;
use crate::resolve::{Algorithm, RunPlan};
use compute::{Answer, Question};
use prepare::{Prepared, Steps, prepare};

/// What there is to tell in the end.
struct Report<'a> {
    plan: &'a RunPlan,
    graph: GraphFacts,
    answer: Answer,
    /// How the snapshot came to be.
    steps: Steps,
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
}

/// How long the algorithm and its check took.
#[derive(Clone, Copy)]
struct Times {
    compute: Duration,
    verify: Option<Duration>,
}

/// Does what the plan says.
pub(crate) fn run(plan: &RunPlan, interrupt: &Interrupt) -> Result<(), Failure> {
    plan.destination.check()?;
    if let Some(threads) = plan.threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::Failed(format!("cannot start {threads} threads: {error}")))?;
    }
    let Prepared { snapshot, edges, steps, db: _db } = prepare(plan, interrupt)?;
    let keys = snapshot.keys()?;
    let graph = facts(&snapshot, edges)?;
    if matches!(plan.algorithm, Algorithm::Sssp { .. }) && !graph.weighted {
        let hint = if plan.input.is_folder() { "" } else { " (--weighted)" };
        output::note(&format!("note: the graph has no weights, so each edge counts 1{hint}"));
    }
    let question = question(plan, &snapshot, (&keys, interrupt))?;
    let bar = Bar::wheel(interrupt, plan.algorithm.name());
    let answer = compute::compute(&question, &snapshot)?;
    let mut times = Times { compute: bar.elapsed(), verify: None };
    drop(bar);
    if plan.verify {
        let start = Instant::now();
        let _wheel = Bar::wheel(interrupt, "verifying");
        interrupt.ending_at_once(|| compute::verify(&question, &snapshot, &answer))?;
        times.verify = Some(start.elapsed());
    }
    interrupt.check()?;
    write(&Report { plan, graph, answer, steps, keys, times })
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
