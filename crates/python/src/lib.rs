//! Evergraph for Python: the native half of the package `evergraph`.
//!
//! The Python half (`python/evergraph`) is what users see; this one does the work: it turns Python
//! objects into keys and columns, calls the facade, and turns answers into columns and errors into
//! exceptions.
//!
//! # Threads
//!   Whatever may take long runs without the interpreter's lock (`run.rs`), on a pool of threads
//!   whose number the user says, and that is made again in a forked child (`fork.rs`). Closing a
//!   graph waits for what others do with it (`lend.rs`).
#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "Python hands its arguments over by value")]

mod changes;
mod column;
mod components;
mod dicts;
mod edges;
mod error;
mod export;
mod follow;
mod fork;
mod ingest;
mod key;
mod lend;
mod read;
mod run;
mod snapshot;
mod standing;
mod store;
mod transaction;

/// The native half of the package `evergraph`.
#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::column::{Column, stream};
    #[pymodule_export]
    use crate::components::Components;
    #[pymodule_export]
    use crate::dicts::{by_node, lengths, nearest_first};
    #[pymodule_export]
    use crate::follow::{Follower, Stream, Windows, watch};
    #[pymodule_export]
    use crate::fork::forked;
    #[pymodule_export]
    use crate::ingest::Ingest;
    #[pymodule_export]
    use crate::read::{load, read};
    #[pymodule_export]
    use crate::run::{set_threads, threads};
    #[pymodule_export]
    use crate::snapshot::Snapshot;
    #[pymodule_export]
    use crate::standing::Standing;
    #[pymodule_export]
    use crate::store::{Store, open};
    #[pymodule_export]
    use crate::transaction::Transaction;
}
