//! The one way to files: everything that the store reads and writes goes through a [`Disk`].
//!
//! # Contract
//!   - What was written lies on the disk for certain only after [`File::sync`]; the name of a file
//!     only after [`Disk::sync_folder`]. Until then a crash may keep all of it, nothing, or parts.
//!   - A rename is atomic: after a crash a name stands for the old file or for the new one.
//!   - A reader sees what was written before, synced or not.
//!
//! [`RealDisk`] is the file system. Tests put a simulated one in its place, which crashes and fails
//! at every call.

mod real;

use std::fmt::Debug;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use crate::fault::{Fault, planted};

pub use real::RealDisk;

/// A place with folders and files.
pub trait Disk: Debug + Send + Sync {
    /// Makes a file, empty, to be read and written. Fails if there is one of that name.
    fn create(&self, path: &Path) -> Result<Box<dyn File>>;

    /// Opens a file that exists: to be read, and if `write`, to be written.
    fn open(&self, path: &Path, write: bool) -> Result<Box<dyn File>>;

    /// Gives a file another name, in place of the one that had it.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<()>;

    /// The names in a folder, in any order; an error of kind [`ErrorKind::NotFound`] if there is no
    /// such folder.
    fn list(&self, folder: &Path) -> Result<Vec<String>>;

    /// Makes a folder and those above it, unless they exist.
    fn make_folder(&self, folder: &Path) -> Result<()>;

    /// Has the names in a folder lie on the disk for certain.
    fn sync_folder(&self, folder: &Path) -> Result<()>;

    /// Locks a file, made if need be, until the lock is dropped or the process ends: alone, or
    /// with others who want it `shared`. Does not wait.
    fn lock(&self, path: &Path, shared: bool) -> Result<Locking>;
}

/// An open file.
pub trait File: Send + Sync {
    /// Reads at an offset; 0 at the end of the file only.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// Writes at an offset, some of it at least; the file grows as needed.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize>;

    /// How long the file is.
    fn size(&self) -> Result<u64>;

    /// Cuts the file, or lengthens it by zeros.
    fn set_size(&self, size: u64) -> Result<()>;

    /// Has all that was written, and the size, lie on the disk for certain.
    fn sync(&self) -> Result<()>;
}

/// What came of [`Disk::lock`].
#[derive(Debug)]
pub enum Locking {
    /// The caller holds it until it drops this.
    Held(Box<dyn Lock>),
    /// Somebody else holds it: a process, if it said which.
    Busy(Option<u32>),
}

/// A lock that is held; given up when dropped.
pub trait Lock: Debug + Send + Sync {}

impl dyn File + '_ {
    /// Writes all of it.
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, offset) {
                Ok(0) => return Err(Error::new(ErrorKind::WriteZero, "nothing could be written")),
                Ok(written) => {
                    let written = if planted(Fault::HalfWrite) { bytes.len() } else { written };
                    bytes = &bytes[written.min(bytes.len())..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads until the buffer is full or the file ends; how much that was.
    pub fn read_up_to(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.read_at(&mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// All that the file holds from an offset on.
    pub fn read_from(&self, offset: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size()?.saturating_sub(offset) as usize];
        let read = self.read_up_to(&mut bytes, offset)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}
