//! Recovers the order of the versions of each list, and finds what is wrong with single reads.
//!
//! The longest read of a list is its order; every other read must be the start of it. A read is
//! *external* as far as it shows what others wrote: elements that the transaction appended itself
//! are cut off from its end.

use hashbrown::HashMap;

use super::{Anomaly, Kind};
use crate::history::{Element, History, ListKey, Op, Outcome, Txn};

/// What is known about the lists of a history.
pub(super) struct Versions {
    /// Whether a transaction took place: it committed, or somebody saw it.
    present: Vec<bool>,
    /// All lists.
    pub(super) lists: Vec<List>,
    /// The first external read of each list by each transaction, in the order of transactions.
    pub(super) reads: Vec<External>,
}

/// The versions of one list.
#[derive(Default)]
pub(super) struct List {
    /// Who wrote each version, in order.
    pub(super) writers: Vec<u32>,
    /// Who wrote something that nobody read: it comes later than all of `writers`.
    pub(super) unseen: Vec<u32>,
}

/// A transaction read the version of a list that has so many elements.
pub(super) struct External {
    pub(super) txn: u32,
    pub(super) list: u32,
    pub(super) seen: u32,
    /// It also appended to the list.
    pub(super) writes: bool,
}

impl Versions {
    pub(super) fn is_present(&self, txn: usize) -> bool {
        self.present[txn]
    }

    /// How many transactions took place.
    pub(super) fn committed(&self) -> usize {
        self.present.iter().filter(|&&present| present).count()
    }
}

/// Who appended an element.
struct Write {
    txn: u32,
    /// What the transaction had appended to the list just before.
    after: Option<Element>,
    /// Nothing came after it in the same list and transaction.
    is_last: bool,
    was_read: bool,
}

struct Finder<'h, 'a> {
    history: &'h History,
    anomalies: &'a mut Vec<Anomaly>,
    ids: HashMap<ListKey, u32>,
    /// By list and element.
    writes: HashMap<(u32, Element), Write>,
    /// The longest read of each list.
    orders: Vec<&'h [Element]>,
    found: Versions,
}

/// Finds the order of the versions of every list.
pub(super) fn find(history: &History, anomalies: &mut Vec<Anomaly>) -> Versions {
    let found = Versions {
        present: history.txns.iter().map(Txn::is_committed).collect(),
        lists: Vec::new(),
        reads: Vec::new(),
    };
    let mut finder = Finder {
        history,
        anomalies,
        ids: HashMap::new(),
        writes: HashMap::new(),
        orders: Vec::new(),
        found,
    };
    finder.index();
    finder.order();
    finder.look_at_reads();
    finder.collect_unseen();
    finder.found
}

impl<'h> Finder<'h, '_> {
    fn report(&mut self, kind: Kind, txns: &[u32], text: String) {
        let txns = txns.iter().map(|&txn| txn as usize).collect();
        self.anomalies.push(Anomaly { kind, real_time: false, txns, text });
    }

    fn id(&mut self, key: ListKey) -> u32 {
        let lists = &mut self.found.lists;
        let orders = &mut self.orders;
        *self.ids.entry(key).or_insert_with(|| {
            lists.push(List::default());
            orders.push(&[]);
            lists.len() as u32 - 1
        })
    }

    /// Notes every append, and the longest read of every list.
    fn index(&mut self) {
        for (txn, Txn { ops, outcome, .. }) in self.history.txns.iter().enumerate() {
            for (place, op) in ops.iter().enumerate() {
                match op {
                    Op::Append(key, element) => {
                        let of_list = |op: &Op| match op {
                            Op::Append(of, element) if of == key => Some(*element),
                            _ => None,
                        };
                        let after = ops[..place].iter().rev().find_map(of_list);
                        let is_last = ops[place + 1..].iter().find_map(of_list).is_none();
                        let list = self.id(*key);
                        let write = Write { txn: txn as u32, after, is_last, was_read: false };
                        if let Some(before) = self.writes.insert((list, *element), write) {
                            let text = format!("{element} was appended to list {key} twice");
                            self.report(Kind::Reappended, &[before.txn, txn as u32], text);
                        }
                    }
                    Op::Read(key, read) => {
                        let list = self.id(*key) as usize;
                        if *outcome == Outcome::Committed && read.len() > self.orders[list].len() {
                            self.orders[list] = read;
                        }
                    }
                }
            }
        }
    }

    /// Finds who wrote the versions of each list.
    fn order(&mut self) {
        let mut torn = Vec::new();
        for (list, order) in self.orders.iter().enumerate() {
            let writers = &mut self.found.lists[list].writers;
            for (place, element) in order.iter().enumerate() {
                // What nobody wrote, or twice, is reported where it is read.
                let Some(write) = self.writes.get_mut(&(list as u32, *element)) else { break };
                if write.was_read {
                    break;
                }
                write.was_read = true;
                if write.after.is_some() && write.after.as_ref() != order[..place].last() {
                    torn.push((write.txn, format!("{element} does not stand in {order:?} as")));
                }
                writers.push(write.txn);
                if self.history.txns[write.txn as usize].outcome == Outcome::Unknown {
                    self.found.present[write.txn as usize] = true;
                }
            }
        }
        for (txn, text) in torn {
            self.report(Kind::Order, &[txn], format!("{text} T{txn} appended it"));
        }
    }

    fn look_at_reads(&mut self) {
        let history = self.history;
        let mut locals = Vec::new();
        for (txn, of_txn) in history.txns.iter().enumerate() {
            if of_txn.is_committed() {
                self.look_at_txn(txn as u32, &of_txn.ops, &mut locals);
                locals.clear();
            }
        }
    }

    fn look_at_txn(&mut self, txn: u32, ops: &'h [Op], locals: &mut Vec<Local<'h>>) {
        for op in ops {
            let (Op::Append(key, _) | Op::Read(key, _)) = op;
            let list = self.id(*key);
            let index = locals.iter().position(|local| local.list == list).unwrap_or_else(|| {
                locals.push(Local { list, before: None, own: Vec::new() });
                locals.len() - 1
            });
            let local = &mut locals[index];
            match op {
                Op::Append(_, element) => local.own.push(*element),
                Op::Read(_, read) => match local.fit(read) {
                    Fit::First(external) => self.look_at_external(txn, (*key, list), external),
                    Fit::Again => {}
                    Fit::Not => {
                        let text = format!("list {key} was read as {read:?} after {local}");
                        self.report(Kind::Internal, &[txn], text);
                    }
                },
            }
        }
        let first =
            self.found.reads.iter().rposition(|read| read.txn != txn).map_or(0, |at| at + 1);
        for read in &mut self.found.reads[first..] {
            read.writes =
                locals.iter().any(|local| local.list == read.list && !local.own.is_empty());
        }
    }

    /// Looks at what a transaction read of others.
    fn look_at_external(&mut self, txn: u32, (key, list): (ListKey, u32), read: &[Element]) {
        let known = self.found.lists[list as usize].writers.len();
        let fits = read.len() <= known && self.orders[list as usize].starts_with(read);
        if !fits && !self.blame(txn, (key, list), read) {
            let order = self.orders[list as usize];
            let text = format!("list {key} was read as {read:?}, and as {order:?}");
            self.report(Kind::Order, &[txn], text);
        }
        let writers = &self.found.lists[list as usize].writers;
        let aborted = writers[..read.len().min(known)]
            .iter()
            .find(|&&writer| self.history.txns[writer as usize].outcome == Outcome::Aborted);
        if let (true, Some(&writer)) = (fits, aborted) {
            let text = format!("T{txn} read of list {key} what T{writer} wrote and rolled back");
            self.report(Kind::G1a, &[writer, txn], text);
        }
        let last = read.last().and_then(|last| self.writes.get(&(list, *last)));
        if let Some(&Write { txn: writer, is_last: false, .. }) = last {
            let text = format!("T{txn} read list {key} between two appends of T{writer}");
            self.report(Kind::G1b, &[writer, txn], text);
        }
        if fits {
            let seen = read.len() as u32;
            self.found.reads.push(External { txn, list, seen, writes: false });
        }
    }

    /// Says what is wrong with the elements of a read that is not the start of the order; false if
    /// each of them alone is right.
    fn blame(&mut self, txn: u32, (key, list): (ListKey, u32), read: &[Element]) -> bool {
        for (place, element) in read.iter().enumerate() {
            let Some(&Write { txn: writer, .. }) = self.writes.get(&(list, *element)) else {
                let text = format!("T{txn} read {element} in list {key}, which nobody wrote");
                self.report(Kind::Garbage, &[txn], text);
                return true;
            };
            if read[..place].contains(element) {
                let text = format!("T{txn} read {element} twice in list {key}: {read:?}");
                self.report(Kind::Duplicate, &[txn], text);
                return true;
            }
            if self.history.txns[writer as usize].outcome == Outcome::Aborted {
                let text = format!("T{txn} read {element} in list {key}, rolled back by T{writer}");
                self.report(Kind::G1a, &[writer, txn], text);
                return true;
            }
        }
        false
    }

    fn collect_unseen(&mut self) {
        for ((list, _), write) in &self.writes {
            if !write.was_read && self.found.present[write.txn as usize] {
                self.found.lists[*list as usize].unseen.push(write.txn);
            }
        }
        for list in &mut self.found.lists {
            list.unseen.sort_unstable();
            list.unseen.dedup();
        }
    }
}

/// What a transaction knows about a list.
struct Local<'h> {
    list: u32,
    /// What others wrote, as it was read first.
    before: Option<&'h [Element]>,
    /// What it appended since it began.
    own: Vec<Element>,
}

enum Fit<'h> {
    /// The first read; what of it others wrote.
    First(&'h [Element]),
    /// A later read of the same.
    Again,
    /// It cannot be.
    Not,
}

impl<'h> Local<'h> {
    fn fit(&mut self, read: &'h [Element]) -> Fit<'h> {
        match (read.strip_suffix(self.own.as_slice()), self.before) {
            (Some(external), None) => {
                self.before = Some(external);
                Fit::First(external)
            }
            (Some(external), Some(before)) if external == before => Fit::Again,
            _ => Fit::Not,
        }
    }
}

impl std::fmt::Display for Local<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.before {
            Some(before) => write!(f, "reading {before:?} and appending {:?}", self.own),
            None => write!(f, "appending {:?}", self.own),
        }
    }
}
