//! Files whose checksums are right and whose contents are not: nobody may panic about them.
//!
//! # Steps
//!   A database with a checkpoint and a log is written once. Then in each round a frame of one of its
//!   files gets other bytes and a checksum that fits them. Rounds whose ids are beyond those of small
//!   graphs are left out: memory is taken for every id up to the largest.

use std::path::{Path, PathBuf};

use evergraph_graph::{Key, KeyKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::frame::{self, HEADER, Header, seal};
use super::record::{Item, Shape, Source};
use super::segment::START;
use crate::folder::{self, Folder};
use crate::io::RealDisk;
use crate::{Database, Error, Keep, Options, Service, Weights};

const ROUNDS: u64 = 800;
const IDS_MAX: u32 = 1 << 16;

fn options(text: bool) -> Options {
    let options = Database::options().service(Service::Manual).keep(Keep::Everything);
    if text { options.text_keys().weights(Weights::F32).undirected() } else { options }
}

/// A database with commits before a checkpoint and after it.
fn write(path: &Path, text: bool) {
    let db = options(text).open(path).expect("opens");
    for round in 0..30u64 {
        let key = |n: u64| if text { Key::Text(format!("key {n}").into()) } else { Key::Number(n) };
        let (new, last) = (key(round), key(round.saturating_sub(1)));
        db.transaction(0, |tx| {
            tx.add_vertex(&new)?;
            tx.add_edge(&new, &last)?;
            if round % 5 == 4 { tx.remove_vertex(&last) } else { Ok(()) }
        })
        .expect("commits");
        if round == 15 {
            db.checkpoint().expect("written");
        }
    }
    db.close().expect("closes");
}

/// The frames of a file: where each begins, and what it says.
fn frames(bytes: &[u8], salt: u32) -> Vec<(usize, Header, usize)> {
    let mut frames = Vec::new();
    let mut at = START as usize;
    while let Some((header, payload)) = frame::open(&bytes[at..], salt) {
        frames.push((at, header, payload.len()));
        at += HEADER + payload.len();
    }
    frames
}

/// Changes one frame, and gives it a checksum that fits.
fn mangle(bytes: &mut Vec<u8>, salt: u32, rng: &mut Pcg64Mcg) -> (Header, Vec<u8>) {
    let frames = frames(bytes, salt);
    let (at, mut header, len) = frames[rng.random_range(0..frames.len())];
    let mut payload = bytes[at + HEADER..at + HEADER + len].to_vec();
    match rng.random_range(0..6) {
        0 => header.count = rng.random_range(0..4),
        1 => header.kind = rng.random_range(0..7),
        2 => header.count = rng.random(),
        3 => payload.truncate(rng.random_range(0..=len)),
        _ => {}
    }
    for _ in 0..rng.random_range(0..4) {
        if !payload.is_empty() {
            let at = rng.random_range(0..payload.len());
            payload[at] = if rng.random() { rng.random_range(0..6) } else { rng.random() };
        }
    }
    let mut sealed = vec![0; HEADER];
    sealed.extend_from_slice(&payload);
    seal(&mut sealed, header, salt);
    bytes.splice(at..at + HEADER + len, sealed);
    (header, payload)
}

/// Whether the ids in a frame are small, as far as it can be read.
fn is_small(is_log: bool, header: Header, payload: &[u8], shape: Shape) -> bool {
    const RANGES: u32 = 2;
    if !is_log && header.kind == RANGES {
        return false;
    }
    let mut source = Source::new(payload, shape);
    let mut largest = 0;
    for _ in 0..header.count {
        let read = if is_log {
            source.record(|item| {
                let (a, b) = match item {
                    Item::AddVertex(v, _) | Item::RemoveVertex(v) => (v, v),
                    Item::AddEdge(a, b, _) | Item::SetWeight(a, b, _) | Item::RemoveEdge(a, b) => {
                        (a, b)
                    }
                    Item::Position(..) => (0, 0),
                };
                largest = largest.max(a).max(b);
                Ok(())
            })
        } else {
            // Every kind of frame begins with an id, or with something that may be taken for one.
            let id = source.id().map(|id| largest = largest.max(id));
            id.and_then(|()| source.byte()).and_then(|_| source.key(0)).map(drop)
        };
        if read.is_err() {
            break;
        }
    }
    largest < IDS_MAX
}

/// The files that frames are changed in.
fn files(path: &Path) -> Vec<(PathBuf, u64, bool)> {
    let listing = folder::list(&RealDisk, path).expect("a folder");
    let segments = listing.segments.into_iter().map(|file| (file.path, file.version, true));
    let checkpoints = listing.checkpoints.into_iter().map(|file| (file.path, file.version, false));
    segments.chain(checkpoints).collect()
}

#[test]
fn wrong_contents_under_right_checksums_are_told() {
    let seeds = std::env::var("EVERGRAPH_SEED").ok().map(|seed| seed.parse().expect("a number"));
    for seed in seeds.map_or(1..3, |seed: u64| seed..seed + 1) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let text = seed % 2 == 0;
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), text);
        let disk: std::sync::Arc<dyn crate::io::Disk> = std::sync::Arc::new(RealDisk);
        let found = Folder::find(&disk, folder.path()).expect("readable").expect("a database");
        let files = files(folder.path());
        assert!(files.len() > 1 && found.schema.keys != KeyKind::Dense);
        let good: Vec<Vec<u8>> =
            files.iter().map(|file| std::fs::read(&file.0).expect("readable")).collect();
        let (mut told, mut opened) = (0, 0);
        for round in 0..ROUNDS {
            let number = rng.random_range(0..files.len());
            let (path, version, is_log) = &files[number];
            let mut bytes = good[number].clone();
            let (header, payload) = mangle(&mut bytes, found.salt(*version), &mut rng);
            if !is_small(*is_log, header, &payload, found.schema.shape()) {
                continue;
            }
            std::fs::write(path, &bytes).expect("written");
            let at = format!("EVERGRAPH_SEED={seed}, round {round}: {header:?}");
            match options(text).open_read_only(folder.path()) {
                Ok(db) => opened += u64::from(db.check().is_ok()),
                Err(Error::Corrupt { .. }) => told += 1,
                Err(error) => panic!("{at}: {error:?}"),
            }
            std::fs::write(path, &good[number]).expect("written");
        }
        println!("{told} told, {opened} opened, of {ROUNDS}");
        assert!(told > ROUNDS / 8 && opened > 0, "{told} told, {opened} opened");
    }
}
