//! Lines of text, put together in a buffer: numbers, keys, weights.

use std::io::{self, Write};

use super::WriteError;
use crate::key::KeyRef;

/// Bytes gathered before they are passed on.
const BUFFER_BYTES: usize = 1 << 16;
/// Most digits of a 64-bit number.
const DIGITS_MAX: usize = 20;
/// Weights from here to [`PLAIN_WEIGHT_MAX`] are written without an exponent.
const PLAIN_WEIGHT_MIN: f64 = 1e-5;
/// See [`PLAIN_WEIGHT_MIN`].
const PLAIN_WEIGHT_MAX: f64 = 1e16;

/// Writes lines to `out`.
pub(crate) struct Text<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Text<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, buffer: Vec::with_capacity(2 * BUFFER_BYTES) }
    }

    /// A whole line.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        self.buffer.extend_from_slice(line.as_bytes());
        self.end_line()
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        let mut digits = [0; DIGITS_MAX];
        let mut start = DIGITS_MAX;
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.buffer.extend_from_slice(&digits[start..]);
    }

    /// The shortest digits that are read back as the same number.
    pub(crate) fn weight(&mut self, weight: f64) {
        let size = weight.abs();
        let written = if size == 0.0 || (PLAIN_WEIGHT_MIN..PLAIN_WEIGHT_MAX).contains(&size) {
            write!(self.buffer, "{weight}")
        } else {
            write!(self.buffer, "{weight:e}")
        };
        written.expect("writing to memory does not fail");
    }

    /// A key, in double quotes if it would be cut or taken for a comment without them.
    pub(crate) fn key(&mut self, key: KeyRef<'_>) -> Result<(), WriteError> {
        let text = match key {
            KeyRef::Number(number) => {
                self.number(number);
                return Ok(());
            }
            KeyRef::Text(text) => text,
        };
        if text.contains(['\n', '\0']) {
            return Err(WriteError::Key { key: text.to_owned() });
        }
        let cuts = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'"');
        let quotes = text.is_empty() || text.starts_with(['#', '%']) || text.bytes().any(cuts);
        if quotes {
            self.byte(b'"');
            self.buffer.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.byte(b'"');
        } else {
            self.buffer.extend_from_slice(text.as_bytes());
        }
        Ok(())
    }

    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.byte(b'\n');
        if self.buffer.len() >= BUFFER_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Passes on what is left.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&self.buffer)?;
        Ok(self.out)
    }
}
