//! Scenarios: two to four small transactions, run in every interleaving and judged by an oracle.
//!
//! A scenario says where it starts, what its transactions do, and three things about the outcome:
//! whether snapshot isolation lets it go wrong (then that must be *seen*), whether some of its
//! transactions conflict, and what may never be true of the graph at the end. What each read must
//! show and what the end must be is not written down: [`judge`] computes it from the
//! definitions of the levels, on a plain model of a graph.
//!
//! Everything runs in one thread: transactions of the store do not wait for one another, so an
//! interleaving is just an order of calls.

pub mod judge;
pub mod library;
pub(crate) mod model;
pub(crate) mod play;
mod program;
mod schedule;

pub use model::{Graph, V};
pub use play::Layout;
pub use program::{Program, tx};

/// What snapshot isolation makes of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Every interleaving equals a serial order.
    Serial,
    /// Some interleaving equals none.
    Skew,
}

/// Something that may not be true of a graph, in words and as a test.
type Never = (&'static str, fn(&Graph) -> bool);

/// A start, transactions, and what is said about the outcome.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    start: Graph,
    programs: Vec<Program>,
    outcome: Outcome,
    conflicts: bool,
    never: Vec<Never>,
    never_if_serial: Vec<Never>,
}

impl Scenario {
    /// Transactions on a graph that snapshot isolation keeps serial, without conflicts.
    pub fn new(name: impl Into<String>, start: Graph, programs: Vec<Program>) -> Self {
        Self {
            name: name.into(),
            start,
            programs,
            outcome: Outcome::Serial,
            conflicts: false,
            never: Vec::new(),
            never_if_serial: Vec::new(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Some interleaving makes two of the transactions conflict at any level.
    #[must_use]
    pub fn conflicts(self) -> Self {
        Self { conflicts: true, ..self }
    }

    /// Snapshot isolation lets some interleaving end like no serial order.
    #[must_use]
    pub fn skews(self) -> Self {
        Self { outcome: Outcome::Skew, ..self }
    }

    /// No interleaving at any level ends so.
    #[must_use]
    pub fn never(mut self, words: &'static str, test: fn(&Graph) -> bool) -> Self {
        self.never.push((words, test));
        self
    }

    /// No serial order ends so, but some interleaving under snapshot isolation does.
    #[must_use]
    pub fn skews_to(mut self, words: &'static str, test: fn(&Graph) -> bool) -> Self {
        self.never_if_serial.push((words, test));
        self.skews()
    }
}
