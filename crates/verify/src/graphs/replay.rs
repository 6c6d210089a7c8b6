//! Runs recorded transactions again, alone, in the order of their versions.

use std::collections::BTreeMap;

use super::{End, Step, Txn, Workload};
use crate::level::Level;
use crate::scenario::Graph;
use crate::scenario::model::{Change, ask};
use crate::scenario::play::{Item, items};
use crate::tally::Tally;

/// What has been run again so far.
struct Replay<'t> {
    txns: &'t [Txn],
    state: Graph,
    version: u64,
    /// The version at which each item was changed last.
    changed: BTreeMap<Item, u64>,
    /// What each transaction that committed changes, filled when its snapshot comes by.
    changes: BTreeMap<usize, Vec<Item>>,
    tally: Tally,
}

/// Compares what was recorded with the plain graph; an error tells the first difference.
pub(super) fn replay(workload: &Workload, txns: &[Txn]) -> Result<Tally, String> {
    let mut writers = BTreeMap::new();
    let mut readers: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, txn) in txns.iter().enumerate() {
        let Txn { known, snapshot, .. } = *txn;
        if snapshot < known {
            return Err(format!("began at {snapshot} although {known} had returned: {txn:?}"));
        }
        readers.entry(snapshot).or_default().push(index);
        if let End::Committed(version) = txn.end
            && let Some(other) = writers.insert(version, index)
        {
            let other: &Txn = &txns[other];
            return Err(format!("one version for two: {other:?} and {txn:?}"));
        }
    }
    let mut replay = Replay {
        txns,
        state: Graph { directed: workload.directed, ..Graph::default() },
        version: 0,
        changed: BTreeMap::new(),
        changes: BTreeMap::new(),
        tally: Tally::default(),
    };
    replay.read(readers.remove(&0))?;
    for (version, index) in writers {
        if version != replay.version + 1 {
            return Err(format!("nobody made version {}", replay.version + 1));
        }
        replay.write(version, index)?;
        replay.read(readers.remove(&version))?;
    }
    if let Some((version, _)) = readers.pop_first() {
        return Err(format!("version {version} was read, but nobody made it"));
    }
    for txn in txns.iter().filter(|txn| txn.end == End::Conflict) {
        if txn.snapshot == replay.version {
            return Err(format!("refused although nobody committed meanwhile: {txn:?}"));
        }
        replay.tally.conflicts += 1;
    }
    Ok(replay.tally)
}

impl Replay<'_> {
    /// Runs those again that read the state as it is now.
    fn read(&mut self, indices: Option<Vec<usize>>) -> Result<(), String> {
        for index in indices.unwrap_or_default() {
            let txn = &self.txns[index];
            let problem = |what| format!("at version {}: {what}, in {txn:?}", self.version);
            let after = run(txn, &self.state).map_err(problem)?;
            if matches!(txn.end, End::Committed(_)) {
                let (changed, _) = items(&self.state, &after, &changes(txn));
                self.changes.insert(index, changed.into_iter().collect());
            }
        }
        Ok(())
    }

    /// Makes the changes of a transaction that committed.
    fn write(&mut self, version: u64, index: usize) -> Result<(), String> {
        let txn = &self.txns[index];
        let problem = |what: String| format!("before version {version}: {what}, in {txn:?}");
        let items = self.changes.remove(&index);
        for item in items.ok_or_else(|| problem("it read what was to come".to_owned()))? {
            let before = self.changed.insert(item, version);
            if before.is_some_and(|before| before > txn.snapshot) {
                return Err(problem(format!("{item:?} was changed by another")));
            }
        }
        let again = run(txn, &self.state);
        match (txn.level, &again) {
            (Level::Serializable, Err(what)) => return Err(problem(what.clone())),
            (Level::Snapshot, Err(_)) => self.tally.skews += 1,
            (_, Ok(_)) => {}
        }
        for change in changes(txn) {
            let misfit = |_| problem(format!("{change:?} does not fit"));
            self.state.apply(&change).map_err(misfit)?;
        }
        self.version = version;
        self.tally.committed += 1;
        Ok(())
    }
}

fn changes(txn: &Txn) -> Vec<Change> {
    let change = |step: &Step| match step {
        Step::Do(change) => Some(*change),
        _ => None,
    };
    txn.steps.iter().filter_map(change).collect()
}

/// The graph after a transaction that runs alone, if that sees what it saw.
fn run(txn: &Txn, start: &Graph) -> Result<Graph, String> {
    let mut graph = start.clone();
    for step in &txn.steps {
        match step {
            Step::Do(change) => {
                graph.apply(change).map_err(|_| format!("{change:?} does not fit"))?;
            }
            Step::Ask(query, shown) => {
                let right = ask(&graph, query).map_err(|error| error.to_string())?;
                if *shown != right {
                    return Err(format!("{query:?} showed {shown:?} instead of {right:?}"));
                }
            }
            Step::Whole(shown) if *shown != graph => {
                return Err(format!("the graph was {shown:?} instead of {graph:?}"));
            }
            Step::Whole(_) => {}
        }
    }
    Ok(graph)
}
