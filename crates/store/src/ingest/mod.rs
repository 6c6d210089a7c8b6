//! Taking changes in unchecked, far faster than transactions can, and archiving them in batches.
//!
//! # Protocol
//!   1. Changes are appended to a window in front of the graph (`front.rs`), in one order, under one
//!      lock. The call returns at once.
//!   2. When the window is long or old enough, a thread takes it from the front and makes it one
//!      version of the graph (`archive.rs`, `engine/fat_tree/absorb.rs`), written to the log as any
//!      other. One batch at a time, so the order stays.
//!   3. Whoever needs to know waits with [`Ingest::flush`]: it archives what is left, or waits for the
//!      one who does. From then on the changes are as visible and as durable as a commit.
//! # Invariants
//!   - N1 Every change that was appended is archived exactly once, in the order in which it was
//!     appended; a batch that fails goes back to the front of the window.
//!   - N2 A flush returns after everything appended before it was archived.
//! # Source
//!   `GraphOne` (Kumar, Huang, FAST 2019, sections 4 and 5): edge log, archiving, thresholds.
//! # Checked by
//!   tests/ingest.rs; loom: `models::loom_front_*`.

mod archive;
mod front;
#[cfg(all(test, loom))]
mod models;
mod view;

use std::time::Duration;

use evergraph_graph::KeyRef;

pub(crate) use self::front::Front;
use self::front::Named;
pub use self::view::StaticView;
use crate::engine::fat_tree::{BATCH_MAX, Wish};
use crate::{Database, Result, Version};

/// What to do with a change when [`IngestOptions::backlog`] is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Full {
    /// Wait until there is room: archive a batch, or wait for the one who does.
    #[default]
    Wait,
    /// [`crate::Error::BacklogFull`]; the change is not taken.
    Refuse,
}

/// When changes are archived, and how many may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestOptions {
    /// So many changes are archived at once, even if they are new.
    pub threshold: usize,
    /// Fewer are archived when the oldest is so old.
    pub delay: Duration,
    /// So many changes go into one batch, which is one version, at most. While the rows of a batch are
    /// put in place, other writers of its vertices wait, and so do readers that touch them for the
    /// first time: less makes pauses shorter, more makes archiving faster.
    pub batch: usize,
    /// So many changes may wait.
    pub backlog: usize,
    /// What happens to one more.
    pub full: Full,
    /// Threads that work on a batch.
    pub threads: usize,
}

impl Default for IngestOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4);
        let (threshold, batch, backlog) = (1 << 16, 1 << 20, 1 << 22);
        let delay = Duration::from_millis(20);
        Self { threshold, delay, batch, backlog, full: Full::default(), threads }
    }
}

impl IngestOptions {
    pub(crate) fn checked(self) -> Self {
        let batch = self.batch.clamp(1, BATCH_MAX);
        let backlog = self.backlog.max(1);
        Self { threshold: self.threshold.clamp(1, backlog), batch, backlog, ..self }
    }
}

/// What waits to be archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// So many changes.
    pub changes: usize,
    /// How old the oldest is, to within the time that a batch takes.
    pub age: Duration,
}

/// Takes changes in unchecked, [`Database::ingest`]. Cheap to clone; all of a database append to one
/// window, in one order. It keeps the database open.
///
/// A change says what is to be true, whatever is there: of two changes of one edge the later one
/// wins, and one that changes nothing is no error. A change cannot conflict; a transaction that
/// changes an edge or reads it (under [`crate::Isolation::Serializable`]) conflicts with a batch as
/// with any other commit.
///
/// **A call returns before its change is visible or durable.** [`Ingest::flush`] returns after.
///
/// ```
/// # use evergraph_store::Database;
/// let db = Database::in_memory();
/// let ingest = db.ingest()?;
/// ingest.add_edge(1u64, 2u64)?; // makes both vertices
/// ingest.add_edge(2u64, 3u64)?;
/// ingest.remove_edge(1u64, 2u64)?;
/// let version = ingest.flush()?;
/// assert_eq!(db.snapshot()?.neighbours(2u64)?, [(3u64.into(), 1.0)]);
/// assert!(!db.snapshot()?.has_edge(1u64, 2u64)?);
/// # assert_eq!(version, db.version());
/// # Ok::<(), evergraph_store::Error>(())
/// ```
#[derive(Clone)]
pub struct Ingest {
    db: Database,
}

impl Ingest {
    pub(crate) fn new(db: Database) -> Self {
        Self { db }
    }

    /// The edge is there afterwards, with weight 1 where edges carry one; ends that are missing are
    /// made.
    #[inline]
    pub fn add_edge<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<()> {
        self.append([Named::new(source, target, Wish::Put(1.0))])
    }

    /// As [`Ingest::add_edge`], for many: faster than one by one. Of edges that are refused with an
    /// error, those before are taken.
    pub fn add_edges<'k, K: Into<KeyRef<'k>>>(
        &self,
        edges: impl IntoIterator<Item = (K, K)>,
    ) -> Result<()> {
        let put = |(source, target)| Named::new(source, target, Wish::Put(1.0));
        self.append(edges.into_iter().map(put))
    }

    /// The edge is there afterwards, with this weight; ends that are missing are made.
    #[inline]
    pub fn add_weighted_edge<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
        weight: f64,
    ) -> Result<()> {
        self.append([Named::new(source, target, Wish::Put(weight)).weighted()])
    }

    /// As [`Ingest::add_weighted_edge`], for many; see [`Ingest::add_edges`].
    pub fn add_weighted_edges<'k, K: Into<KeyRef<'k>>>(
        &self,
        edges: impl IntoIterator<Item = (K, K, f64)>,
    ) -> Result<()> {
        self.append(edges.into_iter().map(|(source, target, weight)| {
            Named::new(source, target, Wish::Put(weight)).weighted()
        }))
    }

    /// If the edge is there, it has this weight afterwards.
    #[inline]
    pub fn set_weight<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
        weight: f64,
    ) -> Result<()> {
        self.append([Named::new(source, target, Wish::Set(weight)).weighted()])
    }

    /// The edge is not there afterwards. Its ends stay.
    #[inline]
    pub fn remove_edge<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<()> {
        self.append([Named::new(source, target, Wish::Drop)])
    }

    #[inline]
    fn append<'k>(&self, changes: impl IntoIterator<Item = Named<'k>>) -> Result<()> {
        self.db.inner.ingest(changes)
    }

    /// Has everything that was appended before the call archived, and returns the version that shows
    /// it. It is as durable then as a commit that has returned: on the disk under
    /// [`crate::Durability::Sync`].
    ///
    /// An error says why a batch could not be archived. Nothing is lost: it waits, and is tried again.
    pub fn flush(&self) -> Result<Version> {
        self.db.inner.flush()
    }

    /// What waits to be archived.
    pub fn backlog(&self) -> Backlog {
        self.db.backlog()
    }
}
