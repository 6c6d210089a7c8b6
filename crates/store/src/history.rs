//! The past, and how it became the present: commits in order, from the log.
//!
//! Changes are pulled: a [`Follower`] keeps its place and asks for more when it likes. No writer
//! waits for it. The log on the disk serves it for as long as [`crate::Keep`] and the last
//! checkpoint say; one that comes later hears [`Error::PositionTooOld`].

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use evergraph_graph::{GraphChanges, Key, KeyRef, VertexId};

use crate::database::Inner;
use crate::log::reader::{Piece, Reader};
use crate::log::record::{Item, Shape};
use crate::log::recover::Until;
use crate::sync::yield_now;
use crate::time::{Limit, at, micros};
use crate::{Error, Result, Version};

/// A version, or a time: the last commit that was written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A version.
    Version(Version),
    /// A time.
    Time(SystemTime),
}

impl From<Version> for When {
    fn from(version: Version) -> Self {
        Self::Version(version)
    }
}

impl From<SystemTime> for When {
    fn from(time: SystemTime) -> Self {
        Self::Time(time)
    }
}

impl When {
    pub(crate) fn until(self) -> Until {
        match self {
            Self::Version(Version(version)) => Until::Version(version),
            Self::Time(time) => Until::Time(micros(time)),
        }
    }
}

/// A commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// The version it made.
    pub version: Version,
    /// When it was written to the log: under [`crate::Durability::Sync`] while it was committed, else
    /// as much later as that mode says.
    pub time: SystemTime,
    /// What it changed: vertices first, then edges.
    pub changes: Vec<Change>,
}

/// A change of one vertex or one edge.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A vertex was added.
    AddVertex(Key),
    /// A vertex was removed; its edges were removed with it, by changes of their own.
    RemoveVertex(Key),
    /// An edge was added; its weight, 1 if edges carry none.
    AddEdge(Key, Key, f64),
    /// An edge got another weight.
    SetWeight(Key, Key, f64),
    /// An edge was removed.
    RemoveEdge(Key, Key),
    /// How far the reader of a name is, [`crate::Transaction::set_position`].
    Position(String, Version),
}

impl Change {
    fn new(item: Item<'_>, key: impl Fn(VertexId) -> Key) -> Self {
        match item {
            Item::AddVertex(_, added) => Self::AddVertex(added.to_owned()),
            Item::RemoveVertex(id) => Self::RemoveVertex(key(id)),
            Item::AddEdge(source, target, weight) => {
                Self::AddEdge(key(source), key(target), weight)
            }
            Item::SetWeight(source, target, weight) => {
                Self::SetWeight(key(source), key(target), weight)
            }
            Item::RemoveEdge(source, target) => Self::RemoveEdge(key(source), key(target)),
            Item::Position(name, version) => Self::Position(name.into(), Version(version)),
        }
    }
}

/// Follows the commits of a database from a version on.
///
/// ```
/// use evergraph_store::{Change, Database};
/// # let folder = tempfile::tempdir()?;
/// let db = Database::open(folder.path())?;
/// let mut follower = db.follow(db.version())?;
/// db.transaction(0, |tx| tx.add_vertex(7u64))?;
/// let commits = follower.poll(100)?;
/// assert_eq!(commits[0].changes, [Change::AddVertex(7u64.into())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follower {
    tail: Tail<Commit>,
}

/// A place in the commits of a database, and those that were read and not handed out yet. `T` is
/// what is made of a commit.
pub(crate) struct Tail<T> {
    db: Arc<Inner>,
    reader: Reader,
    shape: Shape,
    /// The version up to which commits were handed out.
    position: Version,
    /// The next one last.
    read: Vec<T>,
}

/// What can be made of a commit.
pub(crate) trait Told: Sized {
    fn version(&self) -> Version;

    /// All commits of a piece of the log that come after a version, in order.
    fn read(piece: &Piece, shape: Shape, from: (Version, &Inner)) -> Result<Vec<Self>>;
}

impl Told for Commit {
    fn version(&self) -> Version {
        self.version
    }

    fn read(piece: &Piece, shape: Shape, (after, mut db): (Version, &Inner)) -> Result<Vec<Self>> {
        commits(piece, shape, (after, &mut db))
    }
}

impl<T: Told> Tail<T> {
    pub(crate) fn new(db: Arc<Inner>, after: Version) -> Result<Self> {
        let durable = db.durable.as_ref().ok_or(Error::NotDurable)?;
        let newest = Version(db.versions.clock.visible());
        if after > newest {
            return Err(Error::NotYet { newest });
        }
        let (reader, shape) = (durable.reader(after.0), durable.shape());
        Ok(Self { db, reader, shape, position: after, read: Vec::new() })
    }

    pub(crate) fn position(&self) -> Version {
        self.position
    }

    /// The next commits that are visible, `max` at most.
    fn take(&mut self, max: usize) -> Result<Vec<T>> {
        let visible = self.db.versions.clock.visible();
        let mut commits = Vec::new();
        while commits.len() < max && self.position.0 < visible {
            let Some(next) = self.read.pop_if(|commit| commit.version().0 <= visible) else {
                if !self.read.is_empty() {
                    break;
                }
                match self.read_more() {
                    Ok(true) => continue,
                    // What was read before is handed out first; the error comes again.
                    Err(error) if commits.is_empty() => return Err(error),
                    Ok(false) | Err(_) => break,
                }
            };
            self.position = next.version();
            commits.push(next);
        }
        Ok(commits)
    }

    /// All commits up to a version, which is visible.
    pub(crate) fn take_to(&mut self, version: Version) -> Result<Vec<T>> {
        let durable = self.db.durable.as_ref().ok_or(Error::NotDurable)?;
        durable.hand_over(version.0)?;
        let behind = usize::try_from(version.0.saturating_sub(self.position.0));
        let commits = self.take(behind.unwrap_or(usize::MAX))?;
        if self.position < version {
            // Under `Durability::None` nothing is written down.
            return Err(Error::PositionTooOld { oldest: version });
        }
        Ok(commits)
    }

    /// Reads on; false if there is nothing yet.
    fn read_more(&mut self) -> Result<bool> {
        let durable = self.db.durable.as_ref().ok_or(Error::NotDurable)?;
        let Some(piece) = durable.read_on(&mut self.reader)? else { return Ok(false) };
        self.read = T::read(&piece, self.shape, (self.position, &self.db))?;
        self.read.reverse();
        Ok(true)
    }
}

impl Follower {
    pub(crate) fn new(db: Arc<Inner>, after: Version) -> Result<Self> {
        Ok(Self { tail: Tail::new(db, after)? })
    }

    /// The version up to which commits were handed out. A follower made with it goes on from there.
    pub fn position(&self) -> Version {
        self.tail.position
    }

    /// How many versions it is behind.
    pub fn lag(&self) -> u64 {
        self.tail.db.versions.clock.visible().saturating_sub(self.position().0)
    }

    /// The next commits that are visible, `max` at most; none if there are none yet. Does not wait
    /// for writers, and they do not wait for it.
    pub fn poll(&mut self, max: usize) -> Result<Vec<Commit>> {
        self.tail.take(max)
    }

    /// All commits up to a version, which is visible.
    pub(crate) fn poll_to(&mut self, version: Version) -> Result<Vec<Commit>> {
        self.tail.take_to(version)
    }

    /// As [`Follower::poll`], but waits for the first commit, for so long at most.
    pub fn wait(&mut self, max: usize, limit: Duration) -> Result<Vec<Commit>> {
        let limit = Limit::new(limit);
        loop {
            let commits = self.poll(max)?;
            let left = limit.left();
            if !commits.is_empty() || left.is_zero() {
                return Ok(commits);
            }
            let log = self.tail.db.durable.as_ref().and_then(|durable| durable.log.as_ref());
            match log {
                Some(log) if log.handed_over() <= self.position().0 => {
                    log.wait_for_write(self.position().0, left);
                }
                // What is in the files is visible in a moment.
                Some(_) => yield_now(),
                // Nobody writes.
                None => return Ok(commits),
            }
        }
    }
}

/// Who knows which key an id stands for.
pub(crate) trait Names {
    /// Hears that an id was given to a key.
    fn given(&mut self, id: VertexId, key: KeyRef<'_>);

    /// The key of an id.
    fn key(&self, id: VertexId) -> Key;
}

/// The dictionary of the database knows all of them.
impl Names for &Inner {
    fn given(&mut self, _: VertexId, _: KeyRef<'_>) {}

    fn key(&self, id: VertexId) -> Key {
        self.key_of(id)
    }
}

/// The commits of a piece that come after a version, in order.
pub(crate) fn commits(
    piece: &Piece,
    shape: Shape,
    from: (Version, &mut impl Names),
) -> Result<Vec<Commit>> {
    let (after, names) = from;
    let mut commits = Vec::new();
    piece.each(shape, |version, time, source| {
        let wanted = version > after.0;
        let mut changes = Vec::new();
        source.record(|item| {
            if let Item::AddVertex(id, key) = item {
                names.given(id, key);
            }
            if wanted {
                changes.push(Change::new(item, |id| names.key(id)));
            }
            Ok(())
        })?;
        if wanted {
            commits.push(Commit { version: Version(version), time: at(time), changes });
        }
        Ok(())
    })?;
    Ok(commits)
}

/// A commit by the ids of what it changed.
pub(crate) struct IdCommit {
    version: Version,
    vertices: Vec<(VertexId, Effect, ())>,
    edges: Vec<((VertexId, VertexId), Effect, ())>,
}

impl Told for IdCommit {
    fn version(&self) -> Version {
        self.version
    }

    fn read(piece: &Piece, shape: Shape, (after, _): (Version, &Inner)) -> Result<Vec<Self>> {
        let mut commits = Vec::new();
        piece.each(shape, |version, _, source| {
            let (mut vertices, mut edges) = (Vec::new(), Vec::new());
            source.record(|item| {
                match item {
                    Item::AddVertex(id, _) => vertices.push((id, Effect::Add, ())),
                    Item::RemoveVertex(id) => vertices.push((id, Effect::Remove, ())),
                    Item::AddEdge(u, v, _) => edges.push(((u, v), Effect::Add, ())),
                    Item::SetWeight(u, v, _) => edges.push(((u, v), Effect::Set, ())),
                    Item::RemoveEdge(u, v) => edges.push(((u, v), Effect::Remove, ())),
                    Item::Position(..) => {}
                }
                Ok(())
            })?;
            if version > after.0 {
                commits.push(Self { version: Version(version), vertices, edges });
            }
            Ok(())
        })?;
        Ok(commits)
    }
}

/// What a change is about.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Vertex(Key),
    Edge(Key, Key),
    Position(String),
}

impl About {
    /// An edge without direction has one name.
    fn new(change: &Change, directed: bool) -> Self {
        match change {
            Change::AddVertex(key) | Change::RemoveVertex(key) => Self::Vertex(key.clone()),
            Change::AddEdge(source, target, _)
            | Change::SetWeight(source, target, _)
            | Change::RemoveEdge(source, target) => {
                let (source, target) = named_once((source.clone(), target.clone()), directed);
                Self::Edge(source, target)
            }
            Change::Position(name, _) => Self::Position(name.clone()),
        }
    }
}

/// The ends of an edge; the smaller one first if it has no direction.
fn named_once<V: Ord>((u, v): (V, V), directed: bool) -> (V, V) {
    if directed || u <= v { (u, v) } else { (v, u) }
}

/// What a change does to what it is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Add,
    Set,
    Remove,
}

impl Effect {
    fn of(change: &Change) -> Self {
        match change {
            Change::AddVertex(_) | Change::AddEdge(..) => Self::Add,
            Change::SetWeight(..) | Change::Position(..) => Self::Set,
            Change::RemoveVertex(_) | Change::RemoveEdge(..) => Self::Remove,
        }
    }
}

/// The effect of all changes of a thing together, with the last of them, in the order of things.
/// What came and went does not show, what went and came was set.
fn fold<A: Ord, C>(mut changes: Vec<(A, Effect, C)>) -> impl Iterator<Item = (A, Effect, C)> {
    // Stable: the changes of a thing stay in order.
    changes.sort_by(|one, other| one.0.cmp(&other.0));
    let mut left = changes.into_iter().peekable();
    std::iter::from_fn(move || {
        loop {
            let (about, first, mut change) = left.next()?;
            let mut last = first;
            while let Some(next) = left.next_if(|next| next.0 == about) {
                (_, last, change) = next;
            }
            let was_there = first != Effect::Add;
            match (was_there, last) {
                (true, Effect::Add) => return Some((about, Effect::Set, change)),
                (false, Effect::Set) => return Some((about, Effect::Add, change)),
                (false, Effect::Remove) => {}
                (_, last) => return Some((about, last, change)),
            }
        }
    })
}

/// What changed over several commits, each vertex and edge once: a vertex or edge that came and went
/// does not show, one that went and came shows as what it is then.
pub(crate) fn net(commits: impl IntoIterator<Item = Commit>, directed: bool) -> Vec<Change> {
    let changes = commits.into_iter().flat_map(|commit| commit.changes);
    let changes =
        changes.map(|change| (About::new(&change, directed), Effect::of(&change), change));
    let changes = fold(changes.collect()).filter_map(|(_, effect, last)| match (effect, last) {
        (Effect::Set, Change::AddVertex(_)) => None,
        (Effect::Set, Change::AddEdge(source, target, weight)) => {
            Some(Change::SetWeight(source, target, weight))
        }
        (Effect::Add, Change::SetWeight(source, target, weight)) => {
            Some(Change::AddEdge(source, target, weight))
        }
        (_, last) => Some(last),
    });
    changes.collect()
}

/// As [`net`], by ids: an id that went to another key is the same vertex.
pub(crate) fn net_ids(commits: Vec<IdCommit>, directed: bool) -> GraphChanges {
    let mut changes = GraphChanges::default();
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    for commit in commits {
        vertices.extend(commit.vertices);
        let named = |((u, v), effect, ())| (named_once((u, v), directed), effect, ());
        edges.extend(commit.edges.into_iter().map(named));
    }
    for (id, effect, ()) in fold(vertices) {
        match effect {
            Effect::Add => changes.added_vertices.push(id),
            Effect::Remove => changes.removed_vertices.push(id),
            Effect::Set => {}
        }
    }
    for (edge, effect, ()) in fold(edges) {
        match effect {
            Effect::Add => changes.added_edges.push(edge),
            Effect::Remove => changes.removed_edges.push(edge),
            Effect::Set => changes.reweighted_edges.push(edge),
        }
    }
    changes
}
