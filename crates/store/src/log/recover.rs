//! What the files of a database come to: the newest good checkpoint, and the commits after it.
//!
//! # Invariants
//!   - Nothing is changed here; [`Recovered::repair`] cuts what a crash left unfinished, and may be
//!     interrupted and run again at any point.
//!   - After the repair everything that was found is on the disk for certain, whatever the process
//!     before had synced when it ended: later commits stand on it.
//!   - Every commit from the checkpoint to the end is there; a gap is damage.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::segment::{Batch, Content, START, Segment};
use super::state::State;
use crate::fault::{Fault, planted};
use crate::folder::{Folder, Numbered, corrupt, disk_error};
use crate::io::File;
use crate::{Error, Result, Version, checkpoint};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    End,
    Version(u64),
    /// The last version that was written at or before this time, in microseconds since 1970.
    Time(u64),
}

/// Where a log ends that grows meanwhile: the first version of its last segment, and how long
/// that is.
pub(crate) type End = (u64, u64);

/// Hears how many bytes of how many were read, and may ask to stop.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// What was found.
pub(crate) struct Recovered {
    pub(crate) state: State,
    /// The version of the checkpoint that it began with; 0 if with none.
    pub(crate) checkpoint: u64,
    /// How long its file is.
    pub(crate) checkpoint_bytes: u64,
    /// Bytes of the commits since.
    pub(crate) log_bytes: u64,
    /// The first version that the files still tell about.
    pub(crate) oldest: u64,
    tail: Option<Tail>,
    unfinished: Vec<PathBuf>,
}

/// The last segment, which the next one follows.
struct Tail {
    path: PathBuf,
    good: Good,
}

/// What is good of the last segment.
#[derive(Clone, Copy, Debug, Default)]
struct Good {
    /// How long that is; 0 if there is no commit.
    end: u64,
    /// What lies before is on the disk for certain.
    certain: u64,
}

/// Reads the graph as it was at the end, or before.
///
/// `end` is where a log ends that is being written.
pub(crate) fn recover(
    folder: &Folder,
    until: Until,
    end: Option<End>,
    progress: Progress<'_>,
) -> Result<Recovered> {
    let mut listing = folder.list()?;
    if let Some((last, _)) = end {
        listing.segments.retain(|segment| segment.version <= last);
    }
    let mut damaged = None;
    let mut state = None;
    let limit = if let Until::Version(version) = until { version } else { u64::MAX };
    for file in listing.checkpoints.iter().rev().filter(|file| file.version <= limit) {
        match checkpoint::read(folder, &file.path, file.version) {
            Ok(found) if matches!(until, Until::Time(time) if found.time > time) => {}
            Ok(found) => {
                state = Some(found);
                break;
            }
            // An older one will do if the log goes on from there, as far as this one went.
            Err(error @ Error::Corrupt { .. }) => damaged = damaged.or(Some((file.version, error))),
            Err(error) => return Err(error),
        }
    }
    let mut state = state.unwrap_or_else(|| State::initial(folder.schema));
    let checkpoint = state.version;
    let at = listing.segments.partition_point(|segment| segment.version <= state.version + 1);
    let needed = &listing.segments[at.saturating_sub(1)..];
    // Without a log the newest checkpoint is the first that is left.
    let after = |file: &Numbered| Numbered { version: file.version + 1, ..file.clone() };
    let begin = needed.first().cloned().or_else(|| listing.checkpoints.last().map(after));
    let gap = begin.filter(|file| file.version > state.version + 1);
    if let Some(gap) = gap {
        let missing = || missing(&gap, state.version + 1, until);
        return Err(damaged.map_or_else(missing, |(_, error)| error));
    }
    let mut reading =
        Reading { folder, until, grown: end, progress, done: 0, total: 0, good: Good::default() };
    let read = reading.read(needed, &mut state);
    if let Some((version, error)) = damaged
        && !matches!(until, Until::Time(_))
        && !matches!(read, Err(Error::Cancelled))
        && state.version < version
        && !planted(Fault::DamagedPassedOver)
    {
        return Err(error);
    }
    read?;
    state.settle(&mut || reading.heard())?;
    if let Some(last) = needed.last()
        && !state.is_whole()
    {
        return Err(corrupt(&last.path, 0, "with its commits an edge ends where no vertex is"));
    }
    let oldest = listing.segments.first().map_or(state.version + 1, |segment| segment.version);
    let log_bytes = reading.done;
    let tail = needed.last().map(|file| Tail { path: file.path.clone(), good: reading.good });
    let unfinished = listing.unfinished;
    let checkpoint_bytes = size_of_checkpoint(folder, checkpoint)?;
    Ok(Recovered { state, checkpoint, checkpoint_bytes, log_bytes, oldest, tail, unfinished })
}

fn size_of_checkpoint(folder: &Folder, version: u64) -> Result<u64> {
    if version == 0 {
        return Ok(0);
    }
    folder.size(&folder.checkpoint(version))
}

/// The error about commits that no file holds any more.
fn missing(first: &Numbered, wanted: u64, until: Until) -> Error {
    match until {
        Until::End => {
            corrupt(&first.path, 0, format!("the commits from version {wanted} on are missing"))
        }
        Until::Version(_) | Until::Time(_) => {
            Error::PositionTooOld { oldest: Version(first.version.saturating_sub(1)) }
        }
    }
}

/// Segments that are being read.
struct Reading<'a, 'p> {
    folder: &'a Folder,
    until: Until,
    grown: Option<End>,
    progress: Progress<'p>,
    done: u64,
    total: u64,
    /// Of the last segment that was read.
    good: Good,
}

impl Reading<'_, '_> {
    fn read(&mut self, segments: &[Numbered], state: &mut State) -> Result<()> {
        for segment in segments {
            self.total += self.folder.size(&segment.path)?;
        }
        self.heard()?;
        for (at, file) in segments.iter().enumerate() {
            let next = segments.get(at + 1);
            let mut bytes = self.folder.read(&file.path)?;
            if let Some((_, end)) = self.grown.filter(|&(first, _)| first == file.version) {
                bytes.truncate(end as usize);
            }
            let (folder, path, first) = (self.folder, &file.path, file.version);
            let segment = Segment { folder, path, first, bytes: &bytes, last: next.is_none() };
            let content = segment.content()?;
            self.good = good(&content);
            if !self.take(file, &content, state)? {
                break;
            }
            if let Some(next) = next.filter(|next| next.version != content.next) {
                return Err(missing(next, content.next, self.until));
            }
        }
        Ok(())
    }

    /// Tells how far it is; an error if it is to stop.
    fn heard(&mut self) -> Result<()> {
        match (self.progress)(self.done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }

    /// Takes a segment in; false if that was far enough.
    fn take(&mut self, file: &Numbered, content: &Content<'_>, state: &mut State) -> Result<bool> {
        for batch in &content.batches {
            let length = batch.payload.len() as u64;
            self.done += length;
            self.heard()?;
            let limit = match self.until {
                Until::Version(version) => version,
                Until::Time(time) if batch.header.time > time => return Ok(false),
                Until::End | Until::Time(_) => u64::MAX,
            };
            let taken = state.take(batch, limit);
            taken.map_err(|malformed| corrupt(&file.path, batch.offset, malformed.0))?;
            if state.version >= limit {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Recovered {
    /// Takes away what a crash left unfinished, so that new commits can follow the last good one.
    pub(crate) fn repair(&mut self, folder: &Folder) -> Result<()> {
        // The last process may have ended before it synced the names it gave.
        if !planted(Fault::FoundNamesUnsynced) {
            folder.sync()?;
        }
        folder.remove_all(self.unfinished.iter())?;
        let Some(Tail { path, good }) = &self.tail else { return Ok(()) };
        let file = folder.disk.open(path, true);
        if good.end == 0 {
            let wiped = file.and_then(|file| wipe(&*file));
            wiped.map_err(|error| disk_error("wipe", path, &error))?;
            return folder.remove_all(std::iter::once(path));
        }
        let repaired = file.and_then(|file| repair_tail(&*file, *good));
        repaired.map_err(|error| disk_error("repair", path, &error))
    }
}

fn good(content: &Content<'_>) -> Good {
    let Some(last) = content.batches.last() else { return Good::default() };
    let uncertain = |batch: &&Batch<'_>| batch.header.last() > content.durable;
    let uncertain = content.batches.iter().find(uncertain).map(|batch| batch.offset);
    // That it was closed was written after the last sync that is known of.
    Good { end: content.end, certain: uncertain.unwrap_or_else(|| last.end()) }
}

/// Overwrites what a file holds behind its beginning. The next one has the same name, so the same
/// checksums: should it get the same place on the disk, what was there must not pass for its own.
fn wipe(file: &dyn File) -> io::Result<()> {
    if planted(Fault::UnwipedSegment) {
        return Ok(());
    }
    let zeros = vec![0; file.size()?.saturating_sub(START) as usize];
    file.write_all_at(&zeros, START)?;
    file.sync()
}

/// Writes once more what may not be on the disk, although it could be read: after a sync that
/// failed the system may take it for written. Cuts what a crash left unfinished.
fn repair_tail(file: &dyn File, good: Good) -> io::Result<()> {
    let Good { end, certain } = good;
    let mut bytes = vec![0; (end - certain) as usize];
    let read = file.read_up_to(&mut bytes, certain)?;
    if !planted(Fault::FoundUnwritten) {
        file.write_all_at(&bytes[..read], certain)?;
    }
    if !planted(Fault::TailUncut) {
        file.set_size(end)?;
    }
    if planted(Fault::FoundUnsynced) { Ok(()) } else { file.sync() }
}
