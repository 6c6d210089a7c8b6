//! `evergraph demo` on graphs so small that writers and analysts meet all the time.

use crate::support::{Folder, Ran, SMALL, data};

fn verified(ran: &Ran) {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap_or_default();
    let words: Vec<&str> = last.split_whitespace().collect();
    let ["verified:", edges, "edges,", commits, "commits"] = words[..] else {
        panic!("{}", ran.stdout)
    };
    assert!(edges.parse::<u64>().is_ok() && commits.parse::<u64>().is_ok_and(|n| n > 0), "{last}");
    assert!(ran.stdout.contains("algorithm"), "{}", ran.stdout);
    for kernel in ["pagerank", "bfs", "wcc"] {
        let row = ran.stdout.lines().rfind(|line| line.trim_start().starts_with(kernel));
        let runs = row.and_then(|row| row.split_whitespace().nth(1)).expect("a row");
        assert!(runs.replace(',', "").parse::<u64>().is_ok_and(|runs| runs > 0), "{}", ran.stdout);
    }
}

#[test]
fn generated_graphs() {
    let folder = Folder::new();
    verified(&folder.run("demo --graph graph500-8 --seconds 1"));
    verified(&folder.run("demo --graph uniform-6 --weighted --writers 3 --seconds 1 --seed 5"));
    verified(&folder.run("demo --graph graph500-7 --directed --weighted --writers 2 --seconds 1"));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn files_with_numbers_texts_and_loops() {
    let folder = Folder::with(&[
        ("g.el", SMALL),
        ("n.csv", "who,whom\nann,bob\nbob,\"c c\"\ncy,ann\ndan,dan\nann,dan\n"),
    ]);
    verified(&folder.run("demo --graph g.el --directed --weighted --seconds 1"));
    verified(&folder.run("demo --graph n.csv --seconds 1 --writers 2"));
    verified(&folder.run("demo --graph n.csv --directed --keys text --seconds 1"));
}

#[test]
fn the_smallest_graphs() {
    let folder = Folder::with(&[("loop.el", "7 7\n"), ("edge.el", "0 1\n")]);
    verified(&folder.run("demo --graph loop.el --seconds 0.3"));
    verified(&folder.run("demo --graph loop.el --directed --seconds 0.3"));
    verified(&folder.run("demo --graph edge.el --seconds 0.3 --writers 4"));
}

#[test]
fn a_web_crawl() {
    let Some(data) = data() else { return };
    let graph = data.join("uk2007-100k/uk-2007-05@100000.el.zst");
    let graph = graph.to_str().expect("a path of text");
    let words = ["demo", "--graph", graph, "--directed", "--seconds", "2"];
    let ran = Folder::new().run_words(words);
    verified(&ran);
    assert!(ran.stdout.contains("100,000 vertices, 3,050,615 edges, directed"), "{}", ran.stdout);
}
