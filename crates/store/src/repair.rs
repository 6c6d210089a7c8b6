//! Looking at the files of a database, and saving what is good of damaged ones.

use std::ops::ControlFlow::Continue;
use std::path::Path;
use std::sync::Arc;

use crate::folder::{self, Folder, Numbered, corrupt};
use crate::io::{Disk, RealDisk};
use crate::log::recover::{Until, recover};
use crate::log::segment::Segment;
use crate::log::state::State;
use crate::options::Keep;
use crate::{Database, Error, Result, Version, checkpoint, retention};

/// What [`check`] found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The newest version.
    pub version: Version,
    /// Vertices of that version.
    pub vertices: u64,
    /// Edges of that version, each once.
    pub edges: u64,
    /// Files of the log.
    pub segments: usize,
    /// Checkpoints.
    pub checkpoints: usize,
    /// What is wrong; empty if nothing is.
    pub problems: Vec<Error>,
}

/// What [`salvage`] saved.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Salvaged {
    /// The last version of which something was saved.
    pub version: Version,
    /// Vertices that were saved.
    pub vertices: u64,
    /// Edges that were saved, each once.
    pub edges: u64,
    /// Versions that were skipped because their commits are damaged: the first of each gap, and
    /// the version after it.
    pub gaps: Vec<(Version, Version)>,
    /// Edges that had to be left out, because an end of them was lost.
    pub dangling: u64,
    /// What is wrong with the files.
    pub problems: Vec<Error>,
}

/// Reads every file of a database, every checkpoint and every commit, and checks every invariant of
/// the graph they come to. Changes nothing; nobody may have the database open to write.
///
/// An error says that nothing could be looked at; what was found wrong is in
/// [`Checked::problems`].
pub fn check(path: impl AsRef<Path>) -> Result<Checked> {
    check_on(Arc::new(RealDisk), path)
}

/// As [`check`], on another disk than that of the machine.
pub fn check_on(disk: Arc<dyn Disk>, path: impl AsRef<Path>) -> Result<Checked> {
    let path = path.as_ref();
    let folder = Folder::existing(&disk, path)?;
    let lock = folder::lock(&*disk, path, true)?;
    let listing = folder.list()?;
    let mut checked = Checked {
        segments: listing.segments.len(),
        checkpoints: listing.checkpoints.len(),
        ..Checked::default()
    };
    for file in &listing.checkpoints {
        checked.problems.extend(checkpoint::read(&folder, &file.path, file.version).err());
    }
    each_segment(&folder, &listing.segments, |segment| {
        checked.problems.extend(segment.content().err());
    })?;
    let opened = retention::read(&folder)
        .and_then(|_| recover(&folder, Until::End, None, &mut |_, _| Continue(())));
    if let Err(error) = opened {
        if !checked.problems.contains(&error) {
            checked.problems.push(error);
        }
        return Ok(checked);
    }
    drop(lock);
    let db = Database::options().open_read_only_on(disk, path)?;
    let stats = db.stats();
    checked.problems.extend(db.check().err().map(|reason| corrupt(path, 0, reason)));
    Ok(Checked { version: stats.version, vertices: stats.vertices, edges: stats.edges, ..checked })
}

/// Makes a new database in `to` of what can still be read in `from`, which is left as it is: the
/// newest good checkpoint and every good commit after it. Commits behind a damaged one are applied
/// as well; what they did to vertices that were lost is left out.
pub fn salvage(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Salvaged> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    salvage_on(&disk, from, to)
}

/// As [`salvage`], on another disk than that of the machine.
pub fn salvage_on(
    disk: &Arc<dyn Disk>,
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
) -> Result<Salvaged> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let folder = Folder::existing(disk, from)?;
    let _lock = folder::lock(&**disk, from, true)?;
    let (mut state, mut saved) = read_good(&folder)?;
    state.settle(&mut || Ok(()))?;
    saved.dangling = state.drop_dangling();
    saved.version = Version(state.version);
    (saved.vertices, saved.edges) = (state.vertices.count(), state.edges.len() as u64);
    disk.make_folder(to).map_err(|error| folder::disk_error("make", to, &error))?;
    let _new = folder::lock(&**disk, to, false)?;
    if Folder::find(disk, to)?.is_some() {
        return Err(Error::Exists { path: to.to_path_buf() });
    }
    // The database is there when its checkpoint is.
    let new = Folder::unnamed(disk, to, folder.schema);
    let keep = retention::read(&folder).unwrap_or_else(|error| {
        saved.problems.push(error);
        Keep::Nothing
    });
    retention::write(&new, keep)?;
    if state.version > 0 {
        checkpoint::write(&new, state.version, state.time, &state)?;
    }
    new.name()?;
    Ok(saved)
}

/// What is good of the files.
fn read_good(folder: &Folder) -> Result<(State, Salvaged)> {
    let listing = folder.list()?;
    let (state, problems) = checkpoint::newest(folder, &listing.checkpoints);
    let mut saved = Salvaged { problems, ..Salvaged::default() };
    let mut state = state.unwrap_or_else(|| State::initial(folder.schema));
    each_segment(folder, &listing.segments, |segment| {
        let (batches, problems) = segment.rest();
        saved.problems.extend(problems);
        for batch in batches {
            let first = batch.header.first;
            if first > state.version + 1 {
                saved.gaps.push((Version(state.version + 1), Version(first)));
            }
            if let Err(malformed) = state.take(&batch, u64::MAX) {
                saved.problems.push(corrupt(segment.path, batch.offset, malformed.0));
            }
        }
    })?;
    Ok((state, saved))
}

/// Reads one segment after the other.
fn each_segment(
    folder: &Folder,
    files: &[Numbered],
    mut take: impl FnMut(&Segment<'_>),
) -> Result<()> {
    for (at, Numbered { version, path }) in files.iter().enumerate() {
        let bytes = folder.read(path)?;
        let last = at + 1 == files.len();
        take(&Segment { folder, path, first: *version, bytes: &bytes, last });
    }
    Ok(())
}
