//! Ctrl-C: the first one asks the work to stop, the second one ends the process.
//!
//! Work that cannot be asked, and has nothing half done on disk, runs under
//! [`Interrupt::ending_at_once`]: then the first one ends the process as well.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evergraph::algo::Cancel;

use crate::failure::{Failure, INTERRUPTED_EXIT};
use crate::output::note;

/// Hears Ctrl-C. Clones are the same ear.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// Raised by the first Ctrl-C; kernels look at it themselves.
    cancel: Cancel,
    /// Stored by the thread that works, loaded by the one that hears. `Relaxed`: it guards nothing.
    at_once: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen. Called once, before any work.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let set = ctrlc::set_handler(move || {
            if heard.is_raised() || heard.at_once.load(Ordering::Relaxed) {
                note("interrupted");
                process::exit(INTERRUPTED_EXIT.into());
            }
            heard.cancel.cancel();
        });
        if set.is_err() {
            note("note: Ctrl-C ends this program at once, it cannot be caught here");
        }
        interrupt
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_raised(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Fails once Ctrl-C was pressed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// The flag, for kernels.
    pub(crate) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Does work that cannot be asked to stop.
    pub(crate) fn ending_at_once<R>(&self, work: impl FnOnce() -> R) -> R {
        self.at_once.store(true, Ordering::Relaxed);
        let result = work();
        self.at_once.store(false, Ordering::Relaxed);
        result
    }
}
