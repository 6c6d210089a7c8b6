//! `evergraph watch`: what was committed, also while another process commits.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};

use crate::interrupt::press_ctrl_c;
use crate::support::Folder;

/// The lines, without their times, which must not fall.
fn commits(text: &str) -> Vec<Value> {
    let mut last = String::new();
    let line = |line: &str| {
        let mut commit: Value = serde_json::from_str(line).expect("a line of JSON");
        let time = commit["time"].take().as_str().expect("a time").to_owned();
        assert!(time >= last && time.len() == 27 && time.ends_with('Z'), "{time}");
        last = time;
        commit.as_object_mut().expect("an object").remove("time");
        // Vertices come before edges, each in no certain order.
        let changes = commit["changes"].as_array_mut().expect("changes");
        changes.sort_by_key(|change| (!change["vertex"].is_string(), change.to_string()));
        commit
    };
    text.lines().map(line).collect()
}

#[test]
fn commits_are_lines_of_json() {
    let folder = Folder::with(&[("n.csv", "ann,bob,0.5\nbob,\"c \"\"c\",2\n"), ("g.el", "7 8\n")]);
    folder.output("load n.csv --weighted --keys text --directed --into n.evg --batch 2");
    let all = commits(&folder.output("watch n.evg"));
    let vertex = |key: &str| json!({"op": "add_vertex", "vertex": key});
    let edge = |from: &str, to: &str, weight: f64| json!({"op": "add_edge", "from": from, "to": to, "weight": weight});
    assert_eq!(
        all,
        [
            json!({"version": 1, "changes": [vertex("ann"), vertex("bob")]}),
            json!({"version": 2, "changes": [vertex("c \"c")]}),
            json!({"version": 3, "changes": [edge("ann", "bob", 0.5), edge("bob", "c \"c", 2.0)]}),
        ]
    );
    assert_eq!(commits(&folder.output("watch n.evg --from 1 --max 1")), all[1..2]);
    assert_eq!(folder.output("watch n.evg --from 3"), "");
    assert_eq!(commits(&folder.output("watch n.evg --from 0 --follow --max 3")), all);
    folder.fails("watch n.evg --from 4", &["the newest version is 3"]);
    folder.output("load g.el --into g.evg");
    let plain = json!({"op": "add_edge", "from": 7, "to": 8});
    assert_eq!(commits(&folder.output("watch g.evg"))[1]["changes"], json!([plain]));
}

#[test]
fn a_second_process_is_followed() {
    let folder = Folder::new();
    folder.output("load graph500-6 --into g.evg");
    let before = folder.output("watch g.evg").lines().count();
    std::fs::remove_dir_all(folder.path("g.evg")).expect("removed");
    // The demo makes the folder; then it writes while it is followed.
    let writer =
        folder.start("demo --graph graph500-6 --seconds 6 --durable g.evg --durability os");
    let start = std::time::Instant::now();
    while folder.run("watch g.evg --max 1").stdout.is_empty() {
        assert!(start.elapsed().as_secs() < 60, "the demo never begins");
    }
    folder.fails("stats g.evg", &["g.evg is open in process ", "close it there first"]);
    let mut child = folder.start("watch g.evg --follow --from 0");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let ended = writer.wait_with_output().expect("it ends");
    let told = String::from_utf8(ended.stdout).expect("text");
    let words: Vec<&str> = told.lines().last().expect("a line").split_whitespace().collect();
    let ["verified:", edges, "edges,", last, "commits"] = words[..] else { panic!("{told}") };
    let (edges, last): (i64, u64) = (edges.parse().expect("edges"), last.parse().expect("commits"));
    assert!(last > 1000 && before > 0, "{last} commits");
    let (mut seen, mut count, mut line) = (0, 0, String::new());
    while seen < last {
        line.clear();
        assert!(out.read_line(&mut line).expect("it goes on") > 0, "it ended at version {seen}");
        let commit: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(commit["version"], seen + 1);
        seen += 1;
        for change in commit["changes"].as_array().expect("changes") {
            match change["op"].as_str().expect("an op") {
                "add_edge" => count += 1,
                "remove_edge" => count -= 1,
                _ => {}
            }
        }
    }
    assert_eq!(count, edges);
    press_ctrl_c(&child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), rest.as_str()), (Some(130), ""));
}

#[test]
fn who_reads_no_further_ends_it() {
    let folder = Folder::new();
    folder.output("load graph500-8 --into g.evg --batch 1");
    let mut child = folder.start("watch g.evg --from 0 --follow");
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    out.read_line(&mut first).expect("a line");
    drop(out);
    assert_eq!(commits(&first)[0]["version"], 1);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
