//! The file system of the machine.

use std::fs::{self, OpenOptions, TryLockError};
use std::io::{Read, Result, Seek, Write};
use std::path::Path;

use super::{Disk, File, Lock, Locking};

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

/// The lock; what names its holder is wiped before it ends. It is given up in words: a process that was
/// forked meanwhile has the file as well, and would hold it for as long as it lives.
#[derive(Debug)]
struct RealLock {
    file: fs::File,
    shared: bool,
}

impl Lock for RealLock {}

impl Drop for RealLock {
    fn drop(&mut self) {
        if !self.shared {
            // Without it the next holder may be told under a wrong name, nothing more.
            let _wiped = self.file.set_len(0);
        }
        // The lock ends with the last process that has the file, if not now.
        let _unlocked = self.file.unlock();
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path, write: bool) -> Result<Box<dyn File>> {
        Ok(Box::new(OpenOptions::new().read(true).write(write).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>> {
        let name = |entry: Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(folder)?.map(name).collect()
    }

    fn make_folder(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)
    }

    fn sync_folder(&self, folder: &Path) -> Result<()> {
        fs::File::open(folder)?.sync_all()
    }

    fn lock(&self, path: &Path, shared: bool) -> Result<Locking> {
        // Who may only read the folder can lock the file as well, if it is there.
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = match options {
            Err(_) if shared => fs::File::open(path)?,
            opened => opened?,
        };
        let locked = if shared { file.try_lock_shared() } else { file.try_lock() };
        match locked {
            Ok(()) if shared => {}
            Ok(()) => {
                file.set_len(0)?;
                file.write_all(std::process::id().to_string().as_bytes())?;
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.rewind()?;
                file.read_to_string(&mut holder)?;
                return Ok(Locking::Busy(holder.trim().parse().ok()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(Locking::Held(Box::new(RealLock { file, shared })))
    }
}

impl File for fs::File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    fn size(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.set_len(size)
    }

    fn sync(&self) -> Result<()> {
        self.sync_data()
    }
}
