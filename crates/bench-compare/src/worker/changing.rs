//! Graphs that change: the live database, and petgraph's map, which has no transactions.

use evergraph::graph::GraphView;
use evergraph::{Database, with_view};
use evergraph_bench::{Action, Edge, Live};
use petgraph::graphmap::UnGraphMap;

use super::Changing;
use crate::work::Change;
use crate::{Error, Result};

/// A database in memory; every change is a transaction.
pub(super) struct ChangingDatabase(Database);

impl ChangingDatabase {
    pub(super) fn new(vertices: u32) -> Self {
        Self(Database::options().undirected().dense_keys(vertices).in_memory())
    }
}

impl Changing for ChangingDatabase {
    fn update(&mut self, changes: &[Change]) -> Result<()> {
        let live = Live::dense(&self.0);
        for &(action, from, to) in changes {
            live.commit(action, Edge { from, to, weight: 1.0 })?;
        }
        Ok(())
    }

    fn scan(&self) -> Result<Vec<i64>> {
        let snapshot = self.0.snapshot()?;
        Ok(with_view!(snapshot.view()?, |view| {
            let mut rows = vec![0; 2 * view.vertex_bound() as usize];
            for v in 0..view.vertex_bound() {
                let (mut degree, mut sum) = (0, 0);
                view.for_each(v, |w| {
                    degree += 1;
                    sum += i64::from(w);
                });
                let at = 2 * v as usize;
                (rows[at], rows[at + 1]) = (degree, sum);
            }
            rows
        }))
    }
}

/// A map of edges, and a list of neighbours per vertex.
pub(super) struct ChangingMap(UnGraphMap<u32, ()>);

impl ChangingMap {
    pub(super) fn new(vertices: u32) -> Self {
        let mut map = UnGraphMap::new();
        for v in 0..vertices {
            map.add_node(v);
        }
        Self(map)
    }
}

impl Changing for ChangingMap {
    fn update(&mut self, changes: &[Change]) -> Result<()> {
        for &(action, from, to) in changes {
            let was_there = match action {
                Action::Add => self.0.add_edge(from, to, ()),
                Action::Remove => self.0.remove_edge(from, to),
            };
            if was_there.is_some() != (action == Action::Remove) {
                return Err(Error::Protocol(format!("the edge {from} {to} is there or is not")));
            }
        }
        Ok(())
    }

    fn scan(&self) -> Result<Vec<i64>> {
        let mut rows = Vec::with_capacity(2 * self.0.node_count());
        // Vertices come in the order in which they were added.
        for v in self.0.nodes() {
            let neighbours = self.0.neighbors(v).map(i64::from);
            let (degree, sum) = neighbours.fold((0, 0), |(degree, sum), w| (degree + 1, sum + w));
            rows.extend([degree, sum]);
        }
        Ok(rows)
    }
}
