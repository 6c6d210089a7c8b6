//! Errors of the facade as Python exceptions, which are defined in `python/evergraph/errors.py`.

use evergraph::kernels::AlgoError;
use evergraph::{Error, StoreError};
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(evergraph.errors, AlreadyExistsError);
import_exception!(evergraph.errors, BacklogFullError);
import_exception!(evergraph.errors, ClosedError);
import_exception!(evergraph.errors, ConflictError);
import_exception!(evergraph.errors, CorruptError);
import_exception!(evergraph.errors, DiskFullError);
import_exception!(evergraph.errors, EvergraphError);
import_exception!(evergraph.errors, ForkedError);
import_exception!(evergraph.errors, InvalidError);
import_exception!(evergraph.errors, LimitError);
import_exception!(evergraph.errors, LockedError);
import_exception!(evergraph.errors, NotFoundError);
import_exception!(evergraph.errors, OutcomeUnknownError);
import_exception!(evergraph.errors, ReadError);
import_exception!(evergraph.errors, ReadOnlyError);
import_exception!(evergraph.errors, SnapshotExpiredError);
import_exception!(evergraph.errors, StorageError);
import_exception!(evergraph.errors, TooOldError);
import_exception!(evergraph.errors, TransactionEndedError);

/// What cannot happen, if we are right.
pub(crate) fn internal(what: &str) -> PyErr {
    EvergraphError::new_err(format!("internal error, please report it: {what}"))
}

/// The exception for an error of the facade.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Store(error) => of_store(&error),
        Error::Algorithm(AlgoError::Cancelled) | Error::Interrupted => interrupted(),
        Error::Algorithm(error) => InvalidError::new_err(error.to_string()),
        Error::SourceNotFound(_) => NotFoundError::new_err(error.to_string()),
        Error::BadWeight { .. } => InvalidError::new_err(error.to_string()),
        error => ReadError::new_err(error.to_string()),
    }
}

/// The exception for a refusal of the store.
pub(crate) fn of_store(error: &StoreError) -> PyErr {
    let message = in_words_of_python(error);
    match error {
        StoreError::UnknownVertex { .. }
        | StoreError::MissingEdge { .. }
        | StoreError::NotFound { .. }
        | StoreError::NotYet { .. } => NotFoundError::new_err(message),
        StoreError::DuplicateVertex { .. }
        | StoreError::DuplicateEdge { .. }
        | StoreError::Exists { .. } => AlreadyExistsError::new_err(message),
        StoreError::Conflict { .. } => ConflictError::new_err(message),
        StoreError::SnapshotExpired { .. } => SnapshotExpiredError::new_err(message),
        StoreError::TransactionExpired { .. } => TransactionEndedError::new_err(message),
        StoreError::TooManyVertices { .. }
        | StoreError::TooManySnapshots { .. }
        | StoreError::TransactionTooLarge { .. }
        | StoreError::RecordTooLong { .. }
        | StoreError::MemoryLimit { .. } => LimitError::new_err(message),
        StoreError::BacklogFull { .. } => BacklogFullError::new_err(message),
        StoreError::Locked { .. } => LockedError::new_err(message),
        StoreError::ReadOnly => ReadOnlyError::new_err(message),
        StoreError::PositionTooOld { .. } => TooOldError::new_err(message),
        StoreError::Corrupt { .. } => CorruptError::new_err(message),
        StoreError::DiskFull { .. } => DiskFullError::new_err(message),
        StoreError::OutcomeUnknown { .. } => OutcomeUnknownError::new_err(message),
        StoreError::Disk { .. } | StoreError::LogFailed { .. } => StorageError::new_err(message),
        StoreError::Cancelled => interrupted(),
        _ => InvalidError::new_err(message),
    }
}

/// What happened, with the remedy by its name in Python.
fn in_words_of_python(error: &StoreError) -> String {
    match error {
        StoreError::NotWeighted => {
            "the edges of this graph carry no weight; make it with Graph(weights=True)".into()
        }
        StoreError::NotFound { path } => {
            format!("there is no database in {}; open it to write, which makes it", path.display())
        }
        StoreError::OtherSchema { path, what } => format!(
            "{} was made with other {what}; leave these options out, the folder knows them",
            path.display()
        ),
        StoreError::ReadOnly => "the graph was opened with read_only=True".into(),
        StoreError::NotDurable => {
            "the graph lives in memory only and has no past; make it with open(path)".into()
        }
        StoreError::PositionTooOld { oldest } => format!(
            "the oldest version that is kept is {oldest}; keep more with open(path, keep=...)"
        ),
        StoreError::NotYet { newest } => {
            format!("there is no such version yet; the newest is {newest}")
        }
        error => error.to_string(),
    }
}

fn interrupted() -> PyErr {
    pyo3::exceptions::PyKeyboardInterrupt::new_err("interrupted")
}
