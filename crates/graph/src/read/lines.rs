//! The lines of a text file, one after the other, in one reused buffer.
//!
//! # Layout
//!   `[ consumed | current line | read ahead: next .. filled | free ]`: a line never leaves the
//!   buffer; the part read ahead moves to the front when the buffer is filled again.

use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::{Place, ReadError};
use super::input::{Compression, Input, Meter, is_early_end, open, stream};

/// Longest line. A METIS row of two million neighbours fits; a file without line ends does not
/// take the memory of the machine.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;
/// Bytes the buffer starts with: fits a second-level cache.
const BUFFER_BYTES: usize = 256 << 10;
/// How many bytes of text one compressed byte may become. Edge lists compress less than
/// a hundredfold.
const EXPANSION_MAX: u64 = 1000;
/// Text below this size is never refused for its expansion.
const EXPANSION_FREE_BYTES: u64 = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// First bytes of files that are not text, and what they are.
const SIGNATURES: [(&[u8], &str); 7] = [
    (b"\x1f\x8b", "gzip data; give the file a name that ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "zstd data; give the file a name that ends in .zst"),
    (b"\xfd7zXZ\0", "xz data; give the file a name that ends in .xz"),
    (b"BZh", "bzip2 data; decompress the file first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"\xff\xfe", "UTF-16 text; convert the file to UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert the file to UTF-8"),
];

/// A line of a file, cheap to pass on.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a Arc<Path>,
    pub(crate) line: u64,
}

impl At<'_> {
    pub(crate) fn place(self) -> Place {
        Place { path: Arc::clone(self.path), line: self.line }
    }

    /// An error for a line that does not follow its format.
    #[cold]
    pub(crate) fn malformed(self, problem: impl Into<String>) -> ReadError {
        ReadError::Malformed { at: self.place(), problem: problem.into() }
    }
}

/// Reads a file line by line.
pub(crate) struct Lines<'p> {
    text: Box<dyn Read + Send + 'p>,
    path: Arc<Path>,
    compression: Option<Compression>,
    file_bytes: Option<u64>,
    meter: Arc<Meter<'p>>,
    /// What the meter had counted when this file was opened.
    bytes_before: u64,
    text_bytes: u64,
    buffer: Vec<u8>,
    line: Range<usize>,
    /// Where the text after the current line starts.
    next: usize,
    /// No line ends in `next .. scanned`.
    scanned: usize,
    filled: usize,
    ended: bool,
    number: u64,
    reported: u64,
}

impl<'p> Lines<'p> {
    /// Opens a file; the name says how it is compressed.
    pub(crate) fn open(path: &Path, meter: &Arc<Meter<'p>>) -> Result<Self, ReadError> {
        let mut lines = Self::new(open(path, meter)?, path, meter);
        lines.refill()?;
        lines.check_start()?;
        Ok(lines)
    }

    /// Opens a file for a second look. A pipe has only one: opening it again would wait for ever.
    pub(crate) fn open_again(path: &Path, meter: &Meter<'p>) -> Result<Self, ReadError> {
        if !path.is_file() {
            let at = Place { path: path.into(), line: 0 };
            let problem =
                "this has to be read twice, and a pipe cannot be; save it to a file first";
            return Err(ReadError::Malformed { at, problem: problem.to_owned() });
        }
        Self::open(path, &meter.second_look())
    }

    /// Reads a stream that is not compressed. `name` stands for it in messages.
    pub(crate) fn stream(
        text: impl Read + Send + 'p,
        name: &Path,
        meter: &Arc<Meter<'p>>,
    ) -> Result<Self, ReadError> {
        let mut lines = Self::new(stream(text, meter), name, meter);
        lines.refill()?;
        lines.check_start()?;
        Ok(lines)
    }

    fn new(input: Input<'p>, path: &Path, meter: &Arc<Meter<'p>>) -> Self {
        Self {
            text: input.text,
            path: path.into(),
            compression: input.compression,
            file_bytes: input.file_bytes,
            meter: Arc::clone(meter),
            bytes_before: meter.bytes(),
            text_bytes: 0,
            buffer: vec![0; BUFFER_BYTES],
            line: 0..0,
            next: 0,
            scanned: 0,
            filled: 0,
            ended: false,
            number: 0,
            reported: 0,
        }
    }

    /// Goes to the next line; false at the end of the file.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            if let Some(length) = find_newline(&self.buffer[self.scanned..self.filled]) {
                let end = self.scanned + length;
                self.take_line(end, end + 1);
                return Ok(true);
            }
            self.scanned = self.filled;
            if self.ended {
                if self.next == self.filled {
                    self.line = self.next..self.next;
                    return Ok(false);
                }
                self.take_line(self.filled, self.filled);
                return Ok(true);
            }
            self.refill()?;
        }
    }

    #[inline]
    fn take_line(&mut self, end: usize, next: usize) {
        let returned = end > self.next && self.buffer[end - 1] == b'\r';
        self.line = self.next..end - usize::from(returned);
        self.next = next;
        self.scanned = next;
        self.number += 1;
    }

    /// Goes to the next line that is neither blank nor a comment; false at the end of the file.
    #[inline]
    pub(crate) fn advance_past(&mut self, comments: &[u8]) -> Result<bool, ReadError> {
        while self.advance()? {
            match self.line().iter().find(|byte| !is_blank(**byte)) {
                Some(first) if !comments.contains(first) => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    /// The current line, without its end.
    #[inline]
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// Where the current line is.
    #[inline]
    pub(crate) fn at(&self) -> At<'_> {
        self.at_line(self.number)
    }

    /// Another line of this file.
    #[inline]
    pub(crate) fn at_line(&self, line: u64) -> At<'_> {
        At { path: &self.path, line }
    }

    pub(crate) fn meter(&self) -> &Arc<Meter<'p>> {
        &self.meter
    }

    /// The most text this file can hold, as far as its length tells.
    pub(crate) fn text_bytes_max(&self) -> Option<u64> {
        let factor = self.compression.map_or(1, |_| EXPANSION_MAX);
        let text = self.file_bytes?.saturating_mul(factor);
        Some(text.max(if factor > 1 { EXPANSION_FREE_BYTES } else { 0 }))
    }

    fn refill(&mut self) -> Result<(), ReadError> {
        let unread = self.filled - self.next;
        if unread > MAX_LINE_BYTES {
            let at = self.at_line(self.number + 1).place();
            return Err(ReadError::LineTooLong { at });
        }
        if self.next > 0 {
            self.buffer.copy_within(self.next..self.filled, 0);
            self.scanned -= self.next;
            (self.next, self.filled) = (0, unread);
            self.line = 0..0;
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(2 * self.filled, 0);
        }
        let read = loop {
            match self.text.read(&mut self.buffer[self.filled..]) {
                Ok(read) => break read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.read_error(error)),
            }
        };
        self.filled += read;
        self.text_bytes += read as u64;
        self.ended = read == 0;
        let lines = self.number - self.reported;
        self.reported = self.number;
        self.meter.tick(lines)?;
        self.check_expansion()
    }

    /// Refuses what is no text and passes over a byte order mark. Needs the first refill, which
    /// holds less than the mark only if the file does or if it comes from a slow stream.
    fn check_start(&mut self) -> Result<(), ReadError> {
        while self.filled < BYTE_ORDER_MARK.len() && !self.ended {
            self.refill()?;
        }
        let start = &self.buffer[..self.filled];
        if let Some((_, what)) =
            SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature))
        {
            return Err(self.at_line(1).malformed(format!("this is {what}")));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            (self.next, self.scanned) = (BYTE_ORDER_MARK.len(), BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    fn check_expansion(&self) -> Result<(), ReadError> {
        let compressed = self.meter.bytes() - self.bytes_before;
        let limit = compressed.saturating_mul(EXPANSION_MAX).max(EXPANSION_FREE_BYTES);
        if self.compression.is_some() && self.text_bytes > limit {
            return Err(ReadError::Expansion { at: self.at().place(), limit: EXPANSION_MAX });
        }
        Ok(())
    }

    #[cold]
    fn read_error(&self, source: std::io::Error) -> ReadError {
        let at = self.at().place();
        match self.compression {
            Some(compression) if !self.meter.system_failed() => {
                if is_early_end(&source) {
                    ReadError::Truncated { at, compression }
                } else {
                    ReadError::Corrupt { at, compression, source }
                }
            }
            _ => ReadError::Io { path: self.path.to_path_buf(), source },
        }
    }
}

/// Whether the byte is space that separates words within a line.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The place of the first line feed, eight bytes at a time.
///
/// A byte of `differing` is zero where there is a line feed; subtracting one from each byte
/// borrows into the high bit of the first such byte, and of none before it.
#[inline]
fn find_newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let differing = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\n'));
        let found = differing.wrapping_sub(ONES) & !differing & HIGHS;
        if found != 0 {
            return Some(8 * i + found.trailing_zeros() as usize / 8);
        }
    }
    let place = rest.iter().position(|&byte| byte == b'\n')?;
    Some(8 * words.len() + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(text: &[u8]) -> Vec<(u64, String)> {
        let meter = Meter::new(&(), []);
        let mut lines = Lines::stream(text, Path::new("text"), &meter).expect("text");
        let mut all = Vec::new();
        while lines.advance().expect("text") {
            all.push((lines.at().line, String::from_utf8_lossy(lines.line()).into_owned()));
        }
        all
    }

    #[test]
    fn lines_are_numbered_and_lose_their_ends() {
        let lines = collect(b"\xef\xbb\xbfone\r\n\ntwo\r\r\n\r\nlast");
        let expected = [(1, "one"), (2, ""), (3, "two\r"), (4, ""), (5, "last")];
        let expected = expected.map(|(number, line)| (number, line.to_owned()));
        assert_eq!(lines, expected);
        assert_eq!(collect(b""), []);
        assert_eq!(collect(b"\n"), [(1, String::new())]);
    }

    #[test]
    fn lines_longer_than_the_buffer_stay_whole() {
        let long = vec![b'x'; 3 * BUFFER_BYTES + 5];
        let text = [b"a\n", &long[..], b"\nb\n"].concat();
        let lines = collect(&text);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1].1.len(), long.len());
        assert_eq!(lines[2], (3, "b".to_owned()));
    }

    #[test]
    fn a_line_without_end_is_refused_by_its_number() {
        let text = std::io::Read::chain(&b"a\n"[..], std::io::repeat(b'x'));
        let meter = Meter::new(&(), []);
        let mut lines = Lines::stream(text, Path::new("endless"), &meter).expect("opens");
        assert!(lines.advance().expect("first line"));
        let error = lines.advance().expect_err("too long").to_string();
        assert!(error.starts_with("endless:2: the line is longer than 16 MiB"), "{error}");
    }

    #[test]
    fn the_newline_is_found_at_every_place() {
        for length in 0..40 {
            for place in 0..length {
                let mut bytes = vec![0x0b_u8; length];
                bytes[place] = b'\n';
                bytes[length - 1] = b'\n';
                assert_eq!(find_newline(&bytes), Some(place));
            }
            assert_eq!(find_newline(&vec![0x8a; length]), None);
        }
    }
}
