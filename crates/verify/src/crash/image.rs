//! What a crash may leave of a disk.
//!
//! # Model
//!   A write that was not synced is cut into sectors, each of which may be there or not; so may
//!   every change of a size and of a name. What changes the same place is made in the order of the
//!   calls. Where a file grew but its bytes are missing there are zeros, nothing, or what another
//!   file held there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::world::{Change, Entry, Node, World, put};

/// What a disk writes as a whole.
pub const SECTOR: usize = 512;
/// Of the sectors of one write, so many boundaries are tried, and of the pending writes so many.
const BOUNDARIES_MAX: usize = 6;
const WRITES_MAX: usize = 32;
/// Random choices per point.
const RANDOM: usize = 8;

/// Folders and files after a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// A file has bytes, a folder none.
    pub names: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// What there is where a file grew and nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// The file ends with the last thing that was written to it.
    AsWritten,
    /// It is as long as it was last, with zeros.
    Zeros,
    /// It is as long as it was last, with what another file held.
    Stale,
    /// It is not longer than it was for certain.
    None,
}

/// A part of a change that is there or not.
struct Piece<'a> {
    node: usize,
    /// The write it belongs to, counted in the order of calls.
    write: usize,
    part: Part<'a>,
}

enum Part<'a> {
    Bytes(usize, &'a [u8]),
    Size(u64),
}

/// What a crash keeps.
struct Choice {
    pieces: Vec<bool>,
    names: Vec<bool>,
    growth: Growth,
}

impl Image {
    /// The files, each with what it holds.
    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, &Vec<u8>)> {
        self.names.iter().filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)))
    }
}

/// What processes see: nothing is lost.
pub fn current(world: &World) -> Image {
    let bytes = |entry: &Entry| match entry {
        Entry::Folder => None,
        Entry::File(node) => Some(world.nodes[*node].current.clone()),
    };
    Image { names: world.names.iter().map(|(path, entry)| (path.clone(), bytes(entry))).collect() }
}

/// What is there for certain.
pub fn synced(world: &World) -> Image {
    let crash = Crash::new(world);
    crash.image(&crash.choice(|_| false, |_| false, Growth::AsWritten))
}

/// One random thing that a crash may leave.
pub fn random(world: &World, rng: &mut Pcg64Mcg) -> Image {
    let crash = Crash::new(world);
    crash.image(&crash.random(rng))
}

/// What a crash may leave, in all the ways that are tried; some may be equal.
pub fn all(world: &World, rng: &mut Pcg64Mcg) -> Vec<Image> {
    let crash = Crash::new(world);
    let mut choices = crash.plain();
    choices.extend(crash.by_write());
    choices.extend(crash.torn());
    choices.extend(crash.by_name());
    choices.extend((0..RANDOM).map(|_| crash.random(rng)));
    choices.iter().map(|choice| crash.image(choice)).collect()
}

struct Crash<'a> {
    world: &'a World,
    pieces: Vec<Piece<'a>>,
    writes: usize,
}

impl<'a> Crash<'a> {
    fn new(world: &'a World) -> Self {
        let mut changes: Vec<(u64, usize, &Change)> = Vec::new();
        for (number, node) in world.nodes.iter().enumerate() {
            changes.extend(node.pending.iter().map(|(call, change)| (*call, number, change)));
        }
        changes.sort_by_key(|change| change.0);
        let mut pieces = Vec::new();
        let writes = changes.len();
        for (write, (_, node, change)) in changes.into_iter().enumerate() {
            match change {
                Change::Size(size) => pieces.push(Piece { node, write, part: Part::Size(*size) }),
                Change::Write(offset, bytes) => {
                    for (at, bytes) in sectors(*offset as usize, bytes) {
                        pieces.push(Piece { node, write, part: Part::Bytes(at, bytes) });
                    }
                }
            }
        }
        Self { world, pieces, writes }
    }

    fn choice(
        &self,
        piece: impl Fn(usize) -> bool,
        name: impl Fn(usize) -> bool,
        growth: Growth,
    ) -> Choice {
        let pieces = (0..self.pieces.len()).map(piece).collect();
        Choice { pieces, names: (0..self.world.renames.len()).map(name).collect(), growth }
    }

    /// Nothing, all, and each with what grew filled in every way.
    fn plain(&self) -> Vec<Choice> {
        use Growth::{AsWritten, None, Stale, Zeros};
        let mut choices = Vec::new();
        for growth in [AsWritten, None, Stale, Zeros] {
            for (pieces, names) in [(false, false), (false, true), (true, false), (true, true)] {
                choices.push(self.choice(|_| pieces, |_| names, growth));
            }
        }
        choices
    }

    /// The writes that are looked at one by one: the last ones, if there are many.
    fn some_writes(&self) -> std::ops::Range<usize> {
        self.writes.saturating_sub(WRITES_MAX)..self.writes
    }

    /// Each write alone, missing, as the last one, and as the first one.
    fn by_write(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for write in self.some_writes() {
            let of = |piece: usize| self.pieces[piece].write;
            for growth in [Growth::AsWritten, Growth::Stale] {
                choices.push(self.choice(|piece| of(piece) == write, |_| true, growth));
                choices.push(self.choice(|piece| of(piece) != write, |_| true, growth));
            }
            choices.push(self.choice(|piece| of(piece) == write, |_| false, Growth::AsWritten));
            choices.push(self.choice(|piece| of(piece) <= write, |_| true, Growth::AsWritten));
            choices.push(self.choice(|piece| of(piece) >= write, |_| true, Growth::Zeros));
        }
        choices
    }

    /// Each write cut at the boundaries of sectors: the part before, the part behind.
    fn torn(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for write in self.some_writes() {
            let of = |piece: usize| self.pieces[piece].write;
            let here: Vec<usize> = (0..self.pieces.len()).filter(|&at| of(at) == write).collect();
            let step = here.len().div_ceil(BOUNDARIES_MAX).max(1);
            for &cut in here.iter().skip(1).step_by(step) {
                for growth in [Growth::AsWritten, Growth::Zeros, Growth::Stale] {
                    choices.push(self.choice(|piece| piece < cut, |_| true, growth));
                    let behind = |piece: usize| of(piece) < write || piece >= cut;
                    choices.push(self.choice(behind, |_| true, growth));
                }
            }
        }
        choices
    }

    /// Each name alone, missing, and as the last one.
    fn by_name(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for name in 0..self.world.renames.len() {
            for pieces in [false, true] {
                let growth = Growth::AsWritten;
                choices.push(self.choice(|_| pieces, |at| at == name, growth));
                choices.push(self.choice(|_| pieces, |at| at != name, growth));
                choices.push(self.choice(|_| pieces, |at| at <= name, growth));
            }
        }
        choices
    }

    fn random(&self, rng: &mut Pcg64Mcg) -> Choice {
        let growths = [Growth::AsWritten, Growth::Zeros, Growth::Stale, Growth::None];
        let growth = growths[rng.random_range(0..growths.len())];
        let pieces = self.pieces.iter().map(|_| rng.random()).collect();
        Choice { pieces, names: self.world.renames.iter().map(|_| rng.random()).collect(), growth }
    }

    fn image(&self, choice: &Choice) -> Image {
        let mut names = self.world.kept.clone();
        for (change, _) in self.world.renames.iter().zip(&choice.names).filter(|pair| *pair.1) {
            change.apply(&mut names);
        }
        // What lies in a folder that is not there is not there either.
        let is_there = |path: &PathBuf| {
            path.ancestors().skip(1).all(|above| names.get(above) == Some(&Entry::Folder))
        };
        let there = names.iter().filter(|(path, _)| is_there(path));
        let bytes = |entry: &Entry| match entry {
            Entry::Folder => None,
            Entry::File(node) => Some(self.bytes(*node, choice)),
        };
        Image { names: there.map(|(path, entry)| (path.clone(), bytes(entry))).collect() }
    }

    fn bytes(&self, number: usize, choice: &Choice) -> Vec<u8> {
        let Node { current, durable, pending } = &*self.world.nodes[number];
        let mut bytes = durable.clone();
        if pending.is_empty() {
            return bytes;
        }
        if matches!(choice.growth, Growth::Zeros | Growth::Stale) && bytes.len() < current.len() {
            bytes.resize(current.len(), 0);
        }
        if choice.growth == Growth::Stale {
            self.fill(&mut bytes, durable.len());
        }
        let chosen = self.pieces.iter().zip(&choice.pieces).filter(|(_, chosen)| **chosen);
        for (piece, _) in chosen.filter(|(piece, _)| piece.node == number) {
            match piece.part {
                Part::Bytes(at, written) => put(&mut bytes, at, written),
                Part::Size(size) => bytes.resize(size as usize, 0),
            }
        }
        if choice.growth == Growth::None {
            bytes.truncate(durable.len());
        }
        bytes
    }

    /// Fills what lies behind an offset with what other files held there, the last one first.
    fn fill(&self, bytes: &mut [u8], from: usize) {
        for stale in &self.world.stale {
            let end = stale.len().min(bytes.len());
            if from < end {
                bytes[from..end].copy_from_slice(&stale[from..end]);
            }
        }
    }
}

/// Bytes cut at the boundaries of sectors, each part with its offset.
fn sectors(offset: usize, mut bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut at = offset;
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let (part, rest) = bytes.split_at(bytes.len().min(SECTOR - at % SECTOR));
        parts.push((at, part));
        at += part.len();
        bytes = rest;
    }
    parts
}
