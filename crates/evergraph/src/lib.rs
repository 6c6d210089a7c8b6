//! Evergraph: a graph store for graphs that never stop changing, and for the analytics that need
//! them fresh.
//!
//! Writers commit transactions while algorithms run on consistent snapshots at the speed of a
//! static array; nothing is exported, and none slows the others down.
//!
//! ```
//! use evergraph::Database;
//! use evergraph::algo::{self, PageRankConfig};
//!
//! let db = Database::in_memory();
//! let mut tx = db.begin()?;
//! for account in 1..=3u64 {
//!     tx.add_vertex(account)?;
//! }
//! tx.add_edge(1u64, 2u64)?;
//! tx.add_edge(2u64, 3u64)?;
//! tx.commit()?;
//!
//! // A snapshot never changes, whatever is committed meanwhile.
//! let snapshot = db.snapshot()?;
//! db.transaction(3, |tx| tx.add_edge(3u64, 1u64))?;
//! assert!(!snapshot.has_edge(3u64, 1u64)?);
//!
//! // Algorithms take a snapshot and answer per dense id.
//! let ranks = algo::pagerank(&db.snapshot()?, &PageRankConfig::default())?.ranks;
//! assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! # Ok::<(), evergraph::Error>(())
//! ```
//!
//! - [`Database`], [`Transaction`], [`Snapshot`]: the store.
//! - [`algo`]: algorithms on snapshots; [`standing`]: their answers kept up to date.
//! - [`load`] and [`replay`]: whole graphs and update logs into a database.
//! - [`graph`]: the read contract, the static graph, readers, writers, generators.
//! - [`kernels`]: the algorithms on any [`graph::GraphView`], with their verifiers.
#![forbid(unsafe_code)]

mod error;

// How graphs and changes get in.
mod load;
mod replay;
mod resume;

// What is asked of them.
pub mod algo;
pub mod standing;

pub use error::Error;
pub use evergraph_algo as kernels;
pub use evergraph_graph as graph;
#[cfg(feature = "faults")]
pub use evergraph_store::FAULTS;
pub use evergraph_store::{
    AnyView, Backlog, Change, Checked, Commit, CommitError, Database, Directed, Durability,
    Error as StoreError, Files, Follower, Full, IdStep, IdStream, Ingest, IngestOptions, Isolation,
    Keep, LogSizes, Options, Outcomes, Salvaged, SelfLoops, Service, Snapshot, Start, StaticView,
    Stats, Step, Stream, Subject, Transaction, Tuning, Version, View, Watcher, Weights, When,
    Window, Windows, check, check_on, io, keep_of, keep_of_on, salvage, salvage_on, set_keep,
    set_keep_on, watch, watch_on, with_view,
};
pub use load::{LoadOptions, load, load_into, options_for};
pub use replay::{ReplayError, ReplayOptions, Replayed, replay};
pub use resume::{Resumed, resume_into};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

/// Compiles and runs the example of what is promised.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guarantees.md")]
struct Guarantees;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
