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

use super::segment::{Batch, Content, Segment};
use super::state::State;
use crate::folder::{Folder, Listing, Numbered, corrupt, disk_error};
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
    let abandoned = match end {
        None => drop_headless(folder, &mut listing)?,
        Some((last, _)) => {
            listing.segments.retain(|segment| segment.version <= last);
            None
        }
    };
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
            // An older one will do if the log reaches back to it.
            Err(error) => damaged = damaged.or(Some(error)),
        }
    }
    let mut state = state.unwrap_or_else(|| State::initial(folder.schema));
    let checkpoint = state.version;
    let at = listing.segments.partition_point(|segment| segment.version <= state.version + 1);
    let needed = &listing.segments[at.saturating_sub(1)..];
    let begin = needed.first().or(listing.checkpoints.last());
    let gap = begin.filter(|file| file.version > state.version + 1);
    if let Some(gap) = gap {
        return Err(damaged.unwrap_or_else(|| missing(gap, state.version + 1, until)));
    }
    let mut reading =
        Reading { folder, until, grown: end, progress, done: 0, total: 0, good: Good::default() };
    reading.read(needed, &mut state)?;
    state.settle();
    let oldest = listing.segments.first().map_or(state.version + 1, |segment| segment.version);
    let log_bytes = reading.done;
    let tail = needed.last().map(|file| Tail { path: file.path.clone(), good: reading.good });
    let unfinished = listing.unfinished.into_iter().chain(abandoned).collect();
    let checkpoint_bytes = size_of_checkpoint(folder, checkpoint)?;
    Ok(Recovered { state, checkpoint, checkpoint_bytes, log_bytes, oldest, tail, unfinished })
}

fn size_of_checkpoint(folder: &Folder, version: u64) -> Result<u64> {
    if version == 0 {
        return Ok(0);
    }
    let path = folder.checkpoint(version);
    let size = folder.disk.open(&path, false).and_then(|file| file.size());
    size.map_err(|error| disk_error("open", &path, &error))
}

/// The error about commits that no file holds any more.
fn missing(first: &Numbered, wanted: u64, until: Until) -> Error {
    match until {
        Until::End => {
            corrupt(&first.path, 0, format!("the commits from version {wanted} on are missing"))
        }
        Until::Version(_) | Until::Time(_) => {
            Error::PositionTooOld { oldest: Version(first.version) }
        }
    }
}

/// Leaves out a last segment that was only begun to be made: a crash came, or there was no space.
fn drop_headless(folder: &Folder, listing: &mut Listing) -> Result<Option<PathBuf>> {
    let Some(last) = listing.segments.last() else { return Ok(None) };
    let bytes = read(folder, last)?;
    let segment =
        Segment { folder, path: &last.path, first: last.version, bytes: &bytes, last: true };
    let begun = segment.content()?.end > 0;
    Ok(if begun { None } else { listing.segments.pop().map(|last| last.path) })
}

/// All bytes of a segment.
pub(crate) fn read(folder: &Folder, file: &Numbered) -> Result<Vec<u8>> {
    let opened = folder.disk.open(&file.path, false);
    let opened = opened.map_err(|error| disk_error("open", &file.path, &error))?;
    opened.read_from(0).map_err(|error| disk_error("read", &file.path, &error))
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
            let file = self.folder.disk.open(&segment.path, false);
            let size = file.and_then(|file| file.size());
            self.total += size.map_err(|error| disk_error("open", &segment.path, &error))?;
        }
        for (at, file) in segments.iter().enumerate() {
            let next = segments.get(at + 1);
            let mut bytes = read(self.folder, file)?;
            if let Some((_, end)) = self.grown.filter(|&(first, _)| first == file.version) {
                bytes.truncate(end as usize);
            }
            let (folder, path, first) = (self.folder, &file.path, file.version);
            let segment = Segment { folder, path, first, bytes: &bytes, last: next.is_none() };
            let content = segment.content()?;
            if let Some(next) = next.filter(|next| next.version != content.next) {
                let gap = format!("versions {} to {} are missing", content.next, next.version);
                return Err(corrupt(&next.path, 0, gap));
            }
            self.good = good(&content);
            if !self.take(file, &content, state)? {
                break;
            }
        }
        Ok(())
    }

    /// Takes a segment in; false if that was far enough.
    fn take(&mut self, file: &Numbered, content: &Content<'_>, state: &mut State) -> Result<bool> {
        for batch in &content.batches {
            let length = batch.payload.len() as u64;
            self.done += length;
            if (self.progress)(self.done, self.total).is_break() {
                return Err(Error::Cancelled);
            }
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
        folder.sync()?;
        folder.remove_all(self.unfinished.iter())?;
        let Some(Tail { path, good }) = &self.tail else { return Ok(()) };
        if good.end == 0 {
            return folder.remove_all(std::iter::once(path));
        }
        let file = folder.disk.open(path, true);
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

/// Writes once more what may not be on the disk, although it could be read: after a sync that
/// failed the system may take it for written. Cuts what a crash left unfinished.
fn repair_tail(file: &dyn File, good: Good) -> io::Result<()> {
    let Good { end, certain } = good;
    let mut bytes = vec![0; (end - certain) as usize];
    let read = file.read_up_to(&mut bytes, certain)?;
    file.write_all_at(&bytes[..read], certain)?;
    file.set_size(end)?;
    file.sync()
}
