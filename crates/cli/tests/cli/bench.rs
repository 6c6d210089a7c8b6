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

/// A Python that has some packages, and whose script tells these lines.
#[cfg(unix)]
fn python(missing: &str, lines: &str) -> Folder {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let program = folder.path("venv/bin/python");
    fs::create_dir_all(folder.path("venv/bin")).expect("a folder");
    let asked = format!("case \"$2\" in *find_spec*) echo {missing}; exit 0;; esac");
    let text = format!("#!/bin/sh\n{asked}\necho \"$3 $4 $5 $6 $7 $8\" >&2\n{lines}\n");
    fs::write(&program, text).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    folder
}

#[cfg(unix)]
#[test]
fn figures_of_python_are_rows_like_others() {
    let line = r#"echo '{"metric": "nx_pagerank", "of": "graph500-8", "unit": "s",
        "samples": [0.25, 0.5, 0.75], "baseline": "igraph", "baseline_value": 1.0, "remark": null}' | tr -d '\n'"#;
    let folder = python("", line);
    let ran = folder.run_with(&format!("bench python {QUICK} --json -"), "VIRTUAL_ENV", "venv");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("--json --graph graph500-8 --repeats 2"), "{}", ran.stderr);
    let rows: Value = serde_json::from_str(&ran.stdout).expect("JSON and nothing else");
    let row = &rows[0];
    assert_eq!((&row["metric"], &row["graph"]), (&"nx_pagerank".into(), &"graph500-8".into()));
    assert_eq!((&row["value"], &row["ratio"]), (&0.5.into(), &0.5.into()), "{row}");
    assert_eq!((&row["baseline"], &row["samples"]), (&"igraph".into(), &3.into()), "{row}");
}

#[cfg(unix)]
#[test]
fn what_python_lacks_is_told_with_the_line_that_installs_it() {
    let folder = python("evergraph igraph", "");
    let ran = folder.run_with("bench python", "VIRTUAL_ENV", "venv");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("has no evergraph, igraph; in a clone: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("python -m pip install . igraph"), "{}", ran.stderr);
    for (lines, says) in [
        ("exit 3", "exit status: 3"),
        ("echo no json", "expected"),
        (r#"echo '{"metric": "x", "of": "", "unit": "s", "samples": []}'"#, "tells of `x`"),
    ] {
        let ran = python("", lines).run_with("bench python", "VIRTUAL_ENV", "venv");
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(ran.code == Some(1) && last.contains(says), "{lines}: {}", ran.stderr);
    }
    let none = Folder::new().run_with("bench python", "VIRTUAL_ENV", "venv");
    assert!(none.code == Some(1) && none.stderr.contains("venv/bin/python: "), "{}", none.stderr);
}
