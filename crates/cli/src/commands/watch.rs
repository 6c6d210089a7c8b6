//! `evergraph watch`: the commits of a database in a folder, a line of JSON each, also while another
//! process writes them.

use std::thread;
use std::time::Duration;

use evergraph::graph::Key;
use evergraph::{Change, Commit};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::database;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::resolve::WatchPlan;

/// Commits that are read before they are printed.
const COMMITS: u64 = 1024;
/// Between two looks for more.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints commits until there are no more, enough were printed, or Ctrl-C is pressed.
pub(crate) fn watch(plan: &WatchPlan, interrupt: &Interrupt) -> Result<(), Failure> {
    database::must_be_folder(&plan.path)?;
    let mut watcher = evergraph::watch(&plan.path, plan.start)?;
    let weighted = watcher.is_weighted();
    let mut left = plan.max;
    while left > 0 {
        interrupt.check()?;
        let commits = watcher.poll(left.min(COMMITS) as usize)?;
        if commits.is_empty() && !plan.follow {
            break;
        }
        if commits.is_empty() {
            thread::sleep(PAUSE);
            continue;
        }
        left -= commits.len() as u64;
        output::to_stdout(|out| {
            commits.iter().try_for_each(|commit| writeln!(out, "{}", line(commit, weighted)))
        })?;
    }
    Ok(())
}

fn line(commit: &Commit, weighted: bool) -> Value {
    let time = Timestamp::try_from(commit.time).map(|time| format!("{time:.6}"));
    let changes: Vec<Value> =
        commit.changes.iter().map(|change| object(change, weighted)).collect();
    json!({ "version": commit.version.0, "time": time.ok(), "changes": changes })
}

fn object(change: &Change, weighted: bool) -> Value {
    let edge = |verb: &str, source: &Key, target: &Key, weight: Option<&f64>| {
        let mut object = json!({ "op": verb, "from": key(source), "to": key(target) });
        if let Some(weight) = weight.filter(|_| weighted) {
            object["weight"] = json!(weight);
        }
        object
    };
    match change {
        Change::AddVertex(vertex) => json!({ "op": "add_vertex", "vertex": key(vertex) }),
        Change::RemoveVertex(vertex) => json!({ "op": "remove_vertex", "vertex": key(vertex) }),
        Change::AddEdge(source, target, weight) => edge("add_edge", source, target, Some(weight)),
        Change::SetWeight(source, target, weight) => {
            edge("set_weight", source, target, Some(weight))
        }
        Change::Position(name, version) => {
            json!({ "op": "position", "name": name, "version": version.0 })
        }
        Change::RemoveEdge(source, target) => edge("remove_edge", source, target, None),
    }
}

fn key(key: &Key) -> Value {
    match key {
        Key::Number(number) => json!(number),
        Key::Text(text) => json!(text),
    }
}
