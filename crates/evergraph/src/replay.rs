//! An update log into a database: so many lines per transaction, in order.

use std::path::Path;

use evergraph_graph::progress::Progress;
use evergraph_graph::read::{KeyChoice, Place, ReadError};
use evergraph_graph::update::{Update, UpdateReader};
use evergraph_graph::{KeyKind, KeyRef};
use evergraph_store::{Database, Error as StoreError, Transaction};

/// How a log is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Lines per transaction; at least 1.
    pub batch: usize,
}

impl Default for ReplayOptions {
    /// Every line is a transaction of its own.
    fn default() -> Self {
        Self { batch: 1 }
    }
}

/// What was replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Updates committed.
    pub updates: u64,
    /// Transactions committed.
    pub transactions: u64,
}

/// Why a log could not be replayed to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log could not be read.
    #[error("{error}; {} updates before it are committed", .done.updates)]
    Read {
        /// What is wrong with the file.
        #[source]
        error: ReadError,
        /// What was committed before.
        done: Replayed,
    },
    /// An update does not fit the graph. Nothing of its transaction was applied.
    #[error("{place}: {error}; {} updates before it are committed", .done.updates)]
    Refused {
        /// The line of the update.
        place: Place,
        /// What is wrong with it.
        #[source]
        error: StoreError,
        /// What was committed before.
        done: Replayed,
    },
}

/// Replays an update log. After an error the database holds what was committed before it, and
/// nothing of the transaction that failed.
pub fn replay(
    db: &Database,
    path: &Path,
    options: &ReplayOptions,
    progress: &dyn Progress,
) -> Result<Replayed, ReplayError> {
    let keys = match db.key_kind() {
        KeyKind::Text => KeyChoice::Text,
        KeyKind::Dense | KeyKind::Number => KeyChoice::Number,
    };
    let mut done = Replayed::default();
    let unread = |error, done| ReplayError::Read { error, done };
    let mut reader =
        UpdateReader::open(path, keys, progress).map_err(|error| unread(error, done))?;
    loop {
        let batch = replay_batch(db, &mut reader, options.batch.max(1));
        let updates = batch.map_err(|failure| match failure {
            Failure::Unread(error) => unread(error, done),
            Failure::Refused(line, error) => {
                let place = Place { line, ..reader.place() };
                ReplayError::Refused { place, error, done }
            }
        })?;
        if updates == 0 {
            return Ok(done);
        }
        done.updates += updates;
        done.transactions += 1;
    }
}

enum Failure {
    Unread(ReadError),
    Refused(u64, StoreError),
}

/// Replays one transaction; how many updates it had, 0 at the end of the log.
fn replay_batch(
    db: &Database,
    reader: &mut UpdateReader<'_>,
    batch: usize,
) -> Result<u64, Failure> {
    let mut tx = db.begin().map_err(|error| Failure::Refused(0, error))?;
    let mut lines = Vec::new();
    while lines.len() < batch {
        let Some((line, update)) = reader.read().map_err(Failure::Unread)? else { break };
        apply(&mut tx, update).map_err(|error| Failure::Refused(line, error))?;
        lines.push(line);
    }
    tx.commit().map_err(|refused| {
        // Each update is one call. Where no call is at fault the whole batch is.
        let at = refused.operation.map_or(lines.last(), |call| lines.get(call));
        Failure::Refused(at.copied().unwrap_or_default(), refused.error)
    })?;
    Ok(lines.len() as u64)
}

/// Buffers one update; each is one call, so that the line of a refused one is known.
fn apply(tx: &mut Transaction<'_>, update: Update<KeyRef<'_>>) -> Result<(), StoreError> {
    match update {
        Update::AddEdge { from, to, weight: None } => tx.add_edge(from, to),
        Update::AddEdge { from, to, weight: Some(weight) } => {
            tx.add_weighted_edge(from, to, weight)
        }
        Update::DeleteEdge { from, to } => tx.remove_edge(from, to),
        Update::SetWeight { from, to, weight } => tx.set_weight(from, to, weight),
        Update::AddVertex(vertex) => tx.add_vertex(vertex),
        Update::DeleteVertex(vertex) => tx.remove_vertex(vertex),
    }
}
