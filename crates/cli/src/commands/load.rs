//! `evergraph load`: a graph into a database in a folder, from where an earlier load stopped.

use std::time::Duration;

use evergraph::graph::EdgeList;
use evergraph::{Database, Error, Options, Resumed, StoreError};

use crate::database;
use crate::failure::Failure;
use crate::input::{self, Input, describe};
use crate::interrupt::Interrupt;
use crate::numbers::{Seconds, count, counted, per_second};
use crate::output::{self, line};
use crate::progress::Bar;
use crate::resolve::LoadPlan;

/// Loads what the plan says.
pub(crate) fn load(plan: &LoadPlan, interrupt: &Interrupt) -> Result<(), Failure> {
    let path = &plan.place.path;
    database::must_be_free(path)?;
    let made = input::read(&plan.graph, interrupt)?;
    let list = &made.list;
    let kind = (list.directed, list.weights.is_some());
    let what = describe(list.keys.len().into(), list.edges.len() as u64, kind);
    let db = open(plan, list, interrupt)?;
    let before = Before { version: db.version().0, edges: db.stats().edges };
    let bar = Bar::new(interrupt);
    let loaded = evergraph::resume_into(&db, list, &plan.options, &bar);
    let (version, edges) = (db.version().0, db.stats().edges);
    // What was committed is on the disk before anything is told about it.
    db.close()?;
    let done = Done { version, edges, time: bar.elapsed() };
    drop(bar);
    match loaded {
        Ok(resumed) => tell(plan, (&made, &what), (&before, resumed, &done)),
        Err(Error::Interrupted) => {
            let (there, all) = (count(done.edges), count(list.edges.len() as u64));
            output::note(&format!(
                "{there} of {all} edges are in {}; the same line goes on from there",
                path.display()
            ));
            Err(Failure::Interrupted)
        }
        Err(error @ Error::OtherContent { .. }) => {
            Err(Failure::Failed(format!("{}: {error}", path.display())))
        }
        Err(error) => Err(error.into()),
    }
}

/// What was there before the load.
struct Before {
    version: u64,
    edges: u64,
}

/// What is there after it.
struct Done {
    version: u64,
    edges: u64,
    time: Duration,
}

fn open(plan: &LoadPlan, list: &EdgeList, interrupt: &Interrupt) -> Result<Database, Failure> {
    let place = &plan.place;
    let options = input::database_options(&plan.graph, list).durability(place.durability);
    let options = plan.keep.into_iter().fold(options, Options::keep);
    database::open(&place.path, options, interrupt).map_err(|error| match error {
        StoreError::OtherSchema { path, what } => Failure::Failed(format!(
            "{}: the database holds something else: it was made with other {what} than this graph \
             has; load into a new one",
            path.display()
        )),
        error => error.into(),
    })
}

fn tell(
    plan: &LoadPlan,
    (made, what): (&Input, &str),
    (before, resumed, done): (&Before, Resumed, &Done),
) -> Result<(), Failure> {
    let edges = done.edges - before.edges;
    let transactions = counted(done.version - before.version, "transaction", "transactions");
    let time = Seconds(done.time);
    let rate = per_second(edges, done.time);
    output::to_stdout(|out| {
        writeln!(out, "{} is in {}\n", plan.graph.name, plan.place.path.display())?;
        line(out, "graph", what)?;
        made.tell(out)?;
        if before.version > 0 {
            let there = counted(resumed.edges, "edge", "edges");
            line(out, "resumed", &format!("after {there} that were there already"))?;
        }
        let edges = counted(edges, "edge", "edges");
        // Comparing is no loading: what was resumed has no rate.
        let rate = match resumed.edges {
            0 => format!(", {rate} edges/s"),
            _ => ", comparing included".to_owned(),
        };
        line(out, "loaded", &format!("{edges} by {transactions} in {time}{rate}"))?;
        line(out, "version", &count(done.version).to_string())
    })
}
