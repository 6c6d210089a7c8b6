//! Bad input: exit code 1 and one line that says where, what and what to do.

use crate::support::{Folder, SMALL};

#[test]
fn vertices_that_are_not_there() {
    let folder = Folder::with(&[
        ("g.el", SMALL),
        ("some.v", "1\n2\n3\n4\n"),
        ("n.el", "ann bob\n"),
        ("g.v", "1\n2\n1\n"),
        ("g.e", "1 2\n"),
    ]);
    let line = "run wcc --graph g.el --vertices some.v";
    folder.fails(line, &["g.el:5: the edge 5 1 names the vertex 5", "add it to the vertex file"]);
    folder.fails("run bfs --graph g.el --source 77", &["the source 77 is not in the graph"]);
    folder.fails("run bfs --graph g.el --source ann", &["the source ann is not in", "numbers"]);
    folder.fails("run bfs --graph n.el --source 1", &["the source 1 is not in the graph"]);
    folder.fails("run wcc --graph g", &["g.v:3: the vertex 1 is listed twice", "first in line 1"]);
}

#[test]
fn edges_that_stand_twice_and_loops() {
    let folder = Folder::with(&[
        ("g.el", "1 2\n2 3\n1 2\n"),
        ("r.el", "1 2\n2 1\n"),
        ("l.el", "1 2\n3 3\n"),
    ]);
    let twice = ["g.el:3: the edge 1 2 stands twice, first in line 1", "(--duplicates ignore)"];
    folder.fails("run wcc --graph g.el", &twice);
    folder.fails("run wcc --graph g.el --directed", &twice);
    folder.fails("run wcc --graph r.el", &["r.el:2: the edge 2 1 stands twice"]);
    assert!(folder.output("run wcc --graph g.el --duplicates ignore").contains("2 edges"));
    assert!(folder.output("run wcc --graph r.el --directed").contains("2 edges"));
    let parts = ["l.el:2: the edge 3 3 is a self loop", "--self-loops drop"];
    folder.fails("run wcc --graph l.el --self-loops forbid", &parts);
    assert!(folder.output("run wcc --graph l.el").contains("3 vertices, 2 edges"));
    assert!(folder.output("run wcc --graph l.el --self-loops drop").contains("1 edge"));
}

#[test]
fn weights_that_make_no_sense() {
    let folder = Folder::with(&[
        ("nan.el", "1 2 1\n2 3 nan\n"),
        ("inf.el", "1 2 inf\n"),
        ("word.el", "1 2 1\n2 3 heavy\n"),
        ("none.el", "1 2 1\n2 3\n"),
        ("minus.el", "1 2 1\n2 3 -4\n"),
        ("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
    ]);
    let line = |file: &str| format!("run sssp --graph {file} --weighted --source 1");
    folder.fails(&line("nan.el"), &["nan.el:2", "the weight `nan` is NaN"]);
    folder.fails(&line("inf.el"), &["inf.el:1", "the weight `inf` is infinite"]);
    folder.fails(&line("word.el"), &["word.el:2", "`heavy` is not a number"]);
    folder.fails(
        &line("none.el"),
        &["none.el:2: the edge 2 3 has no weight", "leave out --weighted"],
    );
    folder.fails(&line("p.mtx"), &["p.mtx:1", "has no weights", "leave out --weighted"]);
    let minus = ["the edge from 2 to 3 weighs -4", "weights of 0 or more"];
    folder.fails(&format!("{} --directed", line("minus.el")), &minus);
    assert!(folder.output("run wcc --graph minus.el --weighted").contains("weighted"));
}

#[test]
fn lines_that_are_no_edges() {
    let folder = Folder::with(&[
        ("short.el", "1 2\n3\n"),
        ("word.el", "1 2\n3 four\n"),
        ("huge.el", "1 2\n3 18446744073709551616\n"),
        ("minus.el", "1 2\n3 -4\n"),
        ("long.el", "1 2\n3 4 5 6 7 8\n"),
        ("range.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n"),
        ("count.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n"),
        ("head.mtx", "1 2\n"),
        ("bad.gr", "p sp 3 1\nb 1 2 3\n"),
        ("bad.graph", "3 2\n2\n1 3\n"),
        ("g.properties", "graph.g.directed = maybe\n"),
    ]);
    for (file, part) in [
        ("short.el", "short.el:2: found 1 of the 2 columns"),
        ("word.el", "word.el:2, column 2: vertex `four` is not a number"),
        ("huge.el", "huge.el:2, column 2: vertex 18446744073709551616 is outside the range"),
        ("minus.el", "minus.el:2, column 2: vertex -4 is outside the range"),
        ("long.el", "long.el:2: more than"),
        ("range.mtx", "range.mtx:3, column 2: vertex 4 is outside the range 1 to 3"),
        ("count.mtx", "count.mtx:2: the file says that it has 2"),
        ("head.mtx", "head.mtx:1: "),
        ("bad.gr", "bad.gr:2: "),
        ("bad.graph", "bad.graph"),
        ("g.properties", "g.properties:1: `directed` is neither"),
    ] {
        folder.fails(&format!("run wcc --graph {file}"), &[part]);
        folder.fails(&format!("demo --seconds 1 --graph {file}"), &[part]);
    }
}

#[test]
fn files_that_are_no_graphs() {
    let plain = "1 2\n".repeat(100);
    let folder = Folder::with(&[
        ("empty.el", ""),
        ("comment.el", "# nothing\n"),
        ("g.xyz", "1 2\n"),
        ("g.el.bz2", "BZh9"),
        ("g.el.zip", "PK"),
        ("plain.el.gz", &plain),
        ("plain.el.zst", &plain),
        ("plain.el.xz", &plain),
    ]);
    std::fs::create_dir(folder.path("folder.el")).expect("a folder");
    for (file, parts) in [
        ("empty.el", ["empty.el: the file is empty", ""]),
        ("comment.el", ["comment.el: ", ""]),
        ("none.el", ["none.el: no such file", ""]),
        ("folder.el", ["folder.el: this is a folder; name a file in it", ""]),
        ("g.xyz", ["g.xyz: cannot tell the format", "(--format)"]),
        ("g.el.bz2", ["g.el.bz2: .bz2 files cannot be decompressed here", "use .gz, .zst or .xz"]),
        ("g.el.zip", [".zip files cannot be decompressed here", ""]),
        ("plain.el.gz", ["plain.el.gz", "the gzip data is damaged"]),
        ("plain.el.zst", ["plain.el.zst", "the zstd data"]),
        ("plain.el.xz", ["plain.el.xz", "the xz data"]),
    ] {
        folder.fails(&format!("run wcc --graph {file}"), &parts);
    }
}

#[test]
fn files_that_were_cut_short() {
    let folder = Folder::new();
    for (compression, name) in [("gz", "gzip"), ("zst", "zstd"), ("xz", "xz")] {
        let file = format!("g.el.{compression}");
        let ran = folder.run(&format!("generate graph500-8 --output {file}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(folder.output(&format!("run wcc --graph {file}")).contains("1 component"));
        let whole = std::fs::read(folder.path(&file)).expect("it was written");
        folder.write(&file, &whole[..whole.len() * 2 / 3]);
        let ends = format!("the {name} data ends too early");
        folder.fails(&format!("run wcc --graph {file}"), &[&file, &ends, "download it again"]);
    }
}

#[test]
fn graphs_that_no_machine_holds() {
    let folder = Folder::new();
    for command in ["run wcc", "demo"] {
        let parts = ["graph500-40 needs 272.0 TiB of memory", "choose a smaller scale"];
        folder.fails(&format!("{command} --graph graph500-40"), &parts);
    }
    folder.fails("run wcc --graph uniform-0", &["uniform-0: the scale must be 1 to"]);
    folder.fails("generate graph500-40 --output g.el", &["graph500-40 needs"]);
    folder.write(
        "wide.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n9999999999 9999999999 1\n1 2\n",
    );
    folder.fails("run wcc --graph wide.mtx", &["wide.mtx:2", "vertices"]);
    assert_eq!(folder.names(), ["wide.mtx"]);
}

#[test]
fn results_that_cannot_be_written() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    std::fs::create_dir(folder.path("folder")).expect("a folder");
    for (output, part) in [
        ("none/out", "none/out: cannot write: the folder does not exist"),
        ("folder", "folder: cannot write: this is a folder"),
        ("g.el/out", "g.el/out: cannot write: "),
    ] {
        folder.fails(&format!("run wcc --graph g.el --output {output}"), &[part]);
        folder.fails(&format!("generate updates --graph g.el --output {output}"), &[part]);
    }
    folder.fails("generate graph500-4 --output none/g.el", &["none/g.el: cannot write"]);
    // Before anything is read.
    folder.fails("run wcc --graph none.el --output none/out", &["none/out: cannot write"]);
    if std::path::Path::new("/dev/full").exists() {
        folder.fails("run wcc --graph g.el --output /dev/full", &["/dev/full: cannot write: "]);
    }
    assert_eq!(folder.names(), ["folder", "g.el"]);
}

#[test]
fn a_graph_without_edges_cannot_be_shown() {
    let folder = Folder::with(&[("g.v", "1\n2\n"), ("g.e", "# none\n"), ("l.el", "1 1\n")]);
    let ran = folder.run("demo --graph g --seconds 1");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    folder.fails("demo --graph l.el --self-loops drop --seconds 1", &["l.el has no edges"]);
}
