//! Errors of the facade as Python exceptions, which are defined in `python/evergraph/errors.py`.

use evergraph::kernels::AlgoError;
use evergraph::{Error, StoreError};
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(evergraph.errors, AlreadyExistsError);
import_exception!(evergraph.errors, ConflictError);
import_exception!(evergraph.errors, EvergraphError);
import_exception!(evergraph.errors, ForkedError);
import_exception!(evergraph.errors, InvalidError);
import_exception!(evergraph.errors, LimitError);
import_exception!(evergraph.errors, NotFoundError);
import_exception!(evergraph.errors, ReadError);
import_exception!(evergraph.errors, SnapshotExpiredError);
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
    let message = match error {
        StoreError::NotWeighted => {
            "the edges of this graph carry no weight; make it with Graph(weights=True)".into()
        }
        error => error.to_string(),
    };
    match error {
        StoreError::UnknownVertex { .. } | StoreError::MissingEdge { .. } => {
            NotFoundError::new_err(message)
        }
        StoreError::DuplicateVertex { .. } | StoreError::DuplicateEdge { .. } => {
            AlreadyExistsError::new_err(message)
        }
        StoreError::Conflict { .. } => ConflictError::new_err(message),
        StoreError::SnapshotExpired { .. } => SnapshotExpiredError::new_err(message),
        StoreError::TooManyVertices { .. }
        | StoreError::TooManySnapshots { .. }
        | StoreError::TransactionTooLarge { .. }
        | StoreError::MemoryLimit { .. } => LimitError::new_err(message),
        _ => InvalidError::new_err(message),
    }
}

fn interrupted() -> PyErr {
    pyo3::exceptions::PyKeyboardInterrupt::new_err("interrupted")
}
