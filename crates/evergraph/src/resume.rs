//! A whole graph into a database, so that a load that was interrupted can go on.
//!
//! # Protocol
//!   Vertices, then edges, go in by transactions, one after the other, in the order of the graph.
//!   Whatever ended a load, and however much of it reached the disk, the database holds the first
//!   `v` vertices and the first `e` edges. The counts say which, and before the load goes on each
//!   of them is looked up: that as many are there as were counted, and all that should be, means
//!   that there is nothing else.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use evergraph_graph::progress::{Progress, Stage, Status};
use evergraph_graph::{EdgeList, KeyRef, VertexId};
use evergraph_store::{Database, Snapshot};
use rayon::prelude::*;

use crate::load::{Load, LoadOptions, batches};
use crate::{Error, Result};

/// What was there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Vertices that an earlier load had added, or that dense keys have from the start.
    pub vertices: u64,
    /// Edges that an earlier load had added.
    pub edges: u64,
}

/// Adds the vertices and edges of a graph to a database in their order, or the rest of them if a
/// load of the same graph was interrupted. Each edge must stand once in the list. Nobody else may
/// write meanwhile. A database that holds anything else is refused, as [`Error::OtherContent`], and
/// not changed. Batches that were committed before an error stay.
///
/// ```
/// use evergraph::graph::generate::{GraphSpec, Weights};
/// # let folder = tempfile::tempdir()?;
/// let list = "graph500-6".parse::<GraphSpec>()?.generate(Weights::None, &())?;
/// let db = evergraph::options_for(&list).open(folder.path().join("g.evg"))?;
/// assert_eq!(evergraph::resume_into(&db, &list, &Default::default(), &())?.edges, 0);
/// let again = evergraph::resume_into(&db, &list, &Default::default(), &())?;
/// assert_eq!(again.edges, db.stats().edges);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resume_into(
    db: &Database,
    list: &EdgeList,
    options: &LoadOptions,
    progress: &dyn Progress,
) -> Result<Resumed> {
    let there = compare(db, list, progress)?;
    let (vertices, edges) = (there.vertices as usize, there.edges as usize);
    let batch = options.batch.max(1);
    let load = Load::new((db, list), progress).after(there.edges);
    for range in batches(vertices..list.keys.len() as usize, batch) {
        load.vertices(range)?;
    }
    batches(edges..list.edges.len(), batch).try_for_each(|range| load.edges(range))?;
    Ok(there)
}

/// How much of the graph is there; fails if it is not its beginning.
fn compare(db: &Database, list: &EdgeList, progress: &dyn Progress) -> Result<Resumed> {
    let (snapshot, stats) = (db.snapshot()?, db.stats());
    let there = Resumed { vertices: stats.vertices, edges: stats.edges };
    let all = (u64::from(list.keys.len()), list.edges.len() as u64);
    if there.vertices > all.0 || there.edges > all.1 {
        let Resumed { vertices, edges } = there;
        let (of_vertices, of_edges) = all;
        return other(format!(
            "it has {vertices} vertices and {edges} edges, the graph {of_vertices} and {of_edges}"
        ));
    }
    if there.edges > 0 && there.vertices < all.0 {
        return other("it has edges, but not all vertices of the graph");
    }
    let compare = Compare { snapshot, list, progress, done: AtomicU64::new(0), total: there.edges };
    let vertices = batches(0..there.vertices as usize, LoadOptions::DEFAULT_BATCH);
    vertices.flatten().try_for_each(|v| compare.vertex(v as VertexId))?;
    let edges: Vec<_> = batches(0..there.edges as usize, LoadOptions::DEFAULT_BATCH).collect();
    edges.into_par_iter().try_for_each(|range| {
        let edges = range.len() as u64;
        range.into_iter().try_for_each(|edge| compare.edge(edge))?;
        compare.tick(edges)
    })?;
    Ok(there)
}

fn other<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::OtherContent { what: what.into() })
}

/// A comparison under way.
struct Compare<'a> {
    snapshot: Snapshot,
    list: &'a EdgeList,
    progress: &'a dyn Progress,
    /// Edges that were looked up: statistics, `Relaxed`.
    done: AtomicU64,
    total: u64,
}

impl Compare<'_> {
    fn key(&self, v: VertexId) -> KeyRef<'_> {
        self.list.keys.key(v).expect("the ends of an edge list are its vertices")
    }

    fn vertex(&self, v: VertexId) -> Result<()> {
        let key = self.key(v);
        if self.snapshot.has_vertex(key)? {
            return Ok(());
        }
        other(format!("it lacks the vertex {}", key.to_owned()))
    }

    fn edge(&self, edge: usize) -> Result<()> {
        let (source, target) = self.list.edges[edge];
        let (source, target) = (self.key(source), self.key(target));
        let weight = self.list.weights.as_ref().map_or(1.0, |weights| weights[edge]);
        match self.snapshot.weight(source, target)? {
            Some(found) if found.to_bits() == weight.to_bits() => Ok(()),
            None => other(format!("it lacks the edge {} {}", source.to_owned(), target.to_owned())),
            Some(found) => other(format!(
                "its edge {} {} weighs {found}, not {weight}",
                source.to_owned(),
                target.to_owned()
            )),
        }
    }

    fn tick(&self, edges: u64) -> Result<()> {
        let done = self.done.fetch_add(edges, Ordering::Relaxed) + edges;
        let total = Some(self.total);
        let status = Status { stage: Stage::Comparing, done, total, lines: 0 };
        match self.progress.tick(&status) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}
