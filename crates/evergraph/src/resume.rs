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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use evergraph_graph::generate::{GraphSpec, Weights};
    use evergraph_graph::{KeyKind, KeyTable};

    use super::*;
    use crate::options_for;

    /// Lets so many batches of edges through.
    struct Ends {
        left: AtomicUsize,
    }

    impl Progress for Ends {
        fn tick(&self, status: &Status) -> ControlFlow<()> {
            if status.stage != Stage::Committing {
                return ControlFlow::Continue(());
            }
            match self.left.fetch_sub(1, Ordering::Relaxed) {
                1 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }

    fn lists() -> Vec<EdgeList> {
        let made = |weights| {
            let spec: GraphSpec = "graph500-7".parse().expect("a name");
            spec.generate(weights, &()).expect("it is small")
        };
        let mut texts = made(Weights::Uniform);
        let mut keys = KeyTable::empty(KeyKind::Text);
        for v in 0..texts.keys.len() {
            keys.push(format!("v{v}").as_str()).expect("a new key");
        }
        texts.keys = keys;
        vec![made(Weights::None), EdgeList { directed: true, ..made(Weights::Uniform) }, texts]
    }

    fn other(db: &Database, list: &EdgeList) -> String {
        let version = db.version();
        match resume_into(db, list, &LoadOptions::default(), &()) {
            Err(Error::OtherContent { what }) if db.version() == version => what,
            answer => panic!("{answer:?}"),
        }
    }

    #[test]
    fn a_load_goes_on_wherever_it_ended() {
        for list in lists() {
            let all = list.edges.len();
            for batches in [1, 2, 7, 30] {
                let db = options_for(&list).in_memory();
                let (first, then) = (LoadOptions { batch: 50 }, LoadOptions { batch: 33 });
                let ended = resume_into(&db, &list, &first, &Ends { left: batches.into() });
                let there = (50 * batches).min(all) as u64;
                assert_eq!((ended.is_err(), db.stats().edges), (50 * batches <= all, there));
                let resumed = resume_into(&db, &list, &then, &()).expect("the same graph");
                assert_eq!(resumed, Resumed { vertices: 128, edges: there });
                // As many edges, and each of them.
                assert_eq!(db.stats().edges, all as u64);
                let again = resume_into(&db, &list, &then, &()).expect("the same graph");
                assert_eq!(again.edges, all as u64);
                db.check().expect("sound");
            }
        }
    }

    #[test]
    fn vertices_alone_are_a_beginning() {
        let list = lists().pop().expect("texts");
        let db = options_for(&list).in_memory();
        db.transaction(0, |tx| ["v0", "v1"].into_iter().try_for_each(|key| tx.add_vertex(key)))
            .expect("commits");
        let resumed = resume_into(&db, &list, &LoadOptions { batch: 5 }, &()).expect("a beginning");
        assert_eq!(resumed, Resumed { vertices: 2, edges: 0 });
        assert_eq!(db.stats().edges, list.edges.len() as u64);
    }

    #[test]
    fn anything_else_is_refused() {
        for list in lists() {
            let loaded = || {
                let db = options_for(&list).in_memory();
                let ended =
                    resume_into(&db, &list, &LoadOptions { batch: 50 }, &Ends { left: 4.into() });
                assert!(ended.is_err());
                db
            };
            let key = |edge: usize| {
                let (source, target) = list.edges[edge];
                let key = |v| list.keys.key(v).expect("a vertex").to_owned();
                (key(source), key(target))
            };
            let db = loaded();
            let ((a, b), (c, d)) = (key(7), key(210));
            db.transaction(0, |tx| tx.remove_edge(&a, &b)).expect("commits");
            assert!(other(&db, &list).contains("it lacks the edge"), "one too few");
            db.transaction(0, |tx| tx.add_edge(&c, &d)).expect("commits");
            assert!(other(&db, &list).contains("it lacks the edge"), "another instead");
            if list.weights.is_some() {
                let db = loaded();
                db.transaction(0, |tx| tx.set_weight(&a, &b, 77.0)).expect("commits");
                assert!(other(&db, &list).contains("weighs 77, not "));
            }
            let fewer = EdgeList { edges: list.edges[..100].to_vec(), ..list.clone() };
            assert!(other(&loaded(), &fewer).contains("200 edges, the graph 128 and 100"));
        }
        let list = lists().pop().expect("texts");
        let db = options_for(&list).in_memory();
        db.transaction(0, |tx| tx.add_vertex("v1")).expect("commits");
        assert_eq!(other(&db, &list), "it lacks the vertex v0");
        let add = |tx: &mut crate::Transaction<'_>| {
            tx.add_vertex("v0")?;
            tx.add_edge("v0", "v1")
        };
        db.transaction(0, add).expect("commits");
        assert_eq!(other(&db, &list), "it has edges, but not all vertices of the graph");
    }
}
