//! The database: transactions, versions, the live layout, snapshots.
//!
//! # A write's journey
//!   [`Database::begin`] takes a lease on the newest version (`epoch/lease.rs`). The calls of a
//!   [`Transaction`] are buffered (`txn/write_set.rs`). The commit folds them to one change per
//!   vertex and edge, locks the groups they touch, checks, makes room, takes a version from the
//!   clock (`epoch/clock.rs`) and appends to the deltas (`engine/fat_tree/write.rs`). A full
//!   delta becomes runs (`merge.rs`); what writers leave behind is settled by the service thread.
//! # A read's journey
//!   [`Database::snapshot`] takes a lease. A point read pins (`raw/pin.rs`), finds the state of
//!   its version (`raw/chain.rs`) and looks (`read.rs`). An algorithm takes a view
//!   (`engine/fat_tree/view.rs`): every group is resolved once, then read like a static array.

#![deny(unsafe_code)]

pub mod io;
pub mod options;
mod version;

mod account;
mod checkpoint;
mod database;
mod dictionary;
mod durable;
mod error;
mod fault;
mod files;
mod folder;
mod history;
mod ingest;
mod load;
mod log;
mod pool;
mod repair;
mod retention;
mod service;
mod stream;
mod time;
mod watch;
mod words;

mod txn;

mod epoch;

mod engine;

mod view;

#[expect(unsafe_code, reason = "the one home of unsafe code, see its head")]
mod raw;
mod sync;

#[cfg(all(test, loom))]
mod models;

pub use database::{Database, Outcomes, Stats};
pub use engine::fat_tree::View;
pub use error::{CommitError, Error, Subject};
#[cfg(feature = "faults")]
pub use fault::FAULTS;
pub use files::Files;
pub use history::{Change, Commit, Follower, When};
pub use ingest::{Backlog, Full, Ingest, IngestOptions, StaticView};
pub use options::{
    Directed, Durability, Isolation, Keep, LogSizes, Options, Result, SelfLoops, Service, Tuning,
    Weights,
};
pub use repair::{Checked, Salvaged, check, check_on, salvage, salvage_on};
pub use retention::{keep_of, keep_of_on, set_keep, set_keep_on};
pub use stream::{IdStep, IdStream, Step, Stream, Window, Windows};
pub use txn::Transaction;
pub use version::Version;
pub use view::{AnyView, Snapshot};
pub use watch::{Start, Watcher, watch, watch_on};
