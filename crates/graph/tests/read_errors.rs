//! Every way in which a file can be wrong, and that the message names the file, the line and what
//! to do.

mod support;

use std::io::Write;
use std::path::Path;

use evergraph_graph::read::{
    Compression, Duplicates, Format, KeyChoice, ReadError, ReadOptions, SelfLoops,
};
use support::{Scratch, directed, load, undirected, weighted};

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn numbers() -> ReadOptions {
    ReadOptions { keys: KeyChoice::Number, ..plain() }
}

fn texts() -> ReadOptions {
    ReadOptions { keys: KeyChoice::Text, ..plain() }
}

/// A file that must not be read.
struct Bad {
    name: &'static str,
    content: &'static [u8],
    options: ReadOptions,
    /// The message after the path of the file.
    message: &'static str,
}

fn bad(
    name: &'static str,
    content: &'static [u8],
    options: ReadOptions,
    message: &'static str,
) -> Bad {
    Bad { name, content, options, message }
}

fn check(table: Vec<Bad>) {
    for Bad { name, content, options, message } in table {
        let scratch = Scratch::new();
        let path = scratch.file(name, content);
        let shown = String::from_utf8_lossy(content);
        match load(&path, &options) {
            Ok(list) => panic!("{name} {shown:?} was read: {list:?}"),
            Err(error) => {
                let expected = format!("{}{message}", path.display());
                assert_eq!(error.to_string(), expected, "{name} {shown:?}");
            }
        }
    }
}

#[test]
fn edge_lists_with_broken_lines() {
    check(vec![
        bad("g.el", b"", plain(), ": the file is empty"),
        bad("g.el", b"\n# only\n\n", plain(), ": there is no edge in this file"),
        bad("g.csv", b"from,to\n", plain(), ": there is no edge in this file"),
        bad("g.el", b"1 2\n3\n", plain(), ":2: found 1 of the 2 columns that are needed"),
        bad("g.el", b"7\n", plain(), ":1: found 1 of the 2 columns that are needed"),
        bad(
            "g.el",
            b"1 2\n\n1 2 3 4 5\n",
            plain(),
            ":3: more than 4 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        bad("g.csv", b"1,2\n1,,2\n", plain(), ":2: column 2 is empty"),
        bad(
            "g.csv",
            b"1,2\n3,4,\n",
            weighted(),
            ":1: the edge 1 2 has no weight; read the graph without weights, or add one",
        ),
        bad("g.csv", b"1,2,3\n3,4,\n", weighted(), ":2: column 3 is empty"),
        bad(
            "g.csv",
            b"1,2\n\"3,4\n",
            plain(),
            ":2: column 1 opens a double quote that is not closed on this line",
        ),
        bad(
            "g.el",
            b"\xff\xfe1\x002\x00",
            plain(),
            ":1: this is UTF-16 text; convert the file to UTF-8",
        ),
        bad(
            "g.el",
            b"a b\nc \xe9t\xe9\n",
            plain(),
            ":2, column 2: the text is not valid UTF-8; convert the file to UTF-8",
        ),
        bad("g.el", b"a b\nc d\0\n", plain(), ":2: column 2 holds a NUL character"),
        bad(
            "g.el",
            b"1 2\n3 4\0\n",
            plain(),
            ":2, column 2: vertex `4\\0` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.el",
            b"\x1f\x8bxx",
            plain(),
            ":1: this is gzip data; give the file a name that ends in .gz",
        ),
        bad(
            "g.el",
            b"\x28\xb5\x2f\xfdx",
            plain(),
            ":1: this is zstd data; give the file a name that ends in .zst",
        ),
        bad("g.el", b"PK\x03\x04", plain(), ":1: this is a zip archive; unpack it first"),
        bad(
            "out.dnc",
            b"% bip unweighted\n1 1\n",
            plain(),
            ":1: the two ends of an edge are vertices of two kinds with the same numbers \
             (KONECT `bip`); renumber one kind",
        ),
    ]);
}

#[test]
fn keys_that_are_not_what_they_should_be() {
    check(vec![
        bad(
            "g.el",
            b"1 2\n3 x\n",
            plain(),
            ":2, column 2: vertex `x` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.el",
            b"# c\nx 3\n",
            numbers(),
            ":2, column 1: vertex `x` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.el",
            b"1 2\n3 -4\n",
            plain(),
            ":2, column 2: vertex -4 is outside the range 0 to 18446744073709551615",
        ),
        bad(
            "g.el",
            b"1 2\n18446744073709551616 4\n",
            plain(),
            ":2, column 1: vertex 18446744073709551616 is outside the range 0 to 18446744073709551615",
        ),
        bad(
            "g.el",
            b"1 2\n1.5 4\n",
            plain(),
            ":2, column 1: vertex `1.5` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.el",
            b"1 2\nAlice Smith Bob\n",
            plain(),
            ":2, column 1: vertex `Alice` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.el",
            b"a b\nAlice Smith Bob\n",
            plain(),
            ":2, column 3: the weight `Bob` is not a number",
        ),
    ]);
}

#[test]
fn weights_that_are_no_weights() {
    check(vec![
        bad(
            "g.el",
            b"1 2 5\n2 3\n",
            weighted(),
            ":2: the edge 2 3 has no weight; read the graph without weights, or add one",
        ),
        bad("g.el", b"1 2 5\n2 3 x\n", weighted(), ":2, column 3: the weight `x` is not a number"),
        bad("g.el", b"1 2 5\n2 3 x\n", plain(), ":2, column 3: the weight `x` is not a number"),
        bad("g.el", b"1 2 5 x\n", plain(), ":1, column 4: the weight `x` is not a number"),
        bad(
            "g.el",
            b"1 2 nan\n",
            weighted(),
            ":1, column 3: the weight `nan` is NaN; an edge needs a number to be compared by",
        ),
        bad(
            "g.el",
            b"1 2 -inf\n",
            weighted(),
            ":1, column 3: the weight `-inf` is infinite; leave the edge out if it cannot be crossed",
        ),
        bad(
            "g.el",
            b"1 2 1e999\n",
            weighted(),
            ":1, column 3: the weight `1e999` is infinite; leave the edge out if it cannot be crossed",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate pattern general\n1 1 0\n",
            weighted(),
            ":1: a pattern matrix has no weights; read the graph without weights",
        ),
        bad(
            "g.graph",
            b"1 0\n\n",
            weighted(),
            ":1: a METIS file of this format has no weights; read the graph without weights",
        ),
        bad(
            "g.gr",
            b"p tw 1 0\n",
            weighted(),
            ":1: a PACE graph has no weights; read the graph without weights",
        ),
    ]);
}

const UNDIRECTED_HINT: &str = "in an undirected graph u v and v u are one edge: \
                               read the file as directed, or ask to ignore duplicates";

#[test]
fn edges_that_stand_twice() {
    let both_ways = format!(":3: the edge 2 1 stands twice, first in line 1; {UNDIRECTED_HINT}");
    let both_ways: &'static str = both_ways.leak();
    let second = format!(":5: the edge b a stands twice, first in line 2; {UNDIRECTED_HINT}");
    check(vec![
        bad("g.el", b"1 2\n3 4\n2 1\n2 1\n", plain(), both_ways),
        bad("g.el", b"# c\na b\n\nc d\nb a\n", plain(), second.leak()),
        bad(
            "g.el",
            b"1 2\n1 2\n",
            plain(),
            ":2: the edge 1 2 stands twice, first in line 1; \
             ask to ignore duplicates if the first one is meant",
        ),
        bad(
            "g.el",
            b"1 2\n2 1\n5 5\n1 2\n",
            directed(),
            ":4: the edge 1 2 stands twice, first in line 1; \
             ask to ignore duplicates if the first one is meant",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n1 2\n",
            directed(),
            ":4: the edge 1 2 stands twice, first in line 3; \
             ask to ignore duplicates if the first one is meant",
        ),
        bad(
            "g.graph",
            b"% c\n3 3\n2 3 3\n1\n1 1\n",
            plain(),
            ":3: the edge 1 3 stands twice, first in line 3; \
             ask to ignore duplicates if the first one is meant",
        ),
        bad(
            "g.gr",
            b"p sp 2 2\na 1 2 5\na 2 1 6\n",
            ReadOptions { weighted: true, ..undirected() },
            ":3: the edge 2 1 stands twice, first in line 2; in an undirected graph an arc and its \
             reverse need equal weights: read the file as directed, or ask to ignore duplicates",
        ),
        bad(
            "g.gr",
            b"p sp 2 2\na 1 2 5\na 1 2 5\n",
            plain(),
            ":3: the edge 1 2 stands twice, first in line 2; \
             ask to ignore duplicates if the first one is meant",
        ),
    ]);
}

#[test]
fn self_loops_that_are_forbidden() {
    let forbid = || ReadOptions { self_loops: SelfLoops::Forbid, ..plain() };
    let tail = "is a self loop; allow self loops, or ask to drop them";
    check(vec![
        bad("g.el", b"1 2\n7 7\n", forbid(), format!(":2: the edge 7 7 {tail}").leak()),
        bad("g.el", b"a a\n", forbid(), format!(":1: the edge a a {tail}").leak()),
        bad("g.graph", b"1 1\n1\n", forbid(), format!(":2: the edge 1 1 {tail}").leak()),
        bad("g.gr", b"p tw 1 1\n1 1\n", forbid(), format!(":2: the edge 1 1 {tail}").leak()),
    ]);
}

#[test]
fn matrices_that_are_no_graphs() {
    let tall: &[u8] = b"%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n";
    check(vec![
        bad(
            "g.mtx",
            b"3 3 1\n1 1 1\n",
            plain(),
            ":1: a Matrix Market file begins with the line `%%MatrixMarket matrix coordinate FIELD SYMMETRY`",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real\n",
            plain(),
            ":1: four words must follow `%%MatrixMarket`",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket vector coordinate real general\n",
            plain(),
            ":1: the object `vector` is not one of matrix",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix sparse real general\n",
            plain(),
            ":1: the format `sparse` is not one of coordinate",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate text general\n",
            plain(),
            ":1: the field `text` is not one of pattern, real, integer",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real odd\n",
            plain(),
            ":1: the symmetry `odd` is not one of general, symmetric, skew-symmetric",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix array real general\n",
            plain(),
            ":1: a dense matrix (`array`) has no edges; write it as `coordinate`",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate complex general\n",
            plain(),
            ":1: complex values cannot be weights of edges",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real hermitian\n",
            plain(),
            ":1: a hermitian matrix has complex values",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
            plain(),
            ":1: a skew-symmetric matrix needs values; `pattern` has none",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type gunk\n",
            plain(),
            ":2: the GraphBLAS type `gunk` cannot be a weight",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real general\n%\n",
            plain(),
            ":2: found 0 of the 3 columns that are needed",
        ),
        bad(
            "g.mtx",
            tall,
            plain(),
            ":2: a matrix of 3 rows and 4 columns is no graph; it must be square",
        ),
        bad(
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real general\n3 3 x\n",
            plain(),
            ":2: column 3 is `x`, not a count",
        ),
    ]);
}

#[test]
fn matrices_with_broken_entries() {
    check(vec![
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 4 1\n", plain(), ":3, column 2: vertex 4 is outside the range 1 to 3"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n0 1 1\n", plain(), ":3, column 1: vertex 0 is outside the range 1 to 3"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1\n", plain(), ":3: found 2 of the 3 columns that are needed"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", plain(), ":3: more than 2 columns; put keys that hold spaces, tabs or commas in double quotes"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", plain(), ":3: column 3 is `1.5`, not a whole number"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type uint8_t\n3 3 1\n1 1 256\n", plain(), ":4: column 3 is `256`, which the type uint8_t cannot hold"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", plain(), ":3: a skew-symmetric matrix has no entries on its diagonal"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 1\n", ReadOptions { weighted: true, ..undirected() }, ": undirected: the two directions of a skew-symmetric matrix have opposite weights"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate real skew-symmetric\n%%GraphBLAS type bool\n3 3 0\n", plain(), ":1: a skew-symmetric matrix cannot have the type bool"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n", plain(), ":2: the file says that it has 2 entries, but it has 1"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1\n1 2\n", plain(), ":2: the file says that it has 1 entries, but it has 2"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 99999999999\n1 1\n", plain(), ":2: the file says that it has 99999999999 entries, but it is too short for that many"),
        bad("g.mtx", b"%%MatrixMarket matrix coordinate pattern general\n5000000000 5000000000 0\n", plain(), ":2: more than 4294967232 vertices, the most that a graph can hold"),
    ]);
}

#[test]
fn metis_files_with_broken_rows() {
    check(vec![
        bad("g.graph", b"% c\n", plain(), ":1: found 0 of the 2 columns that are needed"),
        bad("g.graph", b"3\n", plain(), ":1: found 1 of the 2 columns that are needed"),
        bad("g.graph", b"2 x\n", plain(), ":1: column 2 is `x`, not a count"),
        bad(
            "g.graph",
            b"2 1 2\n2\n1\n",
            plain(),
            ":1: the format `2` is not three digits that are 0 or 1",
        ),
        bad(
            "g.graph",
            b"2 1 1000\n2\n1\n",
            plain(),
            ":1: the format `1000` is not three digits that are 0 or 1",
        ),
        bad(
            "g.graph",
            b"2 1 10 5000\n2\n1\n",
            plain(),
            ":1: 5000 weights per vertex are more than 1000",
        ),
        bad(
            "g.graph",
            b"2 1 0 1 1\n2\n1\n",
            plain(),
            ":1: more than 4 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        bad(
            "g.graph",
            b"9999 1\n2\n1\n",
            plain(),
            ":1: the file says that it has 9999 vertices, but it is too short for that many",
        ),
        bad(
            "g.graph",
            b"2 99999\n2\n1\n",
            plain(),
            ":1: the file says that it has 99999 edges, but it is too short for that many",
        ),
        bad(
            "g.graph",
            b"2 1\n2\n3\n",
            plain(),
            ":3, column 1: vertex 3 is outside the range 1 to 2",
        ),
        bad(
            "g.graph",
            b"2 1\n2\nx\n",
            plain(),
            ":3, column 1: vertex `x` is not a number; ask for text keys if vertices have names",
        ),
        bad("g.graph", b"2 1\n2\n1\n1\n", plain(), ":4: this is row 3 of 2 vertices"),
        bad(
            "g.graph",
            b"3 1\n2\n1\n",
            plain(),
            ":1: the file says that it has 3 vertices, but it has 2",
        ),
        bad(
            "g.graph",
            b"3 2\n2\n1\n\n",
            plain(),
            ":1: the file says that it has 2 edges, but it has 1",
        ),
        bad(
            "g.graph",
            b"3 3\n2\n\n\n",
            directed(),
            ":1: the file says that it has 3 edges, but it has 1",
        ),
        bad("g.graph", b"2 1 1\n2 5\n1\n", plain(), ":3: the last neighbour has no weight"),
        bad(
            "g.graph",
            b"2 1 10\n7 2\n\n",
            plain(),
            ":3: the size or a weight of the vertex is missing",
        ),
        bad(
            "g.graph",
            b"2 1 10\n7 2\nx 1\n",
            plain(),
            ":3: column 1 is `x`, not the size or a weight of the vertex",
        ),
    ]);
}

#[test]
fn metis_edges_in_one_row_only() {
    let one_sided = |from: &str, to: &str| -> &'static str {
        format!(
            "the edge {from} {to} does not stand in the row of {to} as well, with the same \
             weight; add it there, or read the file as directed"
        )
        .leak()
    };
    check(vec![
        bad("g.graph", b"3 2\n2\n1 3\n\n", plain(), format!(":3: {}", one_sided("2", "3")).leak()),
        bad("g.graph", b"3 2\n2\n1\n2\n", plain(), format!(":4: {}", one_sided("3", "2")).leak()),
        bad(
            "g.graph",
            b"2 1 1\n2 5\n1 6\n",
            weighted(),
            format!(":2: {}", one_sided("1", "2")).leak(),
        ),
        bad(
            "g.graph",
            b"3 3\n2 2 3\n1\n1\n",
            ReadOptions { duplicates: Duplicates::Ignore, ..plain() },
            format!(":2: {}", one_sided("1", "2")).leak(),
        ),
    ]);
}

#[test]
fn dimacs_files_with_broken_lines() {
    check(vec![
        bad(
            "g.gr",
            b"c only\n",
            plain(),
            ":1: a DIMACS file begins with a line `p sp VERTICES ARCS` or `p tw VERTICES EDGES`",
        ),
        bad(
            "g.gr",
            b"a 1 2 3\n",
            plain(),
            ":1: a DIMACS file begins with a line `p sp VERTICES ARCS` or `p tw VERTICES EDGES`",
        ),
        bad("g.gr", b"p edge 2 1\n", plain(), ":1: the problem `edge` is neither `sp` nor `tw`"),
        bad("g.gr", b"p sp 2\n", plain(), ":1: found 3 of the 4 columns that are needed"),
        bad(
            "g.gr",
            b"c x\np sp 2 1 1\n",
            plain(),
            ":2: more than 4 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        bad("g.gr", b"p sp 2 1\n1 2 3\n", plain(), ":2: an arc is a line `a FROM TO WEIGHT`"),
        bad("g.gr", b"p sp 2 1\na 1 2\n", plain(), ":2: found 3 of the 4 columns that are needed"),
        bad(
            "g.gr",
            b"p sp 2 1\na 1 2 x\n",
            plain(),
            ":2, column 4: the weight `x` is not a number",
        ),
        bad(
            "g.gr",
            b"p sp 2 1\na 1 3 1\n",
            plain(),
            ":2, column 3: vertex 3 is outside the range 1 to 2",
        ),
        bad(
            "g.gr",
            b"p tw 2 1\n1 x\n",
            plain(),
            ":2, column 2: vertex `x` is not a number; ask for text keys if vertices have names",
        ),
        bad(
            "g.gr",
            b"p tw 2 1\n1 2 3\n",
            plain(),
            ":2: more than 2 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        bad(
            "g.gr",
            b"c\np sp 2 2\na 1 2 1\n",
            plain(),
            ":2: the file says that it has 2 arcs, but it has 1",
        ),
        bad(
            "g.gr",
            b"p tw 2 2\n1 2\n\n\n\n",
            plain(),
            ":1: the file says that it has 2 edges, but it has 1",
        ),
        bad(
            "g.gr",
            b"p tw 2 999\n1 2\n",
            plain(),
            ":1: the file says that it has 999 edges, but it is too short for that many",
        ),
    ]);
}

#[test]
fn options_that_do_not_go_with_the_file() {
    let vertices = || ReadOptions { vertices: Some("v".into()), ..plain() };
    for (name, content) in [
        ("g.mtx", &b"%%MatrixMarket matrix coordinate pattern general\n1 1 0\n"[..]),
        ("g.graph", b"1 0\n\n"),
        ("g.gr", b"p tw 1 0\n"),
    ] {
        check(vec![
            bad(name, content, texts(), ": text keys: this format numbers its vertices from 1"),
            bad(
                name,
                content,
                vertices(),
                ": vertex file: this format says itself which vertices there are",
            ),
        ]);
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    let folder = folder.as_path();
    let missing = scratch.path("missing.el");
    let message = |path: &Path, options: &ReadOptions| match load(path, options) {
        Ok(_) => panic!("{} was read", path.display()),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(&missing, &plain()), format!("{}: no such file", missing.display()));
    let below = scratch.file("file", "1 2\n").join("g.el");
    assert_eq!(message(&below, &plain()), format!("{}: no such file", below.display()));
    assert_eq!(
        message(folder, &plain()),
        format!("{}: this is a folder; name a file in it", folder.display())
    );
    let metis = ReadOptions { format: Some(Format::Metis), ..plain() };
    assert!(matches!(load(folder, &metis), Err(ReadError::IsDirectory { .. })));
    let unknown = scratch.file("graph.gml", "graph [");
    assert_eq!(
        message(&unknown, &plain()),
        format!(
            "{}: cannot tell the format from the name; say which it is: \
             graphalytics, edge-list, matrix-market, metis or dimacs",
            unknown.display()
        )
    );
    for (name, extension) in [("g.el.bz2", ".bz2"), ("g.tar.gz", ".tar"), ("g.zip", ".zip")] {
        let path = scratch.file(name, "x");
        let expected = format!(
            "{}: {extension} files cannot be decompressed here; \
             use .gz, .zst or .xz, or decompress it",
            path.display()
        );
        assert_eq!(message(&path, &plain()), expected);
    }
    let nul = Path::new("a\0b.el");
    let edge_list = ReadOptions { format: Some(Format::EdgeList), ..plain() };
    assert!(matches!(load(nul, &edge_list), Err(ReadError::Io { .. })));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let path = scratch.file("g.el", "1 2\n");
    fs::set_permissions(&path, Permissions::from_mode(0o000)).expect("own file");
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let error = load(&path, &plain()).expect_err("no permission");
    assert_eq!(error.to_string(), format!("{}: no permission to read this file", path.display()));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_never_waited_for() {
    let scratch = Scratch::new();
    for (name, content, message) in [
        ("good.el", "1 2\n", ""),
        (
            "twice.el",
            "1 2\n1 2\n",
            ": an edge stands twice or names a vertex that is not listed; \
             save the graph to a file to learn which",
        ),
        (
            "sizes.graph",
            "2 1 100\n5 2\n6 1\n",
            ": this has to be read twice, and a pipe cannot be; save it to a file first",
        ),
    ] {
        let path = scratch.path(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        let (writer, end) = (path.clone(), content.to_owned());
        let writer = std::thread::spawn(move || std::fs::write(writer, end));
        let result = load(&path, &plain()).map_err(|error| error.to_string());
        writer.join().expect("no panic").expect("the reader takes all");
        match result {
            Ok(list) => assert_eq!((message, list.edges.len()), ("", 1)),
            Err(error) => assert_eq!(error, format!("{}{message}", path.display())),
        }
    }
}

/// The message for a Graphalytics graph of these files, without their folder. Files without
/// content are not there.
fn graphalytics(vertices: &str, edges: &str, properties: &str, options: &ReadOptions) -> String {
    let scratch = Scratch::new();
    for (name, content) in [("g.v", vertices), ("g.e", edges), ("g.properties", properties)] {
        if !content.is_empty() {
            scratch.file(name, content);
        }
    }
    let folder = format!("{}/", scratch.path("").display()).replace("//", "/");
    match load(&scratch.path("g"), options) {
        Ok(list) => panic!("was read: {list:?}"),
        Err(error) => error.to_string().replace(&folder, ""),
    }
}

#[test]
fn vertices_that_are_not_what_the_edges_need() {
    let (plain, texts) = (plain(), texts());
    let unlisted = "which is not listed; add it to the vertex file";
    let twice = "ask to ignore duplicates if that is meant";
    for (vertices, edges, options, message) in [
        (
            "1\n2\n",
            "1 2\n2 3\n",
            &plain,
            format!("g.e:2: the edge 2 3 names the vertex 3, {unlisted}"),
        ),
        (
            "1\n2\n",
            "1 2\n70000000000 2\n",
            &plain,
            format!("g.e:2: the edge 70000000000 2 names the vertex 70000000000, {unlisted}"),
        ),
        (
            "a\nb\n",
            "a b\nb c\n",
            &texts,
            format!("g.e:2: the edge b c names the vertex c, {unlisted}"),
        ),
        (
            "1\n2\n\n1\n",
            "1 2\n",
            &plain,
            format!("g.v:4: the vertex 1 is listed twice, first in line 1; {twice}"),
        ),
        ("a\nb\na\n", "a b\n", &texts, format!("g.v:3: the vertex a is listed twice; {twice}")),
        (
            "1\n# c\nx\n",
            "1 2\n",
            &plain,
            "g.v:3, column 1: vertex `x` is not a number; ask for text keys if vertices have names"
                .to_owned(),
        ),
        ("# c\n", "1 2\n", &plain, "g.v: there is no vertex in this file".to_owned()),
    ] {
        assert_eq!(graphalytics(vertices, edges, "", options), message);
    }
    let ignore = ReadOptions { duplicates: Duplicates::Ignore, ..plain };
    for far in ["2", "70000000000"] {
        let scratch = Scratch::new();
        scratch.file("g.v", format!("1\n{far}\n1\n"));
        let list = scratch.load("g.e", format!("1 {far}\n"), &ignore).expect("ignored");
        assert_eq!((list.keys.len(), list.edges.len()), (2, 1));
    }
}

#[test]
fn properties_that_do_not_fit_the_graph() {
    let read = |properties: &str| graphalytics("1\n2\n", "1 2\n", properties, &plain());
    for (properties, message) in [
        (
            "# x\ngraph.g.meta.vertices = 3\n",
            "g.properties:2: the file says that it has 3 vertices, but it has 2",
        ),
        (
            "graph.g.meta.edges = 2\n",
            "g.properties:1: the file says that it has 2 edges, but it has 1",
        ),
        ("graph.g.meta.edges = many\n", "g.properties:1: `many` is not a count"),
        ("graph.g.directed = maybe\n", "g.properties:1: `directed` is neither `true` nor `false`"),
        (
            "nodes = 3\n",
            "g.properties: no property begins with `graph.`; this does not describe a Graphalytics graph",
        ),
        ("graph.g.vertex-file = h.v\n", "h.v: no such file"),
        ("graph.g.edge-file = h.e\n", "h.e: no such file"),
    ] {
        assert_eq!(read(properties), message);
    }
    let names = "\ngraph.g.edge-properties.names =\n";
    assert_eq!(
        graphalytics("1\n2\n", "1 2 1\n", names, &weighted()),
        "g.properties:2: this graph has no weights; read the graph without weights"
    );
    let directed = "graph.g.directed = true\n";
    assert_eq!(graphalytics("", "1 2\n", directed, &plain()), "g.v: no such file");
    assert_eq!(graphalytics("1\n2\n", "", directed, &plain()), "g.e: no such file");
}

/// A text large enough that cutting its compressed form short loses lines.
fn long_text() -> Vec<u8> {
    let mut text = Vec::new();
    for i in 0..80_000u64 {
        writeln!(text, "{} {}", i * 7919 % 80_021, i).expect("memory");
    }
    text
}

fn compress(compression: Compression, text: &[u8]) -> Vec<u8> {
    let mut encoder =
        evergraph_graph::write::Encoder::with(Vec::new(), Some(compression)).expect("memory");
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn compressed_files_that_are_cut_short() {
    let text = long_text();
    let scratch = Scratch::new();
    for (compression, extension) in
        [(Compression::Gzip, "gz"), (Compression::Zstd, "zst"), (Compression::Xz, "xz")]
    {
        let whole = compress(compression, &text);
        let name = format!("g.el.{extension}");
        assert!(scratch.load(&name, &whole, &directed()).is_ok());
        for length in [1, 3, 5, 9, 20, 100, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
            let path = scratch.file(&name, &whole[..length]);
            let error = load(&path, &directed()).expect_err("cut short");
            let ReadError::Truncated { at, compression: named } = &error else {
                panic!("{name} of {length} bytes: {error}");
            };
            assert_eq!((&*at.path, *named), (&*path, compression));
            assert!(length + 5 < whole.len() || at.line > 10_000, "{error}");
            let tail = format!(
                "the {compression} data ends too early; the file was cut short, \
                 copy or download it again"
            );
            assert!(error.to_string().ends_with(&tail), "{error}");
        }
    }
}

#[test]
fn compressed_files_that_are_damaged() {
    let text = long_text();
    let scratch = Scratch::new();
    for (compression, extension) in
        [(Compression::Gzip, "gz"), (Compression::Zstd, "zst"), (Compression::Xz, "xz")]
    {
        let name = format!("g.el.{extension}");
        let path = scratch.file(&name, "1 2\n3 4\n1 2\n3 4\n1 2\n3 4\n1 2\n3 4\n1 2\n3 4\n");
        let error = load(&path, &directed()).expect_err("not compressed at all");
        assert!(matches!(error, ReadError::Corrupt { .. }), "{name}: {error}");
        let whole = compress(compression, &text);
        // Every place is flipped in turn: an error, or at least no panic and no other graph.
        let good = load(&scratch.file(&name, &whole), &directed()).expect("whole");
        for step in 0..40 {
            let mut damaged = whole.clone();
            let place = step * whole.len() / 40;
            damaged[place] ^= 0x10;
            match load(&scratch.file(&name, &damaged), &directed()) {
                Ok(list) => assert_eq!(list.edges, good.edges, "{name} at {place}"),
                Err(error) => assert!(error.to_string().contains(&name), "{error}"),
            }
        }
    }
}

#[test]
fn a_decompression_bomb_is_refused() {
    // A hundred megabytes of comments in less than a thousandth of that.
    let scratch = Scratch::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let line = [b"#".as_slice(), &[b' '; 1 << 13], b"\n"].concat();
    for _ in 0..12_800 {
        encoder.write_all(&line).expect("memory");
    }
    let bomb = encoder.finish().expect("memory");
    let path = scratch.file("bomb.el.gz", bomb);
    let error = load(&path, &plain()).expect_err("bomb");
    assert!(matches!(error, ReadError::Expansion { limit: 1000, .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("{}:", path.display())), "{error}");
}

#[test]
fn a_line_without_end_is_refused() {
    let scratch = Scratch::new();
    let mut text = b"1 2\n".to_vec();
    text.resize(17 << 20, b'1');
    let path = scratch.file("g.el", text);
    let error = load(&path, &plain()).expect_err("too long");
    let expected = format!(
        "{}:2: the line is longer than 16 MiB; this does not look like a graph file",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
}
