//! `hub_insert_rate`, `hub_delete_rate`, `hub_has_edge_rate`: single-edge transactions and look-ups
//! at one vertex with millions of edges, beside the same on a graph with as many edges in which
//! all vertices are alike.

use evergraph::Database;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::Session;
use crate::crew::{cut, together};
use crate::input::{Edge, Stream, random};
use crate::live::{Action, Live};
use crate::report::Row;
use crate::samples::{Pairs, Samples};
use crate::{Error, Result};

/// Edges that are removed, put back and looked up per sample: one in so many.
const SAMPLE_SHARE: usize = 20;
/// Edges per transaction while the graphs are loaded.
const LOAD_BATCH: usize = 1 << 16;
/// Fewer edges than this make no hub.
const EDGES_MIN: u32 = 1_000;

/// What is done with a sample of the edges.
const STEPS: [(&str, &str); 3] = [
    ("hub_delete_rate", "edges/s"),
    ("hub_insert_rate", "edges/s"),
    ("hub_has_edge_rate", "lookups/s"),
];

/// A graph on whose edges the steps are done, all of them there.
struct Ground {
    db: Database,
    edges: Vec<Edge>,
}

/// Measures both graphs in turns.
pub(crate) fn measure(session: &mut Session<'_>, threads: usize) -> Result<()> {
    let hub_edges = session.args.hub_edges;
    let graph = format!("hub-{hub_edges}");
    if hub_edges < EDGES_MIN {
        let (edges, needed) = (hub_edges as usize, EDGES_MIN as usize);
        return Err(Error::TooSmall { graph, edges, needed });
    }
    let vertices = hub_edges + 1;
    session.begin(&graph, threads, "loading the hub and its uniform twin")?;
    let hub = Ground::new(session, vertices, star(session.args.seed, hub_edges))?;
    let uniform = uniform_edges(session.args.seed, vertices, hub_edges as usize);
    let uniform = Ground::new(session, vertices, uniform)?;
    let mut rates: [Pairs; 3] = Default::default();
    for round in 0..session.repeats() {
        let repeats = session.repeats();
        session.begin(&graph, threads, &format!("changing, {} of {repeats}", round + 1))?;
        let ours = hub.sample(session, round, threads)?;
        let base = uniform.sample(session, round, threads)?;
        for (pairs, (ours, base)) in rates.iter_mut().zip(ours.into_iter().zip(base)) {
            pairs.ours.push(ours);
            pairs.base.push(base);
        }
    }
    for ((metric, unit), pairs) in STEPS.into_iter().zip(&rates) {
        let row = Row::of(metric, unit, &pairs.ours).beside(pairs, "uniform");
        session.report.add(Row { graph: graph.clone(), threads, ..row });
    }
    Ok(())
}

/// Every other vertex beside vertex 0, in a random order.
fn star(seed: u64, edges: u32) -> Vec<Edge> {
    let mut spokes: Vec<u32> = (1..=edges).collect();
    spokes.shuffle(&mut random(seed, Stream::Hub));
    spokes.into_iter().map(|to| Edge { from: 0, to, weight: 1.0 }).collect()
}

/// As many different pairs of different vertices, in a random order.
fn uniform_edges(seed: u64, vertices: u32, edges: usize) -> Vec<Edge> {
    let mut choice = random(seed, Stream::Hub);
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    while pairs.len() < edges {
        // A few more than are missing: some stand twice.
        for _ in 0..=(edges - pairs.len()) * 11 / 10 {
            let (u, v) = (choice.random_range(0..vertices), choice.random_range(0..vertices));
            if u != v {
                pairs.push((u.min(v), u.max(v)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
    }
    pairs.shuffle(&mut choice);
    pairs.truncate(edges);
    pairs.into_iter().map(|(from, to)| Edge { from, to, weight: 1.0 }).collect()
}

impl Ground {
    fn new(session: &Session<'_>, vertices: u32, edges: Vec<Edge>) -> Result<Self> {
        let db = Database::options().undirected().dense_keys(vertices).in_memory();
        let live = Live::dense(&db);
        let load = |edges: &[Edge], worker: &crate::crew::Worker<'_>| {
            for batch in edges.chunks(LOAD_BATCH) {
                live.commit_all(Action::Add, batch)?;
                worker.count(batch.len() as u64)?;
            }
            Ok(())
        };
        together(session.reporter, edges.len() as u64, vec![&edges[..]], load)?;
        session.wait_settled(&db)?;
        Ok(Self { db, edges })
    }

    /// Removes a sample of the edges, puts it back, and looks it up beside as many pairs that are
    /// no edges; how many per second of each.
    fn sample(&self, session: &Session<'_>, round: usize, threads: usize) -> Result<[f64; 3]> {
        let count = self.edges.len() / SAMPLE_SHARE;
        let start = round % SAMPLE_SHARE * count;
        let sample = &self.edges[start..start + count];
        let live = Live::dense(&self.db);
        let rate = |action| -> Result<f64> {
            let outcome = live.each(action, sample, threads, session.reporter)?;
            Ok(count as f64 / outcome.time.as_secs_f64())
        };
        let removed = rate(Action::Remove)?;
        let absent = self.look_up(session, (sample, false), threads)?;
        let added = rate(Action::Add)?;
        let present = self.look_up(session, (sample, true), threads)?;
        Ok([removed, added, Samples(vec![absent, present]).median()])
    }

    /// Looks edges up that are all there, or all gone; how many per second.
    fn look_up(
        &self,
        session: &Session<'_>,
        (edges, are_there): (&[Edge], bool),
        threads: usize,
    ) -> Result<f64> {
        let snapshot = self.db.snapshot()?;
        let shares = cut(edges.len(), threads).into_iter().map(|range| &edges[range]).collect();
        let outcome = together(session.reporter, 0, shares, |edges: &[Edge], worker| {
            for edge in edges {
                if snapshot.has_edge(edge.from, edge.to)? != are_there {
                    return Err(Error::Differs { what: "has_edge".into(), other: "what was done" });
                }
                worker.count(1)?;
            }
            Ok(())
        })?;
        Ok(edges.len() as f64 / outcome.time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_graphs_are_simple_and_of_one_size() {
        for edges in [star(3, 2000), uniform_edges(3, 2001, 2000)] {
            let mut pairs: Vec<(u32, u32)> = edges.iter().map(|e| (e.from, e.to)).collect();
            assert!(pairs.iter().all(|(u, v)| u < v && *v <= 2000));
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), 2000);
        }
    }
}
