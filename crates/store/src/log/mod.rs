//! The commit log: what was committed, in order, in files.
//!
//! # Protocol
//!   1. A committer whose changes were checked calls [`Log::append`]: under one lock it takes its
//!      version and puts its record behind those before it. So records lie in the order of versions.
//!   2. Whoever finds that nobody is writing takes what was buffered, writes it as one batch, and
//!      syncs it if the mode wants that; meanwhile others fill the next batch. In the mode `Sync`
//!      that is a committer, for all who wait with it; else the thread of the log.
//!   3. In the mode `Sync` a version becomes visible when it is on the disk, and its commit returns.
//! # Invariants
//!   - L1 Batches are written in the order of their versions, each once.
//!   - L2 `durable` covers a version only after a sync that began after its batch was written.
//!   - L3 After a failed write or sync nothing is written, and nothing acknowledged, any more:
//!     what such a call left on the disk is not known.
//!   - L4 A commit is let in only while the file has zeros for it, so a full disk refuses commits
//!     before they happen.
//! # Checked by
//!   loom: `models::loom_log_*` here; the crash tests of `crates/verify`.

pub(crate) mod frame;
#[cfg(all(test, not(loom)))]
mod mangled;
#[cfg(all(test, loom))]
mod models;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod segment;
pub(crate) mod state;
mod writer;

use std::time::Duration;

use self::frame::HEADER;
use self::recover::End;
use self::writer::Writer;
use crate::epoch::{Clock, Ticket};
use crate::fault::{Fault, planted};
use crate::folder::Folder;
use crate::options::{Durability, LogSizes};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, OnceLock, Ordering, wait_until};
use crate::{Error, Result};

/// Why a commit could not be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The log failed before: nothing happened.
    Before,
    /// The log failed while the commit waited: it may or may not be there after reopening.
    Unknown,
    /// There is no space for it: nothing happened.
    Full,
    /// It takes more bytes than a record may: nothing happened.
    TooLong(usize),
    /// The database is only read.
    ReadOnly,
}

/// A record may be so long.
pub(crate) const RECORD_MAX: usize = 1 << 29;
/// A batch is closed when it is so long.
const BATCH_MAX: usize = 1 << 26;
/// How long a committer waits for space before it looks again.
const SPACE_PAUSE: Duration = Duration::from_millis(20);

/// Records that wait to be written.
#[derive(Debug, Default)]
struct Buffer {
    /// All but the last are full.
    batches: Vec<Pending>,
    bytes: usize,
    /// Memory of a batch that was written.
    spare: Vec<u8>,
}

/// A batch that is being filled: room for the header, then records.
#[derive(Debug)]
struct Pending {
    first: u64,
    count: u32,
    bytes: Vec<u8>,
}

/// The log of an open database.
pub(crate) struct Log {
    durability: Durability,
    sizes: LogSizes,
    buffer: Mutex<Buffer>,
    /// Bytes in the buffer, for those who only want to know whether it is full.
    buffered: AtomicU64,
    /// Somebody put the first record into an empty buffer.
    begun: Condvar,
    /// Whether somebody writes.
    writing: Mutex<bool>,
    /// Somebody stopped writing.
    written: Condvar,
    writer: Mutex<Writer>,
    /// Everything up to here is on the disk for certain.
    durable: AtomicU64,
    /// Everything up to here was handed to the operating system.
    handed_over: AtomicU64,
    /// Why nothing is logged any more. Set once, before the first refusal.
    failure: OnceLock<String>,
    /// Whether there were not enough zeros in the file when somebody last looked.
    full: AtomicBool,
    /// Bytes written since the database was opened.
    bytes: AtomicU64,
}

impl Log {
    /// The log of a database whose last version is `version`, of which the last segment on the
    /// disk is as long as recovery left it.
    pub(crate) fn new(
        folder: Folder,
        version: u64,
        durability: Durability,
        sizes: LogSizes,
    ) -> Self {
        Self {
            durability,
            sizes,
            buffer: Mutex::new(Buffer::default()),
            buffered: AtomicU64::new(0),
            begun: Condvar::new(),
            writing: Mutex::new(false),
            written: Condvar::new(),
            writer: Mutex::new(Writer::new(folder, version, sizes)),
            durable: AtomicU64::new(version),
            handed_over: AtomicU64::new(version),
            failure: OnceLock::new(),
            // No segment is open yet.
            full: AtomicBool::new(true),
            bytes: AtomicU64::new(0),
        }
    }

    /// Everything up to here is on the disk for certain.
    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Everything up to here can be read from the files.
    pub(crate) fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Bytes written since the database was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What went wrong, if the log failed.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// An error if the log failed.
    fn check(&self) -> Result<()> {
        let failed = self.reason().map(|reason| Error::LogFailed { reason: reason.into() });
        failed.map_or(Ok(()), Err)
    }

    /// Where the log ends: the first version of its last segment, and how long that is. Nothing
    /// before this place changes any more.
    pub(crate) fn end(&self) -> End {
        self.writer.lock().end()
    }

    /// When the last batch was written, in microseconds since 1970; 0 if none was.
    pub(crate) fn time(&self) -> u64 {
        self.writer.lock().time()
    }

    /// Waits until something is buffered, for so long at most.
    pub(crate) fn wait_for_records(&self, limit: Duration) {
        let mut buffer = self.buffer.lock();
        if buffer.bytes == 0 {
            self.begun.wait_for(&mut buffer, limit);
        }
    }

    /// Waits until more is handed over than up to a version, for so long at most.
    pub(crate) fn wait_for_write(&self, version: u64, limit: Duration) {
        let mut writing = self.writing.lock();
        // Under the lock under which writers stop writing: none is missed.
        if self.handed_over() <= version {
            self.written.wait_for(&mut writing, limit);
        }
    }

    /// Makes sure that a commit of a record so long can be logged. Called before anything is
    /// latched: it may wait for the disk.
    #[inline]
    pub(crate) fn admit(&self, len: usize) -> Result<(), Stopped> {
        let waits = self.buffered.load(Ordering::Relaxed) > self.sizes.buffer;
        if waits || len > self.sizes.record || self.full.load(Ordering::Relaxed) {
            return self.admit_slowly(len);
        }
        Ok(())
    }

    #[cold]
    fn admit_slowly(&self, len: usize) -> Result<(), Stopped> {
        if planted(Fault::SpaceUnchecked) {
            return Ok(());
        }
        if len > RECORD_MAX {
            return Err(Stopped::TooLong(len));
        }
        while self.buffered.load(Ordering::Relaxed) > self.sizes.buffer {
            self.write(false).map_err(|error| stopped(&error))?;
        }
        let mut writer = self.writer.lock();
        if self.has_failed() {
            return Err(Stopped::Before);
        }
        let reserved = writer.reserve(len as u64 + self.sizes.headroom());
        self.full.store(reserved.is_err(), Ordering::Relaxed);
        reserved.map_err(|error| {
            let stopped = stopped(&error);
            if stopped == Stopped::Before {
                self.fail(&error);
            }
            stopped
        })
    }

    /// Whether nothing is logged any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Takes a version for a record, and puts it behind those before it.
    #[inline(never)]
    pub(crate) fn append<'c>(
        &self,
        clock: &'c Clock,
        record: &[u8],
    ) -> Result<Ticket<'c>, Stopped> {
        loop {
            let mut buffer = self.buffer.lock();
            if self.has_failed() {
                return Err(Stopped::Before);
            }
            // Who waits for room in the ring may wait for the one who needs this lock to write.
            if let Some(ticket) = clock.try_take() {
                self.put(&mut buffer, ticket.version(), record);
                return Ok(ticket);
            }
            drop(buffer);
            wait_until(|| clock.has_room());
        }
    }

    /// As [`Log::append`], unless another version than `last` was taken last.
    pub(crate) fn append_after<'c>(
        &self,
        clock: &'c Clock,
        record: &[u8],
        last: u64,
    ) -> Result<Option<Ticket<'c>>, Stopped> {
        let mut buffer = self.buffer.lock();
        if self.has_failed() {
            return Err(Stopped::Before);
        }
        let ticket = clock.take_after(last);
        if let Some(ticket) = &ticket {
            self.put(&mut buffer, ticket.version(), record);
        }
        Ok(ticket)
    }

    /// Puts a record behind those before it.
    fn put(&self, buffer: &mut Buffer, version: u64, record: &[u8]) {
        if buffer.bytes == 0 {
            self.begun.notify_all();
        }
        buffer.push(version, record);
        self.buffered.store(buffer.bytes as u64, Ordering::Relaxed);
    }

    /// Waits until a version may become visible.
    #[inline]
    pub(crate) fn wait(&self, version: u64) -> Result<(), Stopped> {
        match self.durability {
            Durability::Sync if !planted(Fault::ReturnBeforeSync) => self.wait_for_disk(version),
            _ => Ok(()),
        }
    }

    /// Waits until a version is on the disk, writing it if nobody else does.
    fn wait_for_disk(&self, version: u64) -> Result<(), Stopped> {
        while self.durable() < version {
            match self.write(true) {
                Ok(()) => {}
                Err(Error::DiskFull { .. }) => self.wait_for_write(u64::MAX, SPACE_PAUSE),
                Err(_) if self.durable() >= version => break,
                Err(_) => return Err(Stopped::Unknown),
            }
        }
        Ok(())
    }

    /// Has everything that was appended before the call lie on the disk for certain.
    pub(crate) fn sync(&self, version: u64) -> Result<()> {
        while self.durable() < version {
            self.write(true)?;
        }
        self.check()
    }

    /// Writes what is buffered, or waits until the one who is writing is done. The caller looks
    /// whether that was enough.
    pub(crate) fn write(&self, sync: bool) -> Result<()> {
        let mut writing = self.writing.lock();
        if *writing {
            self.written.wait(&mut writing);
            return self.check();
        }
        *writing = true;
        drop(writing);
        let result = self.write_batches(sync);
        *self.writing.lock() = false;
        self.written.notify_all();
        result
    }

    fn write_batches(&self, sync: bool) -> Result<()> {
        self.check()?;
        let mut writer = self.writer.lock();
        writer.pending.append(&mut self.take());
        let done = writer.write_pending(self.durable()).and_then(|()| {
            self.handed_over.store(writer.version(), Ordering::Release);
            if sync {
                if !planted(Fault::BatchUnsynced) {
                    writer.sync()?;
                }
                self.durable.store(writer.version(), Ordering::Release);
            }
            Ok(())
        });
        self.bytes.store(writer.bytes(), Ordering::Relaxed);
        self.buffer.lock().spare = writer.take_spare();
        match done {
            Err(error @ Error::DiskFull { .. }) => {
                self.full.store(true, Ordering::Relaxed);
                Err(error)
            }
            Err(error) => Err(self.fail(&error)),
            Ok(()) => {
                self.full.store(!writer.has_room(self.sizes.headroom()), Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Notes the first failure; from now on everything is refused (L3).
    fn fail(&self, error: &Error) -> Error {
        if planted(Fault::GoesOnAfterFailure) {
            return error.clone();
        }
        let reason = self.failure.get_or_init(|| error.to_string()).clone();
        // Whoever comes next looks, and hears about it before it meets changes that stay invisible.
        self.full.store(!planted(Fault::FailureTellsLate), Ordering::Release);
        Error::LogFailed { reason }
    }

    fn take(&self) -> Vec<Pending> {
        let mut buffer = self.buffer.lock();
        buffer.bytes = 0;
        self.buffered.store(0, Ordering::Relaxed);
        std::mem::take(&mut buffer.batches)
    }

    /// Writes and syncs the rest, and that the database was closed.
    pub(crate) fn close(&self) -> Result<()> {
        self.write(true)?;
        let mut writer = self.writer.lock();
        writer.close().map_err(|error| self.fail(&error))
    }
}

/// What an error means for a commit that has no version yet.
fn stopped(error: &Error) -> Stopped {
    if matches!(error, Error::DiskFull { .. }) { Stopped::Full } else { Stopped::Before }
}

impl Buffer {
    #[inline]
    fn push(&mut self, version: u64, record: &[u8]) {
        let full = |batch: &Pending| batch.bytes.len() + record.len() > BATCH_MAX;
        if self.batches.last().is_none_or(full) {
            let mut bytes = std::mem::take(&mut self.spare);
            bytes.clear();
            bytes.resize(HEADER, 0);
            self.batches.push(Pending { first: version, count: 0, bytes });
        }
        let batch = self.batches.last_mut().expect("there is one now");
        batch.bytes.extend_from_slice(record);
        batch.count += 1;
        self.bytes += record.len();
    }
}
