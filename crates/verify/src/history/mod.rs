//! Histories: what transactions appended to lists and read from them, as their clients saw it.

pub mod edn;
pub mod invent;
pub mod record;

/// The name of a list.
pub type ListKey = u32;

/// What is appended to a list; once per list.
pub type Element = u32;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its commit returned.
    Committed,
    /// It was rolled back, by its client or by the store.
    Aborted,
    /// Nobody knows: it counts as committed if somebody saw it.
    Unknown,
}

/// One step of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An element was put at the end of a list.
    Append(ListKey, Element),
    /// A whole list was read.
    Read(ListKey, Vec<Element>),
}

/// One transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    /// Which client ran it; a client runs one at a time.
    pub process: u32,
    /// When it began; it ran at the same time as whatever did not end before.
    pub began: u64,
    /// When its commit returned.
    pub ended: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What it did, in order.
    pub ops: Vec<Op>,
}

/// Transactions, in no particular order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// All of them, also those that did not commit.
    pub txns: Vec<Txn>,
}

impl Txn {
    /// Whether it committed for certain.
    pub fn is_committed(&self) -> bool {
        self.outcome == Outcome::Committed
    }
}

impl std::fmt::Display for Txn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { process, began, ended, outcome, .. } = self;
        write!(f, "process {process}, {began} to {ended}, {outcome:?}:")?;
        for op in &self.ops {
            match op {
                Op::Append(key, element) => write!(f, " append {key} {element};")?,
                Op::Read(key, list) => write!(f, " read {key} {list:?};")?,
            }
        }
        Ok(())
    }
}
