//! A whole graph into a database, by transactions.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use evergraph_graph::progress::{Progress, Stage, Status};
use evergraph_graph::{EdgeList, KeyKind, VertexId};
use evergraph_store::{Database, Options, Transaction, Weights};
use rayon::prelude::*;

use crate::{Error, Result};

/// How a graph is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Edges, or vertices, per transaction; at least 1.
    pub batch: usize,
}

impl LoadOptions {
    /// Large enough that a transaction's own cost is hidden.
    pub const DEFAULT_BATCH: usize = 1 << 16;
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { batch: Self::DEFAULT_BATCH }
    }
}

/// The options of a database that fits a graph: direction, weights, kind of keys.
pub fn options_for(list: &EdgeList) -> Options {
    let options = match list.keys.kind() {
        KeyKind::Dense => Database::options().dense_keys(list.keys.len()),
        KeyKind::Number => Database::options().number_keys(),
        KeyKind::Text => Database::options().text_keys(),
    };
    let options = if list.directed { options.directed() } else { options.undirected() };
    let weights = if list.weights.is_some() { Weights::F64 } else { Weights::None };
    options.weights(weights)
}

/// Makes a database in memory and loads a graph into it, on rayon's current thread pool.
///
/// ```
/// use evergraph::graph::generate::{GraphSpec, Weights};
/// let spec: GraphSpec = "graph500-6".parse()?;
/// let db = evergraph::load(&spec.generate(Weights::None, &())?, &Default::default(), &())?;
/// assert_eq!(db.stats().vertices, 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(list: &EdgeList, options: &LoadOptions, progress: &dyn Progress) -> Result<Database> {
    let db = options_for(list).in_memory();
    load_into(&db, list, options, progress)?;
    Ok(db)
}

/// Adds the vertices and edges of a graph to a database. Batches that were committed before an
/// error stay.
pub fn load_into(
    db: &Database,
    list: &EdgeList,
    options: &LoadOptions,
    progress: &dyn Progress,
) -> Result<()> {
    let batch = options.batch.max(1);
    let load =
        Load { db, list, progress, done: AtomicU64::new(0), stopped: AtomicBool::new(false) };
    if list.keys.kind() != KeyKind::Dense || db.key_kind() != KeyKind::Dense {
        // One after the other, so that vertices get their ids in order.
        for range in ranges(list.keys.len() as usize, batch) {
            load.commit(range, |tx, v| tx.add_vertex(load.key(v as VertexId)))?;
        }
    }
    let weights = list.weights.as_deref();
    ranges(list.edges.len(), batch).into_par_iter().try_for_each(|range| {
        load.commit(range.clone(), |tx, edge| {
            let (source, target) = list.edges[edge];
            let (source, target) = (load.key(source), load.key(target));
            match weights {
                Some(weights) => tx.add_weighted_edge(source, target, weights[edge]),
                None => tx.add_edge(source, target),
            }
        })?;
        load.tick(range.len())
    })
}

fn ranges(length: usize, batch: usize) -> Vec<Range<usize>> {
    (0..length).step_by(batch).map(|start| start..length.min(start + batch)).collect()
}

/// Tries of a batch before its conflict is reported: it can conflict only with other writers.
const TRIES: usize = 100;

/// A load under way.
struct Load<'a> {
    db: &'a Database,
    list: &'a EdgeList,
    progress: &'a dyn Progress,
    /// Edges committed.
    done: AtomicU64,
    /// Somebody asked to stop.
    stopped: AtomicBool,
}

impl Load<'_> {
    fn key(&self, v: VertexId) -> evergraph_graph::KeyRef<'_> {
        self.list.keys.key(v).expect("the ends of an edge list are its vertices")
    }

    fn commit(
        &self,
        range: Range<usize>,
        add: impl Fn(&mut Transaction<'_>, usize) -> evergraph_store::options::Result<()>,
    ) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        self.db.transaction(TRIES, |tx| range.clone().try_for_each(|i| add(tx, i)))?;
        Ok(())
    }

    fn tick(&self, edges: usize) -> Result<()> {
        let done = self.done.fetch_add(edges as u64, Ordering::Relaxed) + edges as u64;
        let total = Some(self.list.edges.len() as u64);
        let status = Status { stage: Stage::Committing, done, total, lines: 0 };
        if self.progress.tick(&status) == ControlFlow::Break(()) {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}
