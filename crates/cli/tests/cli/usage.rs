//! Arguments that do not go together: exit code 2 and a sentence.

use crate::support::{Folder, SMALL};

#[test]
fn options_of_other_algorithms_are_refused() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    for (line, part) in [
        ("run bfs --graph g.el --source 1 --damping 0.5", "--damping does not apply to bfs"),
        ("run bfs --graph g.el --source 1 --iterations 5", "--iterations does not apply to bfs"),
        ("run sssp --graph g.el --source 1 --damping 0.5", "--damping does not apply to sssp"),
        ("run wcc --graph g.el --source 1", "--source does not apply to wcc"),
        ("run cdlp --graph g.el --damping 0.5", "--damping does not apply to cdlp"),
        ("run triangles --graph g.el --iterations 5", "--iterations does not apply to triangles"),
        ("run bfs --graph g.el", "--source KEY"),
        ("run sssp --graph g.el", "--source KEY"),
    ] {
        folder.misused(line, &[part, "Usage: evergraph run"]);
    }
}

#[test]
fn options_of_other_graphs_are_refused() {
    let folder = Folder::with(&[("g.el", SMALL), ("g.mtx", "x"), ("g.v", "1\n")]);
    for (line, part) in [
        ("run wcc", "--graph is needed"),
        ("run wcc --graph graph500-4 --vertices g.v", "--vertices is for graph files"),
        ("run wcc --graph graph500-4 --keys text", "--keys is for graph files"),
        ("run wcc --graph graph500-4 --duplicates ignore", "--duplicates is for graph files"),
        ("run wcc --graph graph500-4 --self-loops drop", "--self-loops is for graph files"),
        ("run wcc --graph graph500-4 --format metis", "--format is for graph files"),
        ("run wcc --graph graph500-4-7", "`graph500-4-7` is not a generated graph"),
        ("run wcc --graph graph500-4-s3 --seed 4", "says its seed already"),
        ("run wcc --graph g.el --seed 4", "--seed is for generated graphs"),
        ("run wcc --graph g.el --batch 4", "--batch says how --updates is replayed"),
        ("run wcc --updates u.log --vertices g.v", "--vertices is for a --graph"),
        ("demo --graph uniform-4 --format metis", "--format is for graph files"),
        ("demo --durability os", "--durability is for a demo in a folder"),
        ("run wcc --graph g.el --at 5", "--at is for a database in a folder"),
        ("run wcc --db d.evg --graph g.el", "--graph does not go with --db"),
        ("run wcc --db d.evg --updates u.log", "--updates does not go with --db"),
        ("load graph500-4 --into d.evg --keys text", "--keys is for graph files"),
        ("load g.el --into d.evg --seed 4", "--seed is for generated graphs"),
        ("generate g.el --output a.el", "`g.el` is not a generated graph"),
        ("generate graph500-4 --output a.xyz", "cannot tell what to write from the name"),
        ("generate updates --output a.log", "--graph is needed"),
    ] {
        folder.misused(line, &[part]);
    }
    // What the file does not go with is known when it is open.
    folder.write("m.graph", "2 1\n2\n1\n");
    folder.misused("run wcc --graph m.graph --vertices g.v", &["m.graph", "vertex file"]);
    folder.misused("run wcc --graph m.graph --keys text", &["m.graph", "text keys"]);
}

#[test]
fn values_out_of_range_are_refused() {
    let folder = Folder::with(&[("g.el", SMALL)]);
    for (line, part) in [
        ("run pagerank --graph g.el --damping 1.5", "1.5 is not between 0 and 1"),
        ("run pagerank --graph g.el --damping NaN", "NaN is not between 0 and 1"),
        ("run pagerank --graph g.el --iterations 0", "--iterations: at least 1"),
        ("run cdlp --graph g.el --iterations -1", "-1"),
        ("run wcc --graph g.el --threads 0", "--threads: from 1"),
        ("run wcc --graph g.el --updates u.log --batch 0", "at least 1 line"),
        ("demo --seconds 0", "--seconds: more than 0"),
        ("demo --seconds inf", "--seconds: more than 0"),
        ("demo --writers 0", "--writers: from 1"),
        ("demo --durable d.evg --durability fast", "`fast` is not sync, group:MS"),
        ("load g.el --into d.evg --durability group:0", "`group:0` is not sync, group:MS"),
        ("load g.el --into d.evg --batch 0", "--batch: from 1"),
        ("load g.el", "--into"),
        ("load --into d.evg", "FILE|SPEC"),
        ("salvage d.evg", "--into"),
        ("watch d.evg --max 0", "--max: at least 1"),
        ("watch d.evg --from x", "--from"),
        ("run wcc --db d.evg --at noon", "`noon` is no version"),
        ("stats", "PATH"),
        ("check d.evg --output-format csv", "--output-format"),
        ("run triangles --graph g.el --output-format graphalytics", "triangles is one number"),
        ("run wcc --graph g.el --output-format xml", "--output-format"),
        ("run wcc --graph g.el --directed --undirected", "--undirected"),
        ("bench", "Usage: evergraph bench"),
        ("bench speed", "speed"),
        ("bench insert --repeats 0", "--repeats"),
        ("bench insert --threads 0", "--threads"),
        ("bench insert --idle soon", "not a number of seconds"),
        ("run betweenness --graph g.el", "betweenness"),
        ("walk", "walk"),
        ("", "Usage: evergraph <COMMAND>"),
    ] {
        let ran = folder.run(line);
        assert!(ran.code == Some(2) && ran.stderr.contains(part), "{line}: {ran:?}");
    }
}
