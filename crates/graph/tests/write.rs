//! What is written, letter by letter, and what is refused.

mod support;

use std::io::{self, Write};
use std::path::Path;

use evergraph_graph::key::KeyKind;
use evergraph_graph::write::{self, WriteError};
use evergraph_graph::{EdgeList, KeyTable};
use support::{Scratch, shown};

fn numbers() -> EdgeList {
    EdgeList {
        directed: false,
        keys: KeyTable::ascending(vec![3, 70_000_000_000]).expect("ascending"),
        edges: vec![(0, 1), (1, 1)],
        weights: Some(vec![0.1, -2e300]),
    }
}

fn texts() -> EdgeList {
    let mut keys = KeyTable::empty(KeyKind::Text);
    for key in ["a b", "#", "plain", "say \"x\""] {
        keys.push(key).expect("new");
    }
    EdgeList { directed: true, keys, edges: vec![(0, 1), (2, 3)], weights: None }
}

fn written(list: &EdgeList, name: &str) -> String {
    let bytes = write::graph(list, Path::new(name), Vec::new()).expect("memory");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn edge_lists_are_written_with_the_separator_of_their_name() {
    let list = numbers();
    for (name, separator) in [("g.el", " "), ("g.txt", " "), ("g.csv", ","), ("g.tsv", "\t")] {
        let rows = "3 70000000000 0.1\n70000000000 70000000000 -2e300\n";
        let rows = rows.replace(' ', separator);
        let expected = format!("# Undirected graph, 2 edges\n{rows}");
        assert_eq!(written(&list, name), expected, "{name}");
    }
    let expected = "# Directed graph, 2 edges\n\"a b\" \"#\"\nplain \"say \"\"x\"\"\"\n";
    assert_eq!(written(&texts(), "g.el"), expected);
}

#[test]
fn matrices_are_written_as_their_lower_triangle() {
    let keys = KeyTable::dense(3);
    let list = EdgeList { directed: false, keys, edges: vec![(0, 2), (1, 1)], weights: None };
    let body = "3 3 2\n3 1\n2 2\n";
    let expected = format!("%%MatrixMarket matrix coordinate pattern symmetric\n{body}");
    assert_eq!(written(&list, "g.mtx"), expected);
    let list = EdgeList { directed: true, weights: Some(vec![1.0, 2.5]), ..list };
    let expected = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 3 1\n2 2 2.5\n";
    assert_eq!(written(&list, "g.mtx"), expected);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let message = |list: &EdgeList, name: &str| {
        write::graph(list, Path::new(name), Vec::new()).expect_err(name).to_string()
    };
    for name in ["g", "g.gml", "g.gz", "g.graph"] {
        let expected = format!(
            "{name}: cannot tell what to write from the name; end it in .el, .txt, .csv, .tsv or \
             .mtx, with .gz, .zst or .xz after that to compress it"
        );
        assert_eq!(message(&numbers(), name), expected);
    }
    assert_eq!(
        message(&numbers(), "g.mtx"),
        "a Matrix Market file would lose the key 3: it numbers vertices from 1; write an edge list"
    );
    assert!(message(&texts(), "g.mtx").contains("would lose the key a b"));
    let mut list = texts();
    list.keys.push("two\nlines").expect("new");
    list.edges.push((4, 0));
    assert_eq!(
        message(&list, "g.el"),
        "the key \"two\\nlines\" cannot be written: it holds a line end or a NUL character"
    );
}

/// A disk that is full after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_at_every_place() {
    for name in ["g.el", "g.el.gz", "g.el.zst", "g.el.xz"] {
        let whole = write::graph(&numbers(), Path::new(name), Vec::new()).expect("memory").len();
        for room in 0..whole {
            let error = write::graph(&numbers(), Path::new(name), Full(room));
            assert!(matches!(error, Err(WriteError::Io(_))), "{name}: {room} of {whole}");
        }
        assert!(write::graph(&numbers(), Path::new(name), Full(whole)).is_ok());
    }
}

#[test]
fn a_graph_of_many_buffers_and_frames_survives() {
    let edges: Vec<_> = (0..700_000u32).map(|v| (v, v + 1)).collect();
    let list = EdgeList { directed: true, keys: KeyTable::dense(700_001), edges, weights: None };
    let scratch = Scratch::new();
    for name in ["g.el", "g.tsv.gz", "g.csv.zst"] {
        let bytes = write::graph(&list, Path::new(name), Vec::new()).expect("memory");
        let read = scratch.load(name, bytes, &support::directed()).expect(name);
        assert_eq!(read.edges, list.edges, "{name}");
    }
    let small = EdgeList { edges: vec![(5, 7)], ..list };
    let bytes = write::graph(&small, Path::new("g.el"), Vec::new()).expect("memory");
    let read = scratch.load("g.el", bytes, &support::directed()).expect("small");
    assert_eq!((shown(&read), read.keys.len()), ("5-7".to_owned(), 2));
}
