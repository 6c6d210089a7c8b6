//! Every benchmark runs, on a graph so small that its figures mean nothing: what is checked is that
//! each figure is there, that it is a number that can be, and that answers were compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Parser;
use evergraph_bench::{Args, Error, run};
use serde_json::Value;

const GRAPH: &str = "graph500-10";
const KERNELS: [&str; 9] =
    ["scan_seq", "scan_random", "bfs", "pagerank", "wcc", "cdlp", "lcc", "sssp", "triangles"];

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

/// Runs a command line in this process; the rows it gives.
fn rows(line: &str) -> Vec<Value> {
    let mut out = Vec::new();
    run(&args(line), &mut out, &()).expect(line);
    let rows: Value = serde_json::from_slice(&out).expect("one JSON value");
    let rows = rows.as_array().expect("an array").clone();
    rows.iter().for_each(check_common);
    rows
}

/// The arguments of a command line on the small graph, quick, with rows to standard output.
fn args(line: &str) -> Args {
    let fixed = ["--repeats", "1", "--threads", "2", "--idle", "0.2", "--json", "-"];
    let graph = if line.contains("--graph") { vec![] } else { vec!["--graph", GRAPH] };
    let words = ["bench"].into_iter().chain(line.split(' ')).chain(graph);
    let given: Vec<&str> = words.collect();
    let fixed = fixed.chunks(2).filter(|pair| !given.contains(&pair[0])).flatten();
    Line::parse_from(given.iter().chain(fixed)).args
}

/// What every row must have.
fn check_common(row: &Value) {
    let number = |name: &str| row[name].as_f64();
    assert!(row["metric"].is_string() && row["unit"].is_string(), "{row}");
    assert!(row["graph"].as_str().is_some_and(|graph| !graph.is_empty()), "{row}");
    assert!(number("threads").is_some_and(|threads| threads >= 1.0), "{row}");
    assert!(number("seed").is_some(), "{row}");
    for field in ["commit", "cpu", "state", "baseline", "ratio", "min", "median", "max"] {
        assert!(row.get(field).is_some(), "no {field}: {row}");
    }
    // What is waited for may not happen in so short a time; all else has a value.
    let waited = ["settle_time", "memory_back"].contains(&row["metric"].as_str().unwrap_or(""));
    match number("value") {
        Some(value) => assert!(value.is_finite() && value >= 0.0, "{row}"),
        None => assert!(waited, "{row}"),
    }
    if let (Some(min), Some(median), Some(max)) = (number("min"), number("median"), number("max")) {
        assert!(min <= median && median <= max, "{row}");
    }
    // A process that others share may have no more memory than before.
    let is_shared = row["process"] == "shared";
    if let Some(ratio) = number("ratio").filter(|_| !is_shared) {
        assert!(ratio > 0.0 && row["baseline"].is_string(), "{row}");
        assert!(number("baseline_value").is_some_and(|value| value > 0.0), "{row}");
    }
}

/// The rows in which the given fields have the given values.
fn find<'r>(rows: &'r [Value], wanted: &[(&str, Value)]) -> Vec<&'r Value> {
    let fits = |row: &&Value| wanted.iter().all(|(field, value)| row[*field] == *value);
    rows.iter().filter(fits).collect()
}

/// The one row in which they do.
fn one<'r>(rows: &'r [Value], wanted: &[(&str, Value)]) -> &'r Value {
    let found = find(rows, wanted);
    assert_eq!(found.len(), 1, "{wanted:?} in {rows:#?}");
    found[0]
}

fn metric(name: &str) -> (&'static str, Value) {
    ("metric", name.into())
}

fn positive(row: &Value) -> f64 {
    let value = row["value"].as_f64().expect("a value");
    assert!(value > 0.0, "{row}");
    value
}

#[test]
fn insert() {
    for weighted in ["", " --weighted"] {
        let rows = rows(&format!("insert{weighted}"));
        for keys in ["dense", "sparse"] {
            let row = one(&rows, &[metric("insert_rate"), ("keys", keys.into())]);
            positive(row);
            assert_eq!(row["weighted"], !weighted.is_empty());
            assert_eq!(row["compared"], 1);
        }
        let sparse = one(&rows, &[("keys", "sparse".into())]);
        assert_eq!(sparse["baseline"], "dense");
    }
}

#[test]
fn insert_by_serializable_transactions() {
    let rows = rows("insert --isolation serializable");
    assert_eq!(rows.len(), 3);
    let row = one(&rows, &[metric("insert_rate"), ("isolation", "serializable".into())]);
    positive(row);
    assert_eq!((&row["keys"], &row["baseline"]), (&"dense".into(), &"snapshot".into()));
    assert_eq!(row["compared"], 1);
}

#[test]
fn update() {
    let rows = rows("update --updates-per-edge 3");
    let row = one(&rows, &[metric("update_rate")]);
    positive(row);
    assert_eq!((&row["baseline"], &row["compared"]), (&"insert_rate".into(), &1.into()));
}

#[test]
fn batch() {
    let rows = rows("batch");
    for into in ["empty", "full"] {
        let batch = ("batch", 1000.into());
        positive(one(&rows, &[metric("batch_rate"), batch, ("into", into.into())]));
    }
}

#[test]
fn kernels() {
    let rows = rows("kernels --weighted --repeats 2");
    for (kernel, state) in
        KERNELS.iter().flat_map(|kernel| [(kernel, "fresh"), (kernel, "settled")])
    {
        let row = one(&rows, &[metric(kernel), ("state", state.into())]);
        positive(row);
        assert_eq!((&row["baseline"], &row["unit"]), (&"csr".into(), &"s".into()));
        assert_eq!((&row["samples"], &row["compared"]), (&2.into(), &2.into()));
        assert!(row["ratio"].is_number(), "{row}");
    }
    let fresh = one(&rows, &[metric("scan_seq"), ("state", "fresh".into())]);
    assert!(fresh["groups_pending"].as_u64() > Some(0), "{fresh}");
    one(&rows, &[metric("settle_time")]);
}

#[test]
fn scan_and_bandwidth() {
    let rows = rows("scan");
    let metrics: BTreeSet<&str> = rows.iter().filter_map(|row| row["metric"].as_str()).collect();
    let expected =
        ["csr_scan_bandwidth", "read_bandwidth", "scan_random", "scan_seq", "settle_time"];
    assert!(metrics.into_iter().eq(expected));
    for threads in [1, 2] {
        positive(one(&rows, &[metric("read_bandwidth"), ("threads", threads.into())]));
        let scan = one(&rows, &[metric("csr_scan_bandwidth"), ("threads", threads.into())]);
        assert_eq!(scan["baseline"], "read_bandwidth");
    }
}

#[test]
fn mixed() {
    let rows = rows("mixed --threads 1,2");
    for kernel in KERNELS {
        let row = one(&rows, &[metric(kernel)]);
        assert_eq!((&row["writers"], &row["compared"]), (&1.into(), &1.into()));
        assert_eq!((&row["threads"], &row["state"]), (&1.into(), &"fresh".into()));
        one(&rows, &[metric("writer_rate_kept"), ("kernel", kernel.into())]);
    }
    positive(one(&rows, &[metric("writer_rate_kept"), ("kernel", Value::Null)]));
    positive(one(&rows, &[metric("writer_rate_alone")]));
}

#[test]
fn memory_in_this_process() {
    let rows = rows("memory --updates-per-edge 3 --weighted");
    check_memory(&rows, "shared");
}

/// The example is built with the tests unless a single test is asked for.
#[test]
fn memory_in_a_process_of_its_own() {
    let test = std::env::current_exe().expect("tests are files");
    let folder = test.ancestors().nth(2).expect("they lie in a folder of the target folder");
    let program = folder.join("examples").join(format!("bench{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        println!("skipped: the example `bench` is not built");
        return;
    }
    let line = format!("memory --graph {GRAPH} --threads 2 --repeats 1 --idle 0.2 --json -");
    let output = Command::new(program).args(line.split(' ')).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of rows");
    rows.iter().for_each(check_common);
    check_memory(&rows, "own");
    // A program takes some megabytes, and so few entries share them.
    let loaded = find(&rows, &[metric("bytes_per_entry"), ("after", "load".into())]);
    assert!(loaded.iter().all(|row| positive(row) > 4.0));
}

fn check_memory(rows: &[Value], process: &str) {
    for (after, baseline) in [("load", "csr"), ("mix", "load"), ("mix_with_snapshot", "load")] {
        for state in ["fresh", "settled"] {
            let wanted =
                [metric("bytes_per_entry"), ("after", after.into()), ("state", state.into())];
            let row = one(rows, &wanted);
            assert_eq!((&row["baseline"], &row["process"]), (&baseline.into(), &process.into()));
        }
    }
    one(rows, &[metric("memory_back")]);
}

#[test]
fn latency() {
    let rows = rows("latency");
    let value = |name: &str| positive(one(&rows, &[metric(name)]));
    assert!(value("commit_latency_p50") <= value("commit_latency_p99"));
    assert!(value("commit_latency_p99") <= value("commit_latency_p999"));
    assert!(value("commit_latency_p999") <= value("pause_max"));
    assert_eq!(one(&rows, &[metric("pause_max")])["baseline"], "machine");
}

#[test]
fn snapshot() {
    let rows = rows("snapshot");
    for state in ["fresh", "settled"] {
        let wanted = |name: &str| [metric(name), ("state", state.into()), ("writers", 0.into())];
        positive(one(&rows, &wanted("snapshot_open")));
        let lookups = one(&rows, &wanted("has_edge_rate"));
        assert!(positive(lookups) > 0.0 && lookups["compared"].as_u64() > Some(1000), "{lookups}");
    }
    positive(one(&rows, &[metric("snapshot_open"), ("writers", 1.into())]));
}

#[test]
fn hub() {
    let rows = rows("hub --hub-edges 20000");
    for name in ["hub_insert_rate", "hub_delete_rate", "hub_has_edge_rate"] {
        let row = one(&rows, &[metric(name)]);
        positive(row);
        assert_eq!((&row["baseline"], &row["graph"]), (&"uniform".into(), &"hub-20000".into()));
    }
}

#[test]
fn charts_are_drawn_and_well_formed() {
    let folder = tempfile::tempdir().expect("a folder");
    let charts = folder.path().join("charts");
    let line = format!("scan update memory --plot {}", charts.display());
    rows(&line);
    for (name, words) in [
        ("ratios.svg", vec!["scan_seq", "scan_random", "fresh, 2 threads", "settled, 2 threads"]),
        ("throughput.svg", vec!["2 threads", "million updates per second"]),
        ("memory.svg", vec!["no snapshot held", "a snapshot held", "bytes per entry"]),
    ] {
        let texts = texts(&charts.join(name));
        for word in words {
            assert!(texts.contains(word), "no `{word}` in {name}: {texts:?}");
        }
    }
}

/// All texts of an image, which must be XML.
fn texts(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).expect("the chart");
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text()).map(|text| text.trim().to_owned()).collect()
}

#[test]
fn a_directed_file_is_measured_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ring.el");
    let edges: Vec<String> =
        (0..2000).map(|v| format!("{} {}\n", v * 7, (v + 1) % 2000 * 7)).collect();
    fs::write(&path, edges.concat()).expect("a file");
    let json = folder.path().join("rows.json");
    let line = format!("kernels --directed --graph {} --json {}", path.display(), json.display());
    let mut out = Vec::new();
    run(&args(&line), &mut out, &()).expect("runs");
    let table = String::from_utf8(out).expect("text");
    assert!(table.contains("ring.el") && table.contains("pagerank"), "{table}");
    let rows: Vec<Value> =
        serde_json::from_slice(&fs::read(json).expect("the file")).expect("an array of rows");
    rows.iter().for_each(check_common);
    let row = one(&rows, &[metric("pagerank"), ("state", "settled".into())]);
    assert_eq!((&row["graph"], &row["directed"]), (&"ring.el".into(), &true.into()));
}

#[test]
fn bad_requests_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |line: &str| run(&args(line), &mut Vec::new(), &()).expect_err(line);
    let missing = folder.path().join("none/rows.json");
    let error = refused(&format!("insert --json {}", missing.display()));
    assert!(matches!(error, Error::Write { .. }), "{error}");
    let error = refused("insert --graph uniform-1");
    assert!(matches!(error, Error::TooSmall { .. }), "{error}");
    let error = refused("batch --graph uniform-5");
    assert!(matches!(error, Error::TooSmall { .. }), "{error}");
    let error = refused("hub --hub-edges 10");
    assert!(matches!(error, Error::TooSmall { .. }), "{error}");
    for wrong in [
        "bench",
        "bench nothing",
        "bench insert --threads 0",
        "bench insert --repeats 0",
        "bench insert --idle -1",
        "bench insert --graph graph500-x9-",
        "bench insert --directed --undirected",
    ] {
        let parsed = Line::try_parse_from(wrong.split(' '));
        if !wrong.contains("graph500") {
            assert!(parsed.is_err(), "{wrong}");
        }
    }
}

#[test]
fn whoever_hears_the_progress_can_stop_it() {
    use std::ops::ControlFlow;
    struct Stop;
    impl evergraph_bench::Reporter for Stop {
        fn begin(&self, _: &str) {}
        fn advance(&self, _: u64, _: Option<u64>) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
        fn note(&self, _: &str) {}
    }
    for what in ["insert", "update", "kernels", "memory", "hub --hub-edges 20000"] {
        let error = run(&args(what), &mut Vec::new(), &Stop).expect_err("stopped");
        assert!(matches!(error, Error::Interrupted | Error::Source(_)), "{what}: {error}");
    }
}

#[test]
fn all_has_every_figure() {
    let rows = rows("all --updates-per-edge 2 --hub-edges 5000");
    let metrics: BTreeSet<&str> = rows.iter().filter_map(|row| row["metric"].as_str()).collect();
    for name in KERNELS.into_iter().chain([
        "insert_rate",
        "update_rate",
        "batch_rate",
        "bytes_per_entry",
        "snapshot_open",
        "commit_latency_p999",
        "pause_max",
        "writer_rate_kept",
        "has_edge_rate",
        "read_bandwidth",
        "hub_insert_rate",
    ]) {
        assert!(metrics.contains(name), "no {name} in {metrics:?}");
    }
}
