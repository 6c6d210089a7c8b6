//! Follows the commits of a database that another process may be writing: reads its files and
//! takes no lock.
//!
//! # Steps
//!   1. The newest good checkpoint says which ids stand for which keys.
//!   2. The log is read from there, or from where the caller wants to begin if that is before;
//!      vertices that are added on the way get their keys.
//! # Invariants
//!   - W1 Every id that a segment tells about has its key in the newest checkpoint, or an earlier
//!     item of the log gives it one (D2 of `durable.rs`).
//!   - W2 What can not be read is looked at twice before it is called damaged: the writer may have
//!     been in the middle of it.

use std::path::Path;
use std::sync::Arc;

use evergraph_graph::{Key, KeyKind, KeyRef, VertexId};

use crate::folder::Folder;
use crate::history::{Commit, Names, commits};
use crate::io::{Disk, RealDisk};
use crate::log::reader::{Piece, Reader};
use crate::log::state::State;
use crate::options::Weights;
use crate::{Error, Result, Version, checkpoint};

/// Where a [`Watcher`] begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the oldest commit that the files tell about.
    Oldest,
    /// With the commit after a version.
    After(Version),
    /// With what is committed from now on.
    Newest,
}

/// Follows the commits in a folder, whoever writes them; made by [`watch`].
#[derive(Debug)]
pub struct Watcher {
    folder: Folder,
    reader: Reader,
    keys: Keys,
    /// The version up to which commits were handed out.
    position: Version,
    /// Commits that were read and not handed out yet, the next one last.
    read: Vec<Commit>,
    /// What went wrong after what the last call handed out.
    failure: Option<Error>,
}

/// Follows the commits of the database in a folder, also while another process writes it. Needs no
/// more than to read the files, and keeps nobody from removing them: who is too slow hears
/// [`Error::PositionTooOld`].
///
/// A commit shows when it was handed to the system. Under [`crate::Durability::Sync`] that is a
/// moment before it is on the disk: if the power fails in that moment, it may be gone afterwards.
/// Under [`crate::Durability::None`] nothing is logged, and nothing can be followed.
///
/// ```
/// use evergraph_store::{Change, Database, Start, watch};
/// # let folder = tempfile::tempdir()?;
/// let db = Database::open(folder.path())?;
/// let mut watcher = watch(folder.path(), Start::Newest)?;
/// db.transaction(0, |tx| tx.add_vertex(7u64))?;
/// assert_eq!(watcher.poll(100)?[0].changes, [Change::AddVertex(7u64.into())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn watch(path: impl AsRef<Path>, start: Start) -> Result<Watcher> {
    watch_on(Arc::new(RealDisk), path, start)
}

/// As [`watch`], on another disk than that of the machine.
#[expect(clippy::needless_pass_by_value, reason = "as with the other calls on a disk")]
pub fn watch_on(disk: Arc<dyn Disk>, path: impl AsRef<Path>, start: Start) -> Result<Watcher> {
    let folder = Folder::existing(&disk, path.as_ref())?;
    let state = base(&folder)?;
    let oldest = folder.list()?.segments.first().map_or(state.version, |file| file.version - 1);
    let (begin, after) = match start {
        Start::Oldest => (oldest, oldest),
        Start::After(Version(after)) if after < oldest => {
            return Err(Error::PositionTooOld { oldest: Version(oldest) });
        }
        Start::After(Version(after)) => (after.min(state.version), after),
        Start::Newest => (state.version, u64::MAX),
    };
    let reader = Reader::new(folder.clone(), begin);
    let keys = Keys(state.vertices.keys);
    let mut watcher =
        Watcher { folder, reader, keys, position: Version(after), read: Vec::new(), failure: None };
    while watcher.reader.position() < after && watcher.read_more()? {}
    let newest = Version(watcher.reader.position());
    match start {
        Start::Newest => watcher.position = newest,
        _ if newest < watcher.position => return Err(Error::NotYet { newest }),
        _ => {}
    }
    Ok(watcher)
}

/// The newest graph that a checkpoint holds, or that before the first commit.
fn base(folder: &Folder) -> Result<State> {
    loop {
        let files = folder.list()?.checkpoints;
        let (state, problems) = checkpoint::newest(folder, &files);
        match (state, problems.into_iter().next()) {
            (Some(state), _) => return Ok(state),
            (None, None) => return Ok(State::initial(folder.schema)),
            (None, Some(error)) if folder.list()?.checkpoints == files => return Err(error),
            // It was removed meanwhile, in favour of a newer one.
            _ => {}
        }
    }
}

impl Watcher {
    /// The version up to which commits were handed out. A watcher that begins after it goes on from
    /// there.
    pub fn position(&self) -> Version {
        self.position
    }

    /// Whether edges carry a weight.
    pub fn is_weighted(&self) -> bool {
        self.folder.schema.weights != Weights::None
    }

    /// What kind of keys vertices have.
    pub fn key_kind(&self) -> KeyKind {
        self.folder.schema.keys
    }

    /// The next commits, `max` at most; none if there are none yet. Does not wait.
    pub fn poll(&mut self, max: usize) -> Result<Vec<Commit>> {
        let mut commits = Vec::new();
        while commits.len() < max {
            let Some(next) = self.read.pop() else {
                match self.failure.take().map_or_else(|| self.read_more(), Err) {
                    Ok(true) => continue,
                    Ok(false) => break,
                    Err(error) if commits.is_empty() => return Err(error),
                    Err(error) => {
                        self.failure = Some(error);
                        break;
                    }
                }
            };
            self.position = next.version;
            commits.push(next);
        }
        Ok(commits)
    }

    /// Reads on; false if there is nothing yet.
    fn read_more(&mut self) -> Result<bool> {
        let Some(piece) = self.piece()? else { return Ok(false) };
        let shape = self.folder.schema.shape();
        self.read = commits(&piece, shape, (self.position, &mut self.keys))?;
        self.read.reverse();
        Ok(true)
    }

    fn piece(&mut self) -> Result<Option<Piece>> {
        let checkpoint = self.folder.list()?.checkpoints.last().map_or(0, |file| file.version);
        let piece = match self.reader.piece(None) {
            Err(Error::Disk { .. }) => {
                // The segment may have been removed; then another one has the next version.
                self.reader.lose_place();
                self.reader.piece(None)?
            }
            piece => piece?,
        };
        if piece.is_some() {
            return Ok(piece);
        }
        if checkpoint > self.reader.position() {
            // The log was complete up to there when it was made, if there was one.
            return Err(Error::PositionTooOld { oldest: Version(checkpoint) });
        }
        match self.reader.damage() {
            // What was removed meanwhile is missed the next time.
            Ok(None) | Err(Error::Disk { .. }) => Ok(None),
            Ok(Some(damage)) => self.reader.piece(None)?.map(Some).ok_or(damage),
            Err(error) => Err(error),
        }
    }
}

/// The key of every id that has one; of others it is the id.
#[derive(Debug)]
struct Keys(Vec<Option<Key>>);

impl Names for Keys {
    fn given(&mut self, id: VertexId, key: KeyRef<'_>) {
        if self.0.len() <= id as usize {
            self.0.resize(id as usize + 1, None);
        }
        self.0[id as usize] = Some(key.to_owned());
    }

    fn key(&self, id: VertexId) -> Key {
        self.0.get(id as usize).cloned().flatten().unwrap_or(Key::Number(u64::from(id)))
    }
}
