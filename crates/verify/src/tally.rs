//! What is counted while transactions run.

/// Counts of a scenario or of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Interleavings that were tried one by one.
    pub interleavings: u64,
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that were refused because of another.
    pub conflicts: u64,
    /// Anomalies that the level allows: what equals no serial order.
    pub skews: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.interleavings += other.interleavings;
        self.committed += other.committed;
        self.conflicts += other.conflicts;
        self.skews += other.skews;
    }
}
