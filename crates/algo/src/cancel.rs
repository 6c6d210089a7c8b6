//! How a caller stops a kernel that runs on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::AlgoError;

/// A flag that asks a running kernel to stop; clones share it.
///
/// Kernels look at it once per level, iteration or task, and return [`AlgoError::Cancelled`]
/// when it is raised. The default flag is never raised unless the caller keeps a clone.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// Stored and loaded `Relaxed`: nothing else is published by it.
    raised: Arc<AtomicBool>,
}

impl Cancel {
    /// Asks every kernel that holds a clone to stop. Cannot be taken back.
    pub fn cancel(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called on this flag or a clone.
    pub fn is_cancelled(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// An error once the flag is raised.
    pub(crate) fn check(&self) -> Result<(), AlgoError> {
        if self.is_cancelled() { Err(AlgoError::Cancelled) } else { Ok(()) }
    }
}
