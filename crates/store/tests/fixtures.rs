//! Databases that were written by released formats: they are opened, compared, changed and opened
//! again, for ever.
//!
//! `tests/fixtures/format-N/` holds folders as a program of format `N` left them, each with the graph
//! that was in it, `EXPECTED`, a line per vertex and edge. They are never written again: what reads
//! them changes, not they. A new format gets folders of its own, written by
//! `cargo test -p evergraph-store --test fixtures -- --ignored`, which takes the number from what it
//! writes, and refuses to touch a folder that is there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use evergraph_graph::{Key, KeyKind};
use evergraph_store::{
    Database, Keep, LogSizes, Options, SelfLoops, Service, Version, Weights, check,
};

/// The graph that a folder holds, beside its files.
const EXPECTED: &str = "EXPECTED";
/// What is not kept of a folder: who has it open.
const LOCK: &str = "LOCK";
/// Bytes of a folder, at most: fixtures stay small.
const FOLDER_MAX: u64 = 16 << 10;

/// Files of the log so small that there are several.
const SIZES: LogSizes =
    LogSizes { segment: 900, buffer: 400, record: 16, growth: 128, checkpoint: u64::MAX };

/// How the writing of a folder ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Closed,
    /// In the middle of the last commit, which is lost.
    Torn,
}

/// A folder to be written.
struct Story {
    name: &'static str,
    options: Options,
    /// A checkpoint comes after so many commits.
    checkpoint: Option<u64>,
    ending: Ending,
}

fn stories() -> Vec<Story> {
    let plain = || Database::options().log_sizes(SIZES).service(Service::Manual);
    let story = |name, options, checkpoint, ending| Story { name, options, checkpoint, ending };
    let text = plain().text_keys().undirected();
    let loops = plain().undirected().self_loops(SelfLoops::Forbidden);
    vec![
        story("directed-numbers", plain(), Some(9), Ending::Closed),
        story("undirected-no-loops-log-only", loops, None, Ending::Closed),
        story(
            "directed-dense-f32",
            plain().dense_keys(6).weights(Weights::F32),
            Some(12),
            Ending::Closed,
        ),
        story(
            "undirected-texts-f64-all-kept",
            text.clone().weights(Weights::F64).keep(Keep::Everything),
            Some(7),
            Ending::Closed,
        ),
        story("directed-f64-torn", plain().weights(Weights::F64), Some(9), Ending::Torn),
        story("undirected-texts-torn", text, None, Ending::Torn),
    ]
}

/// The key of a vertex, in a database with keys of a kind.
fn key(kind: KeyKind, number: u64) -> Key {
    match kind {
        KeyKind::Text if number == 0 => Key::Text("".into()),
        KeyKind::Text => Key::Text(format!("Käfer {number}").into()),
        KeyKind::Number => Key::Number(number << 33 | number),
        KeyKind::Dense => Key::Number(number),
    }
}

/// What a graph holds, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    version: u64,
    /// Each vertex with its edges.
    vertices: BTreeMap<Key, BTreeMap<Key, f64>>,
    position: Option<u64>,
}

impl Model {
    fn add_edge(&mut self, (u, v): (&Key, &Key), weight: f64, directed: bool) {
        let each = [(u, v), (v, u)];
        for (u, v) in each.into_iter().take(if directed { 1 } else { 2 }) {
            self.vertices.entry(u.clone()).or_default().insert(v.clone(), weight);
        }
    }

    fn remove_vertex(&mut self, gone: &Key) {
        self.vertices.remove(gone);
        self.vertices.values_mut().for_each(|edges| _ = edges.remove(gone));
    }

    /// What a database holds.
    fn of(db: &Database) -> Self {
        let snapshot = db.snapshot().expect("a snapshot");
        let keys = snapshot.keys().expect("open").into_iter().flatten();
        let edges = |key: &Key| snapshot.neighbours(key).expect("known").into_iter().collect();
        let vertices = keys.map(|key| (key.clone(), edges(&key))).collect();
        let position = db.position("reader").map(|version| version.0);
        Self { version: db.version().0, vertices, position }
    }

    /// The lines of `EXPECTED`.
    fn lines(&self) -> String {
        let mut lines = format!("version {}\nposition {:?}\n", self.version, self.position);
        for (key, edges) in &self.vertices {
            writeln!(lines, "vertex {}", name(key)).expect("a text");
            for (to, weight) in edges {
                writeln!(lines, "  edge {} {weight:?}", name(to)).expect("a text");
            }
        }
        lines
    }
}

/// A key as it stands in `EXPECTED`.
fn name(key: &Key) -> String {
    match key {
        Key::Number(number) => number.to_string(),
        Key::Text(text) => format!("{text:?}"),
    }
}

/// Commits to a database and to its model: vertices and edges, new weights, and what goes again.
fn commit(db: &Database, model: &mut Model, round: u64) {
    let (kind, directed, weighted) = (db.key_kind(), db.is_directed(), db.is_weighted());
    let key = |number| key(kind, number);
    let is_new = !model.vertices.contains_key(&key(round));
    let (new, last) = (key(round), key(round / 2));
    let weight = if weighted { round as f64 / 4.0 } else { 1.0 };
    let is_joined = new != last && model.vertices.contains_key(&last);
    let gone = (round % 5 == 4).then(|| key(round - 3));
    let gone = gone.filter(|gone| *gone != last && model.vertices.contains_key(gone));
    db.transaction(0, |tx| {
        if is_new {
            tx.add_vertex(&new)?;
        }
        if is_joined && weighted {
            tx.add_weighted_edge(&new, &last, weight)?;
        } else if is_joined {
            tx.add_edge(&new, &last)?;
        }
        if let Some(gone) = &gone {
            tx.remove_vertex(gone)?;
        }
        tx.set_position("reader", Version(round));
        Ok(())
    })
    .expect("it can be done");
    model.vertices.entry(new.clone()).or_default();
    if is_joined {
        model.add_edge((&new, &last), weight, directed);
    }
    if let Some(gone) = &gone {
        model.remove_vertex(gone);
    }
    (model.version, model.position) = (db.version().0, Some(round));
}

/// Plays a story in a folder; what is there in the end.
fn tell(story: &Story, path: &Path) -> Model {
    let db = story.options.clone().open(path).expect("opens");
    let mut model = Model::of(&db);
    let mut before = model.clone();
    for round in 0..20 {
        before = model.clone();
        commit(&db, &mut model, round);
        if story.checkpoint == Some(db.version().0) {
            db.checkpoint().expect("written");
        }
    }
    if story.ending == Ending::Closed {
        db.close().expect("closes");
        return model;
    }
    // A copy of the files of a program that runs, cut within the last frame.
    let copy = path.with_extension("copy");
    copy_folder(path, &copy);
    drop(db);
    fs::remove_dir_all(path).expect("there");
    fs::rename(&copy, path).expect("there");
    let logs = files(path).into_iter().filter(|file| file.extension().is_some_and(|e| e == "evl"));
    let last = logs.max().expect("a log");
    let bytes = fs::read(&last).expect("there");
    let end = bytes.iter().rposition(|&byte| byte != 0).expect("frames");
    fs::write(&last, &bytes[..end - 3]).expect("written");
    before
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for file in files(from) {
        let name = file.file_name().expect("a file");
        if name != LOCK && name != EXPECTED {
            fs::copy(&file, to.join(name)).expect("copied");
        }
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Opens a copy of a folder in every way, and goes on with it.
fn look_at(folder: &Path) {
    let place = folder.display();
    let expected = fs::read_to_string(folder.join(EXPECTED)).expect("what it holds");
    let scratch = tempfile::tempdir().expect("a folder");
    let copy = scratch.path().join("copy");
    copy_folder(folder, &copy);
    let read = Database::options().open_read_only(&copy).expect("opens to be read");
    assert_eq!(Model::of(&read).lines(), expected, "{place}, to be read");
    drop(read);
    let db = Database::options().open_existing(&copy).expect("opens");
    let mut model = Model::of(&db);
    assert_eq!(model.lines(), expected, "{place}");
    db.check().expect("sound");
    let all_kept = folder.ends_with("undirected-texts-f64-all-kept");
    assert_eq!(db.keep() == Keep::Everything, all_kept, "{place}");
    for round in [101, 301] {
        let number = key(db.key_kind(), round / 2);
        db.transaction(0, |tx| tx.add_vertex(&number)).expect("it is new");
        model.vertices.entry(number).or_default();
        commit(&db, &mut model, round);
    }
    db.checkpoint().expect("written");
    db.close().expect("closes");
    let checked = check(&copy).expect("looked at");
    assert_eq!(checked.problems, [], "{place}");
    let db = Database::options().open_existing(&copy).expect("opens again");
    assert_eq!(Model::of(&db), model, "{place}, changed and opened again");
}

#[test]
fn databases_of_every_released_format_are_opened_and_go_on() {
    for format in files(&fixtures()) {
        let folders = files(&format);
        assert!(folders.len() >= 6, "{}: {} folders", format.display(), folders.len());
        for folder in folders {
            look_at(&folder);
        }
    }
    assert!(fixtures().join("format-1").is_dir());
}

#[test]
fn what_is_written_today_is_read_alike() {
    for story in stories() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join(story.name);
        let model = tell(&story, &path);
        fs::write(path.join(EXPECTED), model.lines()).expect("written");
        look_at(&path);
    }
}

#[test]
#[ignore = "writes the folders of a new format into the tree"]
fn write_fixtures_of_the_present_format() {
    for story in stories() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join(story.name);
        let model = tell(&story, &path);
        let size: u64 = files(&path).iter().map(|file| file.metadata().expect("there").len()).sum();
        assert!(size <= FOLDER_MAX, "{}: {size} bytes", story.name);
        let head = fs::read(path.join("DATABASE")).expect("there");
        let format = u32::from_le_bytes(head[12..16].try_into().expect("four bytes"));
        let to = fixtures().join(format!("format-{format}")).join(story.name);
        assert!(!to.exists(), "{} is there, and is never written again", to.display());
        copy_folder(&path, &to);
        fs::write(to.join(EXPECTED), model.lines()).expect("written");
    }
}
