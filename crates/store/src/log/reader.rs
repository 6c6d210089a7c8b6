//! Reads the log in pieces, while it grows: for whoever follows it.
//!
//! # Invariants
//!   - Versions come in order, without a gap, each once.
//!   - A frame is taken when it is whole; one that is not is not there yet.
//!   - A piece is read under the lock of the files; between two pieces segments may be removed. A
//!     reader that needs one of those hears [`Error::PositionTooOld`].

use std::ops::Range;
use std::path::PathBuf;

use super::frame::{self, HEADER, Header};
use super::record::{Malformed, Source};
use super::recover::End;
use super::segment::{BATCH, START, Segment};
use crate::folder::{Folder, Numbered, corrupt, disk_error};
use crate::{Error, Result, Version};

/// Bytes of a piece, unless a batch is longer.
const PIECE: usize = 1 << 22;

/// A place in the log.
#[derive(Debug)]
pub(crate) struct Reader {
    folder: Folder,
    /// The version that comes next.
    next: u64,
    segment: Option<Place>,
}

/// Where in which segment the next batch begins.
#[derive(Debug)]
struct Place {
    first: u64,
    path: PathBuf,
    offset: u64,
}

/// Some whole batches, side by side.
#[derive(Debug)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    path: PathBuf,
    batches: Vec<Found>,
}

impl Reader {
    /// A reader of the commits after a version.
    pub(crate) fn new(folder: Folder, after: u64) -> Self {
        Self { folder, next: after + 1, segment: None }
    }

    /// The last version that was passed on.
    pub(crate) fn position(&self) -> u64 {
        self.next - 1
    }

    /// Has the next piece be looked for in whatever file holds it now.
    pub(crate) fn lose_place(&mut self) {
        self.segment = None;
    }

    /// What is wrong with the segment, if the next batch can not be read for another reason than
    /// that it is not written yet. The writer may be in the middle of it: the caller looks again.
    pub(crate) fn damage(&self) -> Result<Option<Error>> {
        let Some(Place { first, path, offset }) = &self.segment else { return Ok(None) };
        let segments = self.folder.list()?.segments;
        let next = segments.iter().find(|file| file.version > *first);
        let mut begun = [0; HEADER];
        let opened = self.folder.disk.open(path, false);
        let looked = opened.and_then(|file| file.read_up_to(&mut begun, *offset));
        looked.map_err(|error| disk_error("read", path, &error))?;
        if next.is_none() && begun == [0; HEADER] {
            return Ok(None);
        }
        let bytes = self.folder.read(path)?;
        let segment = Segment {
            folder: &self.folder,
            path,
            first: *first,
            bytes: &bytes,
            last: next.is_none(),
        };
        let damage = segment.content().err();
        Ok(damage.or(next.filter(|next| next.version > self.next).map(|next| {
            let gap = format!("versions {} to {} are missing", self.next, next.version);
            corrupt(&next.path, 0, gap)
        })))
    }

    /// The next batches; none if there are none yet. `end` is where the log ends, if this program is
    /// the one that writes it.
    pub(crate) fn piece(&mut self, end: Option<End>) -> Result<Option<Piece>> {
        loop {
            if self.segment.is_none() && !self.find(end)? {
                return Ok(None);
            }
            if let Some(piece) = self.read(end)? {
                return Ok(Some(piece));
            }
            // The segment may have been followed by another one.
            let Some(place) = self.segment.take() else { return Ok(None) };
            if !self.find(end)? || self.segment.as_ref().is_some_and(|now| now.first == place.first)
            {
                self.segment = Some(place);
                // Where it is not known where the log ends, more may be there by now.
                return end.map_or(Ok(()), |end| self.check_for_gap(end)).map(|()| None);
            }
        }
    }

    /// Finds the segment with the next version; false if there is none yet.
    fn find(&mut self, end: Option<End>) -> Result<bool> {
        let segments = self.folder.list()?.segments;
        let grown = |file: &&Numbered| end.is_none_or(|(last, _)| file.version <= last);
        let Some(oldest) = segments.first() else { return Ok(false) };
        if oldest.version > self.next {
            return Err(Error::PositionTooOld { oldest: Version(oldest.version - 1) });
        }
        let file = segments.iter().filter(grown).rfind(|file| file.version <= self.next);
        self.segment =
            file.map(|file| Place { first: file.version, path: file.path.clone(), offset: START });
        Ok(self.segment.is_some())
    }

    /// An error if later commits are there, but not those that come next: for a while nothing was
    /// written down.
    fn check_for_gap(&self, (last, _): End) -> Result<()> {
        let segments = self.folder.list()?.segments;
        let later = segments.iter().find(|file| (self.next + 1..=last).contains(&file.version));
        let gap = later.map(|file| Error::PositionTooOld { oldest: Version(file.version - 1) });
        gap.map_or(Ok(()), Err)
    }

    /// Reads on in the segment; none if nothing whole is there.
    fn read(&mut self, end: Option<End>) -> Result<Option<Piece>> {
        let Some(place) = &mut self.segment else { return Ok(None) };
        let opened = self.folder.disk.open(&place.path, false);
        let file = opened.map_err(|error| disk_error("open", &place.path, &error))?;
        let size = file.size().map_err(|error| disk_error("open", &place.path, &error))?;
        let size = end.filter(|end| end.0 == place.first).map_or(size, |(_, end)| end.min(size));
        let salt = self.folder.salt(place.first);
        let mut length = PIECE;
        loop {
            let left = size.saturating_sub(place.offset) as usize;
            let mut bytes = vec![0; length.min(left)];
            let read = file.read_up_to(&mut bytes, place.offset);
            bytes.truncate(read.map_err(|error| disk_error("read", &place.path, &error))?);
            let (batches, used) = batches(&bytes, self.next, place.offset, salt);
            if used == 0 && length < left {
                length = left.min(4 * length);
                continue;
            }
            place.offset += used as u64;
            let Some(last) = batches.last() else {
                if used == 0 {
                    return Ok(None);
                }
                continue; // older ones
            };
            self.next = last.header.versions().end;
            return Ok(Some(Piece { bytes, path: place.path.clone(), batches }));
        }
    }
}

/// A batch in a piece.
#[derive(Debug)]
struct Found {
    header: Header,
    /// Where its payload lies there.
    payload: Range<usize>,
    /// Where its frame begins in the file.
    offset: u64,
}

/// The batches at the start of the bytes that have `next` or later versions, and how many bytes there
/// are up to the end of the last batch. What comes behind, that the log was closed, is not passed
/// over: whoever opens the database again writes there, or makes a new file of that name.
fn batches(bytes: &[u8], next: u64, offset: u64, salt: u32) -> (Vec<Found>, usize) {
    let mut batches = Vec::new();
    let (mut at, mut used) = (0, 0);
    while let Some((header, payload)) = frame::open(&bytes[at..], salt) {
        let start = at + HEADER;
        let payload = start..start + payload.len();
        let offset = offset + at as u64;
        at = payload.end;
        if header.kind == BATCH {
            used = at;
            if header.versions().end > next {
                batches.push(Found { header, payload, offset });
            }
        }
    }
    (batches, used)
}

impl Piece {
    /// Passes every commit on: its version, when it was written, and its items.
    pub(crate) fn each(
        &self,
        shape: super::record::Shape,
        mut take: impl FnMut(u64, u64, &mut Source<'_>) -> Result<(), Malformed>,
    ) -> Result<()> {
        for Found { header, payload, offset } in &self.batches {
            let mut source = Source::new(&self.bytes[payload.clone()], shape);
            let taken =
                header.versions().try_for_each(|version| take(version, header.time, &mut source));
            taken.map_err(|malformed| corrupt(&self.path, *offset, malformed.0))?;
        }
        Ok(())
    }
}
