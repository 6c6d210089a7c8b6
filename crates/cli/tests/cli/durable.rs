//! `stats`, `check`, `salvage` and `demo --durable`: databases that are sound, in use, damaged, lost.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Folder, ran};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A database of 32 vertices in a ring: eight transactions of vertices, then eight of edges.
fn ring() -> Folder {
    let folder = Folder::new();
    let edge = |v: u64| format!("{} {}", v + 100, (v + 1) % 32 + 100);
    let edges: Vec<String> = (0..32).map(edge).collect();
    folder.write("g.el", edges.join("\n"));
    folder.output("load g.el --into g.evg --batch 4");
    folder
}

/// Turns a bit in the middle of the log.
fn damage(folder: &Folder) -> String {
    let log = folder.path("g.evg/log-00000000000000000001.evl");
    let mut bytes = std::fs::read(&log).expect("the log");
    let end = bytes.iter().rposition(|&byte| byte != 0).expect("frames");
    bytes[end / 2] ^= 1;
    std::fs::write(&log, bytes).expect("written");
    "log-00000000000000000001.evl is damaged at byte ".to_owned()
}

#[test]
fn what_there_is_is_told() {
    let folder = ring();
    let out = folder.output("stats g.evg");
    for part in [
        "32 vertices, 32 edges, undirected",
        "64-bit numbers",
        "version     16",
        "snapshots back to version 0, changes after version 0",
        "log         1 file, ",
        "checkpoint  0 files, 0 B",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // Nothing is logged, and closing makes a checkpoint.
    folder.output("load g.el --into none.evg --durability none");
    let stats = json(&folder.output("stats none.evg --output-format json"));
    assert_eq!((&stats["log"]["files"], &stats["checkpoints"]["files"]), (&0.into(), &1.into()));
    assert_eq!((&stats["oldest_version"], &stats["version"]), (&2.into(), &2.into()));
    assert_eq!((&stats["edges"], &stats["keys"]), (&32.into(), &"number".into()));
    let checked = json(&folder.output("check g.evg --output-format json"));
    assert_eq!((&checked["edges"], &checked["problems"]), (&32.into(), &Value::Array(Vec::new())));
    assert!(folder.output("check none.evg").contains("nothing is wrong"));
}

#[test]
fn how_far_back_the_past_is_kept_is_told_and_changed() {
    let folder = ring();
    assert!(folder.output("keep g.evg").contains("kept        no more than is needed"));
    assert!(folder.output("keep g.evg 24h").contains("kept        1d back"));
    assert!(folder.output("keep g.evg").contains("kept        1d back"));
    folder.output("load g.el --into g.evg");
    let stats = json(&folder.output("stats g.evg --output-format json"));
    assert_eq!(stats["keep"], serde_json::json!({ "seconds": 86400.0 }));
    assert!(folder.output("keep g.evg 1000 versions").contains("1,000 versions back"));
    folder.output("load g.el --into g.evg --keep 2GiB");
    assert!(folder.output("stats g.evg").contains("kept        2.00 GiB of the log"));
    let kept = json(&folder.output("keep g.evg nothing --output-format json"));
    assert_eq!(kept["keep"], "nothing");
    folder.output("load g.el --into new.evg --keep everything");
    assert!(folder.output("keep new.evg").contains("everything"));
    folder.misused("keep g.evg 2 lightyears", &["HOW: `2 lightyears` is not a time such as 24h"]);
    folder.misused("load g.el --into g.evg --keep 5", &["--keep: `5` is not a time"]);
}

#[test]
fn places_where_there_is_no_database() {
    let folder = Folder::with(&[("g.el", "1 2\n")]);
    std::fs::create_dir(folder.path("empty")).expect("a folder");
    for command in ["run wcc --db", "watch", "stats", "check", "salvage --into new.evg", "keep"] {
        folder
            .fails(&format!("{command} none"), &["there is no database in none", "evergraph load"]);
        folder.fails(&format!("{command} empty"), &["there is no database in empty"]);
        folder.fails(&format!("{command} g.el"), &["g.el: this is a file; a database is a folder"]);
    }
    assert_eq!(folder.names(), ["empty", "g.el"]);
}

#[test]
fn damage_is_found_and_what_is_good_is_saved() {
    let folder = ring();
    let place = damage(&folder);
    for line in ["run wcc --db g.evg", "run wcc --db g.evg --at 16", "stats g.evg"] {
        folder.fails(line, &["g.evg/", &place, "evergraph salvage"]);
    }
    folder.fails("load g.el --into g.evg", &[&place]);
    let watched = folder.run("watch g.evg");
    assert!(watched.code == Some(1) && watched.stderr.contains(&place), "{watched:?}");
    let seen = watched.stdout.lines().count();
    assert!((1..16).contains(&seen), "{seen}");
    let checked = folder.run("check g.evg");
    assert!(checked.stdout.contains("wrong") && checked.stdout.contains(&place), "{checked:?}");
    assert_eq!(
        (checked.code, checked.stderr.as_str()),
        (
            Some(1),
            "error: g.evg: 1 problem found; `evergraph salvage` makes a new database of what is \
             good\n"
        )
    );
    let saved = folder.run("salvage g.evg --into new.evg --output-format json");
    assert_eq!(saved.code, Some(1), "{saved:?}");
    assert!(saved.stderr.contains("what is good of them is in new.evg"), "{}", saved.stderr);
    let report = json(&saved.stdout);
    let lost = seen as u64 + 1;
    assert_eq!(report["gaps"], serde_json::json!([[lost, lost + 1]]), "{report}");
    assert_eq!((&report["version"], &report["problems"][1]), (&16.into(), &Value::Null));
    assert!(folder.output("check new.evg").contains("nothing is wrong"));
    let stats = json(&folder.output("stats new.evg --output-format json"));
    assert_eq!((&stats["edges"], &stats["vertices"]), (&report["edges"], &report["vertices"]));
    folder.fails("salvage g.evg --into new.evg", &["there is a database in new.evg already"]);
    // What was saved has no past.
    folder.fails("run wcc --db new.evg --at 3", &["the oldest version that is kept is 16"]);
    folder.fails("watch new.evg --from 3", &["the oldest version that is kept is 16"]);
    assert_eq!(folder.output("watch new.evg"), "");
}

#[test]
fn what_is_sound_is_saved_whole() {
    let folder = ring();
    let out = folder.output("salvage g.evg --into new.evg");
    assert!(out.contains("32 vertices, 32 edges") && out.contains("version     16"), "{out}");
    let wcc = |db: &str| folder.output(&format!("run wcc --db {db} --output-format csv"));
    assert_eq!(wcc("g.evg"), wcc("new.evg"));
}

#[test]
fn one_process_writes() {
    let folder = ring();
    let mut writer = folder.start("demo --graph graph500-8 --seconds 600 --durable d.evg");
    let start = Instant::now();
    while folder.run("watch d.evg --max 5").stdout.lines().count() < 5 {
        assert!(start.elapsed() < Duration::from_mins(1), "the demo never begins");
    }
    let holder = format!("d.evg is open in process {}; close it there first", writer.id());
    for line in [
        "load graph500-8 --into d.evg",
        "run wcc --db d.evg",
        "stats d.evg",
        "check d.evg",
        "salvage d.evg --into new.evg",
    ] {
        folder.fails(line, &[&holder]);
    }
    writer.kill().expect("it runs");
    writer.wait().expect("it ends");
    // Whoever was killed leaves a sound database, and no lock.
    assert!(folder.output("check d.evg").contains("nothing is wrong"));
    assert!(folder.output("run wcc --db d.evg").contains("component"));
    assert_eq!(folder.names(), ["d.evg", "g.el", "g.evg"]);
}

#[test]
fn the_demo_is_opened_again_and_verified() {
    let folder = Folder::new();
    for mode in ["sync", "group:3", "os", "none"] {
        let options = format!("--durable {mode}.evg --durability {mode}");
        let line = format!("demo --graph uniform-8 --weighted --writers 2 --seconds 1 {options}");
        let ran = folder.run(&line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
        let mut lines = ran.stdout.lines().rev();
        let words: Vec<&str> = lines.next().expect("a line").split_whitespace().collect();
        let ["verified:", edges, "edges,", commits, "commits"] = words[..] else {
            panic!("{}", ran.stdout)
        };
        let reopened = lines.next().expect("a line");
        assert!(
            reopened.contains("opened again in") && reopened.contains("compared"),
            "{reopened}"
        );
        let stats = json(&folder.output(&format!("stats {mode}.evg --output-format json")));
        assert_eq!(stats["edges"].to_string(), edges);
        assert_eq!(stats["version"].to_string(), commits);
        folder.fails(&line, &[&format!("there is a database in {mode}.evg already")]);
    }
    folder.write("file", "");
    folder.fails("demo --durable file", &["file: this is a file; a database is a folder"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_demo_and_its_files_are_verified() {
    let folder = Folder::new();
    let child = folder.start("demo --graph graph500-9 --seconds 600 --durable d.evg");
    let start = Instant::now();
    while folder.run("watch d.evg --from 10000 --max 1").stdout.is_empty() {
        assert!(start.elapsed() < Duration::from_mins(1), "the demo never begins");
    }
    crate::interrupt::press_ctrl_c(&child);
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("on Ctrl-C") && ran.stdout.contains("\nverified: "), "{ran:?}");
    assert!(ran.stdout.contains("opened again in"), "{ran:?}");
}
