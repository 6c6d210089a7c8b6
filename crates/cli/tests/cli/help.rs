//! What the help teaches.

use crate::support::Folder;

#[test]
fn every_command_and_topic_has_a_page() {
    let folder = Folder::new();
    for (line, parts) in [
        ("help", ["evergraph demo", "Exit codes"]),
        ("--help", ["evergraph demo", "Exit codes"]),
        ("help run", ["Examples:", "--output-format"]),
        ("run --help", ["Examples:", "--output-format"]),
        ("help demo", ["Examples:", "--writers"]),
        ("help generate", ["Examples:", "SPEC"]),
        ("help generate updates", ["Examples:", "--updates-per-edge"]),
        ("help bench", ["Examples:", "--repeats"]),
        ("help algorithms", ["pagerank", "--damping"]),
        ("help formats", ["graph500-SCALE", ".mtx"]),
        ("help updates", ["dv U", "--batch N"]),
        ("help durability", ["group:MS", "evergraph salvage PATH --into NEW"]),
        ("help load", ["Examples:", "--durability"]),
        ("help watch", ["Examples:", "--follow"]),
        ("help stats", ["--output-format", "PATH"]),
        ("help check", ["--output-format", "PATH"]),
        ("help salvage", ["--into", "PATH"]),
    ] {
        let page = folder.output(line);
        for part in parts {
            assert!(page.contains(part), "{line}: {page}");
        }
    }
}

#[test]
fn every_page_fits_a_terminal() {
    let folder = Folder::new();
    for line in ["help", "help algorithms", "help formats", "help updates", "help durability"] {
        let page = folder.output(line);
        let long = page.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{line}");
    }
}

#[test]
fn what_is_no_page_is_wrong_usage() {
    let folder = Folder::new();
    folder.misused("help walking", &["`walking` is not a command or a topic", "formats"]);
    folder.misused("help run walking", &["`walking` is not a part of run"]);
}

#[test]
fn the_version_is_told() {
    let version = Folder::new().output("--version");
    assert_eq!(version.trim_end(), concat!("evergraph ", env!("CARGO_PKG_VERSION")));
}
