//! The files of a database, counted: how much there is, and how far back it tells.

use crate::folder::{Folder, Numbered};
use crate::{Result, Version};

/// What [`crate::Database::files`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Files {
    /// Files of the log.
    pub segments: usize,
    /// Their bytes, what is spare at the end of the last one among them.
    pub segment_bytes: u64,
    /// Checkpoints.
    pub checkpoints: usize,
    /// Their bytes.
    pub checkpoint_bytes: u64,
    /// The oldest version that [`crate::Database::snapshot_at`] can show.
    pub oldest: Version,
    /// The version after which [`crate::Database::changes`] can begin.
    pub changes_after: Version,
}

/// Counts the files of a database whose newest version is `newest`.
pub(crate) fn count(folder: &Folder, newest: u64) -> Result<Files> {
    let listing = folder.list()?;
    let bytes =
        |files: &[Numbered]| files.iter().map(|file| folder.size(&file.path)).sum::<Result<u64>>();
    let first = listing.segments.first().map_or(newest + 1, |file| file.version);
    // The log begins with the first commit, or goes on from a checkpoint.
    let mut versions = listing.checkpoints.iter().map(|file| file.version);
    let oldest = if first == 1 { Some(0) } else { versions.find(|version| first <= version + 1) };
    Ok(Files {
        segments: listing.segments.len(),
        segment_bytes: bytes(&listing.segments)?,
        checkpoints: listing.checkpoints.len(),
        checkpoint_bytes: bytes(&listing.checkpoints)?,
        oldest: Version(oldest.unwrap_or(newest)),
        changes_after: Version(first - 1),
    })
}
