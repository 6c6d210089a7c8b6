//! The end of the log: the segment that grows.
//!
//! # Invariants
//!   - The file holds zeros beyond its last batch: a batch is written over them, so it needs no new
//!     space, and its sync moves no end of a file.
//!   - A segment gets its name when its beginning and its zeros are on the disk, and everything
//!     in the one before. While there is no space for it the one before goes on.

use std::path::PathBuf;

use super::Pending;
use super::frame::{HEADER, Header, seal};
use super::recover::End;
use super::segment::{BATCH, CLOSE, START, head};
use crate::fault::{Fault, planted};
use crate::folder::{Folder, disk_error, unfinished};
use crate::io::File;
use crate::options::LogSizes;
use crate::time::now;
use crate::{Error, Result};

/// Zeros are written in pieces of this size.
const ZEROS: usize = 1 << 16;

/// Who writes the log; one at a time.
pub(super) struct Writer {
    folder: Folder,
    sizes: LogSizes,
    segment: Option<Open>,
    /// Batches that were taken from the buffer and are not written yet.
    pub(super) pending: Vec<Pending>,
    /// The last version that was written.
    version: u64,
    /// When the last batch was written; times do not fall.
    time: u64,
    bytes: u64,
    spare: Vec<u8>,
}

/// The segment that grows.
struct Open {
    file: Box<dyn File>,
    path: PathBuf,
    first: u64,
    salt: u32,
    /// Where the next batch goes.
    end: u64,
    /// How long the file is; zeros from `end` on.
    size: u64,
}

/// A segment that has no name yet.
struct Unnamed {
    open: Open,
    unfinished: PathBuf,
}

impl Writer {
    pub(super) fn new(folder: Folder, version: u64, sizes: LogSizes) -> Self {
        Self {
            folder,
            sizes,
            segment: None,
            pending: Vec::new(),
            version,
            time: 0,
            bytes: 0,
            spare: Vec::new(),
        }
    }

    /// The last version that was written.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The first version of the segment that grows, and where its last batch ends. Before one was
    /// made all that begin at or before the last version are whole.
    pub(super) fn end(&self) -> End {
        self.segment.as_ref().map_or((self.version, u64::MAX), |open| (open.first, open.end))
    }

    /// When the last batch was written; 0 if none was.
    pub(super) fn time(&self) -> u64 {
        self.time
    }

    /// Bytes written since the database was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory that a batch was in.
    pub(super) fn take_spare(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Whether so many bytes fit behind the last batch.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.segment.as_ref().is_some_and(|open| open.end + bytes <= open.size)
    }

    /// Makes sure that so many bytes fit behind the last batch.
    pub(super) fn reserve(&mut self, bytes: u64) -> Result<()> {
        if self.segment.is_none() {
            // Batches that wait are the first of the segment.
            let next = self.pending.first().map_or(self.version + 1, |batch| batch.first);
            self.segment = Some(self.make(next, bytes)?.named(&self.folder)?);
        }
        let sizes = self.sizes;
        let open = self.segment.as_mut().expect("it was just made");
        if open.end + bytes <= open.size {
            return Ok(());
        }
        let more = (open.end / 2).min(sizes.segment / 4).max(sizes.growth);
        grow(open, open.end + bytes + more)
    }

    /// Writes what waits, each batch with the time and with what is durable now.
    pub(super) fn write_pending(&mut self, durable: u64) -> Result<()> {
        while !self.pending.is_empty() {
            self.rotate()?;
            let length = self.pending[0].bytes.len() as u64;
            self.reserve(length)?;
            let mut batch = self.pending.remove(0);
            self.time = now().max(self.time);
            let Pending { first, count, .. } = batch;
            let header = Header { first, count, kind: BATCH, durable, time: self.time };
            let open = self.segment.as_mut().expect("space was reserved in it");
            seal(&mut batch.bytes, header, open.salt);
            open.write(&batch.bytes)?;
            self.bytes += length;
            self.version = header.last();
            self.spare = batch.bytes;
        }
        // What comes next should find its space, but need not.
        match self.reserve(self.sizes.headroom()) {
            Err(Error::DiskFull { .. }) => Ok(()),
            reserved => reserved,
        }
    }

    /// Goes on in a new segment if this one is long enough. One that can not be made for lack of
    /// space is made later.
    fn rotate(&mut self) -> Result<()> {
        let Some(open) = self.segment.as_mut().filter(|open| open.end >= self.sizes.segment) else {
            return Ok(());
        };
        if !planted(Fault::LastSegmentUnsynced) {
            open.sync()?;
        }
        let waiting: usize = self.pending.iter().map(|batch| batch.bytes.len()).sum();
        let mut room = waiting as u64 + self.sizes.headroom();
        if planted(Fault::SegmentWithoutSpace) {
            room = 0;
            open.cut()?;
        }
        let next = self.make(self.version + 1, room).and_then(|next| next.named(&self.folder));
        match next {
            Err(Error::DiskFull { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(next) => {
                let last = self.segment.replace(next);
                let last = last.filter(|_| !planted(Fault::LastSegmentUnsynced));
                last.map_or(Ok(()), |mut last| last.cut())
            }
        }
    }

    /// Makes a segment with room for so many bytes, and without a name.
    fn make(&self, first: u64, room: u64) -> Result<Unnamed> {
        let path = self.folder.segment(first);
        let unfinished = unfinished(&path);
        let made = |error| disk_error("make", &path, &error);
        let file = self.folder.begin(&unfinished).map_err(made)?;
        let salt = self.folder.salt(first);
        let open = Open { file, path: path.clone(), first, salt, end: START, size: START };
        let mut unnamed = Unnamed { open, unfinished };
        let begun = unnamed.open.file.write_all_at(&head(self.folder.id), 0).map_err(made);
        let begun = begun.and_then(|()| grow(&mut unnamed.open, START + room));
        let sync = || unnamed.open.file.sync().map_err(made);
        let synced = || if planted(Fault::SegmentNamedUnsynced) { Ok(()) } else { sync() };
        if let Err(error) = begun.and_then(|()| synced()) {
            unnamed.drop(&self.folder);
            return Err(error);
        }
        Ok(unnamed)
    }

    /// Has what was written lie on the disk for certain.
    pub(super) fn sync(&self) -> Result<()> {
        self.segment.as_ref().map_or(Ok(()), Open::sync)
    }

    /// Writes that the database was closed, and gives the space back that was not needed.
    pub(super) fn close(&mut self) -> Result<()> {
        let version = self.version;
        let Some(mut open) = self.segment.take() else { return Ok(()) };
        let mut frame = vec![0; HEADER];
        let header =
            Header { first: version + 1, count: 0, kind: CLOSE, durable: version, time: now() };
        seal(&mut frame, header, open.salt);
        if !planted(Fault::CloseUntold) {
            open.write(&frame)?;
        }
        open.cut()
    }
}

impl Open {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all_at(bytes, self.end);
        // Space was there: that it is full now is a failure like any other.
        written.map_err(|error| failed("write", &self.path, &error))?;
        self.end += bytes.len() as u64;
        self.size = self.size.max(self.end);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|error| failed("sync", &self.path, &error))
    }

    /// Takes the zeros away, and syncs the rest.
    fn cut(&mut self) -> Result<()> {
        let cut = self.file.set_size(self.end);
        cut.map_err(|error| failed("cut", &self.path, &error))?;
        self.size = self.end;
        self.sync()
    }
}

/// The error of a call after which it is not known what is on the disk.
fn failed(action: &'static str, path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::Disk { action, path: path.to_path_buf(), reason: error.to_string() }
}

impl Unnamed {
    /// Gives it its name.
    fn named(self, folder: &Folder) -> Result<Open> {
        let path = &self.open.path;
        if let Err(error) = folder.disk.rename(&self.unfinished, path) {
            let error = disk_error("make", path, &error);
            self.drop(folder);
            return Err(error);
        }
        if planted(Fault::SegmentNameUnsynced) {
            return Ok(self.open);
        }
        match folder.disk.sync_folder(&folder.path) {
            Ok(()) => Ok(self.open),
            // It stays, empty: nothing may follow in the one before.
            Err(error) => Err(failed("sync", &folder.path, &error)),
        }
    }

    /// Takes it away: what stays is removed when the database is opened next.
    fn drop(self, folder: &Folder) {
        let _removed = folder.disk.remove(&self.unfinished);
    }
}

/// Lengthens the file by zeros that are written, so that the space is taken.
fn grow(open: &mut Open, size: u64) -> Result<()> {
    let zeros = vec![0; ZEROS];
    while open.size < size {
        let piece = &zeros[..ZEROS.min((size - open.size) as usize)];
        let written = open.file.write_all_at(piece, open.size);
        written.map_err(|error| disk_error("write", &open.path, &error))?;
        open.size += piece.len() as u64;
    }
    Ok(())
}
