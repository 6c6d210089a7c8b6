//! `--updates`: every kind of line, every refusal, in batches.

use crate::support::{Folder, SMALL};

const BFS: &str = "run bfs --graph g.el --directed --source 1 --output-format graphalytics";

#[test]
fn every_kind_of_line_takes_effect() {
    let log = "# a comment\n\
        av 6\n\
        a 4 6 0.5\n\
        \n\
        d 1 3\n\
        u 2 3 8\n\
        dv 5\n";
    let folder = Folder::with(&[("g.el", SMALL), ("u.log", log)]);
    let line = "run sssp --graph g.el --directed --weighted --source 1 --updates u.log";
    for batch in ["", " --batch 1", " --batch 2", " --batch 100"] {
        let text = folder.output(&format!("{line} --output-format graphalytics{batch}"));
        assert_eq!(text, "1 0.0\n2 0.5\n3 8.5\n4 9.5\n6 10.0\n", "{batch}");
    }
    let table = folder.output(&format!("{line} --batch 2"));
    assert!(table.contains("5 vertices, 4 edges, directed, weighted"), "{table}");
    assert!(table.contains("5 updates by 3 transactions"), "{table}");
}

#[test]
fn a_log_may_be_compressed_and_the_graph_undirected() {
    let folder = Folder::with(&[("g.el", "1 2\n2 3\n")]);
    let log = "run wcc --graph g.el --updates u.log --output-format csv";
    folder.write("u.log", "d 3 2\nav 9\na 9 1\n");
    assert_eq!(folder.output(log), "vertex,value\n1,1\n2,1\n3,3\n9,1\n");
    let ran = folder.run("generate updates --graph g.el --updates-per-edge 3 --output u.log.zst");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = folder.output("run wcc --updates u.log.zst --output-format csv");
    assert_eq!(text, "vertex,value\n1,1\n2,1\n3,1\n");
}

#[test]
fn a_key_may_return_and_a_transaction_sees_itself() {
    let log = "dv 2\nav 2\na 1 2 1\nu 1 2 3\nd 1 2\na 1 2 7\n";
    let folder = Folder::with(&[("g.el", SMALL), ("u.log", log)]);
    let line = "run sssp --graph g.el --directed --weighted --source 1 --updates u.log";
    for batch in [1, 2, 3, 6] {
        let text = folder.output(&format!("{line} --batch {batch} --output-format csv"));
        assert_eq!(text, "vertex,value\n1,0.0\n2,7.0\n3,2.0\n4,3.0\n5,\n", "{batch}");
    }
}

#[test]
fn a_large_new_key_is_no_large_graph() {
    let folder =
        Folder::with(&[("g.el", "0 1\n1 2\n"), ("u.log", "av 4000000000\na 2 4000000000\n")]);
    let text = folder.output("run wcc --graph g.el --updates u.log --output-format csv");
    assert_eq!(text, "vertex,value\n0,0\n1,0\n2,0\n4000000000,0\n");
    let text = folder.output("run bfs --graph graph500-3 --updates u.log --source 4000000000");
    assert!(text.contains("9 vertices"), "{text}");
}

#[test]
fn a_graph_can_consist_of_updates() {
    let log = "av 7\nav 18446744073709551615\na 7 18446744073709551615 2.5\n";
    let folder = Folder::with(&[("u.log", log), ("n.log", "av ann\nav \"b b\"\na ann \"b b\"\n")]);
    let line = "run sssp --updates u.log --weighted --source 7 --output-format csv";
    assert_eq!(folder.output(line), "vertex,value\n7,0.0\n18446744073709551615,2.5\n");
    let text = folder.output("run wcc --updates n.log --keys text --directed --output-format csv");
    assert_eq!(text, "vertex,value\nann,ann\nb b,ann\n");
    folder.fails("run wcc --updates n.log", &["n.log:1", "`ann` is not a number", "--keys text"]);
    let table = folder.output("run wcc --updates n.log --keys text");
    assert!(table.starts_with("wcc of the empty graph"), "{table}");
}

#[test]
fn every_refusal_names_its_line() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    for (line, part) in [
        ("a 1 77 1", "there is no vertex 77; add it first"),
        ("d 77 1", "there is no vertex 77"),
        ("u 77 1 2", "there is no vertex 77"),
        ("dv 77", "there is no vertex 77"),
        ("a 1 2 1", "there is an edge 1 2 already"),
        ("d 2 1", "there is no edge 2 1"),
        ("u 2 1 3", "there is no edge 2 1"),
        ("av 3", "there is a vertex 3 already"),
        ("x 1 2", "`x` is no update"),
        ("a 1", "found 2 of the 3 columns"),
        ("av", "found 1 of the 2 columns"),
        ("u 1 2", "the edge 1 2 has no weight"),
        ("a 4 5 nan", "the weight `nan` is NaN"),
        ("a 4 5 heavy", "`heavy` is not a number"),
        ("a 4 5 1 2", "more than"),
        ("a four 5", "`four` is not a number"),
        ("a 4 18446744073709551616", "outside the range"),
    ] {
        // Two good lines, a comment, two more good lines, and the bad one.
        folder.write("u.log", format!("d 1 2\na 1 2 1\n# c\nav 8\ndv 8\n{line}\nav 9\n"));
        for (batch, before) in [(1, 4), (2, 4), (3, 3), (5, 0), (100, 0)] {
            let before = format!("; {before} updates before it are committed");
            let run = format!(
                "run wcc --graph g.el --directed --weighted --updates u.log --batch {batch} \
                 --output out"
            );
            folder.fails(&run, &["u.log:6", part, &before]);
        }
    }
    assert_eq!(folder.names(), ["g.el", "u.log"], "no result of a failed run");
}

#[test]
fn options_of_the_graph_hold_for_its_updates() {
    let folder = Folder::with(&[("g.el", SMALL), ("w.log", "a 4 5 2\n"), ("l.log", "a 4 4\n")]);
    let weight = ["w.log:1", "carry no weight", "(--weighted)"];
    folder.fails("run wcc --graph g.el --updates w.log", &weight);
    for loops in ["forbid", "drop"] {
        let line = format!("run wcc --graph g.el --self-loops {loops} --updates l.log");
        folder.fails(&line, &["l.log:1", "4", "itself is forbidden", "(--self-loops allow)"]);
    }
    assert!(folder.output("run wcc --graph g.el --updates l.log").contains("6 edges"));
}

#[test]
fn logs_that_cannot_be_read_are_found_before_the_graph_is() {
    let folder = Folder::with(&[("empty.log", ""), ("u.log.bz2", "BZh"), ("u.log.gz", "a 1 2\n")]);
    for (log, part) in [
        ("none.log", "none.log: no such file"),
        (".", "this is a folder"),
        ("empty.log", "empty.log: the file is empty"),
        ("u.log.bz2", ".bz2 files cannot be decompressed here"),
    ] {
        folder.fails(&format!("run wcc --graph none.el --updates {log}"), &[part]);
    }
    folder.write("g.el", SMALL);
    folder.fails("run wcc --graph g.el --updates u.log.gz", &["u.log.gz", "gzip data"]);
}

#[test]
fn without_updates_nothing_changes() {
    let folder = Folder::with(&[("g.el", SMALL), ("u.log", "d 3 4\n")]);
    let before = folder.output(BFS);
    let after = folder.output(&format!("{BFS} --updates u.log"));
    assert_ne!(before, after);
    assert_eq!(folder.output(BFS), before, "a file is not changed by its updates");
}
