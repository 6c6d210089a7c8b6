//! Transactions: begin, buffer, validate, commit.
//!
//! - `write_set.rs`: what was asked for, in order, and what it comes to.
//! - `overlay.rs`: how the transaction itself sees it before it is committed.
//! - `read_set.rs`: what a serializable transaction has read.
//! - `refusal.rs`: why a commit was refused, in the user's words.
//! - `transaction.rs`: what the user holds.

mod overlay;
mod read_set;
mod refusal;
mod transaction;
mod write_set;

pub(crate) use refusal::refused;
pub use transaction::Transaction;
pub(crate) use write_set::OPERATIONS_MAX;

use evergraph_graph::KeyRef;

/// Bytes that an owned key takes beside itself.
fn text_bytes(key: KeyRef<'_>) -> usize {
    match key {
        KeyRef::Text(text) => text.len(),
        KeyRef::Number(_) => 0,
    }
}
