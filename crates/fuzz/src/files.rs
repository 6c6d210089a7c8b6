//! Files of databases: an input is what stands in the frames of one, and gets checksums that fit.
//!
//! # Layout
//! ```text
//!  input  kind of database: u8 | frame ..
//!  frame  length of the payload: u16 | count: u8 | kind: u8 | payload
//! ```
//!   `first` of a frame goes on from the frame before, as it must; the rest of the head of a frame is
//!   what a writer would say.
//! # Limits
//!   Ids are held below 2^16, unless they are none: opening takes memory for every id up to the
//!   largest, and a graph may have 2^32.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use evergraph::graph::Key;
use evergraph::{Database, Options, Service, StoreError, Weights};
use tempfile::TempDir;

/// Bytes of the head of a file, and of that of a frame.
const HEAD: usize = 32;
const FRAME: usize = 40;

/// Kinds of frames of the log.
const BATCH: u8 = 1;
/// Kinds of frames of a checkpoint.
const VERTICES: u8 = 1;
const RANGES: u8 = 2;
const EDGES: u8 = 3;

/// The version of the checkpoints.
const VERSION: u64 = 3;

/// Databases of four kinds, of which only `DATABASE` is needed.
struct Folders {
    _scratch: TempDir,
    paths: Vec<PathBuf>,
}

fn options(kind: usize) -> Options {
    let options = Database::options().service(Service::Manual);
    match kind {
        0 => options,
        1 => options.text_keys().undirected().weights(Weights::F64),
        2 => options.dense_keys(4).weights(Weights::F32),
        _ => options.undirected().dense_keys(0),
    }
}

impl Folders {
    const KINDS: usize = 4;

    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = |kind: usize| scratch.path().join(kind.to_string());
        let paths: Vec<PathBuf> = (0..Self::KINDS).map(path).collect();
        for (kind, path) in paths.iter().enumerate() {
            drop(options(kind).open(path).expect("a new database"));
            clear(path);
        }
        Self { _scratch: scratch, paths }
    }

    fn get() -> &'static Self {
        static FOLDERS: OnceLock<Folders> = OnceLock::new();
        FOLDERS.get_or_init(Self::new)
    }
}

/// Removes all files but the one that says what the database is.
fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name != "DATABASE") {
            fs::remove_file(path).expect("it is there");
        }
    }
}

/// Opens a database whose log is the input.
///
/// # Panics
/// If that does harm.
pub fn log(bytes: &[u8]) {
    try_file(bytes, *b"EVGLOG01", "log-00000000000000000001.evl", 1);
}

/// Opens a database whose checkpoint is the input.
///
/// # Panics
/// If that does harm.
pub fn checkpoint(bytes: &[u8]) {
    try_file(bytes, *b"EVGCKP01", &format!("checkpoint-{VERSION:020}.evc"), VERSION);
}

fn try_file(bytes: &[u8], magic: [u8; 8], name: &str, version: u64) {
    let Some((&kind, frames)) = bytes.split_first() else { return };
    let kind = usize::from(kind) % Folders::KINDS;
    let folder = &Folders::get().paths[kind];
    let shape = Shape::of(kind);
    let database = fs::read(folder.join("DATABASE")).expect("it is there");
    let id = &database[16..32];
    let mut file = [&magic[..], &1u32.to_le_bytes(), &0u32.to_le_bytes(), id].concat();
    let is_log = magic == *b"EVGLOG01";
    seal(&mut file, frames, (is_log, version), shape, id);
    fs::write(folder.join(name), file).expect("room for a file");
    look(folder, kind);
    clear(folder);
}

/// Opens a database, and goes on with it if that was possible.
fn look(folder: &Path, kind: usize) {
    let db = match options(kind).open(folder) {
        Ok(db) => db,
        Err(StoreError::Corrupt { .. }) => return,
        Err(error) => panic!("{error:?}"),
    };
    db.check().expect("what was opened is sound");
    let new = if kind == 1 { Key::Text("new".into()) } else { Key::Number(70_000) };
    let added = db.transaction(0, |tx| tx.add_vertex(&new));
    assert!(added.is_ok() || db.snapshot().is_ok_and(|now| now.has_vertex(&new) == Ok(true)));
    let (version, edges) = (db.version(), db.stats().edges);
    db.close().expect("it closes");
    let again = options(kind).open(folder).expect("it opens again");
    assert_eq!((again.version(), again.stats().edges), (version, edges));
}

/// How long keys and weights are.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of a key; none for texts, which say so themselves.
    key: Option<usize>,
    weight: usize,
}

impl Shape {
    fn of(kind: usize) -> Self {
        let (key, weight) = [(Some(8), 0), (None, 8), (Some(0), 4), (Some(0), 0)][kind];
        Self { key, weight }
    }
}

/// Appends the frames of an input, each with a head and a checksum.
fn seal(
    file: &mut Vec<u8>,
    mut input: &[u8],
    (is_log, version): (bool, u64),
    shape: Shape,
    id: &[u8],
) {
    let salt = crc32c::crc32c_append(crc32c::crc32c(id), &version.to_le_bytes());
    debug_assert_eq!(file.len(), HEAD);
    let mut first = u64::from(is_log);
    while let Some((&[low, high, count, kind], rest)) = input.split_first_chunk::<4>() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (payload, left) = rest.split_at(length);
        input = left;
        let mut payload = payload.to_vec();
        hold_ids(&mut payload, (is_log, kind, count), shape);
        let durable = if is_log { first - 1 } else { version };
        let mut frame = vec![0; 4];
        frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        frame.extend_from_slice(&first.to_le_bytes());
        frame.extend_from_slice(&u32::from(count).to_le_bytes());
        frame.extend_from_slice(&u32::from(kind).to_le_bytes());
        frame.extend_from_slice(&durable.to_le_bytes());
        frame.extend_from_slice(&1_000_000u64.to_le_bytes());
        debug_assert_eq!(frame.len(), FRAME);
        frame.extend_from_slice(&payload);
        let crc = crc32c::crc32c_append(salt, &frame[4..]);
        frame[..4].copy_from_slice(&crc.to_le_bytes());
        file.extend_from_slice(&frame);
        first += if is_log { u64::from(count) } else { 1 };
    }
}

/// Takes the upper half of all ids in a payload away, as far as it can be read.
fn hold_ids(payload: &mut [u8], (is_log, kind, count): (bool, u8, u8), shape: Shape) {
    let mut cursor = Cursor { payload, at: 0, shape };
    for _ in 0..count {
        let read = match (is_log, kind) {
            (true, BATCH) => cursor.record(),
            (false, VERTICES) => {
                cursor.ids(1).and_then(|()| cursor.skip(1)).and_then(|()| cursor.key())
            }
            // A range is an id and a length, which is to be small as well.
            (false, RANGES) => cursor.ids(2),
            (false, EDGES) => cursor.ids(2).and_then(|()| cursor.skip(shape.weight)),
            _ => None,
        };
        if read.is_none() {
            return;
        }
    }
}

/// Reads a payload as the store does.
struct Cursor<'a> {
    payload: &'a mut [u8],
    at: usize,
    shape: Shape,
}

impl Cursor<'_> {
    fn skip(&mut self, length: usize) -> Option<()> {
        self.at = self.at.checked_add(length).filter(|&at| at <= self.payload.len())?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.payload.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Ids that no vertex can have, which begin with 0xff, are left as they are.
    fn ids(&mut self, count: usize) -> Option<()> {
        for _ in 0..count {
            let id = self.payload.get_mut(self.at..self.at + 4)?;
            if id != [0xff; 4] {
                id[2..].fill(0);
            }
            self.at += 4;
        }
        Some(())
    }

    fn key(&mut self) -> Option<()> {
        let length = match self.shape.key {
            Some(length) => length,
            None => usize::try_from(self.varint()?).ok()?,
        };
        self.skip(length)
    }

    fn record(&mut self) -> Option<()> {
        for _ in 0..self.varint()? {
            match self.byte()? {
                0 => self.ids(1).and_then(|()| self.key())?,
                1 => self.ids(1)?,
                2 | 3 => self.ids(2).and_then(|()| self.skip(self.shape.weight))?,
                4 => self.ids(2)?,
                5 => {
                    let length = self.payload.get(self.at..self.at + 4)?;
                    let length = u32::from_le_bytes(length.try_into().ok()?);
                    self.skip(12)?;
                    self.skip(length as usize)?;
                }
                _ => return None,
            }
        }
        Some(())
    }
}
