//! Opening a file: is it there, how is it compressed, and counting what is read of it.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::error::ReadError;
use crate::progress::{Progress, Stage, Status};

/// Bytes asked of the system at once.
const READ_BYTES: usize = 1 << 16;
/// Most memory an `.xz` dictionary may take, in KiB: what `xz -9` needs, and room.
const XZ_MEMORY_KIB: u32 = 1 << 18;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// `.gz`, of one or many members.
    Gzip,
    /// `.zst`, of one or many frames.
    Zstd,
    /// `.xz`, of one or many streams.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        })
    }
}

/// Extensions of archives and compressions that are recognised in order to refuse them.
pub(crate) const ARCHIVES: [&str; 12] =
    ["bz2", "zip", "lz4", "7z", "rar", "br", "lzma", "z", "tar", "tgz", "lz", "sz"];

/// The extension in lower case.
pub(crate) fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// The path without the extension of a compression, and that compression.
pub(crate) fn strip_compression(path: &Path) -> (PathBuf, Option<Compression>) {
    let compression = match extension(path).as_deref() {
        Some("gz") => Compression::Gzip,
        Some("zst" | "zstd") => Compression::Zstd,
        Some("xz") => Compression::Xz,
        _ => return (path.to_owned(), None),
    };
    (path.with_extension(""), Some(compression))
}

/// Counts what is read of all files of one graph, for the progress of the whole.
///
/// The counters are `Relaxed`: they are statistics, and one thread reads.
pub(crate) struct Meter<'p> {
    progress: &'p dyn Progress,
    /// What reading is called: a second look at a file is part of arranging.
    reading: Stage,
    total: Option<u64>,
    bytes: AtomicU64,
    lines: AtomicU64,
    /// Set when the system failed to read, as opposed to a decoder that disliked what it read.
    system_failed: AtomicBool,
}

impl<'p> Meter<'p> {
    /// A meter for these files.
    pub(crate) fn new<'f>(
        progress: &'p dyn Progress,
        files: impl IntoIterator<Item = &'f Path>,
    ) -> Arc<Self> {
        let length = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let total = files.into_iter().map(|path| length(path).map(|metadata| metadata.len())).sum();
        Arc::new(Self {
            progress,
            reading: Stage::Reading,
            total,
            bytes: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            system_failed: AtomicBool::new(false),
        })
    }

    /// A meter for reading a file once more, to find a line or to settle what a first look left
    /// open.
    pub(crate) fn second_look(&self) -> Arc<Self> {
        Arc::new(Self {
            progress: self.progress,
            reading: Stage::Arranging,
            total: None,
            bytes: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            system_failed: AtomicBool::new(false),
        })
    }

    /// Compressed bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lines read so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Reports that `lines` more lines were read.
    pub(crate) fn tick(&self, lines: u64) -> Result<(), ReadError> {
        self.lines.fetch_add(lines, Ordering::Relaxed);
        self.report(self.reading)
    }

    /// Reports the stage.
    pub(crate) fn report(&self, stage: Stage) -> Result<(), ReadError> {
        let reading = stage == Stage::Reading;
        let status = Status {
            stage,
            done: if reading { self.bytes() } else { 0 },
            total: self.total.filter(|_| reading),
            lines: self.lines(),
        };
        match self.progress.tick(&status) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ReadError::Cancelled),
        }
    }

    pub(crate) fn system_failed(&self) -> bool {
        self.system_failed.load(Ordering::Relaxed)
    }
}

/// Text, decompressed where need be.
pub(crate) struct Input<'p> {
    pub(crate) text: Box<dyn Read + Send + 'p>,
    pub(crate) compression: Option<Compression>,
    /// The length of the file as it is, if it has one.
    pub(crate) file_bytes: Option<u64>,
}

/// Opens a file. Fails on one without a single byte.
pub(crate) fn open<'p>(path: &Path, meter: &Arc<Meter<'p>>) -> Result<Input<'p>, ReadError> {
    let failed = |source: io::Error| open_error(path, source);
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(ReadError::IsDirectory { path: path.to_owned() });
    }
    if metadata.is_file() && metadata.len() == 0 {
        return Err(ReadError::Empty { path: path.to_owned(), what: "the file is empty" });
    }
    let compression = strip_compression(path).1;
    if compression.is_none()
        && let Some(extension) = extension(path).filter(|name| ARCHIVES.contains(&name.as_str()))
    {
        return Err(ReadError::UnknownCompression {
            path: path.to_owned(),
            extension: format!(".{extension}"),
        });
    }
    let file = File::open(path).map_err(failed)?;
    let mut input = decompress(Counted::new(file, meter), compression);
    input.file_bytes = metadata.is_file().then_some(metadata.len());
    Ok(input)
}

/// Text from a stream that is no file, as it comes.
pub(crate) fn stream<'p>(stream: impl Read + Send + 'p, meter: &Arc<Meter<'p>>) -> Input<'p> {
    decompress(Counted::new(stream, meter), None)
}

fn decompress<'p, R: Read + Send + 'p>(
    counted: Counted<'p, R>,
    compression: Option<Compression>,
) -> Input<'p> {
    let text: Box<dyn Read + Send + 'p> = match compression {
        None => Box::new(counted),
        Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(buffered(counted))),
        Some(Compression::Zstd) => Box::new(ZstdFrames::new(buffered(counted))),
        Some(Compression::Xz) => {
            Box::new(XzReader::new_mem_limit(buffered(counted), true, XZ_MEMORY_KIB))
        }
    };
    Input { text, compression, file_bytes: None }
}

fn buffered<R: Read>(inner: R) -> BufReader<R> {
    BufReader::with_capacity(READ_BYTES, inner)
}

fn open_error(path: &Path, source: io::Error) -> ReadError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound { path },
        io::ErrorKind::PermissionDenied => ReadError::NotPermitted { path },
        _ => ReadError::Io { path, source },
    }
}

/// Whether the error, or one it comes from, says that the data ended too early.
pub(crate) fn is_early_end(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            if io.kind() == io::ErrorKind::UnexpectedEof {
                return true;
            }
            // The source of an `io::Error` skips the error it wraps.
            cause = io.get_ref().map(|inner| inner as &(dyn Error + 'static));
        } else {
            cause = error.source();
        }
    }
    false
}

/// A reader that reports to a meter.
struct Counted<'p, R> {
    inner: R,
    meter: Arc<Meter<'p>>,
}

impl<'p, R> Counted<'p, R> {
    fn new(inner: R, meter: &Arc<Meter<'p>>) -> Self {
        Self { inner, meter: Arc::clone(meter) }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.meter.system_failed.store(true, Ordering::Relaxed);
            }
        })?;
        self.meter.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The content of all zstd frames of a stream, one after the other, with their checksums compared.
struct ZstdFrames<R> {
    inner: R,
    decoder: FrameDecoder,
    /// Whether the decoder is in the middle of a frame.
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(inner: R) -> Self {
        Self { inner, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Begins the next frame; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.inner.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.inner) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = (&mut self.inner).take(u64::from(length));
                    if io::copy(&mut { skipped }, &mut io::sink())? < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    fn check_sum(&self) -> io::Result<()> {
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the checksum of a frame does not match",
            ));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.in_frame = true;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                self.check_sum()?;
                self.in_frame = false;
            } else {
                self.decoder
                    .decode_blocks(&mut self.inner, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_keep_their_meaning() {
        let message = |kind: io::ErrorKind| open_error(Path::new("g.el"), kind.into()).to_string();
        assert_eq!(message(io::ErrorKind::NotFound), "g.el: no such file");
        assert_eq!(
            message(io::ErrorKind::PermissionDenied),
            "g.el: no permission to read this file"
        );
        let other = open_error(Path::new("g.el"), io::Error::other("the disk is on fire"));
        assert_eq!(other.to_string(), "g.el: cannot read: the disk is on fire");
    }

    /// Fails like a disk, after some bytes.
    struct Failing(&'static [u8]);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is on fire")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_failing_disk_is_not_taken_for_damaged_data() {
        let meter = Meter::new(&(), []);
        let mut text = stream(Failing(b"1 2\n"), &meter).text;
        let mut content = Vec::new();
        assert!(text.read_to_end(&mut content).is_err());
        assert!(meter.system_failed());
        assert_eq!((content.as_slice(), meter.bytes()), (&b"1 2\n"[..], 4));
    }

    #[test]
    fn an_early_end_is_found_behind_other_errors() {
        let early = io::Error::from(io::ErrorKind::UnexpectedEof);
        let wrapped = io::Error::other(io::Error::other(early));
        assert!(is_early_end(&wrapped));
        assert!(!is_early_end(&io::Error::other(io::Error::other("damaged"))));
    }

    #[test]
    fn compressions_are_told_by_the_extension() {
        let strip = |name: &str| {
            let (inner, compression) = strip_compression(Path::new(name));
            (inner.to_str().expect("text").to_owned(), compression)
        };
        assert_eq!(strip("a.b/g.el.GZ"), ("a.b/g.el".to_owned(), Some(Compression::Gzip)));
        assert_eq!(strip("g.zst"), ("g".to_owned(), Some(Compression::Zstd)));
        assert_eq!(strip("a/g.el"), ("a/g.el".to_owned(), None));
    }
}
