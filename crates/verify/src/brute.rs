//! The definitions of the levels, tried in every order: slow, short, and what the checker must
//! agree with.
//!
//! Only transactions that committed take part. A history is serializable if running them one by one,
//! in some order, gives every read; it is one of snapshot isolation if some order of their beginnings
//! and commits does, where each reads the state at its beginning, and none commits after another
//! that wrote the same list meanwhile.

use std::collections::BTreeMap;

use crate::checker::RealTime;
use crate::history::{Element, History, ListKey, Op, Txn};
use crate::level::Level;

type State = BTreeMap<ListKey, Vec<Element>>;

/// Whether some execution at a level explains the history. Takes exponential time.
pub fn admits(history: &History, level: Level, real_time: RealTime) -> bool {
    let txns: Vec<&Txn> = history.txns.iter().filter(|txn| txn.is_committed()).collect();
    let phases = vec![Phase::Waiting; txns.len()];
    let search = Search { txns, real_time };
    match level {
        Level::Serializable => search.serial(&mut vec![false; phases.len()], &State::new()),
        Level::Snapshot => search.snapshot(&mut phases.clone(), &State::new()),
    }
}

struct Search<'h> {
    txns: Vec<&'h Txn>,
    real_time: RealTime,
}

/// How far a transaction is.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Waiting,
    /// It began; and whether another wrote one of its lists since.
    Running(bool),
    Done,
}

impl Search<'_> {
    /// Whether a transaction may begin now, as far as time goes.
    fn may_begin(&self, txn: usize, is_done: impl Fn(usize) -> bool) -> bool {
        let began = self.txns[txn].began;
        let before = |other: usize| self.txns[other].ended < began && !is_done(other);
        self.real_time == RealTime::Ignored || !(0..self.txns.len()).any(before)
    }

    fn serial(&self, done: &mut Vec<bool>, state: &State) -> bool {
        if done.iter().all(|&done| done) {
            return true;
        }
        for txn in 0..self.txns.len() {
            if done[txn] || !self.may_begin(txn, |other| done[other]) {
                continue;
            }
            if let Some(after) = run(self.txns[txn], state) {
                done[txn] = true;
                let found = self.serial(done, &after);
                done[txn] = false;
                if found {
                    return true;
                }
            }
        }
        false
    }

    fn snapshot(&self, phases: &mut Vec<Phase>, state: &State) -> bool {
        if phases.iter().all(|&phase| phase == Phase::Done) {
            return true;
        }
        for txn in 0..self.txns.len() {
            let kept = phases.clone();
            let next = match phases[txn] {
                Phase::Waiting => {
                    let may = self.may_begin(txn, |other| phases[other] == Phase::Done);
                    phases[txn] = Phase::Running(false);
                    (may && run(self.txns[txn], state).is_some()).then(|| state.clone())
                }
                Phase::Running(false) => Some(self.commit(txn, phases, state)),
                Phase::Running(true) | Phase::Done => None,
            };
            let found = next.is_some_and(|next| self.snapshot(phases, &next));
            *phases = kept;
            if found {
                return true;
            }
        }
        false
    }

    /// The state after a transaction that reads nothing that matters any more.
    fn commit(&self, txn: usize, phases: &mut [Phase], state: &State) -> State {
        let mut after = state.clone();
        phases[txn] = Phase::Done;
        for op in &self.txns[txn].ops {
            if let Op::Append(key, element) = op {
                after.entry(*key).or_default().push(*element);
                for (other, phase) in phases.iter_mut().enumerate() {
                    let writes = |op: &Op| matches!(op, Op::Append(of, _) if of == key);
                    if *phase == Phase::Running(false) && self.txns[other].ops.iter().any(writes) {
                        *phase = Phase::Running(true);
                    }
                }
            }
        }
        after
    }
}

/// The state after a transaction, if its reads fit the state before it.
fn run(txn: &Txn, state: &State) -> Option<State> {
    let mut after = state.clone();
    for op in &txn.ops {
        match op {
            Op::Append(key, element) => after.entry(*key).or_default().push(*element),
            Op::Read(key, list) => {
                if after.get(key).map_or(&[][..], Vec::as_slice) != list {
                    return None;
                }
            }
        }
    }
    Some(after)
}
