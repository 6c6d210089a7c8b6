//! A segment: a file of commits in order, as it is read.
//!
//! # Layout
//! ```text
//!  segment  magic: 8 bytes | format: u32 | zero: u32 | id of the database: 16 bytes | frame .. | zeros
//!  frame    of kind BATCH: count records (log/record.rs), of the versions first, first + 1, ..
//!           of kind CLOSE: empty; the database was closed after `durable`
//! ```
//! # Invariants
//!   - Versions follow each other without a gap, from the one in the name of the file on.
//!   - The beginning of a segment, and all of the one before, are synced before it gets its name.
//!   - What follows the last frame is zeros, or was never acknowledged.

use std::path::Path;

use super::frame::{self, FORMAT, Header};
use crate::fault::{Fault, planted};
use crate::folder::{Folder, corrupt};
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"EVGLOG01";
/// Where frames begin.
pub(crate) const START: u64 = frame::START as u64;

/// Kinds of frames.
pub(crate) const BATCH: u32 = 1;
pub(crate) const CLOSE: u32 = 2;

/// The beginning of a segment.
pub(crate) fn head(id: [u8; 16]) -> [u8; frame::START] {
    frame::head(MAGIC, id)
}

/// A segment in memory.
pub(crate) struct Segment<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) path: &'a Path,
    pub(crate) first: u64,
    pub(crate) bytes: &'a [u8],
    /// Whether no segment follows: only then it may end before it is whole.
    pub(crate) last: bool,
}

/// A batch of commits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) offset: u64,
    pub(crate) header: Header,
    pub(crate) payload: &'a [u8],
}

impl Batch<'_> {
    /// Where its frame ends.
    pub(crate) fn end(&self) -> u64 {
        self.offset + (frame::HEADER + self.payload.len()) as u64
    }
}

/// What is good of a segment.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub(crate) batches: Vec<Batch<'a>>,
    /// Where the good part ends.
    pub(crate) end: u64,
    /// The version that would come next.
    pub(crate) next: u64,
    /// Versions up to this one are on the disk for certain.
    pub(crate) durable: u64,
    /// Whether something that is no frame follows: a crash cut the last writes short.
    pub(crate) torn: bool,
}

impl<'a> Segment<'a> {
    /// The batches, as far as they are good. Damage before the end is an error.
    pub(crate) fn content(&self) -> Result<Content<'a>> {
        let salt = self.folder.salt(self.first);
        let mut content =
            Content { batches: Vec::new(), end: START, next: self.first, durable: 0, torn: false };
        if self.bytes.get(..START as usize) != Some(&head(self.folder.id)[..]) {
            return Err(self.without_head());
        }
        while let Some((header, payload)) = frame::open(&self.bytes[content.end as usize..], salt) {
            let is_known = match header.kind {
                BATCH => header.count > 0,
                CLOSE => header.count == 0 && payload.is_empty(),
                _ => false,
            };
            if header.first != content.next || !is_known {
                return Err(self.corrupt(content.end, "versions do not follow each other"));
            }
            let (offset, count) = (content.end, u64::from(header.count));
            content.end += (frame::HEADER + payload.len()) as u64;
            content.next += count;
            content.durable = content.durable.max(header.durable);
            if header.kind == BATCH {
                content.batches.push(Batch { offset, header, payload });
            }
        }
        content.torn = self.bytes[content.end as usize..].iter().any(|&byte| byte != 0);
        if content.torn {
            self.check_tail(salt, &content)?;
        }
        Ok(content)
    }

    /// The beginning was on the disk before the file got its name: no crash leaves it unfinished.
    fn without_head(&self) -> Error {
        match self.bytes.get(..12) {
            Some(start) if start[..8] == MAGIC && start[8..] != FORMAT.to_le_bytes() => {
                self.corrupt(8, format!("this program knows format {FORMAT}, and not its"))
            }
            Some(start) if start[..8] == MAGIC => {
                self.corrupt(12, "it belongs to another database, or its beginning is damaged")
            }
            _ => self.corrupt(0, "it does not begin like a segment of the log"),
        }
    }

    /// What follows the last good frame was cut short by a crash, or damaged: the latter if no
    /// crash could have left it so.
    fn check_tail(&self, salt: u32, content: &Content<'a>) -> Result<()> {
        if !self.last {
            return Err(self.corrupt(content.end, "a batch of commits is damaged"));
        }
        let mut from = content.end as usize + 1;
        while let Some((at, header)) = self.find_frame(from, salt) {
            if header.durable >= content.next && !planted(Fault::DurableUnread) {
                let reason = format!(
                    "a batch of commits is damaged: versions from {} on were on the disk",
                    content.next
                );
                return Err(self.corrupt(content.end, reason));
            }
            from = at + 1;
        }
        Ok(())
    }

    /// Every batch that can still be read, and where something is that can not.
    pub(crate) fn rest(&self) -> (Vec<Batch<'a>>, Vec<Error>) {
        let salt = self.folder.salt(self.first);
        let (mut batches, mut errors) = (Vec::new(), Vec::new());
        let mut at = START as usize;
        if self.bytes.get(..at) != Some(&head(self.folder.id)[..]) {
            errors.push(self.corrupt(0, "it does not begin like a segment of this database"));
        }
        while at < self.bytes.len() && self.bytes[at..].iter().any(|&byte| byte != 0) {
            if let Some((header, payload)) = frame::open(&self.bytes[at..], salt) {
                if header.kind == BATCH {
                    batches.push(Batch { offset: at as u64, header, payload });
                }
                at += frame::HEADER + payload.len();
                continue;
            }
            errors.push(self.corrupt(at as u64, "a batch of commits is damaged or cut short"));
            at = self.find_frame(at + 1, salt).map_or(self.bytes.len(), |(next, _)| next);
        }
        (batches, errors)
    }

    /// The first whole frame from an offset on, on whatever byte it begins.
    fn find_frame(&self, from: usize, salt: u32) -> Option<(usize, Header)> {
        let plausible = |at: &usize| {
            let Some(header) = self.bytes.get(*at..*at + frame::HEADER) else { return false };
            let kind = header[20];
            (kind == BATCH as u8 || kind == CLOSE as u8) && header[21..24] == [0; 3]
        };
        (from..self.bytes.len())
            .filter(plausible)
            .find_map(|at| frame::open(&self.bytes[at..], salt).map(|(header, _)| (at, header)))
    }

    fn corrupt(&self, offset: u64, reason: impl Into<String>) -> Error {
        corrupt(self.path, offset, reason)
    }
}
