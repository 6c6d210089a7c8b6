//! Histories of one graph: threads change vertices and edges that others use at that moment, at one
//! level or at both; then everything is run again, alone, in the order of the versions.
//!
//! A transaction says which version it reads and which one it made, so there is nothing to search:
//! `record.rs` writes down every question with its answer and every change, `replay.rs` asks a plain
//! graph the same, at the same versions. Lists and weights are compared whole, so an edge that
//! dangles, or half of one, cannot hide.
//!
//! # What must hold
//!   - Every answer, also of a transaction that is refused or rolls back later, shows the version
//!     at which the transaction began, with its own changes; and so does every whole graph.
//!   - That version is not before any commit that had returned.
//!   - Every change that was committed fits the version before it, and nobody else changed the same
//!     vertex or edge in between.
//!   - Every answer of a *serializable* transaction that changed something holds at the version
//!     before its own as well, whatever ran beside it. For the others it need not.
//!   - Versions are dense, and the last one is what is left. A refusal without a change that does
//!     not fit is a conflict, and somebody committed meanwhile.

mod record;
mod replay;

use evergraph::{Database, Options, Service, StoreError, Tuning, Weights};
use rand::RngExt;

use crate::level::Level;
use crate::scenario::Graph;
use crate::scenario::model::{Answer, Change, Query, V};
use crate::seed;
use crate::tally::Tally;

/// Which levels transactions run at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// All at one.
    All(Level),
    /// Each at one of both.
    Mixed,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The levels.
    pub levels: Levels,
    /// How many threads.
    pub threads: u32,
    /// How many transactions all threads try together.
    pub transactions: u32,
    /// How many vertices there may be: the keys are below this.
    pub vertices: V,
    /// How many things a transaction does at most.
    pub steps_max: u32,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether keys are ids, without a dictionary.
    pub dense: bool,
    /// Whether the layout of the store is tiny, so that it is rebuilt all the time.
    pub is_tiny: bool,
    /// What the threads do.
    pub seed: u64,
}

/// What was wrong.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// What was recorded is not allowed.
    #[error("{0}")]
    Anomaly(String),
    /// The store refused what it may not refuse.
    #[error("the store refused a step: {0}")]
    Refused(#[from] StoreError),
}

/// A step of a transaction, and what came of it.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Ask(Query, Answer),
    Do(Change),
    /// All of the graph.
    Whole(Graph),
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// At this version.
    Committed(u64),
    /// Because of another.
    Conflict,
    RolledBack,
}

/// A transaction, or a snapshot.
#[derive(Clone, Debug)]
struct Txn {
    level: Level,
    /// The newest version of which its thread knew when it began.
    known: u64,
    /// The version it reads.
    snapshot: u64,
    steps: Vec<Step>,
    end: End,
}

impl Workload {
    /// A random one of so many transactions.
    pub fn random(levels: Levels, transactions: u32, seed: u64) -> Self {
        let mut rng = seed::rng(seed);
        Self {
            levels,
            threads: [2, 4, 8][rng.random_range(0..3)],
            transactions,
            vertices: [6, 16, 80][rng.random_range(0..3)],
            steps_max: [2, 4, 8][rng.random_range(0..3)],
            directed: rng.random(),
            dense: rng.random(),
            is_tiny: rng.random_ratio(2, 3),
            seed,
        }
    }

    fn database(&self) -> Database {
        let options = Options::default().weights(Weights::F64).service(Service::Thread);
        let options = if self.directed { options.directed() } else { options.undirected() };
        let options = if self.dense { options.dense_keys(0) } else { options.number_keys() };
        let tuning = if self.is_tiny { Tuning::tiny() } else { Tuning::default() };
        options.tuning(tuning).in_memory()
    }
}

/// Records a workload and runs it again.
pub fn run(workload: &Workload) -> Result<Tally, GraphError> {
    let db = workload.database();
    let txns = record::record(workload, &db)?;
    let tally = replay::replay(workload, &txns).map_err(GraphError::Anomaly)?;
    db.check().map_err(GraphError::Anomaly)?;
    Ok(tally)
}
