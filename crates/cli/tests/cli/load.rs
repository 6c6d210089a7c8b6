//! `evergraph load` and `evergraph run --db`: what goes in is what is computed on, however often the
//! load was interrupted.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::interrupt::press_ctrl_c;
use crate::support::{Folder, Ran, SMALL, data, ran};

/// The first number on the line of a summary.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.trim_start().starts_with(name));
    let mut words = line.unwrap_or_else(|| panic!("no {name} in {text}")).split_whitespace();
    words.find_map(|word| word.replace(',', "").parse().ok()).expect("a number")
}

/// What an algorithm says, on a graph that was loaded for it and on the database.
fn alike(folder: &Folder, algorithm: &str, (graph, db): (&str, &str)) {
    let csv = |from: &str| folder.output(&format!("run {algorithm} {from} --output-format csv"));
    assert_eq!(csv(&format!("--graph {graph}")), csv(&format!("--db {db}")), "{algorithm} {graph}");
}

#[test]
fn what_is_loaded_is_computed_on() {
    let folder = Folder::with(&[
        ("g.el", SMALL),
        ("n.csv", "who,whom\nann,bob\nbob,\"c c\"\ncy,ann\ndan,dan\n"),
        ("g.v", "1\n2\n3\n4\n5\n9\n"),
    ]);
    folder.run("generate graph500-9 --weighted --output k.el.zst");
    for (at, graph) in [
        "g.el",
        "g.el --directed --weighted",
        "g.el --vertices g.v",
        "n.csv",
        "n.csv --self-loops drop --directed",
        "k.el.zst --weighted",
        "graph500-10 --weighted --seed 5",
        "uniform-8 --directed",
    ]
    .iter()
    .enumerate()
    {
        let db = format!("db{at}.evg");
        for mode in ["sync", "group:5", "os", "none"] {
            let db = format!("{mode}/{db}");
            folder.output(&format!("load {graph} --into {db} --durability {mode} --batch 100"));
            for algorithm in ["wcc", "pagerank", "triangles", "lcc"] {
                alike(&folder, algorithm, (graph, &db));
            }
            assert!(folder.output(&format!("check {db}")).contains("nothing is wrong"));
        }
    }
    alike(&folder, "sssp --source 1", ("g.el --directed --weighted", "sync/db1.evg"));
    alike(&folder, "bfs --source ann", ("n.csv", "os/db3.evg"));
    let note = folder.run("run sssp --source 1 --db sync/db0.evg").stderr;
    assert_eq!(note, "note: the graph has no weights, so each edge counts 1\n");
}

#[test]
fn the_past_is_computed_on() {
    let folder = Folder::with(&[("g.el", "1 2\n2 3\n3 4\n4 1\n")]);
    folder.output("load g.el --into g.evg --batch 1");
    // Four vertices, then four edges.
    for (at, graph) in [("5", "4 vertices, 1 edge,"), ("8", "4 vertices, 4 edges,"), ("2", "2 v")] {
        let out = folder.output(&format!("run wcc --db g.evg --at {at}"));
        assert!(out.contains(graph) && out.contains(&format!("version     {at}")), "{out}");
    }
    let out = folder.output("run wcc --db g.evg --at 2020-01-01T00:00:00Z");
    assert!(out.contains("0 vertices, 0 edges"), "{out}");
    assert!(folder.output("run triangles --db g.evg --at 0s").contains("4 edges"));
    folder.fails("run wcc --db g.evg --at 9", &["the newest version is 8"]);
    let json = folder.output("run triangles --db g.evg --at 7 --output-format json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["version"], &json["edges"]), (&7.into(), &3.into()));
    assert!(json["open_seconds"].is_number() && json["read_seconds"].is_null(), "{json}");
}

const GRAPH: &str = "graph500-16 --seed 3";
const EDGES: u64 = 910_068;

/// Starts a load of many small transactions, and waits until a watcher in another process has seen
/// some of its edges.
fn load_slowly(folder: &Folder, mode: &str) -> Child {
    let child = folder.start(&format!("load {GRAPH} --into g.evg --batch 4 --durability {mode}"));
    let start = Instant::now();
    while folder.run("watch g.evg --max 2000").stdout.lines().count() < 2000 {
        assert!(start.elapsed() < Duration::from_mins(2), "the load never begins");
    }
    child
}

/// Runs the load to its end; the edges that were there already.
fn resumed(folder: &Folder, mode: &str) -> u64 {
    let out = folder.output(&format!("load {GRAPH} --into g.evg --durability {mode}"));
    let before = number(&out, "resumed");
    assert_eq!(before + number(&out, "loaded"), EDGES, "{out}");
    before
}

fn is_whole(folder: &Folder) {
    let stats = folder.output("stats g.evg");
    assert!(stats.contains("65,536 vertices, 910,068 edges, undirected"), "{stats}");
    assert!(folder.output("check g.evg").contains("nothing is wrong"));
    alike(folder, "triangles", (GRAPH, "g.evg"));
    alike(folder, "wcc", (GRAPH, "g.evg"));
}

#[test]
fn a_load_that_ctrl_c_ended_goes_on() {
    let folder = Folder::new();
    let child = load_slowly(&folder, "group:2");
    press_ctrl_c(&child);
    let Ran { code, stdout, stderr } = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((code, stdout.as_str()), (Some(130), ""), "{stderr}");
    let [note, last] = stderr.lines().collect::<Vec<_>>()[..] else { panic!("{stderr}") };
    assert!(note.ends_with("the same line goes on from there") && last == "interrupted");
    let told: u64 = note.split_once(' ').expect("words").0.replace(',', "").parse().expect("edges");
    assert!(note.contains(" of 910,068 edges are in g.evg") && (8000..EDGES).contains(&told));
    let stats = folder.output("stats g.evg --output-format json");
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats["edges"], told);
    assert_eq!(resumed(&folder, "sync"), told);
    is_whole(&folder);
    // All is there: it is compared, and nothing is written.
    assert_eq!(resumed(&folder, "none"), EDGES);
    is_whole(&folder);
}

#[test]
fn a_load_that_was_killed_goes_on() {
    for mode in ["sync", "os", "group:1"] {
        let folder = Folder::new();
        let mut child = load_slowly(&folder, mode);
        child.kill().expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), None, "the load ended before");
        assert!(resumed(&folder, mode) >= 7000, "a watcher had seen 2000 transactions");
        is_whole(&folder);
    }
}

#[test]
fn a_database_that_holds_something_else_is_left_alone() {
    let folder = Folder::with(&[
        ("g.el", "1 2 5\n2 3 5\n"),
        ("more.el", "1 2 5\n2 3 5\n3 4 5\n"),
        ("fewer.el", "1 2 5\n"),
        ("turned.el", "1 2 5\n3 1 5\n"),
        ("heavy.el", "1 2 5\n2 3 7\n"),
        ("text.el", "a b\n"),
    ]);
    folder.output("load g.el --into g.evg --weighted");
    let content = || folder.output("run pagerank --db g.evg --output-format csv");
    let before = content();
    for (line, part) in [
        ("load more.el --weighted", "it has edges, but not all vertices of the graph"),
        ("load fewer.el --weighted", "it has 3 vertices and 2 edges, the graph 2 and 1"),
        ("load turned.el --weighted", "it lacks the edge 3 1"),
        ("load heavy.el --weighted", "its edge 2 3 weighs 5, not 7"),
        ("load g.el", "it was made with other weights"),
        ("load g.el --weighted --directed", "it was made with other directions"),
        ("load text.el --weighted --keys text", ""),
        ("load text.el", "it was made with other"),
        ("load graph500-4 --weighted", "it was made with other keys"),
    ] {
        let parts: &[&str] = &["g.evg: the database holds something else: ", part];
        match part {
            "" => folder.fails(&format!("{line} --into g.evg"), &["text.el:1"]),
            _ => folder.fails(&format!("{line} --into g.evg"), parts),
        }
    }
    assert_eq!(content(), before);
    assert!(folder.output("stats g.evg").contains("version     2"));
    folder.output("load g.el --weighted --into g.evg");
}

#[test]
fn places_that_cannot_be_loaded_into() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    std::fs::create_dir(folder.path("home")).expect("a folder");
    std::fs::write(folder.path("home/letter.txt"), "dear").expect("a file");
    folder.fails("load g.el --into g.el", &["g.el: this is a file; a database is a folder"]);
    folder.fails("load g.el --into home", &["home: this folder holds other files (letter.txt)"]);
    folder.fails("load g.el --into g.el/db", &["g.el/db"]);
    folder.fails("load none.el --into g.evg", &["none.el: no such file"]);
    std::fs::create_dir(folder.path("odd")).expect("a folder");
    std::fs::write(folder.path("odd/DATABASE"), "a list of databases").expect("a file");
    for line in ["load g.el --into odd", "run wcc --db odd", "watch odd", "check odd"] {
        folder.fails(line, &["odd/DATABASE is damaged at byte 0", "it is 19 bytes long, not 48"]);
    }
    assert_eq!(folder.names(), ["g.el", "home", "odd"]);
}

#[test]
fn a_web_crawl() {
    let Some(data) = data() else { return };
    let folder = Folder::new();
    let graph = data.join("uk2007-100k/uk-2007-05@100000.el.zst");
    let graph = format!("{} --directed", graph.to_str().expect("a path of text"));
    let out = folder.output(&format!("load {graph} --into uk.evg"));
    assert!(out.contains("100,000 vertices, 3,050,615 edges, directed"), "{out}");
    alike(&folder, "pagerank", (&graph, "uk.evg"));
    alike(&folder, "scc", (&graph, "uk.evg"));
    assert!(folder.output("check uk.evg").contains("3,050,615 edges"));
}
