//! A database that can be closed, and what it lends: transactions, followers, streams and standing
//! results, each of which would keep its folder open.
//!
//! # Invariants
//!   - Whoever makes something of the database holds it shared, and whoever works with what was made
//!     holds that alone. Closing takes all of them: it waits for work under way, and none begins
//!     afterwards.
//!   - No lock is waited for by a holder who needs the interpreter's lock to go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use evergraph::Database;
use pyo3::prelude::*;

use crate::error::{ClosedError, of_store};
use crate::fork::AtHome;

/// A database, until it is closed.
pub(crate) struct Lender {
    db: RwLock<Option<Database>>,
    lent: Mutex<Vec<Weak<dyn Lent>>>,
    /// Held by whoever closes.
    closing: Mutex<()>,
}

/// What is taken back.
trait Lent: Send + Sync {
    fn take_back(&self);
}

impl<T: Send> Lent for Mutex<Option<T>> {
    fn take_back(&self) {
        drop(lock(self).take());
    }
}

impl Lender {
    pub(crate) fn new(db: Database) -> Self {
        let (db, lent) = (RwLock::new(Some(db)), Mutex::default());
        Self { db, lent, closing: Mutex::default() }
    }

    /// Passes the database on, unless it was closed.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&Database) -> R) -> PyResult<R> {
        let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
        Ok(work(db.as_ref().ok_or_else(closed)?))
    }

    /// Makes something that goes when the database is closed.
    pub(crate) fn lend<T: Send + 'static, E>(
        &self,
        make: impl FnOnce(&Database) -> Result<T, E>,
    ) -> PyResult<Result<Loan<T>, E>> {
        self.with(|db| {
            let made = Arc::new(Mutex::new(Some(make(db)?)));
            let weak: Weak<dyn Lent> = Arc::downgrade(&(Arc::clone(&made) as Arc<dyn Lent>));
            let mut lent = lock(&self.lent);
            if lent.len() == lent.capacity() {
                lent.retain(|lent| lent.strong_count() > 0);
                let as_many_again = lent.len() + 1;
                lent.reserve(as_many_again);
            }
            lent.push(weak);
            Ok(Loan { value: AtHome::new(made) })
        })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.db.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Takes everything back and closes the database. Needs no lock of the interpreter.
    pub(crate) fn close(&self) -> PyResult<()> {
        let _one = lock(&self.closing);
        let db = self.db.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(db) = db else { return Ok(()) };
        let lent = std::mem::take(&mut *lock(&self.lent));
        lent.iter().filter_map(Weak::upgrade).for_each(|lent| lent.take_back());
        db.close().map_err(|error| of_store(&error))
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        let db = self.db.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // With the last handle the files are closed, which others need not wait for.
        Python::try_attach(|py| py.detach(|| drop(db)));
    }
}

/// What a database lent.
pub(crate) struct Loan<T> {
    value: AtHome<Arc<Mutex<Option<T>>>>,
}

impl<T: Send> Loan<T> {
    /// What belongs to no database, so that nobody takes it back.
    pub(crate) fn unlent(value: T) -> Self {
        Self { value: AtHome::new(Arc::new(Mutex::new(Some(value)))) }
    }

    /// Passes it on without the interpreter's lock, unless it was taken back.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        let value = self.value.get()?;
        py.detach(|| lock(value).as_mut().map(work)).ok_or_else(closed)
    }

    /// As [`Loan::with`], for what takes less time than to let go of the lock.
    pub(crate) fn quick<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        lock(self.value.get()?).as_mut().map(work).ok_or_else(closed)
    }

    /// Gives it back.
    pub(crate) fn end(&self, py: Python<'_>) -> PyResult<()> {
        let value = self.value.get()?;
        py.detach(|| value.take_back());
        Ok(())
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> PyErr {
    ClosedError::new_err("the graph was closed; open it again")
}
