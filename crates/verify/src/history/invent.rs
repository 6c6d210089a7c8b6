//! Small random histories, of stores that are right and of stores that are not.
//!
//! A simulated store keeps all states; what each transaction reads and whether it may commit is up
//! to the `Fault` of the store. At the end one transaction reads every list, so that the order of
//! all versions is known.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::{Element, History, ListKey, Op, Outcome, Txn};

/// What is wrong with a simulated store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing: transactions run one after the other.
    None,
    /// It is one of snapshot isolation.
    WriteSkew,
    /// Conflicts are not looked for.
    NoConflicts,
    /// Each read shows what is committed at the time.
    ReadsNow,
    /// The snapshot of a transaction is an old one.
    Stale,
    /// Reads show what is not committed.
    Dirty,
}

const FAULTS: [Fault; 6] = [
    Fault::None,
    Fault::WriteSkew,
    Fault::NoConflicts,
    Fault::ReadsNow,
    Fault::Stale,
    Fault::Dirty,
];

/// Sizes of a history: small enough to try every order.
const TXNS_MAX: usize = 4;
const OPS_MAX: usize = 3;
const LISTS_MAX: ListKey = 3;

/// One in so many transactions rolls back.
const ABORT_SHARE: u32 = 8;

/// One in so many histories has one of its reads changed.
const MANGLED_SHARE: u32 = 6;

/// The appends of a transaction, or of a state: in the order in which they were made.
type Log = Vec<(ListKey, Element)>;

struct Running {
    txn: usize,
    /// How much of the log was committed when it began.
    snapshot: usize,
    own: Log,
    left: usize,
}

struct Store {
    fault: Fault,
    lists: ListKey,
    committed: Log,
    running: Vec<Running>,
    history: History,
    time: u64,
    element: Element,
}

/// A random history.
pub fn history(rng: &mut Pcg64Mcg) -> History {
    let mut store = Store {
        fault: FAULTS[rng.random_range(0..FAULTS.len())],
        lists: rng.random_range(1..=LISTS_MAX),
        committed: Log::new(),
        running: Vec::new(),
        history: History::default(),
        time: 0,
        element: 0,
    };
    let mut waiting = rng.random_range(2..=TXNS_MAX);
    while waiting > 0 || !store.running.is_empty() {
        let room = if store.fault == Fault::None { 1 } else { TXNS_MAX };
        let begins = waiting > 0 && store.running.len() < room;
        if begins && (store.running.is_empty() || rng.random_ratio(1, 3)) {
            waiting -= 1;
            store.begin(rng);
        } else {
            let index = rng.random_range(0..store.running.len());
            store.step(index, rng);
        }
    }
    store.read_all();
    if rng.random_ratio(1, MANGLED_SHARE) {
        mangle(&mut store.history, rng);
    }
    store.history
}

/// What a log makes of a list.
fn list_of(log: &[(ListKey, Element)], key: ListKey) -> Vec<Element> {
    log.iter().filter(|(of, _)| *of == key).map(|&(_, element)| element).collect()
}

impl Store {
    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn begin(&mut self, rng: &mut Pcg64Mcg) {
        let now = self.committed.len();
        let snapshot = if self.fault == Fault::Stale { rng.random_range(0..=now) } else { now };
        let txn = self.history.txns.len();
        let left = rng.random_range(1..=OPS_MAX);
        self.running.push(Running { txn, snapshot, own: Log::new(), left });
        let began = self.tick();
        self.history.txns.push(Txn {
            process: txn as u32,
            began,
            ended: u64::MAX,
            outcome: Outcome::Unknown,
            ops: Vec::new(),
        });
    }

    fn step(&mut self, index: usize, rng: &mut Pcg64Mcg) {
        if self.running[index].left == 0 {
            return self.end(index, rng);
        }
        let key = rng.random_range(0..self.lists);
        let op = if rng.random() {
            self.element += 1;
            self.running[index].own.push((key, self.element));
            Op::Append(key, self.element)
        } else {
            Op::Read(key, self.read(index, key))
        };
        self.running[index].left -= 1;
        self.history.txns[self.running[index].txn].ops.push(op);
    }

    fn read(&self, index: usize, key: ListKey) -> Vec<Element> {
        let running = &self.running[index];
        let mut seen = match self.fault {
            Fault::ReadsNow | Fault::Dirty => self.committed.clone(),
            _ => self.committed[..running.snapshot].to_vec(),
        };
        if self.fault == Fault::Dirty {
            let others = self.running.iter().filter(|other| other.txn != running.txn);
            seen.extend(others.flat_map(|other| other.own.iter().copied()));
        }
        seen.extend(&running.own);
        list_of(&seen, key)
    }

    fn end(&mut self, index: usize, rng: &mut Pcg64Mcg) {
        let running = self.running.remove(index);
        let since = &self.committed[running.snapshot..];
        let writes = |key| running.own.iter().any(|&(own, _)| own == key);
        let checks = matches!(self.fault, Fault::WriteSkew | Fault::Stale);
        let conflict = checks && since.iter().any(|&(key, _)| writes(key));
        let aborts = conflict || rng.random_ratio(1, ABORT_SHARE);
        if !aborts {
            self.committed.extend(&running.own);
        }
        let ended = self.tick();
        let txn = &mut self.history.txns[running.txn];
        txn.ended = ended;
        txn.outcome = if aborts { Outcome::Aborted } else { Outcome::Committed };
    }

    fn read_all(&mut self) {
        let read = |key| Op::Read(key, list_of(&self.committed, key));
        let ops = (0..self.lists).map(read).collect();
        let (began, ended) = (self.tick(), self.tick());
        let process = self.history.txns.len() as u32;
        self.history.txns.push(Txn { process, began, ended, outcome: Outcome::Committed, ops });
    }
}

/// Changes one read.
fn mangle(history: &mut History, rng: &mut Pcg64Mcg) {
    let ops = history.txns.iter_mut().flat_map(|txn| txn.ops.iter_mut());
    let mut reads: Vec<&mut Vec<Element>> = ops
        .filter_map(|op| match op {
            Op::Read(_, list) if !list.is_empty() => Some(list),
            _ => None,
        })
        .collect();
    if reads.is_empty() {
        return;
    }
    let index = rng.random_range(0..reads.len());
    let list = reads.swap_remove(index);
    let place = rng.random_range(0..list.len());
    match rng.random_range(0..3) {
        0 => _ = list.pop(),
        1 => list.swap(0, place),
        _ => _ = list.remove(place),
    }
}
