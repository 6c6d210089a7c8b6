//! What ends a comparison. A peer that fails does not: it gets a row that says so.

use std::io;
use std::path::{Path, PathBuf};

/// The result of a call.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The graph could not be had, or the results could not be written.
    #[error(transparent)]
    Bench(#[from] evergraph_bench::Error),
    /// A worker's database refused something.
    #[error(transparent)]
    Database(#[from] evergraph::Error),
    /// A file that is handed to peers, or comes from them.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// Evergraph itself failed; without it there is nothing to compare with.
    #[error("Evergraph itself failed: {0}")]
    Baseline(String),
    /// Two of our own ways to the same answer differ.
    #[error("{what}: the live graph and the static one give different answers; please report this")]
    Differs {
        /// What was asked.
        what: &'static str,
    },
    /// A peer was asked for that cannot do this.
    #[error("{peer} has nothing to measure here; these have: {can}")]
    NothingToMeasure {
        /// The peer.
        peer: &'static str,
        /// Those that have.
        can: String,
    },
    /// Peers are missing from the results, which are written all the same.
    #[error("these peers could not be set up, and why is told above: {0}")]
    NotSetUp(String),
    /// A worker was asked in a way that it does not understand.
    #[error("{0}")]
    Protocol(String),
}

impl From<evergraph::StoreError> for Error {
    fn from(error: evergraph::StoreError) -> Self {
        Self::Database(error.into())
    }
}

impl From<evergraph::kernels::AlgoError> for Error {
    fn from(error: evergraph::kernels::AlgoError) -> Self {
        Self::Database(evergraph::Error::Algorithm(error))
    }
}

impl From<evergraph::graph::csr::BuildError> for Error {
    fn from(error: evergraph::graph::csr::BuildError) -> Self {
        Self::Bench(error.into())
    }
}

/// Names the file that an operation failed on.
pub(crate) fn on(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    |source| Error::File { path: path.to_owned(), source }
}
