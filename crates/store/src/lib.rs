//! The database: transactions, versions, the live layout, snapshots.
