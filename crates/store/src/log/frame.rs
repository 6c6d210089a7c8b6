//! Frames: pieces of a file that say themselves whether they are whole.
//!
//! # Layout
//!   A file of frames begins with its head, [`START`] bytes.
//! ```text
//!  head     magic: 8 bytes | format: u32 | zero: u32 | id of the database: 16 bytes
//!  header   crc: u32 | length: u32 | first: u64 | count: u32 | kind: u32 | durable: u64 | time: u64
//!  payload  length bytes
//! ```
//!   `crc` is CRC-32C of everything after it, begun with the *salt* of the file, so that a frame of
//!   another file, or of an older one in whose place this one stands, is none. A frame of zeros
//!   is none either.

use std::ops::Range;

/// Bytes of a header.
pub(crate) const HEADER: usize = 40;
/// Where frames begin.
pub(crate) const START: usize = 32;
/// The format of files of frames.
pub(crate) const FORMAT: u32 = 1;
/// Bytes of a payload, at most: a length that is more is none.
pub(crate) const PAYLOAD_MAX: usize = 1 << 30;

/// What a frame says about its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The first version in it; in a checkpoint, the number of the block.
    pub(crate) first: u64,
    /// How many versions, or whatever the payload is made of.
    pub(crate) count: u32,
    pub(crate) kind: u32,
    /// Everything up to this version lay on the disk for certain when the frame was written.
    pub(crate) durable: u64,
    /// When it was written, in microseconds since 1970.
    pub(crate) time: u64,
}

/// The beginning of a file of frames.
pub(crate) fn head(magic: [u8; 8], id: [u8; 16]) -> [u8; START] {
    let mut bytes = [0; START];
    bytes[..8].copy_from_slice(&magic);
    bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[16..].copy_from_slice(&id);
    bytes
}

impl Header {
    /// The versions in it.
    pub(crate) fn versions(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }

    /// The last version in it.
    pub(crate) fn last(&self) -> u64 {
        self.versions().end.saturating_sub(1)
    }
}

/// Writes the header in front of the payload: `bytes` is room for the header, then the payload.
pub(crate) fn seal(bytes: &mut [u8], header: Header, salt: u32) {
    let length = bytes.len() - HEADER;
    assert!(length <= PAYLOAD_MAX, "a payload was cut before it became so long");
    let Header { first, count, kind, durable, time } = header;
    bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[8..16].copy_from_slice(&first.to_le_bytes());
    bytes[16..20].copy_from_slice(&count.to_le_bytes());
    bytes[20..24].copy_from_slice(&kind.to_le_bytes());
    bytes[24..32].copy_from_slice(&durable.to_le_bytes());
    bytes[32..40].copy_from_slice(&time.to_le_bytes());
    let crc = crc32c::crc32c_append(salt, &bytes[4..]);
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
}

/// The frame at the start of `bytes`, if there is a whole one.
pub(crate) fn open(bytes: &[u8], salt: u32) -> Option<(Header, &[u8])> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
    let length = number(4) as usize;
    if length > PAYLOAD_MAX || length > rest.len() || header.iter().all(|&byte| byte == 0) {
        return None;
    }
    let payload = &rest[..length];
    if crc32c::crc32c_append(salt, &bytes[4..HEADER + length]) != number(0) {
        return None;
    }
    let (first, durable, time) = (long(8), long(24), long(32));
    Some((Header { first, count: number(16), kind: number(20), durable, time }, payload))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const HERE: Header = Header { first: 7, count: 2, kind: 1, durable: 6, time: 99 };

    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes.extend_from_slice(payload);
        seal(&mut bytes, HERE, 5);
        bytes
    }

    #[test]
    fn a_frame_is_read_back() {
        let mut bytes = frame(b"payload");
        bytes.extend_from_slice(b"what follows");
        assert_eq!(open(&bytes, 5), Some((HERE, &b"payload"[..])));
    }

    #[test]
    fn a_frame_with_any_bit_turned_or_cut_short_is_none() {
        let bytes = frame(b"payload");
        for bit in 0..8 * bytes.len() {
            let mut turned = bytes.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&turned, 5), None, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(open(&bytes[..len], 5), None, "{len} bytes");
        }
    }

    #[test]
    fn a_frame_of_another_file_and_zeros_are_none() {
        assert_eq!(open(&frame(b"payload"), 6), None);
        assert_eq!(open(&[0; 100], 0), None);
    }
}
