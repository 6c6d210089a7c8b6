//! Standing results: answers that are kept up to date while the graph changes.
//!
//! Each computes its answer once. [`Standing::refresh`] then reads what was committed since, from
//! the log, and changes the answer where that matters; the answer is exactly what the algorithm of
//! the same name says on the newest snapshot (ranks: up to a tolerance). A step that changes a
//! large share of the graph is not worth that: the answer is computed anew, and [`Refresh`] says so.
//!
//! Changes come from the log, so the database has to lie in a folder: one in memory writes nothing
//! down that could tell what a commit changed, and is refused with
//! [`StoreError::NotDurable`], which says how to open one in a folder. With
//! [`crate::Durability::Os`] commits wait for no disk. Nothing of an answer is kept there: when the
//! database is opened again, it is computed again.
//!
//! A refresh can be stopped from another thread, [`Standing::refresh_cancellable`].
//!
//! ```
//! use evergraph::Database;
//! use evergraph::standing::{Refresh, StandingComponents};
//!
//! # let folder = tempfile::tempdir().expect("a folder");
//! let db = Database::open(folder.path())?;
//! db.transaction(0, |tx| {
//!     (1..=3u64).try_for_each(|v| tx.add_vertex(v))?;
//!     tx.add_edge(1u64, 2u64)
//! })?;
//! // The graph is tiny: one edge is a large share of it.
//! let mut components = StandingComponents::new(&db)?.recompute_above(1.0);
//! assert_eq!(components.output().map(|output| output.components), Some(2));
//!
//! db.transaction(0, |tx| tx.add_edge(1u64, 3u64))?;
//! assert_eq!(components.refresh()?, Refresh::Updated);
//! assert_eq!(components.output().map(|output| output.components), Some(1));
//! assert_eq!(components.version(), db.version());
//! # Ok::<(), evergraph::Error>(())
//! ```

use evergraph_algo::standing as kept;
use evergraph_graph::{GraphChanges, GraphView, Key, KeyRef};
use evergraph_store::{Error as StoreError, IdStream, with_view};

use crate::algo::{Cancel, key_of, source};
use crate::{AnyView, Database, Error, Result, Snapshot, Version};

pub use evergraph_algo::DegreeOutput;
pub use evergraph_algo::standing::RanksConfig;

/// Steps that change more than this share of the edges are computed anew: from about there the
/// searches around so many changes cost what looking at everything does.
pub const RECOMPUTE_ABOVE: f64 = 0.01;

/// How many edges leave every vertex, and how many come in.
pub type StandingDegrees = Standing<kept::Degrees>;
/// Connected components, directions ignored: what [`crate::algo::wcc`] says.
pub type StandingComponents = Standing<kept::Components>;
/// How many triangles there are, directions ignored: what [`crate::algo::triangle_count`] says.
pub type StandingTriangles = Standing<kept::Triangles>;
/// Hops from a source to every vertex: what [`crate::algo::bfs`] says.
pub type StandingBfs = Standing<kept::Levels>;
/// The shortest distance from a source to every vertex: what [`crate::algo::sssp`] says.
pub type StandingSssp = Standing<kept::Distances>;
/// The share of time a random surfer spends at every vertex: what [`crate::algo::pagerank`] comes
/// to, up to a tolerance.
pub type StandingPageRank = Standing<kept::Ranks>;

/// What a refresh did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// The graph had not changed.
    Unchanged,
    /// The answer was changed where the graph had.
    Updated,
    /// The answer was computed anew: too much had changed, the log no longer tells what, the
    /// snapshot of the answer before has expired, the source got another id, or the refresh before
    /// had failed.
    Recomputed,
}

/// What is asked for, on a snapshot: ids differ between them.
type Ask<C> = Box<dyn Fn(&Snapshot) -> Result<C> + Send + Sync>;

/// An answer that is kept up to date.
///
/// It holds the snapshot it stands at, and with it what later commits replaced: refresh it now and
/// then, or drop it.
pub struct Standing<R: kept::Standing> {
    db: Database,
    stream: IdStream,
    snapshot: Snapshot,
    ask: Ask<R::Config>,
    config: R::Config,
    /// None after a refresh that failed.
    result: Option<R>,
    /// How many edges the graph has: counting them takes longer than a small refresh.
    edges: usize,
    recompute_above: f64,
}

impl StandingDegrees {
    /// Degrees on the newest version of a database.
    ///
    /// # Errors
    /// Those of the store.
    pub fn new(db: &Database) -> Result<Self> {
        Self::new_cancellable(db, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable(db: &Database, cancel: &Cancel) -> Result<Self> {
        Self::start(db, cancel, |_| Ok(()))
    }
}

impl StandingComponents {
    /// Components on the newest version of a database.
    ///
    /// # Errors
    /// Those of the store.
    pub fn new(db: &Database) -> Result<Self> {
        Self::new_cancellable(db, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable(db: &Database, cancel: &Cancel) -> Result<Self> {
        Self::start(db, cancel, |_| Ok(()))
    }
}

impl StandingTriangles {
    /// The triangles of the newest version of a database.
    ///
    /// # Errors
    /// Those of the store.
    pub fn new(db: &Database) -> Result<Self> {
        Self::new_cancellable(db, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable(db: &Database, cancel: &Cancel) -> Result<Self> {
        Self::start(db, cancel, |_| Ok(()))
    }
}

impl StandingBfs {
    /// Hops from a vertex on the newest version of a database.
    ///
    /// # Errors
    /// Those of [`crate::algo::bfs`].
    pub fn new<'k>(db: &Database, from: impl Into<KeyRef<'k>>) -> Result<Self> {
        Self::new_cancellable(db, from, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable<'k>(
        db: &Database,
        from: impl Into<KeyRef<'k>>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let from: Key = from.into().to_owned();
        Self::start(db, cancel, move |snapshot| source(snapshot, from.as_ref()))
    }
}

impl StandingSssp {
    /// Distances from a vertex on the newest version of a database.
    ///
    /// # Errors
    /// Those of [`crate::algo::sssp`].
    pub fn new<'k>(db: &Database, from: impl Into<KeyRef<'k>>) -> Result<Self> {
        Self::new_cancellable(db, from, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable<'k>(
        db: &Database,
        from: impl Into<KeyRef<'k>>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let from: Key = from.into().to_owned();
        Self::start(db, cancel, move |snapshot| source(snapshot, from.as_ref()))
    }
}

impl StandingPageRank {
    /// Ranks on the newest version of a database.
    ///
    /// # Errors
    /// A damping or tolerance that is none, and those of the store.
    pub fn new(db: &Database, config: &RanksConfig) -> Result<Self> {
        Self::new_cancellable(db, config, &Cancel::default())
    }

    /// As [`Self::new`], until it is cancelled.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn new_cancellable(db: &Database, config: &RanksConfig, cancel: &Cancel) -> Result<Self> {
        let config = config.clone();
        Self::start(db, cancel, move |_| Ok(config.clone()))
    }
}

impl<R: kept::Standing> Standing<R> {
    fn start(
        db: &Database,
        cancel: &Cancel,
        ask: impl Fn(&Snapshot) -> Result<R::Config> + Send + Sync + 'static,
    ) -> Result<Self> {
        let (db, snapshot) = (db.clone(), db.snapshot()?);
        let stream = db.stream_ids(snapshot.version())?;
        let config = ask(&snapshot)?;
        let result = Some(compute(&snapshot, &config, cancel)?);
        let (edges, recompute_above) = (count_edges(&snapshot)?, RECOMPUTE_ABOVE);
        let ask = Box::new(ask);
        Ok(Self { db, stream, snapshot, ask, config, result, edges, recompute_above })
    }

    /// Another share of the edges than [`RECOMPUTE_ABOVE`] above which steps are computed anew.
    #[must_use]
    pub fn recompute_above(self, share: f64) -> Self {
        Self { recompute_above: share, ..self }
    }

    /// Brings the answer to the newest version.
    ///
    /// # Errors
    /// Those of the store, and those of the algorithm, for example a source that was removed. There
    /// is no answer then, until a later refresh succeeds.
    pub fn refresh(&mut self) -> Result<Refresh> {
        self.refresh_cancellable(&Cancel::default())
    }

    /// As [`Self::refresh`], until it is cancelled. A refresh that was has failed: there is no
    /// answer until a later one succeeds, which computes it anew.
    ///
    /// # Errors
    /// Also [`Error::Interrupted`].
    pub fn refresh_cancellable(&mut self, cancel: &Cancel) -> Result<Refresh> {
        let (after, changes) = match self.stream.next_step() {
            Ok(step) => (step.snapshot, Some(step.changes)),
            Err(StoreError::PositionTooOld { .. }) => {
                let after = self.db.snapshot()?;
                self.stream = self.db.stream_ids(after.version())?;
                (after, None)
            }
            Err(error) => {
                self.result = None;
                return Err(error.into());
            }
        };
        let before = std::mem::replace(&mut self.snapshot, after);
        let result = self.result.take();
        let config = (self.ask)(&self.snapshot)?;
        let same = std::mem::replace(&mut self.config, config) == self.config;
        if let (Some(mut result), Some(changes), true) = (result, changes, same) {
            let done = if changes.is_empty() {
                Some(Refresh::Unchanged)
            } else {
                self.update(&mut result, (&before, &changes), cancel)?
            };
            if let Some(done) = done {
                self.result = Some(result);
                return Ok(done);
            }
        }
        self.result = Some(compute(&self.snapshot, &self.config, cancel)?);
        self.edges = count_edges(&self.snapshot)?;
        Ok(Refresh::Recomputed)
    }

    /// Changes the answer, unless that cannot be done or is not worth it.
    fn update(
        &mut self,
        result: &mut R,
        (before, changes): (&Snapshot, &GraphChanges),
        cancel: &Cancel,
    ) -> Result<Option<Refresh>> {
        if changes.len() as f64 > self.recompute_above * self.edges as f64 {
            return Ok(None);
        }
        let after = self.snapshot.view()?;
        let before = match before.view() {
            Err(StoreError::SnapshotExpired { .. }) => return Ok(None),
            view => view?,
        };
        let updated = match (&before, &after) {
            (AnyView::Plain(before), AnyView::Plain(after)) => {
                result.update(before, after, changes, cancel)
            }
            (AnyView::F32(before), AnyView::F32(after)) => {
                result.update(before, after, changes, cancel)
            }
            (AnyView::F64(before), AnyView::F64(after)) => {
                result.update(before, after, changes, cancel)
            }
            _ => unreachable!("all snapshots of a database carry the same"),
        };
        updated.map_err(|error| Error::of_algorithm(error, |v| key_of(&self.snapshot, v)))?;
        self.edges += changes.added_edges.len();
        self.edges -= changes.removed_edges.len().min(self.edges);
        Ok(Some(Refresh::Updated))
    }

    /// The version that the answer is of. A transaction that writes something down that was made of
    /// the answer can store it beside that, [`crate::Transaction::set_position`].
    pub fn version(&self) -> Version {
        self.snapshot.version()
    }

    /// The snapshot that the answer is of: it knows the keys.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The answer; none after a refresh that failed.
    pub fn output(&self) -> Option<R::Output<'_>> {
        self.result.as_ref().map(R::output)
    }

    /// The kept result itself, for what it can be asked beside its whole output.
    pub fn result(&self) -> Option<&R> {
        self.result.as_ref()
    }
}

fn compute<R: kept::Standing>(
    snapshot: &Snapshot,
    config: &R::Config,
    cancel: &Cancel,
) -> Result<R> {
    with_view!(snapshot.view()?, |view| R::new(view, config, cancel))
        .map_err(|error| Error::of_algorithm(error, |v| key_of(snapshot, v)))
}

/// How many edges there are; a few self loops without direction count half.
fn count_edges(snapshot: &Snapshot) -> Result<usize> {
    let (entries, directed) =
        with_view!(snapshot.view()?, |view| { (view.entry_count(), view.is_directed()) });
    Ok((if directed { entries } else { entries.div_ceil(2) }) as usize)
}
