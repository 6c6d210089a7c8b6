//! The folder of a database: which files there are, and the one that says what it is.
//!
//! # Layout
//! ```text
//!  DATABASE                          what the database is; never changes
//!  KEEP                              how far back the past is kept (retention.rs)
//!  LOCK                              locked by whoever has it open; holds its process id
//!  log-<first version>.evl           commits from that version on (log/segment.rs)
//!  checkpoint-<version>.evc          the graph at that version (checkpoint.rs)
//!  *.tmp                             not finished; removed when the database is opened
//!
//!  DATABASE  magic: 8 bytes | crc: u32 | format: u32 | id: 16 bytes | directed: u8 | weights: u8
//!            | keys: u8 | self loops: u8 | dense: u32 | created: u64
//! ```
//! # Invariants
//!   - `DATABASE` is renamed into place when it is whole: without it the folder is no database.
//!   - A file is written under a name that ends in `.tmp`, synced, renamed, and the folder synced;
//!     only segments of the log grow in place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evergraph_graph::KeyKind;

use crate::engine::fat_tree::Directed;
use crate::fault::{Fault, planted};
use crate::io::{Disk, File, Lock, Locking};
use crate::options::{SelfLoops, Weights};
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"EVGRAPH1";
const FORMAT: u32 = 1;
const NAME: &str = "DATABASE";
const LOCK: &str = "LOCK";
const UNFINISHED: &str = ".tmp";
const LENGTH: usize = 48;

/// What can not be changed once a database was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) directed: Directed,
    pub(crate) weights: Weights,
    pub(crate) keys: KeyKind,
    pub(crate) self_loops: SelfLoops,
    /// Vertices that were there from the start.
    pub(crate) dense: u32,
}

/// The folder of a database.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) path: PathBuf,
    /// Different for every database that was ever made.
    pub(crate) id: [u8; 16],
    pub(crate) schema: Schema,
}

/// A file of a database that is named after a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbered {
    pub(crate) version: u64,
    pub(crate) path: PathBuf,
}

/// The files in a folder, each kind by version.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) segments: Vec<Numbered>,
    pub(crate) checkpoints: Vec<Numbered>,
    pub(crate) unfinished: Vec<PathBuf>,
}

/// The error of a call to the disk.
pub(crate) fn disk_error(action: &'static str, path: &Path, error: &io::Error) -> Error {
    let path = path.to_path_buf();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull { path },
        _ => Error::Disk { action, path, reason: error.to_string() },
    }
}

/// The error about a file that does not hold what it must.
pub(crate) fn corrupt(path: &Path, offset: u64, reason: impl Into<String>) -> Error {
    Error::Corrupt { path: path.to_path_buf(), offset, reason: reason.into() }
}

/// Locks the folder, for one process that writes or for many that read.
pub(crate) fn lock(disk: &dyn Disk, folder: &Path, shared: bool) -> Result<Box<dyn Lock>> {
    let path = folder.join(LOCK);
    match disk.lock(&path, shared).map_err(|error| disk_error("lock", &path, &error))? {
        Locking::Held(lock) => Ok(lock),
        Locking::Busy(process) => Err(Error::Locked { path: folder.to_path_buf(), process }),
    }
}

impl Folder {
    /// The database in a folder, if there is one.
    pub(crate) fn find(disk: &Arc<dyn Disk>, path: &Path) -> Result<Option<Self>> {
        let file = path.join(NAME);
        let opened = match disk.open(&file, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| disk_error("open", &file, &error))?,
        };
        let bytes = opened.read_from(0).map_err(|error| disk_error("read", &file, &error))?;
        let (id, schema) = decode(&bytes).map_err(|reason| corrupt(&file, 0, reason))?;
        Ok(Some(Self { disk: Arc::clone(disk), path: path.to_path_buf(), id, schema }))
    }

    /// The database in a folder, which must be there.
    pub(crate) fn existing(disk: &Arc<dyn Disk>, path: &Path) -> Result<Self> {
        Self::find(disk, path)?.ok_or_else(|| Error::NotFound { path: path.to_path_buf() })
    }

    /// A database that is not there before it is given its name.
    pub(crate) fn unnamed(disk: &Arc<dyn Disk>, path: &Path, schema: Schema) -> Self {
        Self { disk: Arc::clone(disk), path: path.to_path_buf(), id: new_id(), schema }
    }

    /// Writes down what the database is: from now on it is one.
    pub(crate) fn name(&self) -> Result<()> {
        let bytes = encode(self.id, self.schema);
        self.write_whole(NAME, |file| file.write_all_at(&bytes, 0).map(|()| LENGTH as u64))?;
        Ok(())
    }

    /// The files there are.
    pub(crate) fn list(&self) -> Result<Listing> {
        list(&*self.disk, &self.path)
    }

    /// How long a file is.
    pub(crate) fn size(&self, path: &Path) -> Result<u64> {
        let size = self.disk.open(path, false).and_then(|file| file.size());
        size.map_err(|error| disk_error("open", path, &error))
    }

    /// All that a file holds.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = self.disk.open(path, false).map_err(|error| disk_error("open", path, &error))?;
        file.read_from(0).map_err(|error| disk_error("read", path, &error))
    }

    /// Makes a file that was not finished before, empty.
    pub(crate) fn begin(&self, unfinished: &Path) -> io::Result<Box<dyn File>> {
        match self.disk.remove(unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.disk.create(unfinished),
        }
    }

    /// The file of the commits from a version on.
    pub(crate) fn segment(&self, first: u64) -> PathBuf {
        self.path.join(segment_name(first))
    }

    /// The file of the graph at a version.
    pub(crate) fn checkpoint(&self, version: u64) -> PathBuf {
        self.path.join(checkpoint_name(version))
    }

    /// Begins the checksums of a file that is named after a version.
    pub(crate) fn salt(&self, version: u64) -> u32 {
        if planted(Fault::SaltForgotten) {
            return 0;
        }
        crc32c::crc32c_append(crc32c::crc32c(&self.id), &version.to_le_bytes())
    }

    /// Writes a file that is there as a whole or not at all. `write` answers how long it became.
    pub(crate) fn write_whole(
        &self,
        name: &str,
        write: impl FnOnce(&dyn File) -> io::Result<u64>,
    ) -> Result<u64> {
        let path = self.path.join(name);
        let unfinished = unfinished(&path);
        let written = self.write_and_rename(&unfinished, &path, write);
        if written.is_err() {
            // It is removed when the database is opened next, if not now.
            let _removed = self.disk.remove(&unfinished);
        }
        written.map_err(|error| disk_error("write", &path, &error))
    }

    fn write_and_rename(
        &self,
        unfinished: &Path,
        path: &Path,
        write: impl FnOnce(&dyn File) -> io::Result<u64>,
    ) -> io::Result<u64> {
        let file = self.begin(unfinished)?;
        if planted(Fault::FileNamedUnwritten) {
            self.disk.rename(unfinished, path)?;
        }
        let length = write(&*file)?;
        if !planted(Fault::FileNamedUnsynced) {
            file.sync()?;
        }
        drop(file);
        if !planted(Fault::FileNamedUnwritten) {
            self.disk.rename(unfinished, path)?;
        }
        if !planted(Fault::RenameUnsynced) {
            self.disk.sync_folder(&self.path)?;
        }
        Ok(length)
    }

    /// Removes files nobody needs any more, the oldest first.
    pub(crate) fn remove_all<'p>(&self, paths: impl Iterator<Item = &'p PathBuf>) -> Result<()> {
        let mut any = false;
        for path in paths {
            self.disk.remove(path).map_err(|error| disk_error("remove", path, &error))?;
            any = true;
        }
        if any {
            self.sync()?;
        }
        Ok(())
    }

    /// Has the names lie on the disk for certain.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.disk.sync_folder(&self.path);
        synced.map_err(|error| disk_error("sync", &self.path, &error))
    }
}

/// The files in a folder.
pub(crate) fn list(disk: &dyn Disk, folder: &Path) -> Result<Listing> {
    let names = disk.list(folder).map_err(|error| disk_error("list", folder, &error))?;
    let mut listing = Listing::default();
    for name in names {
        let path = folder.join(&name);
        let numbered = |prefix: &str, suffix: &str| {
            let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            let version = digits.parse().ok().filter(|_| digits.len() == 20)?;
            Some(Numbered { version, path: path.clone() })
        };
        if let Some(segment) = numbered("log-", ".evl") {
            listing.segments.push(segment);
        } else if let Some(checkpoint) = numbered("checkpoint-", ".evc") {
            listing.checkpoints.push(checkpoint);
        } else if name.ends_with(UNFINISHED) {
            listing.unfinished.push(path);
        }
    }
    listing.segments.sort();
    listing.checkpoints.sort();
    Ok(listing)
}

/// What a file is called until it is finished.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// The name of the file of the commits from a version on.
pub(crate) fn segment_name(first: u64) -> String {
    format!("log-{first:020}.evl")
}

/// The name of the file of the graph at a version.
pub(crate) fn checkpoint_name(version: u64) -> String {
    format!("checkpoint-{version:020}.evc")
}

/// Sixteen bytes that no other database has: the keys of the standard library's hashers are drawn
/// from the system's source of randomness.
fn new_id() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let half = |salt: u8| RandomState::new().hash_one(salt).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(0));
    id[8..].copy_from_slice(&half(1));
    id
}

fn encode(id: [u8; 16], schema: Schema) -> [u8; LENGTH] {
    let Schema { directed, weights, keys, self_loops, dense } = schema;
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[12..16].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[16..32].copy_from_slice(&id);
    bytes[32] = u8::from(directed == Directed::Yes);
    bytes[33] = match weights {
        Weights::None => 0,
        Weights::F32 => 1,
        Weights::F64 => 2,
    };
    bytes[34] = match keys {
        KeyKind::Dense => 0,
        KeyKind::Number => 1,
        KeyKind::Text => 2,
    };
    bytes[35] = u8::from(self_loops == SelfLoops::Forbidden);
    bytes[36..40].copy_from_slice(&dense.to_le_bytes());
    bytes[40..48].copy_from_slice(&crate::time::now().to_le_bytes());
    let crc = crc32c::crc32c(&bytes[12..]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<([u8; 16], Schema), String> {
    let bytes: &[u8; LENGTH] =
        bytes.try_into().map_err(|_| format!("it is {} bytes long, not {LENGTH}", bytes.len()))?;
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if bytes[..8] != MAGIC {
        return Err("it does not begin like one of Evergraph".into());
    }
    if crc32c::crc32c(&bytes[12..]) != number(8) {
        return Err("its checksum is wrong".into());
    }
    if number(12) != FORMAT {
        return Err(format!("it has format {}, this program knows {FORMAT}", number(12)));
    }
    let unknown = || String::from("it describes what this program does not know");
    let schema = Schema {
        directed: if bytes[32] == 1 { Directed::Yes } else { Directed::No },
        weights: *[Weights::None, Weights::F32, Weights::F64]
            .get(usize::from(bytes[33]))
            .ok_or_else(unknown)?,
        keys: *[KeyKind::Dense, KeyKind::Number, KeyKind::Text]
            .get(usize::from(bytes[34]))
            .ok_or_else(unknown)?,
        self_loops: if bytes[35] == 1 { SelfLoops::Forbidden } else { SelfLoops::Allowed },
        dense: number(36),
    };
    Ok((bytes[16..32].try_into().expect("sixteen bytes"), schema))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        directed: Directed::No,
        weights: Weights::F32,
        keys: KeyKind::Text,
        self_loops: SelfLoops::Forbidden,
        dense: 3,
    };

    #[test]
    fn what_a_database_is_can_be_read_back() {
        let id = new_id();
        assert_eq!(decode(&encode(id, SCHEMA)), Ok((id, SCHEMA)));
        assert_ne!(id, new_id());
    }

    #[test]
    fn checksums_say_whose_file_it_is_and_which() {
        let disk: Arc<dyn Disk> = Arc::new(crate::io::RealDisk);
        let folder = || Folder::unnamed(&disk, Path::new("nowhere"), SCHEMA);
        let (one, other) = (folder(), folder());
        assert_ne!(one.salt(1), one.salt(2));
        assert_ne!(one.salt(1), other.salt(1));
        assert_eq!(one.salt(1), Folder { id: one.id, ..folder() }.salt(1));
    }

    #[test]
    fn any_bit_turned_is_seen() {
        let bytes = encode(new_id(), SCHEMA);
        for bit in 0..8 * LENGTH {
            let mut turned = bytes;
            turned[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&turned).is_err(), "bit {bit}");
        }
        assert!(decode(&bytes[..LENGTH - 1]).is_err());
    }
}
