//! The live graph: built by single-edge transactions in random order, and made to change.

use std::ops::Range;
use std::time::Duration;

use evergraph::Database;
use rand::seq::SliceRandom;

use crate::crew::{Outcome, cut, together};
use crate::input::{Edge, Input, Stream, random};
use crate::progress::wait_until;
use crate::{Reporter, Result};

/// Tries of a transaction before its conflict is an error; conflicts need another writer at the
/// same edge.
const TRIES: usize = 100;
/// Edges that are removed and put back to make the graph fresh again: one in so many. Putting them
/// back leaves about as many changes pending as the load did: an eighth of all entries, while a
/// group keeps about one in sixteen before it is merged.
const CHURN_SHARE: usize = 8;

/// What vertices are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Their dense ids.
    Dense,
    /// Numbers all over the 64 bits, which the database keeps a dictionary of.
    Sparse,
}

impl Keys {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
        }
    }

    /// The key of a vertex: an odd factor makes different numbers of different ids.
    #[inline]
    pub(crate) fn key(self, v: u32) -> u64 {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        match self {
            Self::Dense => u64::from(v),
            Self::Sparse => (u64::from(v) + 1).wrapping_mul(SPREAD),
        }
    }
}

/// What a transaction does to an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is added, and must not be there.
    Add,
    /// It is removed, and must be there.
    Remove,
}

/// A database that changes, and what its vertices are called.
#[derive(Clone, Copy)]
pub struct Live<'d> {
    pub(crate) db: &'d Database,
    pub(crate) keys: Keys,
}

impl<'d> Live<'d> {
    /// A database whose vertices are called by their dense ids.
    pub fn dense(db: &'d Database) -> Self {
        Self { db, keys: Keys::Dense }
    }

    /// Changes one edge in a transaction of its own.
    #[inline]
    pub fn commit(self, action: Action, edge: Edge) -> Result<()> {
        self.commit_all(action, std::slice::from_ref(&edge))
    }

    /// Changes several edges in one transaction.
    #[inline]
    pub(crate) fn commit_all(self, action: Action, edges: &[Edge]) -> Result<()> {
        let weighted = self.db.is_weighted();
        let committed = self.db.transaction(TRIES, |tx| {
            for &Edge { from, to, weight } in edges {
                let (from, to) = (self.keys.key(from), self.keys.key(to));
                match action {
                    Action::Add if weighted => tx.add_weighted_edge(from, to, weight)?,
                    Action::Add => tx.add_edge(from, to)?,
                    Action::Remove => tx.remove_edge(from, to)?,
                }
            }
            Ok(())
        });
        committed?;
        Ok(())
    }

    /// Adds the vertices that a dictionary must know, `BATCH` to a transaction.
    pub(crate) fn add_vertices(self, vertices: u32) -> Result<()> {
        const BATCH: usize = 1 << 12;
        for start in (0..vertices).step_by(BATCH) {
            let batch = start..vertices.min(start + BATCH as u32);
            self.db.transaction(0, |tx| {
                batch.clone().try_for_each(|v| tx.add_vertex(self.keys.key(v)))
            })?;
        }
        Ok(())
    }

    /// Changes these edges, each in a transaction of its own, on so many threads, each of which
    /// takes a stretch of them.
    pub(crate) fn each(
        self,
        action: Action,
        edges: &[Edge],
        threads: usize,
        reporter: &dyn Reporter,
    ) -> Result<Outcome<()>> {
        let shares = cut(edges.len(), threads).into_iter().map(|range| &edges[range]).collect();
        together(reporter, edges.len() as u64, shares, |edges: &[Edge], worker| {
            for &edge in edges {
                self.commit(action, edge)?;
                worker.count(1)?;
            }
            Ok(())
        })
    }
}

/// Adds all edges in their random order, each in a transaction of its own; how long it took.
pub(crate) fn load_each(
    live: Live<'_>,
    input: &Input,
    threads: usize,
    reporter: &dyn Reporter,
) -> Result<Duration> {
    let shares = cut(input.len(), threads);
    let outcome = together(reporter, input.len() as u64, shares, |places: Range<usize>, worker| {
        for place in places {
            live.commit(Action::Add, input.edge(place))?;
            worker.count(1)?;
        }
        Ok(())
    });
    Ok(outcome?.time)
}

/// Makes the graph fresh again: another eighth of the edges every time is removed and put back, in
/// two random orders, each edge in a transaction of its own.
pub(crate) struct Churn<'d> {
    live: Live<'d>,
    threads: usize,
    seed: u64,
    next: usize,
}

impl<'d> Churn<'d> {
    pub(crate) fn new(live: Live<'d>, threads: usize, seed: u64) -> Self {
        Self { live, threads, seed, next: 0 }
    }

    pub(crate) fn run(&mut self, input: &Input, reporter: &dyn Reporter) -> Result<()> {
        let (removed, added) = self.next(input);
        self.live.each(Action::Remove, &removed, self.threads, reporter)?;
        self.live.each(Action::Add, &added, self.threads, reporter)?;
        Ok(())
    }

    /// The next eighth, in the order in which it is removed and in that in which it is put back.
    pub(crate) fn next(&mut self, input: &Input) -> (Vec<Edge>, Vec<Edge>) {
        let count = (input.len() / CHURN_SHARE).max(1);
        let start = self.next;
        self.next = (start + count) % input.len();
        let places = (start..start + count).map(|place| place % input.len());
        let removed: Vec<Edge> = places.map(|place| input.edge(place)).collect();
        let mut added = removed.clone();
        added.shuffle(&mut random(self.seed.wrapping_add(start as u64), Stream::Churn));
        (removed, added)
    }
}

/// Waits until nothing is pending, for `limit` at most; how long it took, if it happened.
pub fn wait_settled(
    db: &Database,
    limit: Duration,
    reporter: &dyn Reporter,
) -> Result<Option<Duration>> {
    let start = std::time::Instant::now();
    let settled = wait_until(reporter, limit, || Ok(db.stats().groups_pending == 0))?;
    Ok(settled.then(|| start.elapsed()))
}
