//! Every algorithm in every format.

use std::io::Read;

use crate::support::{Folder, SMALL, ran};

/// Runs an algorithm on the small graph in the graphalytics format; the values in key order.
fn values(folder: &Folder, line: &str) -> Vec<String> {
    let text = folder.output(&format!("run {line} --output-format graphalytics"));
    let lines = text.lines().map(|line| line.split_once(' ').expect("a key and a value"));
    let (keys, values): (Vec<&str>, Vec<String>) =
        lines.map(|(key, value)| (key, value.to_owned())).unzip();
    assert_eq!(keys, ["1", "2", "3", "4", "5"], "{line}");
    values
}

#[test]
fn every_algorithm_answers() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    let graph = "--graph g.el --directed";
    let unreached = "9223372036854775807";
    assert_eq!(
        values(&folder, &format!("bfs {graph} --source 1")),
        ["0", "1", "1", "2", unreached]
    );
    assert_eq!(
        values(&folder, &format!("sssp {graph} --weighted --source 1")),
        ["0.0", "0.5", "0.75", "1.75", "infinity"]
    );
    assert_eq!(values(&folder, &format!("wcc {graph}")), ["1"; 5]);
    assert_eq!(values(&folder, &format!("scc {graph}")), ["1", "2", "3", "4", "5"]);
    assert_eq!(
        values(&folder, "lcc --graph g.el --undirected"),
        ["0.3333333333333333", "1.0", "0.3333333333333333", "0.0", "0.0"]
    );
    let labels = values(&folder, &format!("cdlp {graph} --iterations 1"));
    assert_eq!(labels, ["2", "1", "1", "3", "1"]);
    let ranks = values(&folder, &format!("pagerank {graph} --iterations 3 --damping 0.5"));
    let ranks: Vec<f64> = ranks.iter().map(|rank| rank.parse().expect("a number")).collect();
    assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{ranks:?}");
    assert!(ranks[2] > ranks[1] && ranks[1] > ranks[4], "{ranks:?}");
}

#[test]
fn every_answer_can_be_verified() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    for line in [
        "bfs --source 1",
        "sssp --source 1 --weighted",
        "pagerank",
        "wcc",
        "cdlp",
        "lcc",
        "triangles",
        "scc",
    ] {
        for direction in ["--directed", "--undirected"] {
            let line = format!("run {line} --graph g.el {direction} --verify");
            let ran = folder.run(&line);
            assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
            assert!(ran.stdout.contains("\n  verified"), "{line}: {ran:?}");
            let ran = folder.run(&format!("{line} --output-format json"));
            assert_eq!(
                (ran.code, ran.stderr.trim_end().lines().last()),
                (Some(0), Some("verified"))
            );
        }
    }
}

#[test]
fn a_search_without_weights_says_that_it_counts_edges() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    let ran = folder.run("run sssp --graph g.el --directed --source 1 --output-format csv");
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("each edge counts 1 (--weighted)"), "{ran:?}");
    assert_eq!(ran.stdout, "vertex,value\n1,0.0\n2,1.0\n3,1.0\n4,2.0\n5,\n");
}

#[test]
fn the_table_is_for_people() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    for (line, parts) in [
        ("bfs --directed --source 1", ["reached 4 of 5 vertices", "farthest: 2 hops"]),
        ("sssp --directed --source 1 --weighted", ["reached 4 of 5 vertices", "farthest: 1.75"]),
        ("pagerank --directed", ["20 iterations", "vertex  rank"]),
        ("wcc", ["1 component\n", "the largest is that of 1: 5 vertices"]),
        ("scc --directed", ["5 components", "the largest is that of 1: 1 vertex\n"]),
        ("cdlp", ["communit", "the largest is that of"]),
        ("lcc", ["mean 0.33333", "g.el"]),
        ("triangles", ["1 triangle\n", "5 vertices, 5 edges, undirected\n"]),
    ] {
        let text = folder.output(&format!("run {line} --graph g.el"));
        for part in parts.into_iter().chain(["graph ", "version ", "loaded ", "computed "]) {
            assert!(text.contains(part), "{line}: {text}");
        }
    }
}

#[test]
fn csv_and_json_are_for_programs() {
    let folder = Folder::with(&[("n.csv", "from,to\nann,\"b, \"\"b\"\"\"\nann,cy\ndan,dan\n")]);
    let line = "run bfs --graph n.csv --keys text --source ann";
    let csv = folder.output(&format!("{line} --output-format csv"));
    assert_eq!(csv, "vertex,value\nann,0\n\"b, \"\"b\"\"\",1\ncy,1\ndan,\n");
    let json: serde_json::Value =
        serde_json::from_str(&folder.output(&format!("{line} --output-format json")))
            .expect("JSON");
    assert_eq!((&json["algorithm"], &json["graph"]), (&"bfs".into(), &"n.csv".into()));
    assert_eq!((&json["vertices"], &json["edges"]), (&4.into(), &3.into()));
    assert!(json["version"].as_u64() > Some(0) && json["seconds"].as_f64() > Some(0.0), "{json}");
    let expected = serde_json::json!([
        {"vertex": "ann", "value": 0},
        {"vertex": "b, \"b\"", "value": 1},
        {"vertex": "cy", "value": 1},
        {"vertex": "dan", "value": null},
    ]);
    assert_eq!(json["values"], expected);
    let text = folder.output("run wcc --graph n.csv --keys text --output-format graphalytics");
    assert_eq!(text, "ann ann\n\"b, \"\"b\"\"\" ann\ncy ann\ndan dan\n");
    let text = folder.output("run cdlp --graph n.csv --keys text --output-format csv");
    assert!(text.ends_with("\ndan,dan\n"), "labels are keys: {text}");
}

#[test]
fn triangles_are_one_number() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    let line = "run triangles --graph g.el --output-format";
    assert_eq!(folder.output(&format!("{line} csv")), "triangles\n1\n");
    let json: serde_json::Value =
        serde_json::from_str(&folder.output(&format!("{line} json"))).expect("JSON");
    assert_eq!(json["triangles"], 1);
}

#[test]
fn a_file_tells_its_direction_keys_and_format() {
    let folder = Folder::with(&[
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"),
        ("g.graph", "3 2\n2\n1 3\n2\n"),
        ("g.gr", "p sp 3 2\na 1 2 7\na 2 3 7\n"),
        ("g.v", "10\n20\n30\n"),
        ("g.e", "10 20\n20 30\n"),
        ("g.properties", "graph.g.directed = true\ngraph.g.vertex-file = g.v\n"),
        ("plain", "1 2\n2 3\n"),
        ("all", "1\n2\n3\n4\n"),
    ]);
    let kind = |line: &str| {
        let text = folder.output(&format!("run wcc {line}"));
        text.lines().find(|line| line.contains(" vertices, ")).expect("a line").trim().to_owned()
    };
    let directed = "graph       3 vertices, 2 edges, directed";
    let undirected = "graph       3 vertices, 2 edges, undirected";
    assert_eq!(kind("--graph g.mtx"), directed);
    assert_eq!(kind("--graph g.mtx --undirected"), undirected);
    assert_eq!(kind("--graph g.graph"), undirected);
    assert_eq!(kind("--graph g.gr"), directed);
    assert_eq!(kind("--graph g.gr --weighted"), format!("{directed}, weighted"));
    assert_eq!(kind("--graph g.e"), directed);
    assert_eq!(kind("--graph g"), directed);
    assert_eq!(kind("--graph plain --format edge-list"), undirected);
    let with_vertices = kind("--graph plain --format edge-list --vertices all --directed");
    assert_eq!(with_vertices, directed.replace('3', "4"));
}

#[test]
fn a_result_replaces_a_file_only_when_it_is_complete() {
    let folder = Folder::with(&[("g.el", SMALL), ("out.csv", "old")]);
    folder.fails("run bfs --graph g.el --source 77 --output out.csv", &["the source 77"]);
    assert_eq!(folder.read("out.csv"), "old");
    assert_eq!(folder.output("run bfs --graph g.el --directed --source 1 --output out.csv"), "");
    assert_eq!(folder.read("out.csv"), "vertex,value\n1,0\n2,1\n3,1\n4,2\n5,\n");
    assert_eq!(folder.output("run wcc --graph g.el --output out.json"), "");
    assert!(folder.read("out.json").starts_with("{\n  \"algorithm\": \"wcc\""));
    let table = "run wcc --graph g.el --output out.csv --output-format table";
    assert_eq!(folder.output(table), "");
    assert!(folder.read("out.csv").starts_with("wcc of g.el"));
    assert_eq!(folder.names(), ["g.el", "out.csv", "out.json"]);
}

#[test]
fn threads_and_seeds_do_not_change_what_is_asked() {
    let folder = Folder::new();
    let line = "run wcc --graph uniform-6 --output-format csv";
    let all = folder.output(line);
    assert_eq!(folder.output(&format!("{line} --threads 1")), all);
    assert_eq!(folder.output(&format!("{line} --threads 3")), all);
    let ranks = "run pagerank --output-format csv --graph";
    let seeded = folder.output(&format!("{ranks} graph500-5-s9"));
    assert_eq!(folder.output(&format!("{ranks} graph500-5 --seed 9")), seeded);
    assert_ne!(folder.output(&format!("{ranks} graph500-5")), seeded);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new();
    let mut child = folder.start("run pagerank --graph graph500-14 --output-format json");
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().expect("it is piped");
    stdout.read_exact(&mut first).expect("something to read");
    drop(stdout);
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
