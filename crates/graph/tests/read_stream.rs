//! Reading into a sink: the order of calls, refusals, progress, and asking to stop.

mod support;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use evergraph_graph::key::{Key, KeyKind, KeyRef};
use evergraph_graph::progress::{Progress, Stage, Status};
use evergraph_graph::read::{
    self, Counts, Duplicates, Edge, Header, ReadError, ReadOptions, Refusal, SelfLoops, Sink,
};
use support::{Scratch, directed, load, undirected, weighted};

/// Writes down what it is given, like a store that checks every record.
#[derive(Default)]
struct Recorder {
    header: Option<Header>,
    calls: Vec<String>,
    vertices: Vec<Key>,
    edges: Vec<(Key, Key, Option<f64>)>,
    fail_at: Option<usize>,
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct DiskFull;

impl Sink for Recorder {
    type Error = DiskFull;

    fn begin(&mut self, header: &Header) -> Result<(), DiskFull> {
        assert!(self.header.is_none() && self.calls.is_empty(), "begin comes first and once");
        self.header = Some(header.clone());
        Ok(())
    }

    fn vertex(&mut self, key: KeyRef<'_>) -> Result<(), Refusal<DiskFull>> {
        if self.vertices.contains(&key.to_owned()) {
            return Err(Refusal::DuplicateVertex);
        }
        self.calls.push(format!("v {key}"));
        self.vertices.push(key.to_owned());
        Ok(())
    }

    fn edge(&mut self, edge: Edge<'_>) -> Result<(), Refusal<DiskFull>> {
        if self.fail_at == Some(self.edges.len()) {
            return Err(DiskFull.into());
        }
        let header = self.header.as_ref().expect("begin comes first");
        assert_eq!(edge.weight.is_some(), header.weighted);
        let (from, to) = (edge.from.to_owned(), edge.to.to_owned());
        if header.vertices_listed {
            for key in [&from, &to] {
                if !self.vertices.contains(key) {
                    return Err(Refusal::UnknownVertex(key.clone()));
                }
            }
        }
        let same = |(u, v, _): &&(Key, Key, Option<f64>)| {
            (u, v) == (&from, &to) || (!header.directed && (v, u) == (&from, &to))
        };
        if let Some((.., weight)) = self.edges.iter().find(same) {
            return Err(Refusal::DuplicateEdge { weight: *weight });
        }
        self.calls.push(format!("e {from} {to}"));
        self.edges.push((from, to, edge.weight));
        Ok(())
    }
}

fn stream(name: &str, content: &str, options: &ReadOptions) -> (Recorder, Result<Counts, String>) {
    let scratch = Scratch::new();
    let path = scratch.file(name, content);
    let mut recorder = Recorder::default();
    let result = read::read(&path, options, &(), &mut recorder);
    let prefix = format!("{}/", path.parent().expect("in a folder").display());
    (recorder, result.map_err(|error| error.to_string().replace(&prefix, "")))
}

#[test]
fn records_come_in_the_order_of_the_file() {
    let (sink, counts) = stream("g.el", "# c\nb a\na c\n", &ReadOptions::default());
    let header = sink.header.expect("begun");
    assert_eq!((header.keys, header.directed, header.weighted), (KeyKind::Text, false, false));
    assert_eq!((header.vertices_listed, header.vertices, header.edges), (false, None, None));
    assert_eq!(sink.calls, ["e b a", "e a c"]);
    let counts = counts.expect("good");
    assert_eq!((counts.lines, counts.edges, counts.vertices), (3, 2, 0));

    let (sink, counts) = stream("g.graph", "3 2\n2 3\n1\n1\n", &ReadOptions::default());
    let header = sink.header.expect("begun");
    assert_eq!((header.vertices_listed, header.vertices, header.edges), (true, Some(3), Some(2)));
    assert_eq!(sink.calls, ["v 1", "v 2", "v 3", "e 1 2", "e 1 3"]);
    let counts = counts.expect("good");
    assert_eq!((counts.lines, counts.edges, counts.vertices), (4, 2, 3));
}

#[test]
fn a_sink_that_finds_duplicates_is_heard() {
    let text = "1 2 5\n2 1 6\n3 3 1\n";
    let (sink, result) = stream("g.el", text, &weighted());
    assert_eq!(sink.calls, ["e 1 2"]);
    let error = result.expect_err("duplicate");
    assert!(error.starts_with("g.el:2: the edge 2 1 stands twice; in an undirected"), "{error}");
    let ignore =
        ReadOptions { duplicates: Duplicates::Ignore, self_loops: SelfLoops::Drop, ..weighted() };
    let (sink, result) = stream("g.el", text, &ignore);
    let counts = result.expect("ignored");
    assert_eq!((counts.edges, counts.duplicate_edges, counts.self_loops), (1, 1, 1));
    assert_eq!(sink.edges[0].2, Some(5.0));
}

#[test]
fn an_arc_and_its_reverse_are_one_edge_where_the_format_says_so() {
    let text = |second: u32| format!("p sp 2 2\na 1 2 5\na 2 1 {second}\n");
    let options = ReadOptions { weighted: true, ..undirected() };
    let (sink, result) = stream("g.gr", &text(5), &options);
    assert_eq!((sink.edges.len(), result.expect("equal").duplicate_edges), (1, 1));
    let error = stream("g.gr", &text(6), &options).1.expect_err("unequal");
    assert!(error.starts_with("g.gr:3: the edge 2 1 stands twice; in an undirected"), "{error}");
    assert!(stream("g.gr", &text(6), &directed()).1.is_ok());
}

#[test]
fn refusals_name_file_and_line() {
    let fail = |name: &str, content: &str| {
        let scratch = Scratch::new();
        let path = scratch.file(name, content);
        let mut recorder = Recorder { fail_at: Some(1), ..Recorder::default() };
        let result = read::read(&path, &ReadOptions::default(), &(), &mut recorder);
        let error = result.expect_err("the sink fails");
        assert!(matches!(&error, ReadError::Refused { source, .. } if source.is::<DiskFull>()));
        error.to_string().rsplit('/').next().map(str::to_owned)
    };
    assert_eq!(fail("g.el", "1 2\n\n3 4\n").as_deref(), Some("g.el:3: the disk is full"));
    assert_eq!(fail("g.graph", "3 2\n2\n1 3\n2\n").as_deref(), Some("g.graph:3: the disk is full"));

    let scratch = Scratch::new();
    scratch.file("g.v", "1\n2\n");
    let path = scratch.file("g.e", "1 2\n2 9\n");
    let mut recorder = Recorder::default();
    let error = read::read(&path, &ReadOptions::default(), &(), &mut recorder);
    let error = error.expect_err("unknown").to_string();
    assert!(error.contains("g.e:2: the edge 2 9 names the vertex 9, which is not listed"));
    scratch.file("g.v", "1\n2\n1\n");
    let mut recorder = Recorder::default();
    let error = read::read(&path, &ReadOptions::default(), &(), &mut recorder);
    let error = error.expect_err("duplicate").to_string();
    assert!(error.contains("g.v:3: the vertex 1 is listed twice;"), "{error}");
}

#[test]
fn vertices_that_are_there_already_follow_the_options() {
    let scratch = Scratch::new();
    let path = scratch.file("g.gr", "p tw 3 1\n1 3\n");
    let two = || Recorder { vertices: vec![Key::Number(2)], ..Recorder::default() };
    let mut recorder = two();
    let error = read::read(&path, &ReadOptions::default(), &(), &mut recorder);
    let error = error.expect_err("2 is there").to_string();
    assert!(error.contains("g.gr:1: the vertex 2 is listed twice;"), "{error}");
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, ..ReadOptions::default() };
    let mut recorder = two();
    let counts = read::read(&path, &ignore, &(), &mut recorder).expect("ignored");
    assert_eq!((counts.vertices, counts.duplicate_vertices, counts.edges), (2, 1, 1));
    assert_eq!(recorder.calls, ["v 1", "v 3", "e 1 3"]);
}

/// Keeps every status, and stops after some.
#[derive(Default)]
struct Watcher {
    seen: Mutex<Vec<Status>>,
    stop_after: Option<usize>,
}

impl Progress for Watcher {
    fn tick(&self, status: &Status) -> ControlFlow<()> {
        let mut seen = self.seen.lock().expect("no test thread panics here");
        seen.push(*status);
        match self.stop_after {
            Some(most) if seen.len() > most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

fn many_lines() -> String {
    (0..200_000).fold(String::new(), |text, i| text + &format!("{i} {}\n", i + 1))
}

#[test]
fn progress_counts_the_bytes_of_the_file_up_to_all() {
    let scratch = Scratch::new();
    let text = many_lines();
    let path = scratch.file("g.el", &text);
    let watcher = Watcher::default();
    read::load(&path, &ReadOptions::default(), &watcher).expect("good");
    let seen = watcher.seen.into_inner().expect("no panic");
    let reading: Vec<&Status> = seen.iter().filter(|s| s.stage == Stage::Reading).collect();
    assert!(reading.len() >= 5, "{} ticks", reading.len());
    assert!(reading.windows(2).all(|pair| pair[0].done <= pair[1].done));
    let last = reading[reading.len() - 1];
    assert_eq!((last.done, last.total), (text.len() as u64, Some(text.len() as u64)));
    assert_eq!(last.lines, 200_000);
    assert!(seen.last().is_some_and(|status| status.stage == Stage::Arranging));

    // Both files of a Graphalytics graph are one piece of work.
    let vertices = (0..=200_000).fold(String::new(), |text, i| text + &format!("{i}\n"));
    scratch.file("h.v", &vertices);
    scratch.file("h.properties", "graph.h.meta.edges = 200000\n");
    let path = scratch.file("h.e", &text);
    let watcher = Watcher::default();
    read::load(&path, &ReadOptions::default(), &watcher).expect("good");
    let seen = watcher.seen.into_inner().expect("no panic");
    let total = (text.len() + vertices.len()) as u64;
    let last = seen.iter().rfind(|s| s.stage == Stage::Reading).expect("ticks");
    assert_eq!((last.done, last.total), (total, Some(total)));
}

#[test]
fn reading_stops_when_asked_to() {
    let scratch = Scratch::new();
    let path = scratch.file("g.el", many_lines());
    let ticks = {
        let watcher = Watcher::default();
        read::load(&path, &ReadOptions::default(), &watcher).expect("good");
        watcher.seen.into_inner().expect("no panic").len()
    };
    for stop_after in 0..ticks {
        let watcher = Watcher { stop_after: Some(stop_after), ..Watcher::default() };
        let result = read::load(&path, &ReadOptions::default(), &watcher);
        let error = result.expect_err("stopped");
        assert!(matches!(error, ReadError::Cancelled), "{error}");
        assert_eq!(error.to_string(), "stopped on request");
    }
}

#[test]
fn looking_for_a_line_is_no_reading_for_the_progress() {
    let scratch = Scratch::new();
    let path = scratch.file("g.el", many_lines() + "1 0\n");
    let watcher = Watcher::default();
    let error = read::load(&path, &ReadOptions::default(), &watcher).expect_err("duplicate");
    assert!(error.to_string().contains(":200001: the edge 1 0 stands twice, first in line 1;"));
    let seen = watcher.seen.into_inner().expect("no panic");
    let first = seen.iter().position(|status| status.stage == Stage::Arranging).expect("ticks");
    assert!(seen[first..].iter().all(|status| status.stage == Stage::Arranging));
    assert!(seen.len() - first > 5, "the second look can be stopped too");
}

/// Counts without keeping, to see that streaming needs no memory of its own.
struct Counting<'a>(&'a AtomicU64, Cell<u64>);

impl Sink for Counting<'_> {
    type Error = DiskFull;

    fn begin(&mut self, _: &Header) -> Result<(), DiskFull> {
        Ok(())
    }

    fn vertex(&mut self, _: KeyRef<'_>) -> Result<(), Refusal<DiskFull>> {
        Ok(())
    }

    fn edge(&mut self, edge: Edge<'_>) -> Result<(), Refusal<DiskFull>> {
        let KeyRef::Number(to) = edge.to else { panic!("numbers") };
        self.1.set(self.1.get() + to);
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn counts_agree_between_stream_and_list() {
    let scratch = Scratch::new();
    let path: &Path = &scratch.file("g.el", many_lines());
    let edges = AtomicU64::new(0);
    let mut sink = Counting(&edges, Cell::new(0));
    let counts = read::read(path, &ReadOptions::default(), &(), &mut sink).expect("good");
    let list = load(path, &ReadOptions::default()).expect("good");
    assert_eq!((counts.edges, edges.load(Ordering::Relaxed)), (200_000, 200_000));
    assert_eq!(sink.1.get(), list.edges.iter().map(|&(_, v)| u64::from(v)).sum::<u64>());
}
