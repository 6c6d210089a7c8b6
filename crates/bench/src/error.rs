//! What can go wrong while measuring.

use std::io;
use std::path::PathBuf;

use evergraph::graph::csr::BuildError;
use evergraph::graph::source::SourceError;
use evergraph::kernels::AlgoError;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph could not be read or made.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The graph is not simple.
    #[error("the graph is not simple: {0}")]
    NotSimple(#[from] BuildError),
    /// The database refused what a benchmark did.
    #[error(transparent)]
    Database(#[from] evergraph::Error),
    /// Two ways to the same answer differ: a bug in the database or in a kernel.
    #[error("{what}: the live graph gives another answer than {other}; please report this")]
    Differs {
        /// What was asked.
        what: String,
        /// What it was compared with.
        other: &'static str,
    },
    /// The graph has too few edges to measure anything.
    #[error("{graph} has {edges} edges; measuring needs at least {needed}")]
    TooSmall {
        /// The graph.
        graph: String,
        /// Its edges.
        edges: usize,
        /// How many it should have.
        needed: usize,
    },
    /// There is no place for a database on the disk.
    #[error("could not make a folder for a database: {0}; choose another place with `--disk`")]
    Disk(io::Error),
    /// The results could not be written.
    #[error("{path}: {source}", path = path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The results could not be written to where the caller wanted them.
    #[error("the results cannot be written: {0}")]
    Output(#[from] io::Error),
    /// A chart could not be drawn.
    #[error("{path}: the chart cannot be drawn: {message}", path = path.display())]
    Plot {
        /// Its file.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// The process whose memory is measured failed.
    #[error("the process whose memory is measured: {0}")]
    Worker(String),
    /// What measures the Python package could not be run.
    #[error("{0}")]
    Python(String),
    /// The system does not say what must be known.
    #[error("this system does not tell {0}")]
    Unknown(&'static str),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<evergraph::StoreError> for Error {
    fn from(error: evergraph::StoreError) -> Self {
        Self::Database(error.into())
    }
}

impl From<AlgoError> for Error {
    fn from(error: AlgoError) -> Self {
        Self::Database(evergraph::Error::Algorithm(error))
    }
}
