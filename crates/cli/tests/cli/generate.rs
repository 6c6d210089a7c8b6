//! `evergraph generate`: files that are read back as the same graph.

use crate::support::Folder;

#[test]
fn a_file_holds_the_graph_that_its_name_makes() {
    let folder = Folder::new();
    let edges = |graph: &str| {
        let text = folder.output(&format!("run triangles --graph {graph} --output-format json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        (json["edges"].as_u64(), json["triangles"].as_u64(), json["directed"].as_bool())
    };
    for file in ["g.el", "g.csv", "g.tsv", "g.mtx", "g.txt.gz", "g.el.zst", "g.mtx.xz"] {
        let ran = folder.run(&format!("generate graph500-7 --seed 3 --output {file}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        assert!(ran.stderr.contains("graph500-7-s3: 128 vertices, "), "{ran:?}");
        assert!(ran.stderr.contains(&format!("{file}: ")), "{ran:?}");
        assert_eq!(edges(file), edges("graph500-7-s3"), "{file}");
    }
    let ran = folder.run("generate uniform-6 --directed --output d.el");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(edges("d.el"), edges("uniform-6 --directed"));
}

#[test]
fn weights_are_written() {
    let folder = Folder::new();
    let ran = folder.run("generate uniform-6 --weighted --output w.el");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = "run sssp --weighted --source 5 --output-format csv --graph";
    assert_eq!(folder.output(&format!("{line} w.el")), folder.output(&format!("{line} uniform-6")));
}

#[test]
fn a_log_builds_its_graph() {
    let folder = Folder::new();
    let ran = folder
        .run("generate updates --graph graph500-6 --weighted --updates-per-edge 2 --output u.log");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("64 vertices, "), "{ran:?}");
    let run = "run pagerank --weighted --output-format csv";
    let replayed = folder.output(&format!("{run} --updates u.log --batch 10"));
    let made = folder.output(&format!("{run} --graph graph500-6"));
    let values = |text: &str| -> Vec<(String, f64)> {
        let line = |line: &str| {
            let (key, value) = line.split_once(',').expect("two fields");
            (key.to_owned(), value.parse().expect("a number"))
        };
        let mut values: Vec<_> = text.lines().skip(1).map(line).collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values
    };
    let (replayed, made) = (values(&replayed), values(&made));
    assert_eq!((replayed.len(), made.len()), (64, 64));
    for (a, b) in replayed.iter().zip(&made) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-12, "{a:?} {b:?}");
    }
    let same = folder
        .run("generate updates --graph graph500-6 --weighted --updates-per-edge 2 --output v.log");
    assert_eq!(same.code, Some(0));
    assert_eq!(folder.read("u.log"), folder.read("v.log"), "a seed decides");
    let other = folder
        .run("generate updates --graph graph500-6-s1 --seed 2 --updates-per-edge 2 --output v.log");
    assert_eq!(other.code, Some(0));
    assert_ne!(folder.read("u.log"), folder.read("v.log"));
}

#[test]
fn an_old_file_stays_until_the_new_one_is_complete() {
    let folder = Folder::with(&[("g.el", "old"), ("bad.el", "1 2\n1\n")]);
    folder.fails("generate updates --graph bad.el --output g.el", &["bad.el:2"]);
    assert_eq!(folder.read("g.el"), "old");
    assert_eq!(folder.run("generate uniform-3 --output g.el").code, Some(0));
    assert!(folder.read("g.el").starts_with("# Undirected graph"));
    assert_eq!(folder.names(), ["bad.el", "g.el"]);
}
