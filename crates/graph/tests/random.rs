//! Random graphs survive being written and read; random bytes never make a reader panic.

mod support;

use std::collections::BTreeSet;
use std::io::Write;

use evergraph_graph::key::KeyKind;
use evergraph_graph::read::{Duplicates, KeyChoice, ReadOptions, SelfLoops};
use evergraph_graph::update::{Update, UpdateReader, UpdateWriter};
use evergraph_graph::{EdgeList, KeyTable, write};
use proptest::prelude::*;
use support::{Scratch, content};

/// A simple graph in which every vertex has an edge.
fn graph(keys: impl Strategy<Value = KeyTable>) -> impl Strategy<Value = EdgeList> {
    let ends = prop::collection::vec((any::<u32>(), any::<u32>(), weight()), 1..60);
    (keys, ends, any::<bool>(), any::<bool>()).prop_map(|(keys, ends, directed, weighted)| {
        let vertices = keys.len();
        let mut seen = BTreeSet::new();
        let (mut edges, mut weights) = (Vec::new(), Vec::new());
        let all = (0..vertices).map(|v| (v, (v + 1) % vertices, 1.0));
        for (u, v, weight) in all.chain(ends) {
            let (u, v) = (u % vertices, v % vertices);
            if seen.insert(if directed || u <= v { (u, v) } else { (v, u) }) {
                edges.push((u, v));
                weights.push(weight);
            }
        }
        EdgeList { directed, keys, edges, weights: weighted.then_some(weights) }
    })
}

fn weight() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |weight| weight.is_finite())
}

/// Small, consecutive, spread over 32 bits, or over 64.
fn number_keys() -> impl Strategy<Value = KeyTable> {
    let spread = |most: u64| {
        prop::collection::btree_set(0..=most, 1..40)
            .prop_map(|keys| KeyTable::ascending(keys.into_iter().collect()).expect("ascending"))
    };
    prop_oneof![
        (1..40u32).prop_map(KeyTable::dense),
        (1..1000u64, 1..40u32)
            .prop_map(|(first, len)| { KeyTable::consecutive(first, len).expect("small") }),
        spread(300),
        spread(u64::from(u32::MAX)),
        spread(u64::MAX),
    ]
}

fn text_keys() -> impl Strategy<Value = KeyTable> {
    let text = prop_oneof!["[a-c0-9]{0,3}", "[ ,\"#%\t\r'\u{feff}a]{0,4}", "\\PC{0,8}"];
    prop::collection::btree_set(text, 1..30).prop_map(|texts| {
        let mut keys = KeyTable::empty(KeyKind::Text);
        for text in &texts {
            keys.push(text.as_str()).expect("a set has no duplicates");
        }
        keys
    })
}

fn options(list: &EdgeList) -> ReadOptions {
    ReadOptions {
        weighted: list.weights.is_some(),
        keys: match list.keys.kind() {
            KeyKind::Text => KeyChoice::Text,
            _ => KeyChoice::Auto,
        },
        ..ReadOptions::default()
    }
}

fn survives(name: &str, list: &EdgeList) -> Result<(), TestCaseError> {
    let scratch = Scratch::new();
    let path = scratch.path(name);
    let bytes = write::graph(list, &path, Vec::new()).expect("memory takes everything");
    let read = scratch.load(name, &bytes, &options(list));
    let read = read.map_err(|error| TestCaseError::fail(format!("{error}")))?;
    prop_assert_eq!(content(&read), content(list), "{}", String::from_utf8_lossy(&bytes));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edge_lists_survive(
        list in prop_oneof![graph(number_keys()).boxed(), graph(text_keys()).boxed()],
        form in prop::sample::select(vec!["g.el", "g.txt", "g.csv", "g.tsv", "g.wel"]),
        compression in prop::sample::select(vec!["", ".gz", ".zst", ".xz"]),
    ) {
        survives(&format!("{form}{compression}"), &list)?;
    }

    #[test]
    fn matrices_survive(
        list in graph((1..40u32).prop_map(|len| KeyTable::consecutive(1, len).expect("small"))),
        compression in prop::sample::select(vec!["", ".gz", ".zst", ".xz"]),
    ) {
        survives(&format!("g.mtx{compression}"), &list)?;
    }

    #[test]
    fn update_logs_survive(
        updates in prop::collection::vec(
            (0..5u8, "[a \"#,\t0-9\r]{0,4}", "\\PC{0,6}", weight(), any::<bool>()), 0..40),
        numbers in any::<bool>(),
        compression in prop::sample::select(vec!["", ".gz", ".zst", ".xz"]),
    ) {
        use evergraph_graph::KeyRef;
        let number = |text: &str| text.len() as u64 * 0x1234_5678_9abc;
        let updates: Vec<_> = updates.iter().map(|(verb, from, to, weight, with)| {
            let (from, to) = if numbers {
                (KeyRef::Number(number(from)), KeyRef::Number(number(to)))
            } else {
                (KeyRef::Text(from), KeyRef::Text(to))
            };
            match verb {
                0 => Update::AddEdge { from, to, weight: with.then_some(*weight) },
                1 => Update::DeleteEdge { from, to },
                2 => Update::SetWeight { from, to, weight: *weight },
                3 => Update::AddVertex(from),
                _ => Update::DeleteVertex(to),
            }
        }).collect();
        let scratch = Scratch::new();
        let path = scratch.path(&format!("u.log{compression}"));
        let mut writer = UpdateWriter::new(Vec::new(), &path).expect("memory");
        for update in &updates {
            writer.write(*update).expect("memory");
        }
        std::fs::write(&path, writer.finish().expect("memory")).expect("scratch");
        if updates.is_empty() && compression.is_empty() {
            prop_assert!(UpdateReader::open(&path, KeyChoice::Auto, &()).is_err());
            return Ok(());
        }
        let keys = if numbers { KeyChoice::Auto } else { KeyChoice::Text };
        let mut reader = UpdateReader::open(&path, keys, &()).expect("good");
        let mut line = 0;
        while let Some((at, update)) = reader.read().map_err(|e| TestCaseError::fail(e.to_string()))? {
            prop_assert_eq!(at, line as u64 + 1);
            prop_assert_eq!(&update, &updates[line]);
            line += 1;
        }
        prop_assert_eq!(line, updates.len());
    }
}

/// Every kind of file a reader is given.
const NAMES: [&str; 14] = [
    "g.el",
    "g.csv",
    "g.tsv",
    "g.mtx",
    "g.graph",
    "g.gr",
    "g.v",
    "g.properties",
    "g.el.gz",
    "g.el.zst",
    "g.el.xz",
    "g.mtx.gz",
    "g.graph.zst",
    "u.log",
];

/// Reads the bytes as this file, with every set of options; only a panic is wrong.
fn digest(name: &str, bytes: &[u8]) {
    let scratch = Scratch::new();
    scratch.file("g.e", "1 2\n2 3\n");
    let path = scratch.file(name, bytes);
    for (weighted, directed, keys) in [
        (false, None, KeyChoice::Auto),
        (true, Some(true), KeyChoice::Number),
        (true, Some(false), KeyChoice::Text),
        (false, Some(false), KeyChoice::Auto),
    ] {
        let duplicates = if weighted { Duplicates::Ignore } else { Duplicates::Error };
        let self_loops = if weighted { SelfLoops::Drop } else { SelfLoops::Allow };
        let options = ReadOptions {
            weighted,
            directed,
            keys,
            duplicates,
            self_loops,
            ..ReadOptions::default()
        };
        match support::load(&path, &options) {
            Ok(list) => assert!(evergraph_graph::Csr::<f64>::from_edges(&list).is_ok(), "simple"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if let Ok(mut reader) = UpdateReader::open(&path, keys, &()) {
            while let Ok(Some(_)) = reader.read() {}
        }
    }
}

/// Words that files are made of, so that random text gets past the first line.
fn words() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: [&str; 40] = [
        "1",
        "2",
        "3",
        "0",
        "4",
        "10",
        "-1",
        "1.5",
        "1e9",
        "nan",
        "inf",
        "18446744073709551615",
        "18446744073709551616",
        "a",
        "d",
        "u",
        "av",
        "p",
        "sp",
        "tw",
        "c",
        "e",
        "x",
        "\"",
        "\"a b\"",
        ",",
        "\t",
        " ",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "#",
        "%",
        "\0",
        "é",
        "%%MatrixMarket matrix coordinate real general\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n",
        "%%GraphBLAS type int8_t\n",
        "graph.g.directed = true\n",
    ];
    let word = prop_oneof![
        10 => prop::sample::select(WORDS.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec((word, any::<bool>()), 0..60).prop_map(|words| {
        let mut text = Vec::new();
        for (word, blank) in words {
            text.extend(word);
            text.extend(blank.then_some(b' '));
        }
        text
    })
}

/// A good file of each format, compressed where the name says so.
fn good(name: &str) -> Vec<u8> {
    let text = match name.split('.').nth(1) {
        Some("mtx") => {
            "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n3 1 6\n"
        }
        Some("graph") => "4 3 11 1\n9 2 5 3 6\n9 1 5\n9 1 6 4 7\n9 3 7\n",
        Some("gr") => "c x\np sp 3 3\na 1 2 5\na 2 1 5\na 3 2 6\n",
        Some("v") => "1\n2\n3\n",
        Some("properties") => "graph.g.directed = true\ngraph.g.meta.edges = 2\n",
        Some("log") => "av 1\na 1 2 0.5\nu 1 2 7\nd 1 2\ndv \"1\"\n",
        Some("csv") => "source,target,weight\n\"1\",2,5\n2,\"3\",6\n",
        _ => "# Directed graph\n1 2 5\n2 3 6\n70000000000 3 7\n",
    };
    let mut encoder = write::Encoder::new(Vec::new(), name.as_ref()).expect("memory");
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_digested(
        name in prop::sample::select(NAMES.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        digest(name, &bytes);
    }

    #[test]
    fn random_words_are_digested(name in prop::sample::select(NAMES.to_vec()), bytes in words()) {
        digest(name, &bytes);
    }

    #[test]
    fn damaged_files_are_digested(
        name in prop::sample::select(NAMES.to_vec()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..4),
    ) {
        let mut bytes = good(name);
        for (place, byte, edit) in edits {
            let place = place.index(bytes.len());
            match edit {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => bytes.truncate(place.max(1)),
            }
        }
        digest(name, &bytes);
    }
}

#[test]
fn the_good_files_are_good() {
    for name in NAMES {
        let scratch = Scratch::new();
        scratch.file("g.e", "1 2\n2 3\n");
        let path = scratch.file(name, good(name));
        if name == "u.log" {
            let mut reader = UpdateReader::open(&path, KeyChoice::Auto, &()).expect(name);
            while reader.read().expect(name).is_some() {}
        } else if name == "g.properties" {
            assert!(support::load(&path, &ReadOptions::default()).is_err(), "no vertex file");
        } else {
            support::load(&path, &ReadOptions::default()).expect(name);
        }
    }
}
