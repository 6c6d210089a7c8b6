//! A simulated disk: it remembers what it held after every call, and fails where it is told to.
//!
//! # Contract
//!   That of `evergraph::io`, at its harshest: nothing lies on the disk for certain before it was
//!   synced, no name before its folder was. [`super::image`] says what a crash may leave.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evergraph::io::{Disk, File, Lock, Locking};

use super::world::{Change, Entry, NameChange, Node, World};

/// How calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Any call: an error of the device.
    Device,
    /// What may need space: there is none.
    Full,
    /// A write: only half of it is done.
    Short,
    /// A write: nothing is done, and no error told.
    Nothing,
    /// A read or write: a signal came.
    Interrupted,
    /// A sync: an error; what was not on the disk never gets there, but is read as if it were.
    Forgotten,
    /// A sync: an error; what was not on the disk is gone, for readers as well.
    Dropped,
}

/// How long calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// One call does.
    Once,
    /// That call and all after it do.
    Forever,
}

/// Which calls fail.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The first one, counted from 0.
    pub call: u64,
    /// How.
    pub failure: Failure,
    /// How many.
    pub lasting: Lasting,
}

/// So many calls fail of a disk that is full for ever.
const PATIENCE: u64 = 20;

/// The disk after a call, and what a crash there must not lose.
#[derive(Clone, Debug)]
pub struct Point {
    /// The disk.
    pub world: World,
    /// The last version that was acknowledged.
    pub floor: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    Sync,
    Name,
    Other,
}

impl Failure {
    fn hits(self, call: Call) -> bool {
        match self {
            Self::Device => true,
            Self::Full => matches!(call, Call::Write | Call::Name | Call::Sync),
            Self::Short | Self::Nothing => call == Call::Write,
            Self::Interrupted => matches!(call, Call::Read | Call::Write),
            Self::Forgotten | Self::Dropped => call == Call::Sync,
        }
    }
}

#[derive(Default)]
struct State {
    world: World,
    calls: u64,
    fault: Option<Fault>,
    /// How many calls failed.
    failed: u64,
    capacity: Option<u64>,
    floor: u64,
    points: Option<Vec<Point>>,
    locked: BTreeSet<PathBuf>,
    /// The process that used it is gone.
    is_dead: bool,
    was_waited_for: bool,
    /// Calls that found the disk full since it was last given space.
    full: u64,
}

/// A simulated disk; clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimDisk").finish_non_exhaustive()
    }
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "simulated")
}

impl SimDisk {
    /// A disk that holds something, and the last version that must not be lost.
    pub fn new(mut world: World, floor: u64) -> Self {
        for names in [&mut world.names, &mut world.kept] {
            names.insert(PathBuf::from("/"), Entry::Folder);
        }
        let state = State { world, floor, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the disk after every call from now on.
    pub fn record(&self) {
        self.lock_state().points.get_or_insert_default();
    }

    /// What was remembered, if anything was to be; nothing is from now on.
    pub fn points(&self) -> Option<Vec<Point>> {
        self.lock_state().points.take()
    }

    /// Notes that a version was acknowledged.
    pub fn acknowledge(&self, version: u64) {
        let mut state = self.lock_state();
        state.floor = state.floor.max(version);
    }

    /// The last version that was acknowledged.
    pub fn floor(&self) -> u64 {
        self.lock_state().floor
    }

    /// Has calls fail from now on, or none.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.lock_state().fault = fault;
    }

    /// How many calls were made, and how many of them failed.
    pub fn calls(&self) -> (u64, u64) {
        let state = self.lock_state();
        (state.calls, state.failed)
    }

    /// Whether somebody called a full disk again and again. There was space for it then.
    pub fn was_waited_for(&self) -> bool {
        self.lock_state().was_waited_for
    }

    /// How many bytes files may have together.
    pub fn set_capacity(&self, capacity: Option<u64>) {
        let mut state = self.lock_state();
        (state.capacity, state.full) = (capacity, 0);
    }

    /// How many bytes files have together.
    pub fn used(&self) -> u64 {
        self.lock_state().world.used()
    }

    /// What the disk holds.
    pub fn world(&self) -> World {
        self.lock_state().world.clone()
    }

    /// Ends the process that uses the disk: whatever still calls fails. The disk as the next
    /// process finds it, with what was not synced; it goes on remembering.
    #[must_use]
    pub fn kill(&self) -> Self {
        let world = self.world();
        self.crash(world)
    }

    /// As [`SimDisk::kill`], when the power goes too: this is what is left.
    #[must_use]
    pub fn crash(&self, world: World) -> Self {
        let mut old = self.lock_state();
        old.is_dead = true;
        let state = State {
            world,
            floor: old.floor,
            points: old.points.take(),
            calls: old.calls,
            failed: old.failed,
            fault: old.fault,
            capacity: old.capacity,
            ..State::default()
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Begins a call: what else is to be done about a failure that does not end it.
    fn begin(&self, call: Call) -> Result<(MutexGuard<'_, State>, Option<Failure>)> {
        let mut state = self.lock_state();
        if state.is_dead {
            return Err(error(ErrorKind::BrokenPipe));
        }
        let number = state.calls;
        state.calls += 1;
        let hit = state.fault.filter(|fault| {
            let reached = match fault.lasting {
                Lasting::Once => number == fault.call,
                Lasting::Forever => number >= fault.call,
            };
            reached && fault.failure.hits(call)
        });
        let Some(Fault { failure, .. }) = hit else { return Ok((state, None)) };
        state.failed += 1;
        if failure == Failure::Full && state.failed == PATIENCE {
            (state.was_waited_for, state.fault) = (true, None);
        }
        match failure {
            Failure::Device => Err(error(ErrorKind::Other)),
            Failure::Full => Err(error(ErrorKind::StorageFull)),
            Failure::Interrupted => Err(error(ErrorKind::Interrupted)),
            _ => Ok((state, Some(failure))),
        }
    }
}

impl State {
    /// Remembers the disk, if that is wanted.
    fn changed(&mut self) {
        if let Some(points) = &mut self.points {
            points.push(Point { world: self.world.clone(), floor: self.floor });
        }
    }

    fn find(&self, path: &Path) -> Result<usize> {
        match self.world.names.get(path) {
            Some(Entry::File(node)) => Ok(*node),
            Some(Entry::Folder) => Err(error(ErrorKind::IsADirectory)),
            None => Err(error(ErrorKind::NotFound)),
        }
    }

    fn name(&mut self, path: &Path, entry: Entry) {
        let folder = parent(path);
        let there = Some((path.to_path_buf(), entry));
        self.world.change_names(NameChange { folder, gone: None, there });
    }

    fn make(&mut self, path: &Path) -> Result<usize> {
        if self.world.names.get(&parent(path)) != Some(&Entry::Folder) {
            return Err(error(ErrorKind::NotFound));
        }
        self.world.nodes.push(Arc::new(Node::default()));
        let node = self.world.nodes.len() - 1;
        self.name(path, Entry::File(node));
        Ok(node)
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

impl Disk for SimDisk {
    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        let (mut state, _) = self.begin(Call::Name)?;
        if state.world.names.contains_key(path) {
            return Err(error(ErrorKind::AlreadyExists));
        }
        let node = state.make(path)?;
        state.changed();
        Ok(Box::new(SimFile { disk: self.clone(), node, write: true }))
    }

    fn open(&self, path: &Path, write: bool) -> Result<Box<dyn File>> {
        let (state, _) = self.begin(Call::Other)?;
        let node = state.find(path)?;
        Ok(Box::new(SimFile { disk: self.clone(), node, write }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (mut state, _) = self.begin(Call::Name)?;
        let node = state.find(from)?;
        let there = Some((to.to_path_buf(), Entry::File(node)));
        let gone = Some(from.to_path_buf());
        state.world.change_names(NameChange { folder: parent(to), gone, there });
        state.changed();
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let (mut state, _) = self.begin(Call::Other)?;
        let node = state.find(path)?;
        state.world.bury(node);
        let gone = Some(path.to_path_buf());
        state.world.change_names(NameChange { folder: parent(path), gone, there: None });
        state.changed();
        Ok(())
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>> {
        let (state, _) = self.begin(Call::Other)?;
        if state.world.names.get(folder) != Some(&Entry::Folder) {
            return Err(error(ErrorKind::NotFound));
        }
        let here = state.world.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(here.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect())
    }

    fn make_folder(&self, folder: &Path) -> Result<()> {
        let (mut state, _) = self.begin(Call::Name)?;
        let all: Vec<&Path> = folder.ancestors().collect();
        for path in all.into_iter().rev() {
            match state.world.names.get(path) {
                Some(Entry::Folder) => {}
                Some(Entry::File(_)) => return Err(error(ErrorKind::NotADirectory)),
                None => {
                    state.name(path, Entry::Folder);
                    state.changed();
                }
            }
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> Result<()> {
        let (mut state, failure) = self.begin(Call::Sync)?;
        if failure.is_some() {
            return Err(error(ErrorKind::Other));
        }
        state.world.sync_folder(folder);
        state.changed();
        Ok(())
    }

    fn lock(&self, path: &Path, _shared: bool) -> Result<Locking> {
        let (mut state, _) = self.begin(Call::Other)?;
        if !state.locked.insert(path.to_path_buf()) {
            return Ok(Locking::Busy(None));
        }
        if state.find(path).is_err() {
            state.make(path)?;
            state.changed();
        }
        Ok(Locking::Held(Box::new(SimLock { disk: self.clone(), path: path.to_path_buf() })))
    }
}

#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl Lock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.lock_state().locked.remove(&self.path);
    }
}

struct SimFile {
    disk: SimDisk,
    node: usize,
    write: bool,
}

impl SimFile {
    fn begin(&self, call: Call) -> Result<(MutexGuard<'_, State>, Option<Failure>)> {
        if call == Call::Write && !self.write {
            return Err(error(ErrorKind::PermissionDenied));
        }
        self.disk.begin(call)
    }
}

impl File for SimFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let (state, _) = self.begin(Call::Read)?;
        let bytes = &state.world.nodes[self.node].current;
        let from = bytes.get(offset as usize..).unwrap_or_default();
        let read = from.len().min(buffer.len());
        buffer[..read].copy_from_slice(&from[..read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        let (mut state, failure) = self.begin(Call::Write)?;
        let mut bytes = bytes;
        match failure {
            Some(Failure::Nothing) => return Ok(0),
            Some(Failure::Short) => bytes = &bytes[..bytes.len().div_ceil(2)],
            _ => {}
        }
        let size = state.world.nodes[self.node].current.len() as u64;
        if let Some(capacity) = state.capacity {
            let free = capacity.saturating_sub(state.world.used());
            let fits = (size + free).saturating_sub(offset).min(bytes.len() as u64);
            if fits == 0 {
                state.failed += 1;
                state.full += 1;
                if state.full == PATIENCE {
                    (state.was_waited_for, state.capacity) = (true, None);
                }
                return Err(error(ErrorKind::StorageFull));
            }
            bytes = &bytes[..fits as usize];
        }
        let call = state.calls;
        state.world.change(self.node, call, Change::Write(offset, bytes.into()));
        state.changed();
        Ok(bytes.len())
    }

    fn size(&self) -> Result<u64> {
        let (state, _) = self.begin(Call::Other)?;
        Ok(state.world.nodes[self.node].current.len() as u64)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        let (mut state, _) = self.begin(Call::Other)?;
        state.world.bury(self.node);
        let call = state.calls;
        state.world.change(self.node, call, Change::Size(size));
        state.changed();
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let (mut state, failure) = self.begin(Call::Sync)?;
        match failure {
            None => state.world.sync(self.node),
            Some(Failure::Dropped) => {
                state.world.forget(self.node);
                let node = Arc::make_mut(&mut state.world.nodes[self.node]);
                node.current.clone_from(&node.durable);
            }
            Some(_) => state.world.forget(self.node),
        }
        state.changed();
        if failure.is_some() { Err(error(ErrorKind::Other)) } else { Ok(()) }
    }
}
