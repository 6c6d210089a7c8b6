//! What a simulated disk holds: what processes see, and what a crash would leave of it.
//!
//! # Invariants
//!   - `kept` and [`Node::durable`] are what lies on the disk for certain; the changes since then
//!     are `renames` and [`Node::pending`], in the order of the calls.
//!   - A clone shares what was not changed since, so the disk can be remembered after every call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A folder.
    Folder,
    /// A file, by its place in [`World::nodes`].
    File(usize),
}

/// A change of names in one folder that happens as a whole.
#[derive(Clone, Debug)]
pub struct NameChange {
    /// The folder whose sync makes it certain.
    pub folder: PathBuf,
    /// The name that goes.
    pub gone: Option<PathBuf>,
    /// The name that comes, in place of the one that was.
    pub there: Option<(PathBuf, Entry)>,
}

/// A change of what a file holds.
#[derive(Clone, Debug)]
pub enum Change {
    /// Bytes at an offset.
    Write(u64, Arc<[u8]>),
    /// The file was cut or lengthened.
    Size(u64),
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// What a reader sees.
    pub current: Vec<u8>,
    /// What a crash leaves for certain.
    pub durable: Vec<u8>,
    /// What a crash may leave besides: the number of the call, and the change.
    pub pending: Vec<(u64, Change)>,
}

/// The disk.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// All files that ever were.
    pub nodes: Vec<Arc<Node>>,
    /// Names as processes see them.
    pub names: BTreeMap<PathBuf, Entry>,
    /// Names that a crash leaves for certain.
    pub kept: BTreeMap<PathBuf, Entry>,
    /// Changes of names that a crash may leave or not.
    pub renames: Vec<NameChange>,
    /// What files held that were removed or cut: a file system may show it again in a file that
    /// grows.
    pub stale: Vec<Arc<[u8]>>,
}

impl NameChange {
    /// Makes the change.
    pub fn apply(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((path, entry)) = &self.there {
            names.insert(path.clone(), *entry);
        }
    }
}

impl Change {
    /// Makes the change.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, written) => put(bytes, *offset as usize, written),
            Self::Size(size) => bytes.resize(*size as usize, 0),
        }
    }
}

/// Writes at an offset; what lies between the end and there becomes zeros.
pub fn put(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(written);
}

impl World {
    /// A disk on which everything lies for certain.
    pub fn of(names: &BTreeMap<PathBuf, Option<Vec<u8>>>) -> Self {
        let mut world = Self::default();
        for (path, bytes) in names {
            let entry = bytes.as_ref().map_or(Entry::Folder, |bytes| {
                let (current, durable) = (bytes.clone(), bytes.clone());
                world.nodes.push(Arc::new(Node { current, durable, pending: Vec::new() }));
                Entry::File(world.nodes.len() - 1)
            });
            world.names.insert(path.clone(), entry);
        }
        world.kept.clone_from(&world.names);
        world
    }

    /// Changes names, for processes at once, for a crash not yet.
    pub fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.renames.push(change);
    }

    /// Changes a file, for processes at once, for a crash not yet.
    pub fn change(&mut self, node: usize, call: u64, change: Change) {
        let node = Arc::make_mut(&mut self.nodes[node]);
        change.apply(&mut node.current);
        node.pending.push((call, change));
    }

    /// Has a file lie on the disk for certain.
    pub fn sync(&mut self, node: usize) {
        let node = Arc::make_mut(&mut self.nodes[node]);
        for (_, change) in std::mem::take(&mut node.pending) {
            change.apply(&mut node.durable);
        }
    }

    /// Forgets that a file has changes that are not on the disk, as a failed sync does.
    pub fn forget(&mut self, node: usize) {
        Arc::make_mut(&mut self.nodes[node]).pending.clear();
    }

    /// Has the names in a folder lie on the disk for certain.
    pub fn sync_folder(&mut self, folder: &Path) {
        let (here, elsewhere): (Vec<_>, Vec<_>) = std::mem::take(&mut self.renames)
            .into_iter()
            .partition(|change| change.folder == folder);
        for change in here {
            change.apply(&mut self.kept);
        }
        self.renames = elsewhere;
    }

    /// Whether there is something that is not on the disk for certain.
    pub fn has_pending(&self) -> bool {
        !self.renames.is_empty() || self.nodes.iter().any(|node| !node.pending.is_empty())
    }

    /// The bytes of all files that have a name.
    pub fn used(&self) -> u64 {
        let size = |entry: &Entry| match entry {
            Entry::Folder => 0,
            Entry::File(node) => self.nodes[*node].current.len() as u64,
        };
        self.names.values().map(size).sum()
    }

    /// Remembers what a file held.
    pub fn bury(&mut self, node: usize) {
        let bytes = &self.nodes[node].current;
        if bytes.iter().any(|&byte| byte != 0) {
            self.stale.push(bytes.as_slice().into());
        }
    }
}
