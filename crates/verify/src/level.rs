//! The isolation levels, and the one place that begins a transaction at one.

use evergraph::{Database, Isolation, StoreError, Transaction};

/// What a transaction is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It reads the state at its beginning, and changes nothing that was changed since.
    Snapshot,
    /// The result is that of some serial order.
    Serializable,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 2] = [Self::Snapshot, Self::Serializable];

    /// Begins a transaction.
    pub fn begin(self, db: &Database) -> Result<Transaction<'_>, StoreError> {
        db.begin_with(match self {
            Self::Snapshot => Isolation::Snapshot,
            Self::Serializable => Isolation::Serializable,
        })
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Snapshot => "snapshot",
            Self::Serializable => "serializable",
        })
    }
}
