//! What a forked child may do with objects of its parent: nothing.
//!
//! A child has the memory of its parent and none of its threads: a lock that another thread held
//! stays locked, and the service thread that settles changes is gone. So everything that reaches
//! into a database remembers in which process it was made, refuses to work in another, and is not
//! dropped there, because dropping it would wait for threads that do not exist.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::prelude::*;

use crate::error::ForkedError;

/// Which process this is: raised in the child by [`forked`], before any other code runs there.
/// Read and written `Relaxed`: a fork leaves one thread, and threads started later see its writes.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Tells that this process is a forked child. Python calls it (`os.register_at_fork`).
#[pyfunction]
pub(crate) fn forked() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
}

/// The number of this process.
pub(crate) fn process() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// A value that works in the process it was made in only.
pub(crate) struct AtHome<T> {
    home: u32,
    /// There until it is dropped.
    value: Option<T>,
}

impl<T> AtHome<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { home: process(), value: Some(value) }
    }

    /// The value, if this is the process it was made in.
    pub(crate) fn get(&self) -> PyResult<&T> {
        match &self.value {
            Some(value) if self.home == process() => Ok(value),
            _ => Err(ForkedError::new_err(
                "this graph was made before the process was forked; make or load it in the child, \
                 or start the child with the method \"spawn\"",
            )),
        }
    }
}

impl<T> Drop for AtHome<T> {
    fn drop(&mut self) {
        if self.home != process() {
            std::mem::forget(self.value.take());
        }
    }
}
