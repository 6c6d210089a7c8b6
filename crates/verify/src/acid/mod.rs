//! The twelve tests of the LDBC ACID suite, on the public API.
//!
//! The suite speaks of persons with properties and of edges with properties. Here a property is the
//! weight of an edge: from the person to the vertex that stands for the property, or of the edge
//! itself. A property that is a list (names of mails, histories of versions) is a list of
//! [`crate::lists`]; that of an edge belongs to a vertex that stands for the edge.
//!
//! Five things are asked for beyond the suite, which a store that does nothing at all would pass:
//!
//! - transactions that write are run again until they commit, and at least `COMMIT_FLOOR` of the
//!   tries must succeed; transactions that only read always do;
//! - histories of versions must be equal as a whole, and as long as there were commits;
//! - all values of one read must fit together, not only the first and the second read;
//! - write skew must be seen where it is allowed;
//! - everything is seeded, and threads meet at barriers instead of sleeping.

mod atomicity;
mod dirty;
mod reads;
mod updates;

use std::sync::Barrier;

use evergraph::{Database, Options, StoreError, Transaction, Tuning, Weights};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::level::Level;
use crate::lists::{Form, Length, ListError, Shape};
use crate::seed;
use crate::tally::Tally;

/// How a test is run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The level of its transactions.
    pub level: Level,
    /// How many threads.
    pub threads: u32,
    /// How many transactions each of them commits.
    pub rounds: u32,
    /// Whether the layout of the store is tiny, so that it is rebuilt all the time.
    pub is_tiny: bool,
    /// What the threads do.
    pub seed: u64,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum AcidError {
    /// A test found what its level forbids.
    #[error("{0}")]
    Anomaly(String),
    /// A list could not be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The store refused what it may not refuse.
    #[error("the store refused a step: {0}")]
    Refused(#[from] StoreError),
}

type Outcome = Result<Tally, AcidError>;

/// A test and its name in the suite.
pub type Test = (&'static str, fn(&Config) -> Outcome);

/// All tests.
pub const TESTS: [Test; 12] = [
    ("Atomicity-C", atomicity::commits),
    ("Atomicity-RB", atomicity::rollbacks),
    ("G0", dirty::write_cycles),
    ("G1a", dirty::aborted_reads),
    ("G1b", dirty::intermediate_reads),
    ("G1c", dirty::circular_flow),
    ("IMP", reads::item_many_preceders),
    ("PMP", reads::predicate_many_preceders),
    ("OTV", reads::observed_transaction_vanishes),
    ("FR", reads::fractured_reads),
    ("LU", updates::lost_updates),
    ("WS", updates::write_skew),
];

/// Of a hundred tries to commit, how many must succeed at least, divided by the number of threads:
/// of those that want the same at once, one gets it.
const COMMIT_FLOOR: u64 = 50;

/// How all lists are kept: as in-edges, so that the out-edges of a person are no elements.
const LISTS: Shape = Shape { form: Form::In, length: Length::Kept };

/// A database and the threads that work on it.
struct Arena {
    db: Database,
    config: Config,
}

impl Arena {
    /// A directed database with vertices, and edges with their weights.
    fn new(
        config: &Config,
        vertices: impl IntoIterator<Item = u64>,
        edges: &[(u64, u64, f64)],
    ) -> Result<Self, AcidError> {
        let tuning = if config.is_tiny { Tuning::tiny() } else { Tuning::default() };
        let db = Options::default().weights(Weights::F64).tuning(tuning).in_memory();
        let mut tx = db.begin()?;
        for v in vertices {
            tx.add_vertex(v)?;
        }
        for &(u, v, weight) in edges {
            tx.add_weighted_edge(u, v, weight)?;
        }
        tx.commit().map_err(StoreError::from)?;
        Ok(Self { db, config: *config })
    }

    /// Runs all threads, each with a hand of its own, and adds up what they counted.
    fn run(&self, work: impl Fn(&mut Hand<'_>) -> Result<(), AcidError> + Sync) -> Outcome {
        let barrier = Barrier::new(self.config.threads as usize);
        let results: Vec<Outcome> = std::thread::scope(|scope| {
            let start = |thread| {
                let (work, barrier) = (&work, &barrier);
                let rng = seed::rng(self.config.seed ^ (u64::from(thread) << 32));
                let mut hand = Hand { arena: self, barrier, thread, rng, tally: Tally::default() };
                scope.spawn(move || {
                    barrier.wait();
                    work(&mut hand).map(|()| hand.tally)
                })
            };
            let threads: Vec<_> = (0..self.config.threads).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("hands do not panic")).collect()
        });
        let mut tally = Tally::default();
        for result in results {
            tally += result?;
        }
        let tries = tally.committed + tally.conflicts;
        if tally.committed * 100 * u64::from(self.config.threads) < tries * COMMIT_FLOOR {
            return anomaly(format!("{} of {tries} tries to commit succeeded", tally.committed));
        }
        self.db.check().map_err(AcidError::Anomaly)?;
        Ok(tally)
    }

    /// Runs threads that do one of two things, by turns, again and again.
    fn run_both(
        &self,
        write: impl Fn(&mut Hand<'_>, u32) -> Result<(), AcidError> + Sync,
        read: impl Fn(&mut Hand<'_>) -> Result<(), AcidError> + Sync,
    ) -> Outcome {
        self.run(|hand| {
            for round in 0..self.config.rounds {
                if hand.thread.is_multiple_of(2) { write(hand, round)? } else { read(hand)? }
            }
            Ok(())
        })
    }

    /// How many threads of [`Arena::run_both`] write.
    fn writers(&self) -> u32 {
        self.config.threads.div_ceil(2)
    }

    /// What a transaction that begins now reads.
    fn look<R>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<R, AcidError>,
    ) -> Result<R, AcidError> {
        read(&self.config.level.begin(&self.db)?)
    }
}

/// One thread.
struct Hand<'a> {
    arena: &'a Arena,
    barrier: &'a Barrier,
    thread: u32,
    rng: Pcg64Mcg,
    tally: Tally,
}

impl Hand<'_> {
    /// A number that no other round of any thread has, from 0.
    fn ticket(&self, round: u32) -> u64 {
        u64::from(self.thread) * u64::from(self.arena.config.rounds) + u64::from(round)
    }

    /// Runs a transaction until it commits.
    fn commit<R>(
        &mut self,
        mut work: impl FnMut(&mut Transaction<'_>, &mut Pcg64Mcg) -> Result<R, AcidError>,
    ) -> Result<R, AcidError> {
        loop {
            if let Some(result) = self.try_once(&mut work)? {
                return Ok(result);
            }
        }
    }

    /// Runs a transaction; `None` if it met a conflict.
    fn try_once<R>(
        &mut self,
        mut work: impl FnMut(&mut Transaction<'_>, &mut Pcg64Mcg) -> Result<R, AcidError>,
    ) -> Result<Option<R>, AcidError> {
        let mut tx = self.arena.config.level.begin(&self.arena.db)?;
        let result = work(&mut tx, &mut self.rng)?;
        let only_reads = tx.is_empty();
        match tx.commit().map_err(StoreError::from) {
            Ok(_) => {
                self.tally.committed += 1;
                Ok(Some(result))
            }
            Err(error) if only_reads => {
                anomaly(format!("a transaction that only reads was refused: {error}"))
            }
            Err(error) if error.is_conflict() => {
                self.tally.conflicts += 1;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a transaction, does something and rolls back.
    fn roll_back(
        &mut self,
        work: impl FnOnce(&mut Transaction<'_>, &mut Pcg64Mcg) -> Result<(), AcidError>,
    ) -> Result<(), AcidError> {
        let mut tx = self.arena.config.level.begin(&self.arena.db)?;
        work(&mut tx, &mut self.rng)?;
        tx.rollback();
        Ok(())
    }
}

/// Lets other threads run, most of the time.
fn pause(rng: &mut Pcg64Mcg) {
    for _ in 0..rng.random_range(0..3) {
        std::thread::yield_now();
    }
}

fn anomaly<R>(text: String) -> Result<R, AcidError> {
    Err(AcidError::Anomaly(text))
}

/// The value of a property.
fn property(tx: &Transaction<'_>, of: u64, name: u64) -> Result<f64, AcidError> {
    let value = tx.weight(of, name)?;
    value.map_or_else(|| anomaly(format!("{of} has lost its property {name}")), Ok)
}
