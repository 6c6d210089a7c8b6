//! `evergraph bench`: rows, charts, and errors. What is measured is tested where it is done.

use serde_json::Value;

use crate::support::{Folder, SMALL};

const QUICK: &str = "--graph graph500-8 --repeats 2 --threads 2 --idle 0.2 --updates-per-edge 2";

#[test]
fn rows_are_json_on_standard_output() {
    let folder = Folder::new();
    let ran = folder.run(&format!("bench insert kernels {QUICK} --json -"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let rows: Value = serde_json::from_str(&ran.stdout).expect("JSON and nothing else");
    let rows = rows.as_array().expect("one array");
    for metric in ["insert_rate", "scan_seq", "bfs", "pagerank", "triangles"] {
        let row = rows.iter().find(|row| row["metric"] == metric);
        let row = row.unwrap_or_else(|| panic!("no {metric}"));
        assert_eq!((&row["graph"], &row["threads"]), (&"graph500-8".into(), &2.into()), "{row}");
        assert!(row["value"].as_f64().is_some_and(|value| value > 0.0), "{row}");
    }
}

#[test]
fn memory_is_that_of_a_process_of_its_own() {
    let folder = Folder::new();
    let ran = folder.run(&format!("bench memory {QUICK} --json rows.json --plot charts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("bytes_per_entry"), "{}", ran.stdout);
    assert!(folder.read("rows.json").contains("bytes_per_entry"));
    assert!(folder.path("charts").is_dir());
}

#[test]
fn what_cannot_be_measured_is_told() {
    let folder = Folder::with(&[("g.el", SMALL), ("bad.el", "1 2\n3\n")]);
    for (line, part) in [
        ("bench insert --graph missing.el", "missing.el"),
        ("bench insert --graph bad.el", "bad.el:2"),
        ("bench insert --graph g.el", "at least"),
        ("bench insert --graph graph500-8 --json no/rows.json", "the folder does not exist"),
    ] {
        let ran = folder.run(line);
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(ran.code == Some(1) && last.starts_with("error: "), "{line}: {ran:?}");
        assert!(last.contains(part), "{line}: {last}");
    }
}
