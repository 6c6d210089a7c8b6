//! Which isolation a history of lists shows.
//!
//! A list tells the order of its writes: whoever reads `[a, b]` saw the version that `b` made, which
//! came right after that of `a`. So a single read of a list recovers the order of all its versions,
//! and with it who must come before whom:
//!
//! - *ww*: the writer of a version before the writer of the next one;
//! - *wr*: the writer of a version before who read it;
//! - *rw*: who read a version before the writer of the next one;
//! - *rt*: a transaction before whatever began after it had ended.
//!
//! The steps: `versions` finds the order of each list and everything that is wrong with single
//! reads; `edges` makes the graph; `cycles` finds what no order explains and names it.
//!
//! What is reported is an anomaly for certain. The other direction holds when every element that was
//! committed was also read: elements that nobody read are known to come last, but in no order.

mod cycles;
mod edges;
mod versions;

use crate::history::History;
use crate::level::Level;

/// What may not happen. The names of cycles are those of Adya's thesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An element was appended twice: the history itself is broken.
    Reappended,
    /// A read does not fit what its own transaction read or wrote before.
    Internal,
    /// A read shows an element that nobody wrote.
    Garbage,
    /// A read shows an element twice.
    Duplicate,
    /// A read shows what was rolled back.
    G1a,
    /// A read shows what its writer overwrote before the end.
    G1b,
    /// Two reads cannot be of the same list at different times.
    Order,
    /// A transaction changed a list after another had changed what it read of it.
    LostUpdate,
    /// A cycle of writes.
    G0,
    /// A cycle of writes and reads.
    G1c,
    /// A cycle with one read that was overwritten.
    GSingle,
    /// A cycle with several reads that were overwritten, no two in a row.
    GNonadjacent,
    /// A cycle with two overwritten reads in a row: write skew.
    G2Item,
}

impl Kind {
    /// Whether a level forbids it. Snapshot isolation admits write skew, and nothing else.
    pub fn is_forbidden(self, level: Level) -> bool {
        level == Level::Serializable || self != Self::G2Item
    }
}

/// Whether a transaction must see whatever was committed before it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealTime {
    /// It must.
    Heeded,
    /// The times of the history mean nothing.
    Ignored,
}

/// Something that no execution explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomaly {
    /// What it is.
    pub kind: Kind,
    /// Whether it takes the order of real time to see it.
    pub real_time: bool,
    /// The transactions of the history it is about, a cycle in its order.
    pub txns: Vec<usize>,
    /// What is wrong, in words.
    pub text: String,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// One or more examples of each kind, not all.
    pub anomalies: Vec<Anomaly>,
    /// Committed transactions that were looked at.
    pub committed: usize,
    /// Edges of the graph.
    pub edges: usize,
}

impl Verdict {
    /// The anomalies that a level forbids.
    pub fn against(&self, level: Level) -> impl Iterator<Item = &Anomaly> {
        self.anomalies.iter().filter(move |anomaly| anomaly.kind.is_forbidden(level))
    }

    /// Whether the history is one of this level.
    pub fn admits(&self, level: Level) -> bool {
        self.against(level).next().is_none()
    }

    /// The first anomaly that a level forbids, with its transactions; `None` if there is none.
    pub fn complaint(&self, history: &History, level: Level) -> Option<String> {
        let Anomaly { kind, real_time, txns, text } = self.against(level).next()?;
        let suffix = if *real_time { " by real time" } else { "" };
        let txns = txns.iter().map(|&txn| format!("\n  T{txn}: {}", history.txns[txn]));
        Some(format!("{kind:?}{suffix}: {text}{}", txns.collect::<Vec<_>>().concat()))
    }
}

/// Checks a history.
pub fn check(history: &History, real_time: RealTime) -> Verdict {
    let mut anomalies = Vec::new();
    let versions = versions::find(history, &mut anomalies);
    let graph = edges::graph(history, &versions, real_time);
    cycles::find(&graph, &mut anomalies);
    Verdict { anomalies, committed: versions.committed(), edges: graph.edge_count() }
}
