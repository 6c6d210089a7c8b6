//! Small files in every format, read as they are meant.

mod support;

use std::io::Write;
use std::path::PathBuf;

use evergraph_graph::key::KeyKind;
use evergraph_graph::read::{Duplicates, Format, KeyChoice, ReadOptions, SelfLoops};
use evergraph_graph::{EdgeList, write};
use support::{Scratch, directed, keys, load, shown, undirected, weighted};

fn read(name: &str, content: &str, options: &ReadOptions) -> EdgeList {
    Scratch::new()
        .load(name, content, options)
        .unwrap_or_else(|error| panic!("{name} {content:?}: {error}"))
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

#[test]
fn edge_lists_are_read_in_every_dress() {
    for (name, content) in [
        ("g.el", "1 2\n2 3\n"),
        ("g.el", "1 2\n2 3"),
        ("g.el", "  1\t 2  \n\n2\t3\t\n"),
        ("g.el", "\u{feff}1 2\r\n2 3\r\n"),
        ("g.txt", "# comment\n% comment\n1 2\n # comment\n2 3\n"),
        ("g.csv", "1,2\n2,3\n"),
        ("g.csv", "1 , 2\n2 , 3\n"),
        ("g.csv", "1 2\n2 3\n"),
        ("g.csv", "\"1\",\"2\"\n\"2\",\"3\"\n"),
        ("g.csv", "source,target\n1,2\n2,3\n"),
        ("g.csv", "Source,Target,Weight\n1,2,5\n2,3,5\n"),
        ("g.csv", "von,nach\n1,2\n2,3\n"),
        ("g.tsv", "\u{feff}FromNodeId\tToNodeId\r\n1\t2\r\n2\t3\r\n"),
        ("g.tsv", "1\t2\t\n2\t3\t\n"),
        ("g.edgelist", "1,2\n2,3\n"),
        ("g.wel", "1 2 0.5\n2 3 7\n"),
        ("g.txt", "1 2 0.5 1082040961\n2 3 inf 1082040962\n"),
        ("out.konect", "% sym weighted\n% 2 3 3\n1 2 1 100\n2 3 1 100\n"),
        ("g.e", "1 2\n2 3\n"),
    ] {
        let list = read(name, content, &plain());
        assert_eq!(shown(&list), "1-2 2-3", "{content:?}");
        assert_eq!(keys(&list), "1 2 3");
        assert!(!list.directed);
        assert_eq!((list.keys.kind(), list.weights), (KeyKind::Number, None));
    }
}

#[test]
fn ids_follow_number_keys_and_the_first_use_of_text_keys() {
    let list = read("g.el", "70000000000 5\n5 18446744073709551615\n", &plain());
    assert_eq!(keys(&list), "5 70000000000 18446744073709551615");
    assert_eq!(list.edges, [(1, 0), (0, 2)]);
    let list = read("g.el", "2 0\n0 1\n", &plain());
    assert_eq!((list.keys.kind(), list.keys.len()), (KeyKind::Dense, 3));
    assert_eq!(list.edges, [(2, 0), (0, 1)]);
    let list = read("g.el", "b a\na \"c d\"\n", &plain());
    assert_eq!((list.keys.kind(), keys(&list)), (KeyKind::Text, "b a c d".to_owned()));
    assert_eq!(list.edges, [(0, 1), (1, 2)]);
}

#[test]
fn the_first_record_decides_between_numbers_and_texts() {
    assert_eq!(read("g.el", "1 x\n2 3\n", &plain()).keys.kind(), KeyKind::Text);
    assert_eq!(shown(&read("g.el", "a b\nc d\n", &plain())), "a-b c-d");
    assert_eq!(shown(&read("g.el", "a b\n", &plain())), "a-b");
    // Only the first line can be a row of names.
    assert_eq!(shown(&read("g.el", "# c\nfrom to\n1 2\n", &plain())), "from-to 1-2");
    let texts = ReadOptions { keys: KeyChoice::Text, ..plain() };
    let list = read("g.el", "01 1\n1 2\n", &texts);
    assert_eq!((list.keys.kind(), shown(&list)), (KeyKind::Text, "01-1 1-2".to_owned()));
    let numbers = ReadOptions { keys: KeyChoice::Number, ..plain() };
    assert_eq!(shown(&read("g.el", "what ever\n007 2\n", &numbers)), "7-2");
}

#[test]
fn text_keys_may_hold_anything_within_quotes() {
    let list = read("g.csv", "Anna Berg,\"Meier, \"\"Jo\"\"\"\n\"#1\",é\n", &plain());
    assert_eq!(keys(&list), "Anna Berg Meier, \"Jo\" #1 é");
    let list = read("g.tsv", "New York\tSan José, CA\n", &plain());
    assert_eq!(shown(&list), "New York-San José, CA");
}

#[test]
fn a_comment_before_the_first_edge_tells_the_direction() {
    for (content, expected) in [
        ("# Directed graph (each unordered pair once)\n1 2\n", true),
        ("# Undirected graph: x\n1 2\n", false),
        ("% asym unweighted\n1 2\n", true),
        ("% sym unweighted\n1 2\n", false),
        ("1 2\n# Directed graph\n", false),
        ("# nothing\n1 2\n", false),
    ] {
        assert_eq!(read("g.txt", content, &plain()).directed, expected, "{content:?}");
        assert!(read("g.txt", content, &directed()).directed);
        assert!(!read("g.txt", content, &undirected()).directed);
    }
}

#[test]
fn weights_are_taken_when_asked_for() {
    let list = read("g.wel", "1 2 0.5\n2 3 -7e2 99\n", &weighted());
    assert_eq!(list.weights, Some(vec![0.5, -700.0]));
    assert_eq!(read("g.wel", "1 2 0.5\n", &plain()).weights, None);
    let list = read("g.el", "a b \"2.5\"\n", &weighted());
    assert_eq!(list.weights, Some(vec![2.5]));
}

#[test]
fn duplicates_and_self_loops_follow_the_options() {
    let text = "1 2 1\n2 1 2\n1 2 3\n3 3 4\n1 3 5\n3 3 6\n";
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, weighted: true, ..plain() };
    let list = read("g.el", text, &ignore);
    assert_eq!(shown(&list), "1-2 3-3 1-3");
    assert_eq!(list.weights, Some(vec![1.0, 4.0, 5.0]));
    let list = read("g.el", text, &ReadOptions { directed: Some(true), ..ignore.clone() });
    assert_eq!(shown(&list), "1-2 2-1 3-3 1-3");
    let list = read("g.el", text, &ReadOptions { self_loops: SelfLoops::Drop, ..ignore });
    assert_eq!(shown(&list), "1-2 1-3");
    assert_eq!(list.weights, Some(vec![1.0, 5.0]));
    assert_eq!(shown(&read("g.el", "4 4\n", &plain())), "4-4");
}

#[test]
fn compressed_files_are_read_by_their_extension() {
    let text = b"1 2\n2 3\n";
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    };
    let zstd = |text: &[u8]| {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let xz = |text: &[u8]| {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("memory");
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    };
    let (first, second) = text.split_at(5);
    // A skippable zstd frame: magic, length, content.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let scratch = Scratch::new();
    for (name, content) in [
        ("g.el.gz", gzip(text)),
        ("g.EL.GZ", gzip(text)),
        ("members.el.gz", [gzip(first), gzip(second)].concat()),
        ("g.txt.zst", zstd(text)),
        ("frames.el.zst", [zstd(first), skipped, zstd(second)].concat()),
        ("g.csv.xz", xz(text)),
        ("streams.el.xz", [xz(first), xz(second)].concat()),
    ] {
        let list = scratch.load(name, content, &plain()).expect(name);
        assert_eq!(shown(&list), "1-2 2-3", "{name}");
    }
}

#[test]
fn the_option_decides_the_format_against_the_name() {
    let metis = ReadOptions { format: Some(Format::Metis), ..plain() };
    assert_eq!(shown(&read("g.el", "2 1\n2\n1\n", &metis)), "1-2");
    for (name, format) in Format::NAMES {
        assert_eq!(name.parse(), Ok(format));
        assert_eq!(format.to_string(), name);
    }
    assert!("gml".parse::<Format>().is_err());
}

/// The files of a Graphalytics graph, by the path of the one with the given suffix.
fn graphalytics(scratch: &Scratch, suffix: &str) -> PathBuf {
    scratch.file("toy.v", "3\n1\n# c\n9 value\n4\n");
    scratch.file("toy.e", "1 3 0.5\n3 4 2\n");
    scratch.file(
        "toy.properties",
        "# toy\ngraph.toy.vertex-file = toy.v\ngraph.toy.edge-file = toy.e\n\
         graph.toy.meta.vertices = 4\ngraph.toy.meta.edges = 2\ngraph.toy.directed = true\n\
         graph.toy.edge-properties.names = weight\ngraph.toy.bfs.source-vertex = 1\n",
    );
    scratch.path(&format!("toy{suffix}"))
}

#[test]
fn a_graphalytics_graph_is_found_by_any_of_its_files() {
    let scratch = Scratch::new();
    for suffix in ["", ".e", ".v", ".properties"] {
        let list = load(&graphalytics(&scratch, suffix), &weighted()).expect(suffix);
        assert!(list.directed, "{suffix}");
        assert_eq!(keys(&list), "1 3 4 9");
        assert_eq!((shown(&list), list.weights), ("1-3 3-4".to_owned(), Some(vec![0.5, 2.0])));
    }
}

#[test]
fn the_files_of_a_graphalytics_graph_may_be_compressed() {
    let scratch = Scratch::new();
    let compressed = |name: &str, text: &str| {
        let mut encoder = write::Encoder::new(Vec::new(), name.as_ref()).expect("memory");
        encoder.write_all(text.as_bytes()).expect("memory");
        scratch.file(name, encoder.finish().expect("memory"))
    };
    compressed("toy.v.gz", "3\n1\n2\n");
    let edges = compressed("toy.e.zst", "1 3\n");
    for path in [edges, scratch.path("toy"), scratch.path("toy.v.gz")] {
        assert_eq!(keys(&load(&path, &plain()).expect("graph")), "1 2 3", "{}", path.display());
    }
    scratch.file("toy.properties", "graph.toy.edge-file = toy.e\ngraph.toy.directed = true\n");
    let list = load(&scratch.path("toy.properties"), &plain()).expect("graph");
    assert_eq!((shown(&list), list.directed), ("1-3".to_owned(), true));
}

#[test]
fn a_graphalytics_graph_needs_no_properties_and_may_have_its_vertices_elsewhere() {
    let scratch = Scratch::new();
    scratch.file("g.e", "1 2\n");
    scratch.file("g.v", "1\n2\n7\n");
    let list = load(&scratch.path("g.e"), &plain()).expect("graph");
    assert_eq!((list.directed, keys(&list)), (false, "1 2 7".to_owned()));
    assert_eq!(keys(&load(&scratch.path("g"), &plain()).expect("prefix")), "1 2 7");
    let vertices = Some(scratch.file("other.v", "2\n1\n5\n"));
    let options = ReadOptions { vertices, ..plain() };
    assert_eq!(keys(&load(&scratch.path("g.e"), &options).expect("other")), "1 2 5");
    let format = Some(Format::EdgeList);
    let list = load(&scratch.path("g.e"), &ReadOptions { format, ..plain() }).expect("list");
    assert_eq!(keys(&list), "1 2");
}

#[test]
fn an_edge_list_with_a_vertex_file_has_all_its_vertices() {
    let scratch = Scratch::new();
    let vertices = Some(scratch.file("people.csv", "name,age\nBo,3\nAl,4\nCy,5\n"));
    let options = ReadOptions { vertices, ..plain() };
    let list = scratch.load("knows.csv", "from,to\nAl,Bo\n", &options).expect("graph");
    assert_eq!((keys(&list), list.edges), ("Bo Al Cy".to_owned(), vec![(1, 0)]));
    let list = scratch.load("none.csv", "# no edges\n", &options).expect("graph");
    assert_eq!((list.keys.len(), list.edges.len()), (3, 0));
}

#[test]
fn matrices_are_graphs() {
    let read = |banner: &str, body: &str, options: &ReadOptions| {
        read("g.mtx", &format!("%%MatrixMarket matrix coordinate {banner}\n{body}"), options)
    };
    let list = read("pattern general", "% c\n\n3 3 2\n1 2\n\n% c\n3 1\n", &plain());
    assert_eq!((shown(&list), keys(&list)), ("1-2 3-1".to_owned(), "1 2 3".to_owned()));
    assert!(list.directed);
    let list = read("Integer Symmetric", "4 4 3\n2 1 7\n3 3 0\n1 4 -2\n", &weighted());
    assert_eq!((shown(&list), list.directed), ("2-1 3-3 1-4".to_owned(), false));
    assert_eq!((list.weights, list.keys.len()), (Some(vec![7.0, 0.0, -2.0]), 4));
    let arcs = ReadOptions { weighted: true, ..directed() };
    let list = read("real symmetric", "3 3 2\n2 1 1.5\n3 3 2\n", &arcs);
    assert_eq!((shown(&list), list.weights), ("2-1 1-2 3-3".to_owned(), Some(vec![1.5, 1.5, 2.0])));
    let list = read("real skew-symmetric", "3 3 1\n3 1 1.5\n", &weighted());
    assert_eq!((shown(&list), list.directed), ("3-1 1-3".to_owned(), true));
    assert_eq!(list.weights, Some(vec![1.5, -1.5]));
    let list = read("real skew-symmetric", "3 3 1\n3 1 1.5\n", &undirected());
    assert_eq!(shown(&list), "3-1");
    let list = read("pattern general", "2 2 1\n1 2\n", &undirected());
    assert!(!list.directed);
    let list = read("real general", "2 2 0\n", &plain());
    assert_eq!((list.keys.len(), list.edges.len()), (2, 0));
    let body = "%%GraphBLAS type int8_t\n2 2 2\n1 1 -128\n1 2 127\n";
    assert_eq!(read("integer general", body, &weighted()).weights, Some(vec![-128.0, 127.0]));
}

#[test]
fn metis_rows_are_undirected_edges() {
    let read = |content: &str, options: &ReadOptions| read("g.graph", content, options);
    let list = read("% c\n4 2\n2 3\n1\n% c\n1\n\n", &plain());
    assert_eq!((shown(&list), keys(&list)), ("1-2 1-3".to_owned(), "1 2 3 4".to_owned()));
    assert!(!list.directed);
    let list = read("3 2 1\n2 0.5 3 7\n1 0.5\n1 7", &weighted());
    assert_eq!((shown(&list), list.weights), ("1-2 1-3".to_owned(), Some(vec![0.5, 7.0])));
    // A size and two weights before the neighbours.
    let list = read("2 1 111 2\n9 8 7 2 5\n6 5 4 1 5\n", &weighted());
    assert_eq!((shown(&list), list.weights), ("1-2".to_owned(), Some(vec![5.0])));
    let list = read("2 1 010 1\n9 2\n8 1\n", &plain());
    assert_eq!(shown(&list), "1-2");
    // A self loop stands once in its row, and may count as half an edge.
    assert_eq!(shown(&read("2 2\n1 2\n1\n", &plain())), "1-1 1-2");
    assert_eq!(shown(&read("2 2\n1 2\n1\n", &directed())), "1-1 1-2 2-1");
    let list = read("3 1\n2\n1\n\n", &directed());
    assert_eq!((shown(&list), list.directed), ("1-2 2-1".to_owned(), true));
    let list = read("3 3\n2 3\n3\n\n", &directed());
    assert_eq!(shown(&list), "1-2 1-3 2-3");
}

#[test]
fn the_first_digit_of_a_metis_format_means_what_fits_the_columns() {
    let sizes = read("g.graph", "3 2 100\n5 2 3\n6 1\n7 1\n", &plain());
    let parallel = read("g.graph", "3 2 100\n2 3\n1\n1\n", &plain());
    assert_eq!((shown(&sizes), shown(&parallel)), ("1-2 1-3".to_owned(), "1-2 1-3".to_owned()));
    let arcs = read("g.graph", "3 3 100\n2 3\n\n2\n", &directed());
    assert_eq!(shown(&arcs), "1-2 1-3 3-2");
}

#[test]
fn dimacs_files_are_read_in_both_forms() {
    let text = "c road\np sp 4 3\nc\na 1 2 5\na 2 1 5\n\na 2 3 7\n";
    let list = read("g.gr", text, &weighted());
    assert_eq!((shown(&list), list.directed), ("1-2 2-1 2-3".to_owned(), true));
    assert_eq!((list.weights, list.keys.len()), (Some(vec![5.0, 5.0, 7.0]), 4));
    let both = ReadOptions { weighted: true, ..undirected() };
    let list = read("g.gr", text, &both);
    assert_eq!((shown(&list), list.weights), ("1-2 2-3".to_owned(), Some(vec![5.0, 7.0])));
    // Without weights there is nothing in which an arc and its reverse could differ.
    let list = read("g.gr", "p sp 2 2\na 1 2 5\na 2 1 6\n", &undirected());
    assert_eq!(shown(&list), "1-2");
    let list = read("g.gr", "c pace\np tw 3 2\n1 2\n3 2\n", &plain());
    assert_eq!((shown(&list), list.directed), ("1-2 3-2".to_owned(), false));
    let list = read("g.gr", "p tw 3 1\n1 2\n", &directed());
    assert_eq!((shown(&list), list.directed), ("1-2 2-1".to_owned(), true));
}
