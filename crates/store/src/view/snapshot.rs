//! A snapshot: the database at one version, for as long as it is held.

use std::ops::RangeBounds;
use std::sync::Arc;
use std::time::Duration;

use evergraph_graph::{Key, KeyKind, KeyRef, VertexId, Weight};

use crate::database::{Engine, Inner};
use crate::engine::fat_tree::{FatTree, Keeper, Side, Tables, View};
use crate::sync::OnceLock;
use crate::view::Lease;
use crate::{Error, Result, Version};

/// The database at one version.
///
/// It never changes, whatever is committed meanwhile, and slows no writer down. While it is held
/// the versions it needs are kept in memory.
pub struct Snapshot {
    inner: Arc<Inner>,
    lease: Arc<Lease>,
    /// Ids that exist at the version are below this.
    bound: u32,
    /// The version it says it shows, if that is not the one of its lease.
    shown: Option<Version>,
    tables: OnceLock<AnyTables>,
}

enum AnyTables {
    Plain(Tables<()>),
    F32(Tables<f32>),
    F64(Tables<f64>),
}

/// A snapshot as a graph, by what its edges carry. [`crate::with_view`] takes all three at once.
pub enum AnyView<'s> {
    /// Edges without weights.
    Plain(View<'s, ()>),
    /// Edges with `f32` weights.
    F32(View<'s, f32>),
    /// Edges with `f64` weights.
    F64(View<'s, f64>),
}

/// Runs an expression on the view of a snapshot, whatever its edges carry. The expression is
/// compiled once for each; nothing is decided per edge.
///
/// ```
/// # use evergraph_store::{Database, with_view};
/// use evergraph_graph::GraphView;
/// let db = Database::in_memory();
/// let snapshot = db.snapshot()?;
/// let entries = with_view!(snapshot.view()?, |view| view.entry_count());
/// assert_eq!(entries, 0);
/// # Ok::<(), evergraph_store::Error>(())
/// ```
#[macro_export]
macro_rules! with_view {
    ($any:expr, |$view:ident| $body:expr) => {
        match &$any {
            $crate::AnyView::Plain($view) => $body,
            $crate::AnyView::F32($view) => $body,
            $crate::AnyView::F64($view) => $body,
        }
    };
}

impl Snapshot {
    pub(crate) fn new(inner: Arc<Inner>, lease: Arc<Lease>) -> Self {
        // Read after the lease was opened: an id is given out before its vertex is committed.
        let bound = inner.dictionary.bound();
        Self { inner, lease, bound, shown: None, tables: OnceLock::new() }
    }

    /// The same, of a database that is a copy of another at `version`.
    pub(crate) fn shown_as(self, version: Version) -> Self {
        Self { shown: Some(version), ..self }
    }

    /// The version it shows.
    pub fn version(&self) -> Version {
        self.shown.unwrap_or(self.lease.version())
    }

    /// How long it has been open, to a tenth of a second.
    pub fn age(&self) -> Duration {
        self.inner.age_of(self.lease.opened())
    }

    /// A second snapshot of the same version.
    pub fn again(&self) -> Result<Self> {
        let lease = self.lease.again().ok_or_else(|| self.expired())?;
        let lease = lease.map_err(|_| Inner::no_free_lease())?;
        Ok(Self {
            inner: Arc::clone(&self.inner),
            lease: self.inner.listed(lease),
            bound: self.bound,
            shown: self.shown,
            tables: OnceLock::new(),
        })
    }

    /// The snapshot as a graph over dense ids, for algorithms.
    pub fn view(&self) -> Result<AnyView<'_>> {
        let reading = self.lease.enter().ok_or_else(|| self.expired())?;
        let tables = self.tables.get_or_init(|| match &self.inner.engine {
            Engine::Plain(tree) => AnyTables::Plain(self.tables_of(tree)),
            Engine::F32(tree) => AnyTables::F32(self.tables_of(tree)),
            Engine::F64(tree) => AnyTables::F64(self.tables_of(tree)),
        });
        Ok(match tables {
            AnyTables::Plain(tables) => AnyView::Plain(View::new(tables, reading)),
            AnyTables::F32(tables) => AnyView::F32(View::new(tables, reading)),
            AnyTables::F64(tables) => AnyView::F64(View::new(tables, reading)),
        })
    }

    fn tables_of<W: Weight>(&self, tree: &Arc<FatTree<W>>) -> Tables<W> {
        let keeper = Keeper { tree: Arc::clone(tree), lease: Arc::clone(&self.lease) };
        Tables::new(Arc::new(keeper), self.bound)
    }

    fn expired(&self) -> Error {
        Error::SnapshotExpired { version: self.version() }
    }

    /// The version, if it may still be read; nobody ends it meanwhile.
    fn reading<R>(&self, read: impl FnOnce(u64) -> R) -> Result<R> {
        let _use = self.lease.enter().ok_or_else(|| self.expired())?;
        Ok(read(self.lease.version().0))
    }

    /// The dense id of a vertex, if it exists.
    pub fn id<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Option<VertexId>> {
        let key = key.into();
        self.reading(|version| self.inner.live_id(key, version))?
    }

    /// The key of the vertex with a dense id, if it exists.
    pub fn key(&self, id: VertexId) -> Result<Option<Key>> {
        let live =
            self.reading(|version| id < self.bound && self.inner.engine.has_vertex(id, version))?;
        Ok(if live { self.inner.dictionary.key(id) } else { None })
    }

    /// The key of a dense id, also of one whose vertex is gone.
    pub(crate) fn given_key(&self, id: VertexId) -> Option<Key> {
        self.inner.dictionary.key(id)
    }

    /// The key of every dense id, none where there is no vertex. As long as the ids of the view.
    pub fn keys(&self) -> Result<Vec<Option<Key>>> {
        self.reading(|version| {
            let key = |id| {
                let live = self.inner.engine.has_vertex(id, version);
                if live { self.inner.dictionary.key(id) } else { None }
            };
            (0..self.bound).map(key).collect()
        })
    }

    /// The keys of the vertices in a range of keys, ascending. It looks at every vertex.
    ///
    /// ```
    /// # use evergraph_store::Database;
    /// # use evergraph_graph::Key;
    /// let db = Database::options().text_keys().in_memory();
    /// db.transaction(0, |tx| ["ant", "bee", "cat"].iter().try_for_each(|&v| tx.add_vertex(v)))?;
    /// assert_eq!(db.snapshot()?.vertices_in("b"..)?, [Key::Text("bee".into()), Key::Text("cat".into())]);
    /// # Ok::<(), evergraph_store::Error>(())
    /// ```
    pub fn vertices_in<'k, K: Into<KeyRef<'k>> + Copy>(
        &self,
        range: impl RangeBounds<K>,
    ) -> Result<Vec<Key>> {
        let range = self.inner.range(&range)?;
        self.reading(|version| {
            self.inner.keys_in(&range, self.inner.engine.vertices(self.bound, version))
        })
    }

    /// How many edges there are, each counted once. It looks at every group of vertices.
    pub fn edge_count(&self) -> Result<u64> {
        self.reading(|version| self.inner.engine.edge_count_at(self.bound, version))
    }

    /// What kind of keys vertices have.
    pub fn key_kind(&self) -> KeyKind {
        self.inner.dictionary.kind()
    }

    /// Whether a vertex exists.
    pub fn has_vertex<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<bool> {
        Ok(self.id(key)?.is_some())
    }

    /// Whether an edge exists. Unknown ends are an error.
    pub fn has_edge<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<bool> {
        Ok(self.weight(source, target)?.is_some())
    }

    /// The weight of an edge, if it exists; 1 if edges carry none.
    pub fn weight<'k>(
        &self,
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
    ) -> Result<Option<f64>> {
        let (source, target) = (source.into(), target.into());
        self.reading(|version| {
            let source = self.inner.known_id(source, version)?;
            let target = self.inner.known_id(target, version)?;
            Ok(self.inner.engine.edge(source, target, version))
        })?
    }

    /// How many neighbours a vertex has (out-neighbours if edges have a direction).
    pub fn degree<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<u32> {
        self.degree_on(Side::Out, key.into())
    }

    /// How many in-neighbours a vertex has.
    pub fn in_degree<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<u32> {
        self.degree_on(Side::In, key.into())
    }

    fn degree_on(&self, side: Side, key: KeyRef<'_>) -> Result<u32> {
        self.reading(|version| {
            let id = self.inner.known_id(key, version)?;
            Ok(self.inner.engine.degree(side, id, version))
        })?
    }

    /// The neighbours of a vertex with the weights of the edges, in id order.
    pub fn neighbours<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Vec<(Key, f64)>> {
        self.neighbours_on(Side::Out, key.into())
    }

    /// The in-neighbours of a vertex with the weights of the edges, in id order.
    pub fn in_neighbours<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Vec<(Key, f64)>> {
        self.neighbours_on(Side::In, key.into())
    }

    fn neighbours_on(&self, side: Side, key: KeyRef<'_>) -> Result<Vec<(Key, f64)>> {
        self.reading(|version| {
            let id = self.inner.known_id(key, version)?;
            let list = self.inner.engine.list(side, id, version);
            Ok(list.into_iter().map(|(id, weight)| (self.inner.key_of(id), weight)).collect())
        })?
    }
}
