//! A whole graph into a database: by transactions, or at once into a new one.

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

/// Makes a database in memory that begins with a graph, on rayon's current thread pool; see
/// [`Options::load`].
///
/// ```
/// use evergraph::graph::generate::{GraphSpec, Weights};
/// let spec: GraphSpec = "graph500-6".parse()?;
/// let db = evergraph::load(&spec.generate(Weights::None, &())?, &())?;
/// assert_eq!(db.stats().vertices, 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(list: &EdgeList, progress: &dyn Progress) -> Result<Database> {
    let total = Some(list.edges.len() as u64);
    let status = Status { stage: Stage::Arranging, done: 0, total, lines: 0 };
    if progress.tick(&status) == ControlFlow::Break(()) {
        return Err(Error::Interrupted);
    }
    Ok(options_for(list).load(list)?)
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
    let load = Load::new((db, list), progress);
    if list.keys.kind() != KeyKind::Dense || db.key_kind() != KeyKind::Dense {
        // One after the other, so that vertices get their ids in order.
        batches(0..list.keys.len() as usize, batch).try_for_each(|range| load.vertices(range))?;
    }
    let batches: Vec<_> = batches(0..list.edges.len(), batch).collect();
    batches.into_par_iter().try_for_each(|range| load.edges(range))
}

/// A range in pieces.
pub(crate) fn batches(all: Range<usize>, batch: usize) -> impl Iterator<Item = Range<usize>> {
    all.clone().step_by(batch).map(move |start| start..all.end.min(start + batch))
}

/// Tries of a batch before its conflict is reported: it can conflict only with other writers.
const TRIES: usize = 100;

/// A load under way.
pub(crate) struct Load<'a> {
    db: &'a Database,
    list: &'a EdgeList,
    progress: &'a dyn Progress,
    /// Edges committed.
    done: AtomicU64,
    /// Somebody asked to stop.
    stopped: AtomicBool,
}

impl<'a> Load<'a> {
    /// Nothing was loaded yet.
    pub(crate) fn new(
        (db, list): (&'a Database, &'a EdgeList),
        progress: &'a dyn Progress,
    ) -> Self {
        Self { db, list, progress, done: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// So many edges are there already.
    pub(crate) fn after(self, edges: u64) -> Self {
        Self { done: AtomicU64::new(edges), ..self }
    }

    /// Adds some of the vertices in a transaction.
    pub(crate) fn vertices(&self, range: Range<usize>) -> Result<()> {
        self.commit(range, |tx, v| tx.add_vertex(self.key(v as VertexId)))
    }

    /// Adds some of the edges in a transaction.
    pub(crate) fn edges(&self, range: Range<usize>) -> Result<()> {
        let EdgeList { edges, weights, .. } = self.list;
        self.commit(range.clone(), |tx, edge| {
            let (source, target) = edges[edge];
            let (source, target) = (self.key(source), self.key(target));
            match weights {
                Some(weights) => tx.add_weighted_edge(source, target, weights[edge]),
                None => tx.add_edge(source, target),
            }
        })?;
        self.tick(range.len())
    }

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
