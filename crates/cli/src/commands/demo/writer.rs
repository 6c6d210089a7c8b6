//! A writer: commits transactions at full rate, and records what it committed.
//!
//! # What it commits
//!   Mostly single edges: temporary ones, whose ends are ends of random edges of the given graph, so
//!   that the degrees keep their distribution, come and go; edges of the given graph go and come
//!   back; weights change. Some transactions read before they write, and make 2 to 16 changes; some
//!   remove a vertex and add it again with some of its edges. The number of edges stays about the
//!   same.
//!
//! # When a commit is refused
//!   A conflict with another writer is tried again. An edge that is there already or not any more,
//!   because it was drawn twice or another writer was faster, is left alone. Anything else is a
//!   failure of the demo.

use std::sync::atomic::Ordering;

use evergraph::graph::{Key, Update, VertexId};
use evergraph::{StoreError, Transaction};
use rand::RngExt;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::live::{Live, Shared, Tally};
use super::record::Record;
use crate::failure::Failure;

/// Temporary edges, and edges taken away, as a share of the given ones: one in so many.
const SHARE: usize = 16;
/// Draws of a pair of vertices, or of a vertex, before it is left to the next transaction.
const DRAWS_MAX: usize = 16;
/// Tries of a transaction that conflicts with others.
const TRIES_MAX: usize = 100;
/// Changes of a larger transaction.
const SEVERAL: std::ops::RangeInclusive<usize> = 2..=16;
/// Edges of a vertex that is removed and added again, at most: it stays a small transaction.
const REBUILT_DEGREE_MAX: usize = 64;
/// Of those edges, the share that is added again.
const REBUILT_SHARE: f64 = 0.75;

/// How often each kind of transaction is made, in a thousand. Half of what is left goes to
/// temporary edges that are added, half to those that are deleted.
const REBUILD: u32 = 2;
const CHANGE_SEVERAL: u32 = 30;
const CHANGE_GIVEN: u32 = 100;
const SET_WEIGHT: u32 = 100;

type Changes = Vec<Update<VertexId>>;
type Edge = (VertexId, VertexId);
/// A vertex and its edges with their weights.
type Star = (VertexId, Vec<(Edge, f64)>);

/// A writer and what it knows.
pub(super) struct Writer<'a> {
    live: Live<'a>,
    shared: &'a Shared,
    tally: &'a Tally,
    random: Pcg64Mcg,
    /// Edges that this writer added.
    temporary: Vec<Edge>,
    /// Edges that this writer took away, with their weights.
    missing: Vec<(Edge, f64)>,
    /// Of either, the number at which adding and deleting are equally likely.
    level: f64,
    record: Record,
    /// The changes of the transaction under way.
    changes: Changes,
}

impl<'a> Writer<'a> {
    pub(super) fn new(live: &Live<'a>, shared: &'a Shared, number: usize) -> Self {
        let share = live.list.edges.len() / SHARE / live.plan.writers;
        let seed = u128::from(live.plan.seed) << 64 | number as u128;
        Self {
            live: *live,
            shared,
            tally: &shared.tallies[number],
            random: Pcg64Mcg::from_seed(seed.to_le_bytes()),
            temporary: Vec::new(),
            missing: Vec::new(),
            level: share.max(1) as f64,
            record: Record::default(),
            changes: Changes::new(),
        }
    }

    /// Writes until the live part ends.
    pub(super) fn run(mut self) -> Result<Record, Failure> {
        let record_max = self.live.record_bytes_max / self.live.plan.writers;
        while !self.shared.stopped() {
            self.transact()?;
            if self.record.bytes() > record_max {
                self.shared.record_full.store(true, Ordering::Relaxed);
                self.shared.stop.store(true, Ordering::Relaxed);
            }
        }
        Ok(self.record)
    }

    /// Makes one transaction of a random kind.
    fn transact(&mut self) -> Result<(), Failure> {
        let weighted = self.live.list.weights.is_some();
        let mut dice = self.random.random_range(0..1000);
        let mut is = |share: u32| {
            let hit = dice < share;
            dice = dice.wrapping_sub(share);
            hit
        };
        if is(REBUILD) {
            self.rebuild()
        } else if is(CHANGE_SEVERAL) {
            self.change_several()
        } else if is(CHANGE_GIVEN) {
            let back = self.random.random_bool(chance(self.missing.len(), self.level));
            if back { self.put_back() } else { self.take_away() }
        } else if weighted && is(SET_WEIGHT) {
            self.set_weight()
        } else {
            let delete = self.random.random_bool(chance(self.temporary.len(), self.level));
            if delete { self.delete() } else { self.add() }
        }
    }

    /// Adds a temporary edge.
    fn add(&mut self) -> Result<(), Failure> {
        let Some((from, to)) = self.draw_pair() else { return Ok(()) };
        let weight = self.draw_weight();
        if self.commit_one(Update::AddEdge { from, to, weight })? {
            self.temporary.push((from, to));
        }
        Ok(())
    }

    /// Deletes a temporary edge.
    fn delete(&mut self) -> Result<(), Failure> {
        let Some((from, to)) = take_any(&mut self.temporary, &mut self.random) else {
            return Ok(());
        };
        self.commit_one(Update::DeleteEdge { from, to }).map(drop)
    }

    /// Deletes an edge of the given graph.
    fn take_away(&mut self) -> Result<(), Failure> {
        let at = self.random.random_range(0..self.live.list.edges.len());
        let (from, to) = self.live.list.edges[at];
        let weight = self.live.list.weights.as_ref().map_or(1.0, |weights| weights[at]);
        if self.commit_one(Update::DeleteEdge { from, to })? {
            self.missing.push(((from, to), weight));
        }
        Ok(())
    }

    /// Adds an edge that was taken away.
    fn put_back(&mut self) -> Result<(), Failure> {
        let Some(((from, to), weight)) = take_any(&mut self.missing, &mut self.random) else {
            return Ok(());
        };
        let weight = self.live.list.weights.is_some().then_some(weight);
        self.commit_one(Update::AddEdge { from, to, weight }).map(drop)
    }

    /// Gives an edge of the given graph another weight.
    fn set_weight(&mut self) -> Result<(), Failure> {
        let (from, to) = self.draw_edge();
        let weight = self.draw_weight().unwrap_or(1.0);
        self.commit_one(Update::SetWeight { from, to, weight }).map(drop)
    }

    /// Makes several changes at once: looks at each edge and changes it to what it is not.
    fn change_several(&mut self) -> Result<(), Failure> {
        let size = self.random.random_range(SEVERAL);
        let mut drawn = Vec::with_capacity(size);
        for _ in 0..size {
            let edge = self.draw_any().map(|edge| (edge, self.draw_weight()));
            drawn.extend(edge);
        }
        let mut taken = Vec::new();
        let live = self.live;
        let committed = self.commit(|tx, changes| {
            taken.clear();
            for &((from, to), weight) in &drawn {
                let change = match tx.weight(live.key(from), live.key(to))? {
                    Some(old) => {
                        taken.push(((from, to), old));
                        Update::DeleteEdge { from, to }
                    }
                    None => Update::AddEdge { from, to, weight },
                };
                apply(live, tx, change)?;
                changes.push(change);
            }
            Ok(())
        })?;
        if committed {
            let added = |change: &Update<VertexId>| match *change {
                Update::AddEdge { from, to, .. } => Some((from, to)),
                _ => None,
            };
            self.temporary.extend(self.changes.iter().filter_map(added));
            self.missing.append(&mut taken);
        }
        Ok(())
    }

    /// Removes a vertex of moderate degree, and adds it again with some of its edges.
    fn rebuild(&mut self) -> Result<(), Failure> {
        let vertices = self.live.list.keys.len();
        let drawn: Vec<VertexId> =
            (0..DRAWS_MAX).map(|_| self.random.random_range(0..vertices)).collect();
        let live = self.live;
        let mut random = self.random.clone();
        let mut left_out = Vec::new();
        let committed = self.commit(|tx, changes| {
            left_out.clear();
            let Some((v, edges)) = moderate(live, tx, &drawn)? else { return Ok(()) };
            changes.extend([Update::DeleteVertex(v), Update::AddVertex(v)]);
            for ((from, to), weight) in edges {
                if random.random_bool(REBUILT_SHARE) {
                    let weight = live.list.weights.is_some().then_some(weight);
                    changes.push(Update::AddEdge { from, to, weight });
                } else {
                    left_out.push(((from, to), weight));
                }
            }
            changes.iter().try_for_each(|&change| apply(live, tx, change))
        })?;
        self.random = random;
        if committed {
            self.missing.append(&mut left_out);
        }
        Ok(())
    }

    fn commit_one(&mut self, change: Update<VertexId>) -> Result<bool, Failure> {
        let live = self.live;
        self.commit(|tx, changes| {
            changes.push(change);
            apply(live, tx, change)
        })
    }

    /// Commits what `build` puts into a transaction and into the list of changes, again after a
    /// conflict. Whether there is a new version, which the record then knows.
    fn commit(
        &mut self,
        mut build: impl FnMut(&mut Transaction<'_>, &mut Changes) -> Result<(), StoreError>,
    ) -> Result<bool, Failure> {
        for _ in 0..TRIES_MAX {
            self.changes.clear();
            let mut tx = self.live.db.begin()?;
            let built = build(&mut tx, &mut self.changes);
            if built.is_ok() && tx.is_empty() {
                return Ok(false);
            }
            match built.and_then(|()| Ok(tx.commit()?)) {
                Ok(version) => {
                    self.record.note(version.0, &self.changes);
                    self.tally.commits.fetch_add(1, Ordering::Relaxed);
                    return Ok(true);
                }
                Err(StoreError::Conflict { .. }) => {
                    self.tally.conflicts.fetch_add(1, Ordering::Relaxed);
                }
                Err(StoreError::DuplicateEdge { .. } | StoreError::MissingEdge { .. }) => {
                    self.tally.refused.fetch_add(1, Ordering::Relaxed);
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// An edge of the given graph.
    fn draw_edge(&mut self) -> Edge {
        self.live.list.edges[self.random.random_range(0..self.live.list.edges.len())]
    }

    /// An edge to add or to delete, of any kind, so that each kind stays about as frequent.
    fn draw_any(&mut self) -> Option<Edge> {
        let Self { random, temporary, missing, level, .. } = self;
        if random.random() {
            let delete = random.random_bool(chance(temporary.len(), *level));
            if delete { take_any(temporary, random) } else { self.draw_pair() }
        } else if random.random_bool(chance(missing.len(), *level)) {
            take_any(missing, random).map(|(edge, _)| edge)
        } else {
            Some(self.draw_edge())
        }
    }

    /// Two different vertices, each in proportion to its degree: ends of random edges. In a
    /// directed graph each end stays on its side.
    fn draw_pair(&mut self) -> Option<Edge> {
        (0..DRAWS_MAX).find_map(|_| {
            let (first, second) = (self.draw_edge(), self.draw_edge());
            let turn =
                |(from, to): Edge, turned: bool| if turned { (to, from) } else { (from, to) };
            let ((from, _), (_, to)) = match self.random.random::<u8>() {
                _ if self.live.list.directed => (first, second),
                dice => (turn(first, dice & 1 == 1), turn(second, dice & 2 == 2)),
            };
            (from != to).then_some((from, to))
        })
    }

    /// A weight in (0, 1], if edges have weights.
    fn draw_weight(&mut self) -> Option<f64> {
        self.live.list.weights.as_ref().map(|_| 1.0 - self.random.random::<f64>())
    }
}

/// The chance to take from a heap of `there`, which falls to 0 with it and is a half at `level`.
fn chance(there: usize, level: f64) -> f64 {
    (there as f64 / (2.0 * level)).min(1.0)
}

fn take_any<T>(heap: &mut Vec<T>, random: &mut Pcg64Mcg) -> Option<T> {
    if heap.is_empty() {
        return None;
    }
    let at = random.random_range(0..heap.len());
    Some(heap.swap_remove(at))
}

/// The first of the vertices that has edges, but not many, and these edges.
fn moderate(
    live: Live<'_>,
    tx: &Transaction<'_>,
    vertices: &[VertexId],
) -> Result<Option<Star>, StoreError> {
    for &v in vertices {
        let key = live.key(v);
        let directed = live.list.directed;
        let incoming = if directed { tx.in_degree(key)? } else { 0 };
        let degree = (tx.degree(key)? + incoming) as usize;
        if !(1..=REBUILT_DEGREE_MAX).contains(&degree) {
            continue;
        }
        let place = |key: &Key| live.list.keys.id(key).expect("the writers add no new keys");
        let out = tx.neighbours(key)?.into_iter();
        let mut edges: Vec<(Edge, f64)> =
            out.map(|(key, weight)| ((v, place(&key)), weight)).collect();
        if directed {
            // A loop stands in both lists.
            let incoming = tx.in_neighbours(key)?.into_iter();
            let incoming = incoming.map(|(key, weight)| ((place(&key), v), weight));
            edges.extend(incoming.filter(|&((from, _), _)| from != v));
        }
        return Ok(Some((v, edges)));
    }
    Ok(None)
}

/// Puts a change into a transaction.
fn apply(
    live: Live<'_>,
    tx: &mut Transaction<'_>,
    change: Update<VertexId>,
) -> Result<(), StoreError> {
    match change.map(|v| live.key(v)) {
        Update::AddEdge { from, to, weight: None } => tx.add_edge(from, to),
        Update::AddEdge { from, to, weight: Some(weight) } => {
            tx.add_weighted_edge(from, to, weight)
        }
        Update::DeleteEdge { from, to } => tx.remove_edge(from, to),
        Update::SetWeight { from, to, weight } => tx.set_weight(from, to, weight),
        Update::AddVertex(v) => tx.add_vertex(v),
        Update::DeleteVertex(v) => tx.remove_vertex(v),
    }
}
