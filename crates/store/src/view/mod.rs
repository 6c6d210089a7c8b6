//! Looking at the database: snapshots and their leases.

mod lease;
mod snapshot;

pub(crate) use lease::Lease;
pub(crate) use lease::Use;
pub use snapshot::{AnyView, Snapshot};
