//! The result for people: what was looked at, how long each step took, and the headline.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{Result, Write};
use std::time::Duration;

use evergraph::Replayed;
use evergraph::algo::{SccOutput, WccOutput};
use evergraph::graph::Key;
use evergraph::kernels::bfs::UNREACHED;

use super::Report;
use super::compute::Answer;
use super::prepare::{Loaded, Steps};
use super::values::vertices;
use crate::input::{describe, tell_reading};
use crate::numbers::{Seconds, count, counted, measured, per_second};
use crate::output::line;
use crate::resolve::RunInput;

/// How many of the first are shown.
const SHOWN: usize = 10;

/// Writes the summary.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    let Report { plan, graph, .. } = report;
    let name = plan.algorithm.name();
    write!(out, "{name} of {}", plan.input.name())?;
    if let RunInput::Graph { updates: Some(updates), .. } = &plan.input {
        write!(out, " after {}", updates.path.display())?;
    }
    writeln!(out, "\n")?;
    let kind = (graph.directed, graph.weighted);
    line(out, "graph", &describe(graph.vertices, graph.edges, kind))?;
    line(out, "version", &count(graph.version).to_string())?;
    steps(report, out)?;
    if let Some(time) = report.times.verify {
        line(out, "verified", &format!("by a serial computation, in {}", Seconds(time)))?;
    }
    writeln!(out)?;
    headline(report, out)
}

/// What was done, and how long it took.
fn steps(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    match &report.steps {
        Steps::Opened(time) => line(out, "opened", &format!("in {}", Seconds(*time)))?,
        Steps::Loaded { loaded, replayed } => {
            loaded.iter().try_for_each(|loaded| loading(loaded, out))?;
            replayed.iter().try_for_each(|&(done, time)| replaying(done, time, out))?;
        }
    }
    let threads = counted(rayon::current_num_threads() as u64, "thread", "threads");
    line(out, "computed", &format!("in {} on {threads}", Seconds(report.times.compute)))
}

fn loading(loaded: &Loaded, out: &mut dyn Write) -> Result<()> {
    tell_reading(out, loaded.read, loaded.bytes)?;
    let rate = per_second(loaded.edges, loaded.load);
    line(out, "loaded", &format!("in {}, {rate} edges/s", Seconds(loaded.load)))
}

fn replaying(done: Replayed, time: Duration, out: &mut dyn Write) -> Result<()> {
    let updates = counted(done.updates, "update", "updates");
    let transactions = counted(done.transactions, "transaction", "transactions");
    let rate = per_second(done.updates, time);
    let text = format!("{updates} by {transactions} in {}, {rate} updates/s", Seconds(time));
    line(out, "replayed", &text)
}

/// The answer in a few lines.
fn headline(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    let total = report.graph.vertices;
    match &report.answer {
        Answer::Levels(output) => {
            let reached = output.levels.iter().filter(|&&level| level != UNREACHED);
            let depth = reached.clone().max().copied().unwrap_or(0);
            let reached = count(reached.count() as u64);
            writeln!(out, "  reached {reached} of {} vertices", count(total))?;
            writeln!(out, "  farthest: {}", counted(depth, "hop", "hops"))
        }
        Answer::Distances(output) => {
            let reached = output.distances.iter().filter(|distance| distance.is_finite());
            let farthest = reached.clone().copied().fold(0.0, f64::max);
            let reached = count(reached.count() as u64);
            writeln!(out, "  reached {reached} of {} vertices", count(total))?;
            writeln!(out, "  farthest: {}", measured(farthest))
        }
        Answer::Ranks(output) => {
            let times = counted(output.iterations, "iteration", "iterations");
            writeln!(out, "  {times}, in the last one the ranks changed by {:.1e}", output.change)?;
            writeln!(out)?;
            top(report, &output.ranks, ("rank", out))
        }
        Answer::Coefficients(output) => {
            let mean = output.coefficients.iter().sum::<f64>() / (total as f64).max(1.0);
            writeln!(out, "  mean {}", measured(mean))
        }
        Answer::Components(WccOutput { labels, .. })
        | Answer::StrongComponents(SccOutput { labels, .. }) => {
            let labels = vertices(&report.keys).map(|(v, _)| labels[v].into());
            groups(&Groups::of(labels, "component", "components"), key_of(&report.keys), out)
        }
        Answer::Communities(output) => {
            let labels = vertices(&report.keys).map(|(v, _)| output.labels[v]);
            let groups = Groups::of(labels, "community", "communities");
            match report.keys.iter().flatten().next() {
                Some(Key::Text(_)) => self::groups(&groups, key_of(&report.keys), out),
                _ => self::groups(&groups, |label| label.to_string(), out),
            }
        }
        Answer::Triangles(output) => {
            writeln!(out, "  {}", counted(output.triangles, "triangle", "triangles"))
        }
    }
}

/// The vertices with the highest values.
fn top(report: &Report<'_>, values: &[f64], (what, out): (&str, &mut dyn Write)) -> Result<()> {
    let mut order: Vec<(usize, &Key)> = vertices(&report.keys).collect();
    let falling = |a: &(usize, &Key), b: &(usize, &Key)| {
        values[b.0].total_cmp(&values[a.0]).then(a.0.cmp(&b.0))
    };
    let shown = order.len().min(SHOWN);
    if shown < order.len() {
        order.select_nth_unstable_by(shown, falling);
    }
    order.truncate(shown);
    order.sort_unstable_by(falling);
    let width = order.iter().map(|(_, key)| key.to_string().chars().count()).max().unwrap_or(0);
    let width = width.max("vertex".len());
    writeln!(out, "  {:>width$}  {what}", "vertex")?;
    for (v, key) in order {
        writeln!(out, "  {:>width$}  {}", key.to_string(), measured(values[v]))?;
    }
    Ok(())
}

/// Vertices by the label they share.
struct Groups {
    one: &'static str,
    many: &'static str,
    /// Labels and how many vertices have them, most first.
    sizes: Vec<(u64, u64)>,
}

impl Groups {
    fn of(labels: impl Iterator<Item = u64>, one: &'static str, many: &'static str) -> Self {
        let mut sizes: HashMap<u64, u64> = HashMap::new();
        for label in labels {
            *sizes.entry(label).or_default() += 1;
        }
        let mut sizes: Vec<(u64, u64)> = sizes.into_iter().collect();
        sizes.sort_unstable_by_key(|&(label, size)| (Reverse(size), label));
        Self { one, many, sizes }
    }
}

fn groups(groups: &Groups, name: impl Fn(u64) -> String, out: &mut dyn Write) -> Result<()> {
    let Groups { one, many, sizes } = groups;
    writeln!(out, "  {}", counted(sizes.len() as u64, one, many))?;
    if let Some(&(label, size)) = sizes.first() {
        let vertices = counted(size, "vertex", "vertices");
        writeln!(out, "  the largest is that of {}: {vertices}", name(label))?;
    }
    Ok(())
}

/// The name of a label that is an id.
fn key_of(keys: &[Option<Key>]) -> impl Fn(u64) -> String {
    |label| match keys.get(label as usize) {
        Some(Some(key)) => key.to_string(),
        _ => label.to_string(),
    }
}
