//! Transactions: begin, buffer, validate, commit.
//!
//! - `write_set.rs`: what was asked for, in order, and what it comes to.
//! - `overlay.rs`: how the transaction itself sees it before it is committed.
//! - `transaction.rs`: what the user holds.

mod overlay;
mod transaction;
mod write_set;

pub use transaction::Transaction;
