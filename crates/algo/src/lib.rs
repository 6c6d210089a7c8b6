//! Graph algorithms, one per file, generic over what they read.
//!
//! A kernel takes a view and a configuration and gives one value per vertex id, the same for any
//! number of threads. It runs on the rayon pool it is called in, and stops when its [`Cancel`] is
//! raised. For every kernel [`verify`] has an oracle.
//!
//! ```
//! use evergraph_algo::{BfsConfig, bfs, verify};
//! use evergraph_graph::{Csr, EdgeList, KeyTable};
//!
//! let (directed, keys) = (true, KeyTable::dense(3));
//! let list = EdgeList { directed, keys, edges: vec![(0, 1), (1, 2)], weights: None };
//! let view: Csr = Csr::from_edges(&list)?;
//! let config = BfsConfig { source: 0, ..BfsConfig::default() };
//! let output = bfs(&view, &config)?;
//! assert_eq!(output.levels, [0, 1, 2]);
//! verify::bfs(&view, &config, &output)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::doc_markdown, reason = "papers are cited by the names of people and systems")]

// What every kernel takes and may give back.
pub mod cancel;
pub mod error;

// How kernels read and share work.
mod crew;
mod direction;
mod ranked;

#[cfg(test)]
mod testing;

// The kernels.
pub mod bfs;
pub mod cdlp;
pub mod degrees;
pub mod lcc;
pub mod pagerank;
pub mod scc;
pub mod sssp;
pub mod triangles;
pub mod wcc;

// Answers that follow a graph.
pub mod standing;

// Their oracles.
pub mod verify;

pub use bfs::{BfsConfig, BfsOutput, bfs};
pub use cancel::Cancel;
pub use cdlp::{CdlpConfig, CdlpOutput, cdlp};
pub use degrees::{DegreeOutput, degrees};
pub use error::AlgoError;
pub use lcc::{LccConfig, LccOutput, Measure, lcc};
pub use pagerank::{PageRankConfig, PageRankOutput, pagerank};
pub use scc::{SccConfig, SccOutput, scc};
pub use sssp::{SsspConfig, SsspOutput, sssp};
pub use triangles::{TriangleConfig, TriangleOutput, triangle_count};
pub use wcc::{WccConfig, WccOutput, wcc};

/// Entries per task of a parallel loop over vertices: some 100 us of work, which hides the cost of
/// a task and still leaves a few hundred of them on a graph worth several threads.
const ENTRIES_PER_TASK: usize = 1 << 16;
