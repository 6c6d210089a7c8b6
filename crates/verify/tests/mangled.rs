//! Histories of the store that were made wrong on purpose: the checker must find each way in which
//! a store can be wrong, wherever it happens.

use std::collections::BTreeMap;

use evergraph_verify::checker::{self, RealTime};
use evergraph_verify::history::record::{self, Workload};
use evergraph_verify::history::{Element, History, ListKey, Op, Outcome, Txn};
use evergraph_verify::level::Level;
use evergraph_verify::lists::{Form, Length, Shape};
use evergraph_verify::seed;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// How often each fault is made, and how many places are tried for it.
const TIMES: usize = 20;
const TRIES_MAX: usize = 2_000_000;

/// A history, and what is known about it.
struct Known {
    history: History,
    /// The final order of each list.
    orders: BTreeMap<ListKey, Vec<Element>>,
    /// Who wrote what.
    writers: BTreeMap<(ListKey, Element), usize>,
}

/// Makes a history wrong at a random place; `None` if it cannot be done there.
type Fault = fn(&Known, &mut Pcg64Mcg) -> Option<History>;

const FAULTS: [(&str, Fault); 17] = [
    ("elements of a read are swapped", |known, rng| {
        known.change_read(rng, |_, list| (list.len() > 1).then(|| list.swap(0, 1)))
    }),
    ("an element in the middle of a read is missing", |known, rng| {
        known.change_read(rng, |_, list| (list.len() > 1).then(|| _ = list.remove(0)))
    }),
    ("an element is read twice", |known, rng| {
        known.change_read(rng, |_, list| list.first().copied().map(|first| list.push(first)))
    }),
    ("an element is read that nobody wrote", |known, rng| {
        known.change_read(rng, |_, list| {
            list.push(Element::MAX);
            Some(())
        })
    }),
    ("the last read of a list is stale", |known, rng| {
        let mut history = known.history.clone();
        let list = read_of(history.txns.last_mut()?, rng)?.1;
        list.pop().map(|_| history)
    }),
    ("a read shows what was written after its end", read_of_the_future),
    ("a read shows what was rolled back", read_of_aborted),
    ("a commit that was seen was refused", |known, rng| {
        let (writer, _) = known.write(rng)?;
        Some(known.change_txn(writer, |txn| txn.outcome = Outcome::Aborted))
    }),
    ("a refused commit is taken for done", |known, rng| {
        let index = rng.random_range(0..known.history.txns.len());
        let txn = &known.history.txns[index];
        let appends = txn.ops.iter().any(|op| matches!(op, Op::Append(..)));
        let wrong = txn.outcome == Outcome::Aborted && appends;
        wrong.then(|| known.change_txn(index, |txn| txn.outcome = Outcome::Committed))
    }),
    ("an append that was seen is missing", |known, rng| {
        let (writer, op) = known.write(rng)?;
        Some(known.change_txn(writer, |txn| txn.ops.retain(|other| *other != op)))
    }),
    ("a transaction does not see its own append", own_append_hidden),
    ("a second read differs from the first", second_read_differs),
    ("reads of two lists are swapped", reads_are_swapped),
    ("a read stands between two appends of one writer", read_between),
    ("one list of a commit is seen, the other is not", fractured_read),
    ("an update is lost", lost_update),
    ("a reader runs later, with what it read before", |known, rng| {
        let index = rng.random_range(0..known.history.txns.len());
        let txn = &known.history.txns[index];
        let is_old = |op: &Op| match op {
            Op::Read(key, list) => *list != known.orders[key],
            Op::Append(..) => false,
        };
        let end = known.history.txns.last()?.ended;
        let fits = txn.is_committed() && txn.ops.iter().any(is_old);
        fits.then(|| known.change_txn(index, |txn| (txn.began, txn.ended) = (end + 1, end + 2)))
    }),
];

fn read_of_the_future(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let txn = &mut history.txns[index];
    let ended = txn.ended;
    if txn.ops.iter().any(|op| matches!(op, Op::Append(..))) {
        return None;
    }
    let (key, list) = read_of(txn, rng)?;
    let next = *known.orders[&key].get(list.len())?;
    list.push(next);
    let writer = known.writers[&(key, next)];
    (known.history.txns[writer].began > ended).then_some(history)
}

fn read_of_aborted(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let aborted = &known.history.txns[rng.random_range(0..known.history.txns.len())];
    let Some(Op::Append(key, element)) = aborted.ops.first() else { return None };
    if aborted.outcome != Outcome::Aborted {
        return None;
    }
    let mut history = known.history.clone();
    let ops = history.txns.iter_mut().rev().flat_map(|txn| &mut txn.ops);
    let mut lists = ops.filter_map(|op| match op {
        Op::Read(of, list) if of == key => Some(list),
        _ => None,
    });
    lists.next()?.push(*element);
    Some(history)
}

fn own_append_hidden(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let ops = &mut history.txns[index].ops;
    let Some(Op::Append(key, element)) = ops.first().cloned() else { return None };
    let reads = ops.iter_mut().find_map(|op| match op {
        Op::Read(of, list) if *of == key => Some(list),
        _ => None,
    });
    let list = reads?;
    list.retain(|&other| other != element);
    Some(history)
}

fn second_read_differs(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let ops = &mut history.txns[index].ops;
    let Some(Op::Read(key, _)) = ops.first().cloned() else { return None };
    ops.iter_mut().skip(1).find_map(|op| match op {
        Op::Read(of, list) if *of == key => list.pop(),
        _ => None,
    })?;
    Some(history)
}

fn reads_are_swapped(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let [Op::Read(a, first), Op::Read(b, second), ..] = history.txns[index].ops.as_mut_slice()
    else {
        return None;
    };
    let differ = a != b && !first.is_empty() && first.first() != second.first();
    std::mem::swap(first, second);
    differ.then_some(history)
}

/// A writer appended twice to a list; a reader sees the first and not the second.
fn read_between(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    known.change_read(rng, |(key, reader), list| {
        let writer = |element: &Element| known.writers[&(key, *element)];
        let first = list.windows(2).position(|pair| writer(&pair[0]) == writer(&pair[1]))?;
        let others = writer(&list[first]) != reader;
        others.then(|| list.truncate(first + 1))
    })
}

/// A reader saw both lists of a commit; now it sees one without it.
fn fractured_read(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let [Op::Read(a, first), Op::Read(b, second), ..] = history.txns[index].ops.as_mut_slice()
    else {
        return None;
    };
    let writer = known.writers[&(*a, *first.last()?)];
    let place = second.iter().position(|element| known.writers[&(*b, *element)] == writer)?;
    second.truncate(place);
    (a != b && writer != index).then_some(history)
}

/// A transaction read a list and appended to it; now it read the version before.
fn lost_update(known: &Known, rng: &mut Pcg64Mcg) -> Option<History> {
    let (index, _) = known.committed(rng)?;
    let mut history = known.history.clone();
    let [Op::Read(key, list), rest @ ..] = history.txns[index].ops.as_mut_slice() else {
        return None;
    };
    list.pop()?;
    rest.iter().any(|op| matches!(op, Op::Append(of, _) if of == key)).then_some(history)
}

/// A random read of a transaction.
fn read_of<'t>(txn: &'t mut Txn, rng: &mut Pcg64Mcg) -> Option<(ListKey, &'t mut Vec<Element>)> {
    let place = rng.random_range(0..txn.ops.len());
    match &mut txn.ops[place] {
        Op::Read(key, list) => Some((*key, list)),
        Op::Append(..) => None,
    }
}

impl Known {
    fn new(history: History) -> Self {
        let (mut orders, mut writers) = (BTreeMap::new(), BTreeMap::new());
        for (index, txn) in history.txns.iter().enumerate() {
            for op in &txn.ops {
                match op {
                    Op::Read(key, list) => _ = orders.insert(*key, list.clone()),
                    Op::Append(key, element) => _ = writers.insert((*key, *element), index),
                }
            }
        }
        Self { history, orders, writers }
    }

    /// A random transaction that committed, without those at the end that read everything.
    fn committed(&self, rng: &mut Pcg64Mcg) -> Option<(usize, &Txn)> {
        let index = rng.random_range(0..self.history.txns.len());
        let txn = &self.history.txns[index];
        let clients_last = self.history.txns.last().map(|last| last.process);
        (txn.is_committed() && Some(txn.process) != clients_last).then_some((index, txn))
    }

    /// A random append that is in the final order of its list.
    fn write(&self, rng: &mut Pcg64Mcg) -> Option<(usize, Op)> {
        let (index, txn) = self.committed(rng)?;
        match txn.ops.first()? {
            Op::Append(key, element) => Some((index, Op::Append(*key, *element))),
            Op::Read(..) => None,
        }
    }

    fn change_txn(&self, index: usize, change: impl FnOnce(&mut Txn)) -> History {
        let mut history = self.history.clone();
        change(&mut history.txns[index]);
        history
    }

    /// Changes a read that is not the last of its list.
    fn change_read(
        &self,
        rng: &mut Pcg64Mcg,
        change: impl FnOnce((ListKey, usize), &mut Vec<Element>) -> Option<()>,
    ) -> Option<History> {
        let (index, txn) = self.committed(rng)?;
        let mut txn = txn.clone();
        let (key, list) = read_of(&mut txn, rng)?;
        change((key, index), list)?;
        Some(self.change_txn(index, |changed| *changed = txn))
    }
}

#[test]
fn every_kind_of_fault_is_found_wherever_it_is() {
    for seed in seed::of_test(1) {
        let workload = Workload {
            shape: Shape { form: Form::Out, length: Length::Kept },
            threads: 4,
            active: 3,
            list_max: 32,
            elements: 4096,
            ops_max: 5,
            readers: 40,
            aborts: 10,
            ..Workload::random(Level::Snapshot, 400, seed)
        };
        let recorded = record::record(&workload).expect("the store is right");
        let verdict = checker::check(&recorded.history, RealTime::Heeded);
        assert!(verdict.admits(Level::Snapshot), "{verdict:?}");
        let known = Known::new(recorded.history);
        for (name, fault) in FAULTS {
            let mut rng = seed::rng(seed);
            let mangled = (0..TRIES_MAX).filter_map(|_| fault(&known, &mut rng));
            let mut kinds = BTreeMap::new();
            for history in mangled.take(TIMES) {
                let verdict = checker::check(&history, RealTime::Heeded);
                let worst = verdict.against(Level::Snapshot).next();
                let worst =
                    worst.unwrap_or_else(|| panic!("EVERGRAPH_SEED={seed}: {name}: not found"));
                *kinds.entry(worst.kind).or_insert(0) += 1;
            }
            assert_eq!(kinds.values().sum::<usize>(), TIMES, "{name}: too few places");
            println!("{name}: {kinds:?}");
        }
    }
}
