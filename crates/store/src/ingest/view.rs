//! What a database offers to those who ingest, and to those who read beside them.

use std::sync::Arc;

use super::{Backlog, Ingest, IngestOptions};
use crate::database::Inner;
use crate::durable::{Durable, Source};
use crate::log::state::State;
use crate::view::Snapshot;
use crate::{Database, Error, Result};

/// What a view shows of changes that were ingested ([`Database::ingest`]) but not archived yet, when
/// it is opened. Every view shows what was archived or committed, and says at which version
/// ([`Snapshot::version`]); [`Database::backlog`] says how much waits, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaticView {
    /// All of them: they are archived first, for everybody.
    #[default]
    Plain,
    /// None of them: it opens in microseconds, as [`Database::snapshot`] does.
    Stale,
    /// All of them, in a copy of its own, which takes as much time as opening the database and as
    /// much memory as the graph. Nothing is archived for it, and nothing old is kept for it however
    /// long it is open. It says the version that was copied.
    Private,
}

impl Database {
    /// Takes changes in unchecked, and archives them in batches: far faster than transactions.
    /// [`Error::ReadOnly`] if the database is only read.
    pub fn ingest(&self) -> Result<Ingest> {
        if self.inner.durable.as_ref().is_some_and(Durable::is_read_only) {
            return Err(Error::ReadOnly);
        }
        self.keeper.start_archiving();
        Ok(Ingest::new(self.clone()))
    }

    /// As [`Database::ingest`], and changes when changes are archived, and how many may wait: for all
    /// that is ingested from now on, whoever does it, since all append to one window.
    pub fn ingest_with(&self, options: IngestOptions) -> Result<Ingest> {
        let ingest = self.ingest()?;
        self.inner.front.set_options(options.checked());
        Ok(ingest)
    }

    /// When changes that are ingested are archived now, and how many may wait.
    pub fn ingest_options(&self) -> IngestOptions {
        self.inner.front.options()
    }

    /// What was ingested and waits to be archived.
    pub fn backlog(&self) -> Backlog {
        self.inner.front.backlog()
    }

    /// Opens a snapshot of the graph as it is now, and says what becomes of changes that were ingested
    /// but not archived yet.
    ///
    /// ```
    /// # use evergraph_store::{Database, StaticView};
    /// let db = Database::in_memory();
    /// let ingest = db.ingest()?;
    /// ingest.add_edge(1u64, 2u64)?;
    /// let private = db.static_view(StaticView::Private)?;
    /// let plain = db.static_view(StaticView::Plain)?;
    /// assert!(private.has_edge(1u64, 2u64)? && plain.has_edge(1u64, 2u64)?);
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    pub fn static_view(&self, view: StaticView) -> Result<Snapshot> {
        match view {
            StaticView::Stale => self.snapshot(),
            StaticView::Plain => self.inner.flush().and_then(|_| self.snapshot()),
            StaticView::Private => self.inner.private_view(),
        }
    }
}

impl Inner {
    /// A copy of the graph with what waits to be archived.
    fn private_view(self: &Arc<Self>) -> Result<Snapshot> {
        let (snapshot, window) = self.with_window(|| self.snapshot());
        let snapshot = snapshot?;
        let version = snapshot.version();
        let source = Source { snapshot: &snapshot, positions: &[] };
        // Nothing else can go wrong with a graph in memory.
        let state = State::copied(self.options.schema(), version.0, &source)
            .map_err(|_expired| Error::SnapshotExpired { version })?;
        drop(snapshot);
        let copy = self.copy_of(&state);
        copy.take_in(&window)?;
        Ok(copy.snapshot()?.shown_as(version))
    }
}
