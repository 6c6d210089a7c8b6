//! Runs one interleaving on the store, and compares every step with the model as it goes.
//!
//! The model of a transaction is a copy of the graph as of its beginning, with its own changes.
//! Every read must show that; at either level. A commit must be refused if it overlaps with what
//! another committed since, and may be refused only for the reasons that are documented. After each
//! commit the whole database is compared with the model, and again at the end, when every version
//! is still held by a snapshot.

use std::collections::BTreeSet;
use std::ops::Range;

use evergraph::graph::Key;
use evergraph::{Database, Options, Service, Snapshot, StoreError, Transaction, Tuning, Weights};

use super::model::{Answer, Change, Graph, Look, Side, V, ask};
use super::program::Step;
use super::{Program, Scenario};
use crate::level::Level;

/// How the store keeps the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As users do.
    Usual,
    /// In tiny pieces, rebuilt after every commit.
    Tiny,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 2] = [Self::Usual, Self::Tiny];
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Committed,
    /// Because of what another committed.
    Conflict,
    /// Because it does not fit, or of its own will.
    Gone,
}

/// What came of a transaction.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// When it began and ended, in steps of the interleaving.
    pub(super) time: (usize, usize),
    pub(super) answers: Vec<Answer>,
    pub(super) end: End,
}

/// What came of an interleaving.
pub(super) struct Played {
    pub(super) runs: Vec<Run>,
    pub(super) end: Graph,
}

/// Runs one interleaving; an error says which step was wrong.
pub(super) fn play(
    scenario: &Scenario,
    (level, layout): (Level, Layout),
    schedule: &[u8],
) -> Result<Played, String> {
    let db = database(&scenario.start, layout).map_err(|error| format!("at the start: {error}"))?;
    let mut stage = Stage { db: &db, level, layout, states: Vec::new(), changed: Vec::new() };
    stage.keep(scenario.start.clone(), BTreeSet::new())?;
    let mut actors: Vec<Actor<'_>> = scenario.programs.iter().map(Actor::new).collect();
    for (time, &txn) in schedule.iter().enumerate() {
        let actor = &mut actors[txn as usize];
        actor.act(&mut stage, time).map_err(|problem| format!("T{}: {problem}", txn + 1))?;
    }
    for (version, (snapshot, state)) in stage.states.iter().enumerate() {
        compare(snapshot, state).map_err(|problem| format!("version {version}: {problem}"))?;
    }
    let end = stage.now().clone();
    drop(stage);
    db.check()?;
    Ok(Played { runs: actors.into_iter().map(|actor| actor.run).collect(), end })
}

fn database(start: &Graph, layout: Layout) -> Result<Database, StoreError> {
    let options = Options::default().weights(Weights::F64).service(Service::Manual);
    let options = if start.directed { options.directed() } else { options.undirected() };
    let db = match layout {
        Layout::Usual => options.in_memory(),
        Layout::Tiny => options.tuning(Tuning::tiny()).in_memory(),
    };
    let mut tx = db.begin()?;
    for &v in &start.vertices {
        tx.add_vertex(v)?;
    }
    for (&(u, v), &weight) in &start.edges {
        tx.add_weighted_edge(u, v, weight)?;
    }
    tx.commit()?;
    Ok(db)
}

/// Something that transactions conflict about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Vertex(V),
    Edge(V, V),
}

/// What all transactions share.
struct Stage<'db> {
    db: &'db Database,
    level: Level,
    layout: Layout,
    /// Every version, and what it must show.
    states: Vec<(Snapshot, Graph)>,
    /// What each version changed.
    changed: Vec<BTreeSet<Item>>,
}

impl Stage<'_> {
    fn now(&self) -> &Graph {
        &self.states.last().expect("the start is kept").1
    }

    /// Keeps the newest version, and makes sure that it is right.
    fn keep(&mut self, state: Graph, changed: BTreeSet<Item>) -> Result<(), String> {
        if self.layout == Layout::Tiny {
            self.db.service();
        }
        let snapshot = self.db.snapshot().map_err(|error| error.to_string())?;
        compare(&snapshot, &state)?;
        self.states.push((snapshot, state));
        self.changed.push(changed);
        Ok(())
    }

    /// Whether one of these items was changed after a version.
    fn changed_since(&self, version: usize, items: &BTreeSet<Item>) -> bool {
        self.changed[version + 1..].iter().any(|changed| !changed.is_disjoint(items))
    }
}

/// One transaction.
struct Actor<'s> {
    program: &'s Program,
    next: usize,
    open: Option<Open<'s>>,
    run: Run,
}

/// A transaction that has begun.
struct Open<'db> {
    tx: Transaction<'db>,
    /// The version it reads.
    version: usize,
    state: Graph,
    changes: Vec<Change>,
    /// A change does not fit: it must not commit.
    is_misfit: bool,
    /// The rest is left out.
    is_over: bool,
}

impl<'s> Actor<'s> {
    fn new(program: &'s Program) -> Self {
        let run = Run { time: (0, 0), answers: Vec::new(), end: End::Gone };
        Self { program, next: 0, open: None, run }
    }

    fn act(&mut self, stage: &mut Stage<'s>, time: usize) -> Result<(), String> {
        let place = self.next;
        self.next += 1;
        if place == 0 {
            self.run.time.0 = time;
            let tx = stage.level.begin(stage.db).map_err(|error| error.to_string())?;
            let (version, state) = (stage.states.len() - 1, stage.now().clone());
            let changes = Vec::new();
            let (is_misfit, is_over) = (false, false);
            self.open = Some(Open { tx, version, state, changes, is_misfit, is_over });
            return Ok(());
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        self.run.time.1 = time;
        let Some(step) = self.program.steps.get(place - 1) else {
            self.run.end = open.commit(stage)?;
            return Ok(());
        };
        if open.is_over || open.step(step, &mut self.run.answers)? {
            self.open = Some(open);
        }
        Ok(())
    }
}

impl Open<'_> {
    /// Takes a step; false if the transaction is gone.
    fn step(&mut self, step: &Step, answers: &mut Vec<Answer>) -> Result<bool, String> {
        match step {
            Step::RollBack => return Ok(false),
            Step::When(test) => self.is_over = !test.holds(answers),
            Step::Ask(query) => {
                let shown = ask(&self.tx, query).map_err(|error| format!("{query:?}: {error}"))?;
                let right = ask(&self.state, query).map_err(|error| error.to_string())?;
                if shown != right && !self.is_misfit {
                    return Err(format!("{query:?} showed {shown:?} instead of {right:?}"));
                }
                answers.push(shown);
            }
            Step::Do(change) => {
                let change = change.map(|amount| amount.value(answers));
                self.is_misfit |= self.state.apply(&change).is_err();
                self.changes.push(change);
                if let Err(error) = make(&mut self.tx, &change) {
                    if self.is_misfit {
                        return Ok(false);
                    }
                    return Err(format!("{change:?} was refused: {error}"));
                }
            }
        }
        Ok(true)
    }

    fn commit(self, stage: &mut Stage<'_>) -> Result<End, String> {
        let (version, before) = (self.version, &stage.states[self.version].1);
        let (changed, needed) = items(before, &self.state, &self.changes);
        let must_fail = self.is_misfit || stage.changed_since(version, &changed);
        let may_conflict = match stage.level {
            Level::Snapshot => stage.changed_since(version, &needed),
            // Whoever changes nothing has run alone, at the version it read.
            Level::Serializable => !self.changes.is_empty() && stage.states.len() > version + 1,
        };
        match self.tx.commit().map_err(StoreError::from) {
            Ok(_) if must_fail => {
                Err("a commit that overlaps or does not fit succeeded".to_owned())
            }
            Ok(_) if changed.is_empty() => Ok(End::Committed),
            Ok(_) => {
                let mut state = stage.now().clone();
                for change in &self.changes {
                    let misfit = |_| format!("{change:?} was committed, but does not fit any more");
                    state.apply(change).map_err(misfit)?;
                }
                stage.keep(state, changed)?;
                Ok(End::Committed)
            }
            Err(error) if error.is_conflict() && may_conflict => Ok(End::Conflict),
            Err(_) if self.is_misfit => Ok(End::Gone),
            Err(error) => Err(format!("the commit was refused without need: {error}")),
        }
    }
}

/// What changes between two states, and with it all that the changes need unchanged.
pub(crate) fn items(
    before: &Graph,
    after: &Graph,
    changes: &[Change],
) -> (BTreeSet<Item>, BTreeSet<Item>) {
    let mut changed = BTreeSet::new();
    for &v in before.vertices.symmetric_difference(&after.vertices) {
        changed.insert(Item::Vertex(v));
    }
    let edges = before.edges.keys().chain(after.edges.keys());
    for &(u, v) in edges.filter(|edge| before.edges.get(edge) != after.edges.get(edge)) {
        changed.insert(Item::Edge(u, v));
    }
    let mut needed = changed.clone();
    for change in changes {
        match *change {
            Change::AddVertex(v) => _ = needed.insert(Item::Vertex(v)),
            Change::RemoveVertex(v) => {
                needed.insert(Item::Vertex(v));
                // Any edge of it, also one that only another transaction knows.
                let others = before.vertices.iter().chain(&after.vertices).chain([&v]);
                for &other in others {
                    needed.extend([Item::Edge(v, other), Item::Edge(other, v)]);
                }
            }
            Change::AddEdge(u, v, _) | Change::SetWeight(u, v, _) | Change::RemoveEdge(u, v) => {
                let (u, v) = before.name(u, v);
                needed.extend([Item::Edge(u, v), Item::Vertex(u), Item::Vertex(v)]);
            }
        }
        // A weight that is set to what it was is a change as well.
        if let Change::SetWeight(u, v, _) = *change {
            let (u, v) = before.name(u, v);
            let stays = before.edges.contains_key(&(u, v)) && after.edges.contains_key(&(u, v));
            changed.extend(stays.then_some(Item::Edge(u, v)));
        }
    }
    (changed, needed)
}

pub(crate) fn make(tx: &mut Transaction<'_>, change: &Change) -> Result<(), StoreError> {
    match *change {
        Change::AddVertex(v) => tx.add_vertex(v),
        Change::RemoveVertex(v) => tx.remove_vertex(v),
        Change::AddEdge(u, v, weight) => tx.add_weighted_edge(u, v, weight),
        Change::SetWeight(u, v, weight) => tx.set_weight(u, v, weight),
        Change::RemoveEdge(u, v) => tx.remove_edge(u, v),
    }
}

/// Whether a snapshot shows the model and nothing else: all vertices, both lists of each.
fn compare(snapshot: &Snapshot, state: &Graph) -> Result<(), String> {
    let wrong = |error: StoreError| error.to_string();
    let shown = Look::vertices(snapshot).map_err(wrong)?;
    if shown != state.vertices {
        return Err(format!("the vertices are {shown:?} instead of {:?}", state.vertices));
    }
    let edges = Look::edge_count(snapshot).map_err(wrong)?;
    if edges != state.edges.len() as u64 {
        return Err(format!("{edges} edges are counted instead of {}", state.edges.len()));
    }
    for &v in &shown {
        for side in [Side::Out, Side::In] {
            let shown = Look::list(snapshot, side, v).map_err(wrong)?;
            let right = Look::list(state, side, v).map_err(wrong)?;
            let degree = Look::degree(snapshot, side, v).map_err(wrong)?;
            if shown != right || degree != right.as_ref().map(|list| list.len() as u32) {
                return Err(format!("{side:?} of {v} is {shown:?} instead of {right:?}"));
            }
        }
    }
    Ok(())
}

fn number(key: &Key) -> V {
    match key {
        Key::Number(number) => *number,
        Key::Text(_) => unreachable!("the keys are numbers"),
    }
}

/// An answer, or `None` for a vertex that is not there.
fn known<T>(answer: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(StoreError::UnknownVertex { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn sorted(list: Option<Vec<(Key, f64)>>) -> Option<Vec<(V, f64)>> {
    let mut list: Vec<(V, f64)> =
        list?.iter().map(|(key, weight)| (number(key), *weight)).collect();
    list.sort_unstable_by_key(|&(v, _)| v);
    Some(list)
}

/// Transactions and snapshots answer alike.
macro_rules! look {
    ($reader:ty, $keys:expr) => {
        impl Look for $reader {
            fn has_vertex(&self, v: V) -> Result<bool, StoreError> {
                self.has_vertex(v)
            }

            fn vertices(&self) -> Result<BTreeSet<V>, StoreError> {
                let keys: Vec<Key> = $keys(self)?;
                Ok(keys.iter().map(number).collect())
            }

            fn vertices_in(&self, range: Range<V>) -> Result<Vec<V>, StoreError> {
                Ok(self.vertices_in(range)?.iter().map(number).collect())
            }

            fn edge_count(&self) -> Result<u64, StoreError> {
                self.edge_count()
            }

            fn weight(&self, u: V, v: V) -> Result<Option<Answer>, StoreError> {
                Ok(known(self.weight(u, v))?.map(Answer::Weight))
            }

            fn degree(&self, side: Side, v: V) -> Result<Option<u32>, StoreError> {
                known(match side {
                    Side::Out => self.degree(v),
                    Side::In => self.in_degree(v),
                })
            }

            fn list(&self, side: Side, v: V) -> Result<Option<Vec<(V, f64)>>, StoreError> {
                let list = match side {
                    Side::Out => self.neighbours(v),
                    Side::In => self.in_neighbours(v),
                };
                known(list).map(sorted)
            }
        }
    };
}

look!(Transaction<'_>, Transaction::vertices);
look!(Snapshot, |snapshot: &Snapshot| Ok::<_, StoreError>(
    snapshot.keys()?.into_iter().flatten().collect()
));
