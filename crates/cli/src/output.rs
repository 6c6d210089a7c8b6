//! Where text goes: results to standard output or to a file, everything else to standard error.
//!
//! # Files
//!   A file is written under a name of its own in the same folder and gets its name when it is
//!   complete: whoever looks sees the old file or the new one. What is not a plain file (a pipe, a
//!   device) is written as it is.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Bytes gathered before they go to the system.
const BUFFER_BYTES: usize = 1 << 16;

/// A line for people, on standard error. If nobody can read it, it is lost.
pub(crate) fn note(line: &str) {
    let _lost = writeln!(io::stderr().lock(), "{line}");
}

/// The one line that says why the work failed.
pub(crate) fn error(message: &str) {
    note(&format!("error: {}", message.replace(['\n', '\r'], " ")));
}

/// Text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Text on standard output that is written piece by piece.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::of_stdout(&error))
}

/// A line of a summary.
pub(crate) fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<10}  {text}")
}

/// A result as one object.
pub(crate) fn json(out: &mut dyn Write, object: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, object)?;
    writeln!(out)
}

/// Whether somebody watches standard output.
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Destination {
    /// Fails if the result could not be written there: better before the work than after it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(path) if is_special(path) => Ok(()),
            Self::File(path) => Target::open(path).map(drop),
        }
    }

    /// Writes the result.
    pub(crate) fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self::File(path) = self else { return to_stdout(write) };
        let mut target = Target::open(path)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, target.file());
        let written = write(&mut out).and_then(|()| out.flush());
        drop(out);
        written.map_err(|error| Failure::of_file(path, &error))?;
        target.complete(path)
    }
}

/// A file to write to.
pub(crate) enum Target {
    /// A file that takes the place of another when it is complete. Removed if it never is.
    Replacing { file: NamedTempFile, path: PathBuf },
    /// Something that is not a plain file.
    Direct(File),
}

impl Target {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Self::try_open(path).map_err(|error| Failure::of_file(path, &error))
    }

    fn try_open(path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        if let Some(old) = &old {
            if old.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            // Also where the file itself would not be touched: it may be meant to stay as it is.
            let file = File::options().write(true).open(path)?;
            if !old.is_file() {
                return Ok(Self::Direct(file));
            }
        }
        // What a link leads to is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".evergraph-");
        share(&mut builder);
        let file = builder.tempfile_in(folder)?;
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self::Replacing { file, path })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        match self {
            Self::Replacing { file, .. } => file.as_file_mut(),
            Self::Direct(file) => file,
        }
    }

    /// Gives the file its name.
    pub(crate) fn complete(self, name: &Path) -> Result<(), Failure> {
        match self {
            Self::Direct(_) => Ok(()),
            Self::Replacing { file, path } => {
                let persisted = file.persist(path);
                persisted.map(drop).map_err(|error| Failure::of_file(name, &error.error))
            }
        }
    }
}

/// Whether this is there and neither a file nor a folder.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Lets the file be read by whoever may read a new file of any program; temporary files are private
/// otherwise.
#[cfg(unix)]
fn share(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

/// A new file is what its folder makes it.
#[cfg(not(unix))]
fn share(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> Result<(), Failure> {
        Destination::File(path.to_owned()).write(|out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_only_by_a_complete_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        write(&path, "old").expect("written");
        let failed = Destination::File(path.clone()).write(|out| {
            out.write_all(b"new")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(
            matches!(failed, Err(Failure::Failed(message)) if message.contains("disk is full"))
        );
        assert_eq!(fs::read_to_string(&path).expect("still there"), "old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left");
        write(&path, "new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "new");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |path: PathBuf| match Destination::File(path).check() {
            Err(Failure::Failed(message)) => message,
            other => format!("{other:?}"),
        };
        assert!(check(folder.path().to_owned()).contains("this is a folder"));
        assert!(check(folder.path().join("no/out")).contains("the folder does not exist"));
        assert_eq!(check(folder.path().join("out")), "Ok(())");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write(&link, "new").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");
        write(Path::new("/dev/null"), "anything").expect("written");
    }
}
