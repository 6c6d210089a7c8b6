//! Compressing what is written, by the extension of a name.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::read::Compression;
use crate::read::input::strip_compression;

/// Text that becomes one zstd frame: large enough to find what repeats.
const FRAME_BYTES: usize = 4 << 20;
/// The `xz` preset. Text of random numbers gains a sixth from the higher ones, in ten times the
/// time.
const XZ_PRESET: u32 = 1;

/// A writer that compresses.
pub struct Encoder<W: Write> {
    form: Form<W>,
}

enum Form<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd(Frames<W>),
    Xz(Box<XzWriter<W>>),
}

/// Writes a zstd frame for every few megabytes; a file of many frames is one file to every reader.
struct Frames<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// Compresses as the extension of `name` says: `.gz`, `.zst`, `.xz`, or not at all.
    pub fn new(out: W, name: &Path) -> io::Result<Self> {
        Self::with(out, strip_compression(name).1)
    }

    /// Compresses as asked.
    pub fn with(out: W, compression: Option<Compression>) -> io::Result<Self> {
        let form = match compression {
            None => Form::Plain(out),
            Some(Compression::Gzip) => {
                Form::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Zstd) => Form::Zstd(Frames { out, buffer: Vec::new() }),
            Some(Compression::Xz) => {
                let options = XzOptions::with_preset(XZ_PRESET);
                Form::Xz(Box::new(XzWriter::new(out, options)?))
            }
        };
        Ok(Self { form })
    }

    /// Ends the compressed stream and gives the writer back. Without this a compressed file is
    /// cut short.
    pub fn finish(self) -> io::Result<W> {
        match self.form {
            Form::Plain(out) => Ok(out),
            Form::Gzip(encoder) => encoder.finish(),
            Form::Zstd(mut frames) => {
                // An empty file still needs a frame to be a zstd file.
                frames.end_frame()?;
                Ok(frames.out)
            }
            Form::Xz(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Frames<W> {
    fn end_frame(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(&self.buffer[..], CompressionLevel::Fastest);
        self.buffer.clear();
        self.out.write_all(&frame)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.form {
            Form::Plain(out) => out.write(bytes),
            Form::Gzip(encoder) => encoder.write(bytes),
            Form::Zstd(frames) => {
                if frames.buffer.len() >= FRAME_BYTES {
                    frames.end_frame()?;
                }
                frames.buffer.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Form::Xz(encoder) => encoder.write(bytes),
        }
    }

    /// Passes on what is compressed so far; a frame that is not full is kept back.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Plain(out) => out.flush(),
            Form::Gzip(encoder) => encoder.flush(),
            Form::Zstd(frames) => frames.out.flush(),
            Form::Xz(encoder) => encoder.flush(),
        }
    }
}

impl<W: Write> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compression = match &self.form {
            Form::Plain(_) => None,
            Form::Gzip(_) => Some(Compression::Gzip),
            Form::Zstd(_) => Some(Compression::Zstd),
            Form::Xz(_) => Some(Compression::Xz),
        };
        f.debug_struct("Encoder").field("compression", &compression).finish_non_exhaustive()
    }
}
