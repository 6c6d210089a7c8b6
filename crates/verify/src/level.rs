//! The isolation levels, and the one place that begins a transaction at one.

use evergraph::{Database, StoreError, Transaction};

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

    /// Whether the store offers it. What does not run because of this is named as skipped.
    pub fn is_offered(self) -> bool {
        match self {
            Self::Snapshot => true,
            Self::Serializable => false,
        }
    }

    /// The levels that the store offers.
    pub fn offered() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_offered())
    }

    /// One line for every level that cannot be tried.
    pub fn skipped() -> impl Iterator<Item = String> {
        let missing = Self::ALL.into_iter().filter(|level| !level.is_offered());
        missing.map(|level| format!("skipped: {level} transactions; the store does not offer them"))
    }

    /// Begins a transaction.
    pub fn begin(self, db: &Database) -> Result<Transaction<'_>, StoreError> {
        match self {
            Self::Snapshot => db.begin(),
            Self::Serializable => unreachable!("the store offers no serializable transactions"),
        }
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
