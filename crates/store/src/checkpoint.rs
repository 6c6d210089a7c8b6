//! A checkpoint: a file with the whole graph at one version.
//!
//! # Layout
//! ```text
//!  checkpoint  magic: 8 bytes | format: u32 | zero: u32 | id of the database: 16 bytes | frame ..
//!  frame       as in log/frame.rs; `first` is its number, `durable` the version
//!    VERTICES  count times  id: u32 | live: u8 | key
//!    RANGES    count times  first id: u32 | how many: u32       dense ids that are there
//!    EDGES     count times  source: u32 | target: u32 | weight; ascending over the whole file,
//!              an undirected edge once, the lower id first
//!    POSITIONS count times  length: u32 | version: u64 | name
//!    END       vertices: u64 | edges: u64, which must be what was read; the last frame
//! ```
//! # Invariants
//!   - A checkpoint is whole or damaged, never half done: it is renamed into place when it is synced.
//!   - Keys of vertices that are gone are kept as long as their ids have no other.

use std::io;
use std::path::Path;

use evergraph_graph::{Key, KeyKind, MAX_VERTICES, VertexId};
use rayon::prelude::*;

use crate::folder::{Folder, Numbered, Schema, checkpoint_name, corrupt, disk_error};
use crate::io::File;
use crate::log::frame::{self, HEADER, Header, START, head};
use crate::log::record::{Malformed, Record, Source};
use crate::log::state::{Edge, State, Vertices};
use crate::{Error, Result, Version};

const MAGIC: [u8; 8] = *b"EVGCKP01";

const VERTICES: u32 = 1;
const RANGES: u32 = 2;
const EDGES: u32 = 3;
const END: u32 = 4;
const POSITIONS: u32 = 5;

/// A frame is written when it is so long.
const BLOCK: usize = 1 << 20;

/// What a checkpoint is written from.
pub(crate) trait Graph {
    /// Passes every id that has a key on: whether its vertex is there, and the key.
    fn vertices(
        &self,
        take: &mut dyn FnMut(VertexId, bool, &Key) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Passes the ranges of the ids on whose vertices are there.
    fn ranges(&self, take: &mut dyn FnMut(VertexId, u32) -> io::Result<()>) -> io::Result<()>;

    /// How far readers of the log are.
    fn positions(&self) -> &[(Box<str>, Version)];

    /// Passes every edge on, ascending, an undirected one once with the lower id first.
    fn edges(&self, take: &mut dyn FnMut(Edge) -> io::Result<()>) -> io::Result<()>;
}

/// Writes the graph at a version. Answers how long the file is.
pub(crate) fn write(folder: &Folder, version: u64, time: u64, graph: &impl Graph) -> Result<u64> {
    folder.write_whole(&checkpoint_name(version), |file| {
        let salt = folder.salt(version);
        let block = Block { kind: VERTICES, count: 0, bytes: vec![0; HEADER] };
        let mut out = Out { file, offset: 0, number: 0, version, time, salt, block };
        out.append(&head(MAGIC, folder.id))?;
        let shape = folder.schema.shape();
        let (mut vertices, mut edges) = (0u64, 0u64);
        if folder.schema.keys == KeyKind::Dense {
            out.begin(RANGES)?;
            graph.ranges(&mut |first, count| {
                vertices += u64::from(count);
                out.put(&[first.to_le_bytes(), count.to_le_bytes()].concat())
            })?;
        } else {
            graph.vertices(&mut |id, live, key| {
                vertices += u64::from(live);
                let mut bytes = Record::from_slice(&id.to_le_bytes());
                bytes.push(u8::from(live));
                shape.put_key(&mut bytes, key.as_ref());
                out.put(&bytes)
            })?;
        }
        out.begin(EDGES)?;
        let mut bytes = Record::new();
        graph.edges(&mut |(source, target, weight)| {
            edges += 1;
            bytes.clear();
            bytes.extend_from_slice(&source.to_le_bytes());
            bytes.extend_from_slice(&target.to_le_bytes());
            shape.put_weight(&mut bytes, weight);
            out.put(&bytes)
        })?;
        out.begin(POSITIONS)?;
        for (name, position) in graph.positions() {
            let mut bytes = (name.len() as u32).to_le_bytes().to_vec();
            bytes.extend_from_slice(&position.0.to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            out.put(&bytes)?;
        }
        out.begin(END)?;
        out.put(&[vertices.to_le_bytes(), edges.to_le_bytes()].concat())?;
        out.flush()?;
        Ok(out.offset)
    })
}

/// The file that is written.
struct Out<'a> {
    file: &'a dyn File,
    offset: u64,
    /// Of the next frame.
    number: u64,
    version: u64,
    time: u64,
    salt: u32,
    block: Block,
}

/// The frame that is filled.
struct Block {
    kind: u32,
    count: u32,
    bytes: Vec<u8>,
}

impl Out<'_> {
    fn begin(&mut self, kind: u32) -> io::Result<()> {
        self.flush()?;
        self.block.kind = kind;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.bytes.extend_from_slice(bytes);
        self.block.count += 1;
        if self.block.bytes.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Writes the frame, unless it is empty.
    fn flush(&mut self) -> io::Result<()> {
        if self.block.count == 0 {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.block.bytes);
        let (kind, count) = (self.block.kind, self.block.count);
        let header =
            Header { first: self.number, count, kind, durable: self.version, time: self.time };
        frame::seal(&mut bytes, header, self.salt);
        self.append(&bytes)?;
        bytes.truncate(HEADER);
        self.block.bytes = bytes;
        self.block.count = 0;
        self.number += 1;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// Reads the graph that a checkpoint holds. Any damage is an error.
pub(crate) fn read(folder: &Folder, path: &Path, version: u64) -> Result<State> {
    let bytes = folder.read(path)?;
    if bytes.get(..START) != Some(&head(MAGIC, folder.id)[..]) {
        let reason = "it does not begin like a checkpoint of this database";
        return Err(corrupt(path, 0, reason));
    }
    let mut frames = Vec::new();
    let mut at = START;
    while let Some((header, payload)) = frame::open(&bytes[at..], folder.salt(version)) {
        if header.first != frames.len() as u64 || header.durable != version {
            return Err(corrupt(path, at as u64, "frames are missing or from elsewhere"));
        }
        frames.push((at as u64, header, payload));
        at += HEADER + payload.len();
    }
    let ends = frames.last().is_some_and(|(_, header, _)| header.kind == END);
    if !ends || at != bytes.len() {
        return Err(corrupt(path, at as u64, "a frame is damaged or missing"));
    }
    assemble(folder.schema, version, &frames)
        .map_err(|(offset, Malformed(reason))| corrupt(path, offset, reason))
}

/// The newest of these checkpoints that is good, and what is wrong with those after it.
pub(crate) fn newest(folder: &Folder, files: &[Numbered]) -> (Option<State>, Vec<Error>) {
    let mut problems = Vec::new();
    for file in files.iter().rev() {
        match read(folder, &file.path, file.version) {
            Ok(state) => return (Some(state), problems),
            Err(error) => problems.push(error),
        }
    }
    (None, problems)
}

/// When a checkpoint was made, in microseconds since 1970: its first frame says so.
pub(crate) fn time(folder: &Folder, path: &Path, version: u64) -> Result<u64> {
    let file = folder.disk.open(path, false).map_err(|error| disk_error("open", path, &error))?;
    let mut bytes = vec![0; START + HEADER + BLOCK + BLOCK];
    let read = file.read_up_to(&mut bytes, 0).map_err(|error| disk_error("read", path, &error))?;
    let first =
        bytes[..read].get(START..).and_then(|bytes| frame::open(bytes, folder.salt(version)));
    first
        .map(|(header, _)| header.time)
        .ok_or_else(|| corrupt(path, START as u64, "its first frame is damaged"))
}

type Frame<'a> = (u64, Header, &'a [u8]);

fn assemble(schema: Schema, version: u64, frames: &[Frame<'_>]) -> Result<State, (u64, Malformed)> {
    let mut vertices = Vertices::default();
    let mut expected = (0, 0);
    let mut time = 0;
    let mut of_edges = Vec::new();
    let mut positions = Vec::new();
    for &(offset, header, payload) in frames {
        let mut source = Source::new(payload, schema.shape());
        time = header.time;
        let read = match header.kind {
            VERTICES => (0..header.count).try_for_each(|_| {
                let (id, live) = (source.id()?, source.byte()?);
                vertices.name(id, source.key(id)?);
                vertices.set(id, live == 1);
                Ok(())
            }),
            RANGES => (0..header.count).try_for_each(|_| {
                let (first, count) = (source.id()?, source.number()?);
                let end = first.checked_add(count).filter(|&end| end <= MAX_VERTICES);
                let end = end.ok_or(Malformed("a range is too long"))?;
                vertices.set_all(first..end);
                Ok(())
            }),
            POSITIONS => (0..header.count).try_for_each(|_| {
                let (length, version) = (source.number()? as usize, source.long()?);
                positions.push((source.text(length)?.into(), Version(version)));
                Ok(())
            }),
            END => source.long().and_then(|of_vertices| {
                expected = (of_vertices, source.long()?);
                Ok(())
            }),
            EDGES => {
                of_edges.push((offset, header.count, payload));
                continue;
            }
            _ => Err(Malformed("no such kind of frame")),
        };
        read.and_then(|()| source.end()).map_err(|malformed| (offset, malformed))?;
    }
    let edges = of_edges.par_iter().map(|&(offset, count, payload)| {
        edges(Source::new(payload, schema.shape()), count).map_err(|malformed| (offset, malformed))
    });
    let edges = edges.collect::<Result<Vec<_>, _>>()?.concat();
    let last = frames.last().map_or(0, |frame| frame.0);
    if (vertices.count(), edges.len() as u64) != expected {
        return Err((last, Malformed("it does not hold as much as it says")));
    }
    let ascending =
        edges.par_windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
    let ends = edges.par_iter().all(|edge| vertices.contains(edge.0) && vertices.contains(edge.1));
    if !ascending || !ends {
        return Err((
            last,
            Malformed("its edges are not in order, or have an end that is no vertex"),
        ));
    }
    let mut state = State::new(schema, (version, time), vertices, edges);
    state.positions = positions;
    Ok(state)
}

fn edges(mut source: Source<'_>, count: u32) -> Result<Vec<Edge>, Malformed> {
    // A count is trusted as far as the bytes there are could hold it.
    let mut edges = Vec::with_capacity((count as usize).min(source.left() / 8));
    for _ in 0..count {
        edges.push((source.id()?, source.id()?, source.weight()?));
    }
    source.end()?;
    Ok(edges)
}
