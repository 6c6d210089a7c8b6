//! Records histories of the store, through its public API, from several threads.
//!
//! The lists are those of [`crate::lists`]. The store can keep a list as out-edges, as in-edges of
//! its vertex, or as undirected edges. Few element vertices make them hubs.
//!
//! A transaction is written down as it went for its client: if the commit answered a conflict, it
//! was aborted. The seed says what the threads do; how they meet is up to the machine.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use evergraph::{Database, Options, StoreError, Transaction, Tuning, Weights};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Element, History, ListKey, Op, Outcome, Txn};
use crate::level::Level;
use crate::lists::{self, Edges, Form, Length, ListError, Shape};

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The level of all transactions.
    pub level: Level,
    /// How a list is kept.
    pub shape: Shape,
    /// How many threads.
    pub threads: u32,
    /// How many transactions all threads try together.
    pub transactions: u32,
    /// How many lists are in use at a time.
    pub active: u32,
    /// How many appends are tried on a list before another takes its place.
    pub list_max: u32,
    /// How many vertices stand for elements.
    pub elements: u32,
    /// How many operations a transaction has at most.
    pub ops_max: u32,
    /// Of a hundred transactions, how many only read.
    pub readers: u32,
    /// Of a hundred transactions, how many are rolled back by their client.
    pub aborts: u32,
    /// Whether the layout of the store is tiny, so that it is rebuilt all the time.
    pub is_tiny: bool,
    /// What the threads do.
    pub seed: u64,
}

impl Workload {
    /// A random one of so many transactions.
    pub fn random(level: Level, transactions: u32, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let list_max = [8, 32, 64][rng.random_range(0..3)];
        Self {
            level,
            shape: Shape {
                form: [Form::Out, Form::In, Form::Undirected][rng.random_range(0..3)],
                // Only serializable transactions can count.
                length: if level == Level::Serializable && rng.random() {
                    Length::Counted
                } else {
                    Length::Kept
                },
            },
            threads: [2, 4, 8, 16][rng.random_range(0..4)],
            transactions,
            active: [2, 8, 64, 1000][rng.random_range(0..4)],
            list_max,
            elements: [list_max, 4096][rng.random_range(0..2)],
            ops_max: [4, 4, 16][rng.random_range(0..3)],
            readers: [0, 50, 90][rng.random_range(0..3)],
            aborts: [0, 10][rng.random_range(0..2)],
            is_tiny: rng.random(),
            seed,
        }
    }

    /// Bounds the number of lists: each but the active ones got all its appends.
    fn lists_max(&self) -> u32 {
        self.active + self.transactions * self.ops_max / self.list_max + 1
    }

    fn database(&self) -> Database {
        let options = Options::default().weights(Weights::F64);
        let options = match self.shape.form {
            Form::Out | Form::In => options.directed(),
            Form::Undirected => options.undirected(),
        };
        let tuning = if self.is_tiny { Tuning::tiny() } else { Tuning::default() };
        options.tuning(tuning).dense_keys(self.elements + self.lists_max()).in_memory()
    }
}

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A list could not be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The store refused what it may not refuse.
    #[error("the store refused a step: {0}")]
    Refused(#[from] StoreError),
    /// The database says that it is broken.
    #[error("the database is broken: {0}")]
    Broken(String),
}

/// A history of the store.
#[derive(Debug)]
pub struct Recorded {
    /// What happened.
    pub history: History,
    /// Commits that were refused because of a conflict.
    pub conflicts: u64,
}

/// Runs a workload and writes down what happened.
pub fn record(workload: &Workload) -> Result<Recorded, RecordError> {
    let db = workload.database();
    let lists = Lists::new(workload);
    let barrier = Barrier::new(workload.threads as usize);
    let start = Instant::now();
    let client = |process| Client {
        workload,
        db: &db,
        lists: &lists,
        start,
        rng: Pcg64Mcg::seed_from_u64(workload.seed ^ (u64::from(process) << 32)),
        process,
        txns: Vec::new(),
        conflicts: 0,
    };
    let done: Vec<Result<Client<'_>, RecordError>> = std::thread::scope(|scope| {
        let start = |process| {
            let (mut client, barrier) = (client(process), &barrier);
            scope.spawn(move || {
                barrier.wait();
                client.run().map(|()| client)
            })
        };
        let threads: Vec<_> = (0..workload.threads).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("clients do not panic")).collect()
    });
    let mut recorded = Recorded { history: History::default(), conflicts: 0 };
    for of_client in done {
        let of_client = of_client?;
        recorded.history.txns.extend(of_client.txns);
        recorded.conflicts += of_client.conflicts;
    }
    let mut last = client(workload.threads);
    last.read_all()?;
    recorded.history.txns.extend(last.txns);
    db.check().map_err(RecordError::Broken)?;
    Ok(recorded)
}

/// How many lists the transactions that read everything read at once.
const READ_AT_ONCE: u32 = 64;

/// Which lists are in use.
struct Lists {
    /// By place: the list in the upper half, how many appends were tried in the lower one. Written
    /// by whoever appends; nothing hangs on the order.
    active: Vec<AtomicU64>,
    /// The first list that was never used.
    next: AtomicU64,
    list_max: u32,
}

impl Lists {
    fn new(workload: &Workload) -> Self {
        let active = (0..u64::from(workload.active)).map(|list| AtomicU64::new(list << 32));
        Self {
            active: active.collect(),
            next: AtomicU64::new(u64::from(workload.active)),
            list_max: workload.list_max,
        }
    }

    fn current(&self, place: usize) -> ListKey {
        (self.active[place].load(Ordering::Relaxed) >> 32) as ListKey
    }

    /// A list, and which append to it this is.
    fn claim(&self, place: usize) -> (ListKey, u32) {
        loop {
            let now = self.active[place].fetch_add(1, Ordering::Relaxed);
            let (list, count) = ((now >> 32) as ListKey, now as u32);
            if count + 1 == self.list_max {
                let next = self.next.fetch_add(1, Ordering::Relaxed);
                self.active[place].store(next << 32, Ordering::Relaxed);
            }
            if count < self.list_max {
                return (list, count);
            }
        }
    }

    fn used(&self) -> u32 {
        self.next.load(Ordering::Relaxed) as u32
    }
}

/// One thread.
struct Client<'a> {
    workload: &'a Workload,
    db: &'a Database,
    lists: &'a Lists,
    start: Instant,
    rng: Pcg64Mcg,
    process: u32,
    txns: Vec<Txn>,
    conflicts: u64,
}

/// One in so many steps lets another thread run first.
const YIELD_SHARE: u32 = 8;

impl Client<'_> {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn run(&mut self) -> Result<(), RecordError> {
        for _ in 0..self.workload.transactions / self.workload.threads {
            if self.rng.random_range(0..100) < self.workload.readers {
                self.read_only()?;
            } else {
                self.mixed()?;
            }
        }
        Ok(())
    }

    fn length(&mut self) -> u32 {
        self.rng.random_range(1..=self.workload.ops_max)
    }

    fn place(&mut self) -> usize {
        self.rng.random_range(0..self.workload.active as usize)
    }

    fn pause(&mut self) {
        if self.rng.random_ratio(1, YIELD_SHARE) {
            std::thread::yield_now();
        }
    }

    fn write_down(&mut self, began: u64, ops: Vec<Op>, outcome: Outcome) {
        let (process, ended) = (self.process, self.now());
        self.txns.push(Txn { process, began, ended, outcome, ops });
    }

    /// Reads some lists, by a snapshot or by a transaction.
    fn read_only(&mut self) -> Result<(), RecordError> {
        let lists: Vec<ListKey> = (0..self.length())
            .map(|_| {
                let place = self.place();
                self.lists.current(place)
            })
            .collect();
        let by_snapshot = self.rng.random();
        self.read_lists(lists, by_snapshot)
    }

    fn read_lists(
        &mut self,
        lists: impl IntoIterator<Item = ListKey>,
        by_snapshot: bool,
    ) -> Result<(), RecordError> {
        let began = self.now();
        let mut ops = Vec::new();
        let outcome = if by_snapshot {
            let snapshot = self.db.snapshot()?;
            for key in lists {
                ops.push(Op::Read(key, self.read(&snapshot, key)?));
                self.pause();
            }
            Outcome::Committed
        } else {
            let tx = self.workload.level.begin(self.db)?;
            for key in lists {
                ops.push(Op::Read(key, self.read(&tx, key)?));
                self.pause();
            }
            self.commit(tx)?
        };
        self.write_down(began, ops, outcome);
        Ok(())
    }

    /// Reads and appends.
    fn mixed(&mut self) -> Result<(), RecordError> {
        let began = self.now();
        let mut tx = self.workload.level.begin(self.db)?;
        let mut ops = Vec::new();
        for _ in 0..self.length() {
            let place = self.place();
            if self.rng.random() {
                let (key, count) = self.lists.claim(place);
                let element = key.wrapping_mul(31).wrapping_add(count) % self.workload.elements;
                let names = (self.vertex(key), u64::from(element));
                lists::append(&mut tx, self.workload.shape, names)?;
                ops.push(Op::Append(key, element));
            } else {
                let key = self.lists.current(place);
                ops.push(Op::Read(key, self.read(&tx, key)?));
            }
            self.pause();
        }
        let aborts = self.rng.random_range(0..100) < self.workload.aborts;
        let outcome = if aborts { Outcome::Aborted } else { self.commit(tx)? };
        self.write_down(began, ops, outcome);
        Ok(())
    }

    fn commit(&mut self, tx: Transaction<'_>) -> Result<Outcome, RecordError> {
        match tx.commit().map_err(StoreError::from) {
            Ok(_) => Ok(Outcome::Committed),
            Err(error) if error.is_conflict() => {
                self.conflicts += 1;
                Ok(Outcome::Aborted)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn vertex(&self, list: ListKey) -> u64 {
        u64::from(self.workload.elements + list)
    }

    fn read(&self, from: &impl Edges, key: ListKey) -> Result<Vec<Element>, RecordError> {
        let list = lists::read(from, self.workload.shape, self.vertex(key))?;
        Ok(list.into_iter().map(|element| element as Element).collect())
    }

    /// Reads every list, so that the order of all versions is known.
    fn read_all(&mut self) -> Result<(), RecordError> {
        let used = self.lists.used();
        for first in (0..used).step_by(READ_AT_ONCE as usize) {
            self.read_lists(first..used.min(first + READ_AT_ONCE), true)?;
        }
        Ok(())
    }
}
