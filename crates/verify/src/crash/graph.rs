//! The plain graph that tells what a database must hold, and the changes made to both.

use std::collections::{BTreeMap, BTreeSet};

use evergraph::graph::{Key, KeyKind};
use evergraph::{Database, Ingest, Transaction};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Keys of small graphs; few, so that they are used again.
const KEYS: u64 = 20;
/// A key that is this times n, and more, is a text of n bytes besides.
const LONG: u64 = 1_000_000;

/// What a database must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    vertices: BTreeSet<u64>,
    edges: BTreeMap<(u64, u64), f64>,
}

/// One call of a transaction.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Adds a vertex.
    AddVertex(u64),
    /// Removes a vertex and its edges.
    RemoveVertex(u64),
    /// Adds an edge.
    AddEdge(u64, u64, f64),
    /// Gives an edge another weight.
    SetWeight(u64, u64, f64),
    /// Removes an edge.
    RemoveEdge(u64, u64),
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A few changes of all kinds.
    Small,
    /// Nothing in the end: the shortest record there is.
    Empty,
    /// So many vertices and edges.
    Many(u64),
    /// A vertex whose key has so many bytes.
    Long(u64),
}

/// What changes can be, as the options of a database say.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What keys are.
    pub keys: KeyKind,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether edges carry weights.
    pub weighted: bool,
}

impl Kind {
    /// The ends of an edge, as the plain graph has them.
    fn ends(self, source: u64, target: u64) -> (u64, u64) {
        if self.directed { (source, target) } else { (source.min(target), source.max(target)) }
    }
}

impl Graph {
    /// The graph of a database without commits.
    pub fn dense(vertices: u64) -> Self {
        Self { vertices: (0..vertices).collect(), edges: BTreeMap::new() }
    }

    /// Draws a transaction that this graph admits, and makes it.
    pub fn draw(&mut self, kind: Kind, size: Size, rng: &mut Pcg64Mcg) -> Vec<Step> {
        let mut steps = Vec::new();
        match size {
            Size::Small => {
                for _ in 0..rng.random_range(1..4) {
                    let step = self.small(kind, rng);
                    self.make(kind, step);
                    steps.push(step);
                }
            }
            Size::Empty => match self.vertices.first().copied() {
                Some(v) if !self.edges.contains_key(&(v, v)) => {
                    steps.extend([Step::AddEdge(v, v, 1.0), Step::RemoveEdge(v, v)]);
                }
                Some(v) => steps.extend([Step::RemoveEdge(v, v), Step::AddEdge(v, v, 1.0)]),
                None => steps.push(Step::AddVertex(0)),
            },
            Size::Many(count) => {
                let first = self.unused(KEYS);
                steps.extend((first..first + count).map(Step::AddVertex));
                steps.extend((first + 1..first + count).map(|v| Step::AddEdge(v - 1, v, 1.0)));
            }
            Size::Long(bytes) => steps.push(Step::AddVertex(self.unused(bytes * LONG))),
        }
        if size != Size::Small {
            for step in &steps {
                self.make(kind, *step);
            }
        }
        steps
    }

    /// Wishes for changes of so many edges, whatever is there: puts edges in, and takes some of those
    /// out again that were put in at the step before.
    pub fn wish(&mut self, kind: Kind, count: u64, step: u64) -> Vec<Step> {
        let edge = |step: u64, nth: u64| ((step + nth) % KEYS, (step + 3 * nth) % KEYS);
        let put = (0..count).map(|nth| (edge(step, nth), true));
        let dropped = (0..count).step_by(2).map(|nth| (edge(step - 1, nth), false));
        let mut steps = Vec::new();
        for ((source, target), puts) in put.chain(dropped) {
            if puts {
                self.vertices.extend([source, target]);
            }
            let weight = if kind.weighted { (step % 8) as f64 } else { 1.0 };
            let change = if puts {
                Step::AddEdge(source, target, weight)
            } else {
                Step::RemoveEdge(source, target)
            };
            self.make(kind, change);
            steps.push(change);
        }
        steps
    }

    /// The first key from `from` on that no vertex has.
    fn unused(&self, from: u64) -> u64 {
        let mut keys = from..=from + self.vertices.len() as u64;
        keys.find(|key| !self.vertices.contains(key)).expect("one of them is free")
    }

    fn small(&self, kind: Kind, rng: &mut Pcg64Mcg) -> Step {
        let weight = if kind.weighted { f64::from(rng.random_range(0..8u8)) } else { 1.0 };
        let pick = |rng: &mut Pcg64Mcg| {
            let nth = rng.random_range(0..self.vertices.len());
            *self.vertices.iter().nth(nth).expect("there are so many")
        };
        let key = rng.random_range(0..KEYS);
        let free = !self.vertices.contains(&key);
        if free && (self.vertices.len() < 3 || rng.random_range(0..3) == 0) {
            return Step::AddVertex(key);
        }
        if self.vertices.is_empty() {
            return Step::AddVertex(self.unused(0));
        }
        if rng.random_range(0..8) == 0 {
            return Step::RemoveVertex(pick(rng));
        }
        let (source, target) = (pick(rng), pick(rng));
        if !self.edges.contains_key(&kind.ends(source, target)) {
            return Step::AddEdge(source, target, weight);
        }
        if kind.weighted && rng.random() {
            return Step::SetWeight(source, target, weight);
        }
        Step::RemoveEdge(source, target)
    }

    /// Makes one change.
    pub fn make(&mut self, kind: Kind, step: Step) {
        match step {
            Step::AddVertex(v) => {
                self.vertices.insert(v);
            }
            Step::RemoveVertex(v) => {
                self.vertices.remove(&v);
                self.edges.retain(|ends, _| ends.0 != v && ends.1 != v);
            }
            Step::AddEdge(source, target, weight) | Step::SetWeight(source, target, weight) => {
                self.edges.insert(kind.ends(source, target), weight);
            }
            Step::RemoveEdge(source, target) => {
                self.edges.remove(&kind.ends(source, target));
            }
        }
    }
}

/// A key as the database has it.
fn name(kind: Kind, key: u64) -> Key {
    match kind.keys {
        KeyKind::Text => Key::Text(format!("{key}:{}", "x".repeat((key / LONG) as usize)).into()),
        KeyKind::Number | KeyKind::Dense => Key::Number(key),
    }
}

/// The key of the plain graph.
fn number(key: &Key) -> Result<u64, String> {
    match key {
        Key::Number(number) => Ok(*number),
        Key::Text(text) => {
            let digits = text.split(':').next().unwrap_or_default();
            digits.parse().map_err(|_| format!("nobody added the key {text}"))
        }
    }
}

/// Makes one change in a transaction.
pub fn perform(
    tx: &mut Transaction<'_>,
    kind: Kind,
    step: Step,
) -> Result<(), evergraph::StoreError> {
    match step {
        Step::AddVertex(v) => tx.add_vertex(&name(kind, v)),
        Step::RemoveVertex(v) => tx.remove_vertex(&name(kind, v)),
        Step::AddEdge(source, target, weight) if kind.weighted => {
            tx.add_weighted_edge(&name(kind, source), &name(kind, target), weight)
        }
        Step::AddEdge(source, target, _) => tx.add_edge(&name(kind, source), &name(kind, target)),
        Step::SetWeight(source, target, weight) => {
            tx.set_weight(&name(kind, source), &name(kind, target), weight)
        }
        Step::RemoveEdge(source, target) => {
            tx.remove_edge(&name(kind, source), &name(kind, target))
        }
    }
}

/// Has a change made unchecked.
pub fn ingest(into: &Ingest, kind: Kind, step: Step) -> Result<(), evergraph::StoreError> {
    match step {
        Step::AddEdge(source, target, weight) if kind.weighted => {
            into.add_weighted_edge(&name(kind, source), &name(kind, target), weight)
        }
        Step::AddEdge(source, target, _) => into.add_edge(&name(kind, source), &name(kind, target)),
        Step::RemoveEdge(source, target) => {
            into.remove_edge(&name(kind, source), &name(kind, target))
        }
        Step::AddVertex(_) | Step::RemoveVertex(_) | Step::SetWeight(..) => {
            unreachable!("not wished for")
        }
    }
}

/// What the newest version of a database holds.
pub fn content(db: &Database, kind: Kind) -> Result<Graph, String> {
    let say = |error: evergraph::StoreError| error.to_string();
    let snapshot = db.snapshot().map_err(say)?;
    let mut graph = Graph::default();
    for key in snapshot.keys().map_err(say)?.into_iter().flatten() {
        let source = number(&key)?;
        if !graph.vertices.insert(source) {
            return Err(format!("two vertices have the key {source}"));
        }
        for (target, weight) in snapshot.neighbours(&key).map_err(say)? {
            graph.edges.insert(kind.ends(source, number(&target)?), weight);
        }
    }
    Ok(graph)
}
