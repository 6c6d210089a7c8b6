//! Real files of others, with the counts that they or their makers state.

mod support;

use std::fs;
use std::path::Path;

use evergraph_graph::read::{Duplicates, KeyChoice, ReadError, ReadOptions, SelfLoops};
use evergraph_graph::{Csr, EdgeList, GraphView};
use support::{data, directed, keys, load, shown, undirected, weighted};

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn read(path: &Path, options: &ReadOptions) -> EdgeList {
    load(path, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks vertices and edges of a file of the data folder; gives the graph if it is there.
fn counts(file: &str, options: &ReadOptions, expected: (u32, usize)) -> Option<EdgeList> {
    let list = read(&data(file)?, options);
    assert_eq!((list.keys.len(), list.edges.len()), expected, "{file}");
    Some(list)
}

/// The triangles of the undirected simple graph under a list of edges.
fn triangles(list: &EdgeList) -> u64 {
    let mut edges: Vec<_> = list.edges.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
    edges.retain(|(u, v)| u != v);
    edges.sort_unstable();
    edges.dedup();
    // Each edge from its end of lesser degree, so that no row is long.
    let mut degrees = vec![0u32; list.keys.len() as usize];
    for &(u, v) in &edges {
        degrees[u as usize] += 1;
        degrees[v as usize] += 1;
    }
    let rank = |v: u32| (degrees[v as usize], v);
    let edges = edges.into_iter().map(|(u, v)| if rank(u) < rank(v) { (u, v) } else { (v, u) });
    let up =
        EdgeList { directed: true, edges: edges.collect(), weights: None, keys: list.keys.clone() };
    let rows: Csr = Csr::from_edges(&up).expect("simple");
    let mut count = 0;
    for u in 0..rows.vertex_bound() {
        for &v in rows.neighbours(u) {
            let (mut a, mut b) = (rows.neighbours(u), rows.neighbours(v));
            while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
                count += u64::from(x == y);
                a = if x <= y { &a[1..] } else { a };
                b = if y <= x { &b[1..] } else { b };
            }
        }
    }
    count
}

#[test]
fn networkit_metis_files() {
    for (file, expected) in [
        ("4elt", (15_606, 45_878)),
        ("PGPgiantcompo", (10_680, 24_316)),
        ("airfoil1", (4_253, 12_289)),
        ("astro-ph", (16_706, 121_251)),
        ("celegans_metabolic", (453, 2_025)),
        ("example", (4, 2)),
        ("fe_4elt2", (11_143, 32_818)),
        ("grid-5x5-dist-arch", (25, 40)),
        ("hep-th", (8_361, 15_751)),
        ("jazz", (198, 2_742)),
        ("karate", (34, 78)),
        ("lesmis", (77, 254)),
        ("polblogs", (1_490, 16_715)),
        ("power", (4_941, 6_594)),
        ("tie", (7, 13)),
        ("tiny_01", (7, 11)),
        ("tiny_02", (7, 11)),
        ("tiny_03", (7, 11)),
        ("tiny_04", (7, 11)),
        ("wing", (62_032, 121_544)),
    ] {
        let list = counts(&format!("networkit/{file}.graph"), &plain(), expected);
        assert!(list.is_none_or(|list| !list.directed && list.keys.id(0u32).is_none()));
    }
}

#[test]
fn one_networkit_file_gives_an_edge_two_weights() {
    let file = "networkit/jazz2double.graph";
    let Some(_) = counts(file, &plain(), (5, 6)) else { return };
    let path = data(file).expect("it was there");
    let error = load(&path, &weighted()).expect_err("two weights");
    let expected = format!("{}:4: the edge 3 5 does not stand", path.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    let weights = counts("networkit/tie.graph", &weighted(), (7, 13)).expect("beside it").weights;
    let total: f64 = weights.expect("asked for").iter().sum();
    assert!((total - 46.0).abs() < 1e-9, "{total}");
}

#[test]
fn networkit_matrices() {
    for (file, expected, is_directed) in [
        ("GD01_b.mtx", (18, 37), true),
        ("Hamrle1.mtx", (32, 98), true),
        ("LFAT5.mtx", (14, 30), false),
        ("Ragusa16.mtx", (24, 81), true),
        ("chesapeake.mtx", (39, 170), false),
        ("tiny_05.matrixmarket", (5, 11), true),
    ] {
        let list = counts(&format!("networkit/{file}"), &plain(), expected);
        assert!(list.is_none_or(|list| list.directed == is_directed), "{file}");
    }
}

#[test]
fn networkit_edge_lists() {
    counts("networkit/MIT8.edgelist", &plain(), (6_440, 251_252));
    counts("networkit/hamming6-4.edgelist", &plain(), (64, 704));
    counts("networkit/johnson8-4-4.edgelist", &plain(), (70, 1_855));
    let list = counts("networkit/spaceseparated_weighted.edgelist", &weighted(), (3, 3));
    assert!(list.is_none_or(|list| list.weights == Some(vec![2.0, 4.0, 3.0])));
    if let Some(list) = counts("networkit/alphabet.edgelist", &weighted(), (5, 4)) {
        assert_eq!((keys(&list), shown(&list)), ("a b c d e".into(), "a-b a-c c-d d-e".into()));
        assert_eq!(list.weights, Some(vec![3.0, 2.0, 1.0, 5.0]));
    }
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, ..plain() };
    for file in ["comments", "example", "spaceseparated"] {
        let file = format!("networkit/{file}.edgelist");
        counts(&file, &directed(), (10, 20));
        let Some(_) = counts(&file, &ignore, (10, 10)) else { continue };
        let error = load(&data(&file).expect("it was there"), &plain()).expect_err("both ways");
        assert!(matches!(error, ReadError::DuplicateEdge { first: Some(_), .. }), "{error}");
    }
    let konect = ReadOptions { format: Some("edge-list".parse().expect("known")), ..weighted() };
    let list = counts("networkit/foodweb-baydry.konect", &konect, (128, 2_137));
    assert!(list.is_none_or(|list| list.directed));
}

#[test]
fn snap_votes_are_directed_by_their_comment() {
    let Some(list) = counts("networkit/wiki-Vote.txt", &plain(), (7_115, 103_689)) else { return };
    assert!(list.directed);
    assert_eq!(triangles(&list), 608_389);
    let merged = ReadOptions { duplicates: Duplicates::Ignore, ..undirected() };
    counts("networkit/wiki-Vote.txt", &merged, (7_115, 100_762));
}

#[test]
fn lagraph_matrices() {
    for (file, expected) in [
        ("A", (7, 15)),
        ("LFAT5", (14, 30)),
        ("LFAT5_hypersparse", (2_000, 30)),
        ("LFAT5_two", (28, 60)),
        ("bcsstk13", (2_003, 42_943)),
        ("comments_west0067", (67, 295)),
        ("cover", (7, 12)),
        ("cryg2500", (2_500, 12_349)),
        ("jagmesh7", (1_138, 4_294)),
        ("karate", (34, 78)),
        ("ldbc-directed-example", (10, 17)),
        ("ldbc-undirected-example-bool", (9, 12)),
        ("matrix_bool", (7, 12)),
        ("matrix_fp32", (7, 12)),
        ("matrix_int64", (7, 12)),
        ("matrix_uint64", (7, 12)),
        ("olm1000", (1_000, 3_996)),
        ("pushpull", (4_000, 99_208)),
        ("skew_fp32", (6, 20)),
        ("skew_int8", (6, 20)),
        ("test_FW_2003", (2_003, 23_973)),
        ("tree-example", (6, 5)),
        ("west0067", (67, 294)),
        ("west0067_jumbled", (67, 294)),
        ("zenios", (2_873, 15_032)),
    ] {
        counts(&format!("lagraph/{file}.mtx"), &plain(), expected);
    }
    let Some(karate) = counts("lagraph/karate.mtx", &plain(), (34, 78)) else { return };
    assert_eq!(triangles(&karate), 45);
    let west = |name: &str| read(&data(name).expect("beside it"), &weighted());
    let (plain, jumbled) = (west("lagraph/west0067.mtx"), west("lagraph/west0067_jumbled.mtx"));
    assert_eq!(support::content(&plain), support::content(&jumbled));
}

#[test]
fn every_mangled_matrix_is_refused_with_its_line() {
    let Some(folder) = data("lagraph") else { return };
    let mut refused = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let no_graph = ["complex", "full", "full_noheader", "full_symmetric", "west0067_noheader"]
            .iter()
            .any(|other| name == format!("{other}.mtx"));
        if !name.starts_with("mangled") && !no_graph {
            continue;
        }
        for options in [plain(), weighted()] {
            let error = load(&path, &options).expect_err(&name).to_string();
            let place = error.strip_prefix(&format!("{}:", path.display()));
            let line = place.and_then(|rest| rest.split_once(':')).expect(&error).0;
            assert!(line.parse::<u32>().is_ok_and(|line| line >= 1), "{error}");
        }
        refused += 1;
    }
    assert_eq!(refused, 30);
}

#[test]
fn gapbs_graphs() {
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, ..directed() };
    let both = ReadOptions { weighted: true, ..ignore.clone() };
    let Some(el) = counts("gapbs/graphs/4.el", &ignore, (13, 58)) else { return };
    // One of the 14 vertices has no edge, so that an edge list does not know it. The reference
    // counts 53 edges: GAPBS drops self loops as well.
    let simple = ReadOptions { self_loops: SelfLoops::Drop, ..ignore.clone() };
    let reference = fs::read_to_string(data("gapbs/reference/graph-4.el.out").expect("beside"))
        .expect("a text");
    assert!(reference.contains("14 nodes and 53 directed edges"), "{reference}");
    let simple_el = counts("gapbs/graphs/4.el", &simple, (13, 53)).expect("beside");
    let edges = |list: &EdgeList| support::content(list).2;
    let plus_one = |list: &EdgeList| {
        let edges = list.edges.iter().map(|&(u, v)| {
            let number = |v| list.keys.key(v).expect("key").to_string().parse::<u64>();
            (number(u).expect("number") + 1, number(v).expect("number") + 1)
        });
        edges.map(|(u, v)| (u.to_string(), v.to_string(), None)).collect()
    };
    let (metis, matrix, dimacs) = ("4.graph", "4.mtx", "4.gr");
    let from_one = |file: &str, options: &ReadOptions, expected| {
        edges(&counts(&format!("gapbs/graphs/{file}"), options, expected).expect("beside"))
    };
    assert_eq!(from_one(metis, &directed(), (14, 53)), plus_one(&simple_el));
    assert_eq!(from_one(matrix, &ignore, (14, 58)), plus_one(&el));
    assert_eq!(from_one(dimacs, &ignore, (14, 58)), plus_one(&el));
    let wel = counts("gapbs/graphs/4.wel", &both, (13, 58)).expect("beside");
    let weights = |list: &EdgeList| list.weights.clone().expect("asked for");
    let gr = counts("gapbs/graphs/4.gr", &both, (14, 58)).expect("beside");
    assert_eq!(weights(&wel), weights(&gr));
    let weighted_arcs = ReadOptions { weighted: true, ..directed() };
    counts("gapbs/graphs/4w.graph", &weighted_arcs, (14, 53));
    counts("gapbs/graphs/4w.mtx", &both, (14, 58));
    let error = load(&data("gapbs/graphs/4w.graph").expect("beside"), &plain()).expect_err("arcs");
    assert!(matches!(error, ReadError::OneSided { .. }), "{error}");
}

#[test]
fn roads() {
    if let Some(list) = counts("road/NY.gr.xz", &plain(), (264_346, 365_050)) {
        assert_eq!((list.directed, triangles(&list)), (false, 6_529));
    }
    if let Some(list) = counts("road/COL.gr.xz", &plain(), (435_666, 521_200)) {
        assert_eq!(triangles(&list), 7_623);
    }
}

#[test]
fn a_web_crawl() {
    let file = "uk2007-100k/uk-2007-05@100000.el.zst";
    let Some(list) = counts(file, &directed(), (100_000, 3_050_615)) else { return };
    assert_eq!(list.edges.iter().filter(|(u, v)| u == v).count(), 15_670);
    let plain_keys = list.keys.kind() == evergraph_graph::key::KeyKind::Dense;
    assert!(plain_keys, "keys 0 .. 100000 are dense");
    let path = data("uk2007-100k/uk-2007-05@100000.graph").expect("beside");
    assert!(load(&path, &plain()).is_err(), "a WebGraph file is no METIS file");
    let path = data("uk2007-100k/uk-2007-05@100000.properties").expect("beside");
    let error = load(&path, &plain()).expect_err("WebGraph properties").to_string();
    assert!(error.contains("does not describe a Graphalytics graph"), "{error}");
}

#[test]
fn gnutella() {
    let Some(list) = counts("p2p31/p2p-31.e", &weighted(), (62_586, 147_892)) else { return };
    assert!(list.weights.is_some_and(|weights| weights.iter().all(|w| w.fract() == 0.0)));
    let path = data("p2p31/p2p-31.e").expect("beside");
    let by_prefix = read(&path.with_extension(""), &plain());
    assert_eq!(by_prefix.edges, list.edges);
    let bare = counts("p2p31/p2p-Gnutella31.e", &directed(), (62_586, 147_892)).expect("beside");
    let arcs = read(&path, &directed());
    assert_eq!(support::content(&bare), support::content(&arcs));
}

#[test]
fn graphalytics_examples() {
    let file = "graphalytics/example/example-directed.e";
    let both = ReadOptions { weighted: true, ..directed() };
    let Some(list) = counts(file, &both, (10, 17)) else { return };
    let edge = list.edges.iter().position(|&edge| edge == (0, 2)).expect("1 3");
    assert_eq!(list.weights.map(|weights| weights[edge]), Some(0.5));
    let list = counts("graphalytics/example/example-undirected.e", &plain(), (9, 12));
    assert_eq!(keys(&list.expect("beside")), "2 3 4 5 6 7 8 9 10");
    counts("graphalytics/sssp/dir-input.e", &both, (10, 13));
    counts("graphalytics/sssp/undir-input.e", &weighted(), (12, 14));
}

#[test]
fn messages_and_mails_with_parallel_edges() {
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, ..plain() };
    let file = "collegemsg/CollegeMsg.txt";
    if let Some(list) = counts(file, &ignore, (1_899, 13_838)) {
        assert_eq!(triangles(&list), 14_319);
    }
    counts(file, &ReadOptions { directed: Some(true), ..ignore.clone() }, (1_899, 20_296));
    if let Some(path) = data("collegemsg/out.dnc-temporalGraph") {
        let list = read(&path, &ignore);
        assert!(list.directed, "KONECT says `asym`");
        assert!(list.edges.len() < 39_264);
        let texts = ReadOptions { keys: KeyChoice::Text, ..ignore };
        assert_eq!(support::content(&list), support::content(&read(&path, &texts)));
    }
}

#[test]
fn a_graph_in_ten_stages() {
    let Some(folder) = data("graphchallenge-stream/streaming/emergingEdges/50000_nodes") else {
        return;
    };
    let mut edges = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if !path.to_string_lossy().contains("truePartition") {
            edges += read(&path, &ReadOptions { weighted: true, ..directed() }).edges.len();
        }
    }
    assert_eq!(edges, 1_018_039);
}
