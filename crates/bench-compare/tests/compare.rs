//! The program as a user runs it, on a graph so small that its figures mean nothing: what is
//! checked is which rows there are, that answers were compared, and how refusals are told. Peers
//! that would have to be fetched are asked for only where nothing can be fetched.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs a command line; peers are set up in `folder`.
fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-compare"));
    command.args(line.split(' ')).arg("--folder").arg(folder).output().expect("it runs")
}

/// The rows of a command line that succeeds.
fn rows(line: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &format!("{line} --repeats 2 --threads 2 --json -"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    let rows: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    rows.as_array().expect("an array").clone()
}

/// The one row of a peer and a figure.
fn row<'r>(rows: &'r [Value], peer: &str, metric: &str) -> &'r Value {
    let fits = |row: &&Value| row["peer"] == peer && row["metric"] == metric;
    let found: Vec<&Value> = rows.iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "{peer} {metric} in {rows:#?}");
    found[0]
}

/// Both repeats were compared and have a time beside that of Evergraph.
fn check_measured(row: &Value) {
    assert_eq!((&row["compared"], &row["samples"]), (&2.into(), &2.into()), "{row}");
    assert_eq!((&row["baseline"], &row["remark"]), (&"evergraph".into(), &Value::Null), "{row}");
    for field in ["value", "baseline_value", "ratio"] {
        assert!(row[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {row}");
    }
    assert!(row["peer_version"].is_string(), "{row}");
}

#[test]
fn kernels_of_rust_peers_give_our_answers() {
    let rows = rows("kernels --graph graph500-8 --peers evergraph-csr,petgraph,graph");
    let all = ["bfs", "pagerank", "pagerank_converged", "wcc", "triangles", "lcc"];
    let figures: [(&str, &[&str]); 3] = [
        ("evergraph-csr", &all),
        ("petgraph", &["bfs", "wcc"]),
        ("graph", &["pagerank_converged", "wcc", "triangles"]),
    ];
    for (peer, metrics) in figures {
        for metric in metrics {
            check_measured(row(&rows, peer, metric));
        }
        row(&rows, peer, "load");
        row(&rows, peer, "peak_memory");
    }
    for metric in all {
        assert_eq!(row(&rows, "evergraph", metric)["state"], "settled");
    }
}

#[test]
fn another_answer_is_told_and_not_timed() {
    // Its ranks follow another rule.
    let rows = rows("kernels --graph graph500-6 --peers petgraph");
    let row = row(&rows, "petgraph", "pagerank");
    assert_eq!(row["value"], Value::Null, "{row}");
    let remark = row["remark"].as_str().expect("a remark");
    assert!(remark.starts_with("another answer: ranks differ by"), "{remark}");
}

#[test]
fn weights_are_heeded() {
    let rows = rows("kernels --graph graph500-8 --weighted --peers evergraph-csr,petgraph,graph");
    for peer in ["evergraph-csr", "petgraph", "graph"] {
        let row = row(&rows, peer, "sssp");
        check_measured(row);
        assert_eq!(row["weighted"], true);
    }
}

#[test]
fn changes_end_in_the_same_graph() {
    let rows = rows("updates --graph graph500-8 --peers petgraph");
    for metric in ["insert_rate", "mix_rate", "scan"] {
        check_measured(row(&rows, "petgraph", metric));
    }
}

#[test]
fn a_late_peer_is_told() {
    let rows = rows("kernels --graph graph500-12 --peers petgraph --timeout 0.4");
    let row = row(&rows, "petgraph", "pagerank");
    assert_eq!(row["remark"], "timed out after 0.4 s", "{row}");
    check_measured(self::row(&rows, "petgraph", "wcc"));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, problem) in [
        ("kernels --peers nobody", "invalid value 'nobody'"),
        ("updates --peers igraph", "igraph has nothing to measure"),
        ("kernels --graph no/such/file.el", "no/such/file.el"),
        ("kernels --repeats 0", "--repeats"),
        ("nothing", "invalid value 'nothing'"),
    ] {
        let output = run(folder.path(), line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(errors.contains(problem), "{line}: {errors}");
    }
}

#[test]
fn a_peer_without_its_runtime_is_told_and_the_rest_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, missing, measured) in [
        ("kernels --graph graph500-6 --peers igraph,graph --json -", "igraph", "wcc"),
        ("updates --graph graph500-6 --peers neo4j,petgraph --json -", "neo4j", "insert_rate"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench-compare"));
        command.args(line.split(' ')).arg("--folder").arg(folder.path());
        let output = command.env("PATH", folder.path()).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(errors.contains(&format!("could not be set up, and why is told above: {missing}")));
        assert!(errors.contains("python3: ") || errors.contains("mvn: "), "{errors}");
        let rows: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        let rows = rows.as_array().expect("an array");
        assert!(rows.iter().any(|row| row["metric"] == measured && row["compared"] == 5), "{line}");
    }
}
