//! The past, and how it became the present: commits in order, from the log.
//!
//! Changes are pulled: a [`Follower`] keeps its place and asks for more when it likes. No writer
//! waits for it. The log on the disk serves it for as long as [`crate::Keep`] and the last
//! checkpoint say; one that comes later hears [`Error::PositionTooOld`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use evergraph_graph::{Key, KeyRef, VertexId};

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
    db: Arc<Inner>,
    reader: Reader,
    shape: Shape,
    /// The version up to which commits were handed out.
    position: Version,
    /// Commits that were read and not handed out yet, the next one last.
    read: Vec<Commit>,
}

impl Follower {
    pub(crate) fn new(db: Arc<Inner>, after: Version) -> Result<Self> {
        let durable = db.durable.as_ref().ok_or(Error::NotDurable)?;
        let newest = Version(db.versions.clock.visible());
        if after > newest {
            return Err(Error::NotYet { newest });
        }
        let (reader, shape) = (durable.reader(after.0), durable.shape());
        Ok(Self { db, reader, shape, position: after, read: Vec::new() })
    }

    /// The version up to which commits were handed out. A follower made with it goes on from there.
    pub fn position(&self) -> Version {
        self.position
    }

    /// How many versions it is behind.
    pub fn lag(&self) -> u64 {
        self.db.versions.clock.visible().saturating_sub(self.position.0)
    }

    /// The next commits that are visible, `max` at most; none if there are none yet. Does not wait
    /// for writers, and they do not wait for it.
    pub fn poll(&mut self, max: usize) -> Result<Vec<Commit>> {
        let visible = self.db.versions.clock.visible();
        let mut commits = Vec::new();
        while commits.len() < max && self.position.0 < visible {
            let Some(next) = self.read.pop_if(|commit| commit.version.0 <= visible) else {
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
            self.position = next.version;
            commits.push(next);
        }
        Ok(commits)
    }

    /// All commits up to a version, which is visible.
    pub(crate) fn poll_to(&mut self, version: Version) -> Result<Vec<Commit>> {
        let durable = self.db.durable.as_ref().ok_or(Error::NotDurable)?;
        durable.hand_over(version.0)?;
        let behind = usize::try_from(version.0.saturating_sub(self.position.0));
        let commits = self.poll(behind.unwrap_or(usize::MAX))?;
        if self.position < version {
            // Under `Durability::None` nothing is written down.
            return Err(Error::PositionTooOld { oldest: version });
        }
        Ok(commits)
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
            let log = self.db.durable.as_ref().and_then(|durable| durable.log.as_ref());
            match log {
                Some(log) if log.handed_over() <= self.position.0 => {
                    log.wait_for_write(self.position.0, left);
                }
                // What is in the files is visible in a moment.
                Some(_) => yield_now(),
                // Nobody writes.
                None => return Ok(commits),
            }
        }
    }

    /// Reads on; false if there is nothing yet.
    fn read_more(&mut self) -> Result<bool> {
        let durable = self.db.durable.as_ref().ok_or(Error::NotDurable)?;
        let Some(piece) = durable.read_on(&mut self.reader)? else { return Ok(false) };
        self.read = commits(&piece, self.shape, (self.position, &mut &*self.db))?;
        self.read.reverse();
        Ok(true)
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
    (after, names): (Version, &mut impl Names),
) -> Result<Vec<Commit>> {
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

/// What changed over several commits, each vertex and edge once: a vertex or edge that came and went
/// does not show, one that went and came shows as what it is then.
pub(crate) fn net(commits: impl IntoIterator<Item = Commit>, directed: bool) -> Vec<Change> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Subject {
        Vertex(Key),
        Edge(Key, Key),
        Position(String),
    }
    let subject = |change: &Change| match change {
        Change::AddVertex(key) | Change::RemoveVertex(key) => Subject::Vertex(key.clone()),
        Change::AddEdge(source, target, _)
        | Change::SetWeight(source, target, _)
        | Change::RemoveEdge(source, target) => {
            let turned = !directed && source > target;
            let (source, target) = if turned { (target, source) } else { (source, target) };
            Subject::Edge(source.clone(), target.clone())
        }
        Change::Position(name, _) => Subject::Position(name.clone()),
    };
    // Whether it was there before, and the last change.
    let mut subjects: BTreeMap<Subject, (bool, Change)> = BTreeMap::new();
    for change in commits.into_iter().flat_map(|commit| commit.changes) {
        let there = !matches!(change, Change::AddVertex(_) | Change::AddEdge(..));
        let entry = subjects.entry(subject(&change)).or_insert_with(|| (there, change.clone()));
        entry.1 = change;
    }
    let changes = subjects.into_values().filter_map(|(there, last)| match (there, last) {
        (true, Change::AddEdge(source, target, weight)) => {
            Some(Change::SetWeight(source, target, weight))
        }
        (false, Change::SetWeight(source, target, weight)) => {
            Some(Change::AddEdge(source, target, weight))
        }
        (true, Change::AddVertex(_))
        | (false, Change::RemoveVertex(_) | Change::RemoveEdge(..)) => None,
        (_, last) => Some(last),
    });
    changes.collect()
}
