//! Threads that work on one graph, and write down what they see.
//!
//! What a transaction changes depends on what it asked before, so its changes always fit what it
//! reads: a key is added if it was absent, an edge if there was none. The seed says what threads
//! do; how they meet is up to the machine.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use evergraph::graph::{GraphView, Key, VertexId, Weight};
use evergraph::{Database, Snapshot, StoreError, Transaction, with_view};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::{End, GraphError, Levels, Step, Txn, Workload};
use crate::level::Level;
use crate::scenario::Graph;
use crate::scenario::model::{Answer, Change, Look, Query, Side, V, ask};
use crate::scenario::play::make;
use crate::seed;

/// One in so many vertices that are used is the same one, which becomes a hub.
const HUB_SHARE: u32 = 4;
/// One in so many transactions rolls back.
const ROLL_BACK_SHARE: u32 = 16;
/// One in so many readers looks at everything.
const WHOLE_SHARE: u32 = 8;
/// One in so many steps lets another thread run first.
const YIELD_SHARE: u32 = 4;

/// Runs a workload on an empty database; what each transaction and snapshot saw, the last one at
/// the end.
pub(super) fn record(workload: &Workload, db: &Database) -> Result<Vec<Txn>, GraphError> {
    let barrier = Barrier::new(workload.threads as usize);
    let newest = AtomicU64::new(0);
    let client = |thread: u32| Client {
        workload,
        db,
        newest: &newest,
        rng: seed::rng(workload.seed ^ u64::from(thread + 1) << 32),
        txns: Vec::new(),
    };
    let results: Vec<Result<Vec<Txn>, GraphError>> = std::thread::scope(|scope| {
        let start = |thread| {
            let (mut client, barrier) = (client(thread), &barrier);
            scope.spawn(move || {
                barrier.wait();
                let rounds = workload.transactions / workload.threads;
                (0..rounds).try_for_each(|_| client.round()).map(|()| client.txns)
            })
        };
        let threads: Vec<_> = (0..workload.threads).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("clients do not panic")).collect()
    });
    let mut txns = Vec::new();
    for of_thread in results {
        txns.extend(of_thread?);
    }
    let mut last = client(workload.threads);
    last.look_at_all()?;
    txns.extend(last.txns);
    Ok(txns)
}

/// One thread.
struct Client<'a> {
    workload: &'a Workload,
    db: &'a Database,
    /// The newest version of which a commit has returned.
    newest: &'a AtomicU64,
    rng: Pcg64Mcg,
    txns: Vec<Txn>,
}

impl<'a> Client<'a> {
    fn round(&mut self) -> Result<(), GraphError> {
        match self.rng.random_range(0..4) {
            0 if self.rng.random_ratio(1, WHOLE_SHARE) => self.look_at_all(),
            0 => self.look(),
            _ => self.work(),
        }
    }

    fn vertex(&mut self) -> V {
        if self.rng.random_ratio(1, HUB_SHARE) {
            return 0;
        }
        self.rng.random_range(0..self.workload.vertices)
    }

    fn level(&mut self) -> Level {
        match self.workload.levels {
            Levels::All(level) => level,
            Levels::Mixed => Level::ALL[self.rng.random_range(0..2)],
        }
    }

    fn query(&mut self) -> Query {
        let (u, v) = (self.vertex(), self.vertex());
        let side = [Side::Out, Side::In][self.rng.random_range(0..2)];
        match self.rng.random_range(0..9) {
            0 => Query::Vertex(v),
            1 => Query::Edge(u, v),
            2 => Query::Weight(u, v),
            3 => Query::Degree(side, v),
            4 => Query::List(side, v),
            5 => Query::Vertices(v..v + 4),
            6 => Query::Keys(u.min(v)..u.max(v)),
            7 => Query::EdgeCount,
            _ => Query::AllVertices,
        }
    }

    /// Reads all of a snapshot.
    fn look_at_all(&mut self) -> Result<(), GraphError> {
        let known = self.newest.load(Ordering::SeqCst);
        let snapshot = self.db.snapshot()?;
        let steps = vec![Step::Whole(whole(&snapshot, self.workload.directed)?)];
        self.write_down(Level::Snapshot, (known, snapshot.version().0), steps, End::RolledBack);
        Ok(())
    }

    /// Asks a snapshot some questions.
    fn look(&mut self) -> Result<(), GraphError> {
        let known = self.newest.load(Ordering::SeqCst);
        let snapshot = self.db.snapshot()?;
        let mut steps = Vec::new();
        for _ in 0..self.workload.steps_max {
            let query = self.query();
            let answer = self.follow(&snapshot, &query, &mut steps)?;
            steps.push(Step::Ask(query, answer));
            self.pause();
        }
        self.write_down(Level::Snapshot, (known, snapshot.version().0), steps, End::RolledBack);
        Ok(())
    }

    /// Asks a question; if the answer is a list, also one of its vertices whether it exists and
    /// what is in its own list.
    fn follow(
        &mut self,
        of: &impl Look,
        query: &Query,
        steps: &mut Vec<Step>,
    ) -> Result<Answer, GraphError> {
        let answer = ask(of, query)?;
        if let (Query::List(side, _), Answer::List(list)) = (query, &answer)
            && !list.is_empty()
        {
            let (other, _) = list[self.rng.random_range(0..list.len())];
            let back = if *side == Side::Out { Side::In } else { Side::Out };
            for query in [Query::Vertex(other), Query::List(back, other)] {
                let answer = ask(of, &query)?;
                steps.push(Step::Ask(query, answer));
            }
        }
        Ok(answer)
    }

    /// Runs a transaction that reads and changes.
    fn work(&mut self) -> Result<(), GraphError> {
        let level = self.level();
        let known = self.newest.load(Ordering::SeqCst);
        let tx = level.begin(self.db)?;
        let snapshot = tx.snapshot_version().0;
        let mut open = Open { tx, steps: Vec::new() };
        for _ in 0..self.rng.random_range(1..=self.workload.steps_max) {
            self.step(&mut open)?;
            self.pause();
        }
        let Open { tx, steps } = open;
        let end = if self.rng.random_ratio(1, ROLL_BACK_SHARE) {
            tx.rollback();
            End::RolledBack
        } else {
            self.commit(tx)?
        };
        self.write_down(level, (known, snapshot), steps, end);
        Ok(())
    }

    fn step(&mut self, open: &mut Open<'a>) -> Result<(), GraphError> {
        let (u, v) = (self.vertex(), self.vertex());
        let weight = f64::from(self.rng.random_range(0..100));
        match self.rng.random_range(0..9) {
            0 | 1 => {
                let query = self.query();
                let mut more = Vec::new();
                let answer = self.follow(&open.tx, &query, &mut more)?;
                open.steps.push(Step::Ask(query, answer));
                open.steps.extend(more);
            }
            2 => {
                if open.ask(Query::Vertex(v))?.is_there() {
                    open.make(Change::RemoveVertex(v))?;
                }
            }
            3 => open.add_if_absent(v)?,
            4..7 => {
                open.add_if_absent(u)?;
                open.add_if_absent(v)?;
                let change = match open.ask(Query::Weight(u, v))?.is_there() {
                    false => Change::AddEdge(u, v, weight),
                    true if self.rng.random() => Change::SetWeight(u, v, weight),
                    true => Change::RemoveEdge(u, v),
                };
                open.make(change)?;
            }
            7 => {
                // Once more than there are: whoever adds one meanwhile makes it wrong.
                let degree = open.ask(Query::Degree(Side::Out, u))?;
                if open.ask(Query::Weight(u, u))?.is_there() {
                    open.make(Change::SetWeight(u, u, degree.number()))?;
                }
            }
            _ => {
                // The only one of a few keys, unless two find that there is none.
                let none = !open.ask(Query::Keys(v..v + 2))?.is_there();
                if none {
                    open.make(Change::AddVertex(v))?;
                }
            }
        }
        Ok(())
    }

    fn commit(&mut self, tx: Transaction<'_>) -> Result<End, GraphError> {
        let only_reads = tx.is_empty();
        match tx.commit().map_err(StoreError::from) {
            Ok(_) if only_reads => Ok(End::RolledBack),
            Ok(version) => {
                self.newest.fetch_max(version.0, Ordering::SeqCst);
                Ok(End::Committed(version.0))
            }
            Err(error) if error.is_conflict() && !only_reads => Ok(End::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    fn write_down(
        &mut self,
        level: Level,
        (known, snapshot): (u64, u64),
        steps: Vec<Step>,
        end: End,
    ) {
        self.txns.push(Txn { level, known, snapshot, steps, end });
    }

    fn pause(&mut self) {
        if self.rng.random_ratio(1, YIELD_SHARE) {
            std::thread::yield_now();
        }
    }
}

/// A transaction that has begun.
struct Open<'db> {
    tx: Transaction<'db>,
    steps: Vec<Step>,
}

impl Open<'_> {
    fn ask(&mut self, query: Query) -> Result<Answer, GraphError> {
        let answer = ask(&self.tx, &query)?;
        self.steps.push(Step::Ask(query, answer.clone()));
        Ok(answer)
    }

    fn make(&mut self, change: Change) -> Result<(), GraphError> {
        make(&mut self.tx, &change)?;
        self.steps.push(Step::Do(change));
        Ok(())
    }

    fn add_if_absent(&mut self, v: V) -> Result<(), GraphError> {
        if !self.ask(Query::Vertex(v))?.is_there() {
            self.make(Change::AddVertex(v))?;
        }
        Ok(())
    }
}

/// All of a snapshot, as algorithms see it.
fn whole(snapshot: &Snapshot, directed: bool) -> Result<Graph, GraphError> {
    let names = snapshot.keys()?;
    let name = |id: VertexId| match names.get(id as usize) {
        Some(Some(Key::Number(number))) => Ok(*number),
        _ => Err(GraphError::Anomaly(format!("vertex {id} has no name at {}", snapshot.version()))),
    };
    with_view!(snapshot.view()?, |view| {
        let mut graph = Graph { directed, ..Graph::default() };
        let mut incoming = BTreeSet::new();
        for v in (0..view.vertex_bound()).filter(|&v| view.contains(v)) {
            let own = name(v)?;
            graph.vertices.insert(own);
            let mut list = Vec::new();
            let _: ControlFlow<()> = view.weighted_runs(v, |ids, weights| {
                list.extend(ids.iter().zip(weights).map(|(&u, weight)| (u, weight.to_f64())));
                ControlFlow::Continue(())
            });
            for (u, weight) in list {
                let (u, v) = (own, name(u)?);
                graph.edges.insert(if directed { (u, v) } else { (u.min(v), u.max(v)) }, weight);
                incoming.insert((u, v));
            }
        }
        for v in (0..view.vertex_bound()).filter(|&v| view.contains(v)) {
            let mut sources = Vec::new();
            view.for_each_in(v, |u| sources.push(u));
            for u in sources {
                let edge = (name(u)?, name(v)?);
                if !incoming.remove(&edge) {
                    return Err(GraphError::Anomaly(format!("{edge:?} is in one list only")));
                }
            }
        }
        match incoming.first() {
            Some(edge) => Err(GraphError::Anomaly(format!("{edge:?} is in one list only"))),
            None => Ok(graph),
        }
    })
}
