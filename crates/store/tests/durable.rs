//! Databases in a folder: what is there when they are opened again.

use std::path::Path;
use std::time::Duration;

use evergraph_store::{
    Database, Durability, Error, Keep, LogSizes, Options, Service, Weights, keep_of, set_keep,
};

/// Vertices and edges of the newest version, in order.
fn content(db: &Database) -> (Vec<String>, Vec<(String, String, f64)>) {
    let snapshot = db.snapshot().expect("a snapshot");
    let mut keys: Vec<_> = snapshot.keys().expect("open").into_iter().flatten().collect();
    keys.sort();
    let mut edges = Vec::new();
    for key in &keys {
        for (target, weight) in snapshot.neighbours(key).expect("known") {
            edges.push((key.to_string(), target.to_string(), weight));
        }
    }
    edges.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    (keys.iter().map(ToString::to_string).collect(), edges)
}

fn open(options: &Options, path: &Path) -> Database {
    options.clone().open(path).expect("it opens")
}

fn modes() -> [Durability; 4] {
    let group = Durability::Group(Duration::from_millis(1));
    [Durability::Sync, group, Durability::Os, Durability::None]
}

#[test]
fn what_was_committed_is_there_again() {
    for durability in modes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.evg");
        let options = Database::options().text_keys().weights(Weights::F64).durability(durability);
        let db = open(&options, &path);
        db.transaction(0, |tx| {
            for key in ["a", "b", "c", "ü", ""] {
                tx.add_vertex(key)?;
            }
            tx.add_weighted_edge("a", "b", 0.25)?;
            tx.add_weighted_edge("b", "c", 1.5)?;
            tx.add_edge("ü", "")
        })
        .expect("commits");
        db.transaction(0, |tx| {
            tx.set_weight("a", "b", -3.0)?;
            tx.remove_vertex("c")
        })
        .expect("commits");
        let (before, version) = (content(&db), db.version());
        db.close().expect("closes");
        for _ in 0..2 {
            let db = open(&options, &path);
            assert_eq!((content(&db), db.version()), (before.clone(), version), "{durability:?}");
            db.check().expect("sound");
        }
        let db = open(&options, &path);
        db.transaction(0, |tx| {
            tx.add_vertex("c")?;
            tx.add_edge("c", "a")
        })
        .expect("commits");
        let before = content(&db);
        drop(db);
        let db = Database::open(&path).expect("opens whatever it is");
        assert_eq!(content(&db), before);
        assert!(db.is_weighted() && db.is_directed());
    }
}

#[test]
fn it_is_open_once_to_be_written_or_many_times_to_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let missing = Database::options().open_read_only(path.join("none"));
    assert!(matches!(missing, Err(Error::NotFound { .. })));
    let db = Database::open(path).expect("opens");
    db.transaction(0, |tx| tx.add_vertex(1u64)).expect("commits");
    let second = Database::open(path).map(drop);
    let process = Some(std::process::id());
    assert_eq!(second, Err(Error::Locked { path: path.to_path_buf(), process }));
    let reader = Database::options().open_read_only(path).map(drop);
    assert!(matches!(reader, Err(Error::Locked { .. })));
    let snapshot = db.snapshot().expect("a snapshot");
    drop(db);
    let readers: Vec<Database> =
        (0..2).map(|_| Database::options().open_read_only(path).expect("opens")).collect();
    let refused = readers[0].transaction(0, |tx| tx.add_vertex(2u64));
    assert_eq!(refused, Err(Error::ReadOnly));
    assert_eq!(readers[0].checkpoint(), Err(Error::ReadOnly));
    assert!(readers[1].snapshot().expect("a snapshot").has_vertex(1u64).expect("a key"));
    assert!(matches!(Database::open(path).map(drop), Err(Error::Locked { .. })));
    drop(readers);
    assert!(snapshot.has_vertex(1u64).expect("a snapshot outlives its database"));
    Database::open(path).expect("opens");
}

#[test]
fn a_database_of_another_kind_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(&Database::options().undirected(), folder.path()));
    let refused = Database::options().open(folder.path()).map(drop);
    assert!(matches!(refused, Err(Error::OtherSchema { what: "directions", .. })));
    assert!(!Database::open(folder.path()).expect("opens").is_directed());
    let as_is = Database::options().durability(Durability::Os).open_existing(folder.path());
    assert!(!as_is.expect("opens").is_directed());
    let none = Database::options().open_existing(folder.path().join("none")).map(drop);
    assert!(matches!(none, Err(Error::NotFound { .. })));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn the_folder_remembers_how_far_back_the_past_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path(), folder.path().join("KEEP"));
    let plain = Database::options();
    assert_eq!(open(&plain, path).keep(), Keep::Nothing);
    assert!(!file.exists(), "nothing is said of nothing");
    let day = Keep::Time(Duration::from_hours(24));
    assert_eq!(open(&plain.clone().keep(day), path).keep(), day);
    assert_eq!((open(&plain, path).keep(), keep_of(path)), (day, Ok(day)));
    // Who reads changes nothing.
    let read = plain.clone().keep(Keep::Nothing).open_read_only(path).expect("opens");
    assert_eq!((read.keep(), keep_of(path)), (day, Ok(day)));
    assert!(matches!(set_keep(path, Keep::Everything), Err(Error::Locked { .. })));
    drop(read);
    set_keep(path, Keep::Everything).expect("nobody has it open");
    // It is gone by, too.
    let db = open(&plain, path);
    for v in 0..3u64 {
        db.transaction(0, |tx| tx.add_vertex(v)).expect("commits");
        db.checkpoint().expect("written");
    }
    assert_eq!(db.files().expect("there").oldest.0, 0);
    db.close().expect("closes");
    let bytes = std::fs::read(&file).expect("there");
    std::fs::write(&file, &bytes[..31]).expect("written");
    let refused = plain.clone().open(path).map(drop);
    assert!(matches!(refused, Err(Error::Corrupt { path, .. }) if path == file));
    let checked = evergraph_store::check(path).expect("looked at");
    assert!(matches!(&checked.problems[..], [Error::Corrupt { path, .. }] if *path == file));
    // Saying it again mends it.
    set_keep(path, Keep::Nothing).expect("nobody has it open");
    assert!(!file.exists());
    let db = open(&plain, path);
    db.transaction(0, |tx| tx.add_vertex(7u64)).expect("commits");
    db.checkpoint().expect("written");
    assert_eq!(db.files().expect("there").oldest, db.version());
    let none = set_keep(path.join("none"), day);
    assert!(matches!(none, Err(Error::NotFound { .. })));
}

#[test]
fn what_is_salvaged_is_kept_as_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    drop(open(&Database::options().keep(Keep::Versions(7)), &from));
    evergraph_store::salvage(&from, &to).expect("all is good");
    assert_eq!(keep_of(&to), Ok(Keep::Versions(7)));
}

#[test]
fn a_checkpoint_takes_the_place_of_the_log() {
    let sizes =
        LogSizes { segment: 2000, growth: 500, buffer: 1000, record: 300, checkpoint: 1 << 30 };
    for (keep, dense) in [(Keep::Nothing, false), (Keep::Everything, true), (Keep::Nothing, true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let options =
            Database::options().undirected().keep(keep).log_sizes(sizes).service(Service::Manual);
        let options = if dense { options.dense_keys(10) } else { options };
        let db = open(&options, folder.path());
        for v in 10..400u64 {
            db.transaction(0, |tx| {
                tx.add_vertex(v)?;
                if v % 3 == 0 {
                    tx.remove_vertex(v - 5)?;
                }
                if v > 20 { tx.add_edge(v, v - 1) } else { Ok(()) }
            })
            .or_else(|error| {
                if matches!(error, Error::UnknownVertex { .. }) {
                    Ok(db.version())
                } else {
                    Err(error)
                }
            })
            .expect("commits");
            if v == 200 {
                assert_eq!(db.checkpoint(), Ok(db.version()));
            }
        }
        let (before, version) = (content(&db), db.version());
        let segments = || {
            let names = std::fs::read_dir(folder.path())
                .expect("there")
                .map(|e| e.expect("one").file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".evl")).count()
        };
        let many = segments();
        assert!(many > 3, "{many} segments");
        db.checkpoint().expect("written");
        assert_eq!(segments() < many, keep == Keep::Nothing, "{} of {many}", segments());
        drop(db);
        let db = open(&options, folder.path());
        assert_eq!((content(&db), db.version()), (before, version));
        db.check().expect("sound");
    }
}

#[test]
fn the_past_can_be_asked_for() {
    use evergraph_store::{Change, Version, When};
    let sizes =
        LogSizes { segment: 3000, growth: 500, buffer: 1000, record: 300, checkpoint: 1 << 30 };
    let folder = tempfile::tempdir().expect("a folder");
    for durability in [Durability::Sync, Durability::Os] {
        let path = folder.path().join(format!("{durability:?}"));
        let options = Database::options()
            .text_keys()
            .weights(Weights::F32)
            .keep(Keep::Everything)
            .durability(durability)
            .log_sizes(sizes);
        let mut db = open(&options, &path);
        let mut past = vec![(db.version(), content(&db))];
        for step in 0..150u32 {
            let key = |n: u32| format!("k{}", n % 23);
            let result = db.transaction(0, |tx| {
                let (a, b) = (key(step), key(step * 7 + 1));
                match step % 5 {
                    0..=2 => {
                        for k in [&a, &b] {
                            if !tx.has_vertex(k.as_str())? {
                                tx.add_vertex(k.as_str())?;
                            }
                        }
                        if tx.has_edge(a.as_str(), b.as_str())? {
                            tx.set_weight(a.as_str(), b.as_str(), f64::from(step))
                        } else {
                            tx.add_edge(a.as_str(), b.as_str())
                        }
                    }
                    3 if tx.has_vertex(b.as_str())? => tx.remove_vertex(b.as_str()),
                    _ => Ok(()),
                }
            });
            result.expect("commits");
            if step % 40 == 39 {
                db.checkpoint().expect("written");
                (0..3).for_each(|_| _ = db.service());
            }
            if step == 90 {
                drop(db);
                db = open(&options, &path);
            }
            past.push((db.version(), content(&db)));
        }
        db.sync().expect("written");
        let then = std::time::SystemTime::now();
        past.dedup_by_key(|(version, _)| *version);
        let at = |when: When| {
            let snapshot = db.snapshot_at(when).expect("kept");
            let keys = snapshot.keys().expect("open").into_iter().flatten().count();
            (snapshot.version(), keys)
        };
        for (version, (vertices, _)) in past.iter().step_by(7) {
            assert_eq!(at(When::Version(*version)), (*version, vertices.len()));
        }
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(at(When::Time(then)).0, db.version());
        assert!(db.snapshot_at(Version(db.version().0 + 1)).is_err());
        // The changes lead from each version to the next.
        let (mut vertices, mut edges) = (Vec::new(), Vec::new());
        for commit in db.changes(Version(0), db.version()).expect("kept") {
            for change in commit.changes {
                match change {
                    Change::AddVertex(key) => vertices.push(key.to_string()),
                    Change::RemoveVertex(key) => vertices.retain(|k| *k != key.to_string()),
                    Change::AddEdge(s, t, w) => edges.push((s.to_string(), t.to_string(), w)),
                    Change::SetWeight(s, t, w) => {
                        let (s, t) = (s.to_string(), t.to_string());
                        let edge = edges.iter_mut().find(|e| (&e.0, &e.1) == (&s, &t));
                        edge.expect("it is there").2 = w;
                    }
                    Change::Position(..) => panic!("nobody set one"),
                    Change::RemoveEdge(s, t) => {
                        let (s, t) = (s.to_string(), t.to_string());
                        edges.retain(|e| (&e.0, &e.1) != (&s, &t));
                    }
                }
            }
            vertices.sort();
            edges.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
            if let Some((_, then)) = past.iter().find(|(version, _)| *version == commit.version) {
                assert_eq!((&vertices, &edges), (&then.0, &then.1), "{}", commit.version);
            }
        }
        let all = db.diff(Version(0), db.version()).expect("kept");
        assert_eq!(all.len(), vertices.len() + edges.len());
        assert!(db.diff(db.version(), db.version()).expect("nothing").is_empty());
    }
}

#[test]
fn a_past_that_is_not_kept_is_refused() {
    use evergraph_store::Version;
    let folder = tempfile::tempdir().expect("a folder");
    let sizes =
        LogSizes { segment: 200, growth: 500, buffer: 1000, record: 300, checkpoint: 1 << 30 };
    let db = open(&Database::options().dense_keys(100).log_sizes(sizes), folder.path());
    let mut follower = db.follow(Version(0)).expect("from the beginning");
    for v in 1..100u64 {
        db.transaction(0, |tx| tx.add_edge(v, v - 1)).expect("commits");
    }
    assert_eq!(follower.poll(10).expect("there").len(), 10);
    db.checkpoint().expect("written");
    let refused = |error: Option<Error>| matches!(error, Some(Error::PositionTooOld { .. }));
    assert!(refused(db.snapshot_at(Version(5)).map(drop).err()));
    assert!(refused(db.changes(Version(5), Version(20)).map(drop).err()));
    assert!(db.snapshot_at(db.version()).is_ok());
    let memory = Database::in_memory();
    assert_eq!(memory.follow(Version(0)).map(drop), Err(Error::NotDurable));
}

#[test]
fn commits_that_were_not_written_down_are_missed() {
    use evergraph_store::Version;
    let folder = tempfile::tempdir().expect("a folder");
    for durability in [Durability::Os, Durability::None, Durability::Os] {
        let options =
            Database::options().dense_keys(10).durability(durability).keep(Keep::Everything);
        let db = open(&options, folder.path());
        let next = db.stats().edges;
        for v in next..next + 2 {
            db.transaction(0, |tx| tx.add_edge(v, v + 1)).expect("commits");
        }
    }
    let db = Database::open(folder.path()).expect("opens");
    assert_eq!((db.version(), db.stats().edges), (Version(6), 6));
    let mut follower = db.follow(Version(0)).expect("from the beginning");
    assert_eq!(follower.poll(10).map(|commits| commits.len()), Ok(2));
    assert_eq!(follower.poll(10), Err(Error::PositionTooOld { oldest: Version(4) }));
    assert_eq!(db.changes(Version(4), Version(6)).map(|commits| commits.len()), Ok(2));
    let at = |version| db.snapshot_at(Version(version)).map(|snapshot| snapshot.version().0);
    assert_eq!([at(2), at(4), at(5)], [Ok(2), Ok(4), Ok(5)]);
    assert!(at(3).is_err(), "it was never written down");
}

#[test]
fn a_checkpoint_without_a_log_is_all_there_is() {
    use evergraph_store::Version;
    for commits in [1, 3] {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Database::options().durability(Durability::None);
        let db = open(&options, folder.path());
        for v in 0..commits {
            db.transaction(0, |tx| tx.add_vertex(v)).expect("commits");
        }
        db.close().expect("closes");
        let db = Database::options().open_read_only(folder.path()).expect("opens");
        let oldest = Version(commits);
        let past = db.snapshot_at(Version(0)).map(drop);
        assert_eq!(past, Err(Error::PositionTooOld { oldest }));
        assert_eq!(db.files().map(|files| files.oldest), Ok(oldest));
        drop(db);
        let file = folder.path().join(format!("checkpoint-{commits:020}.evc"));
        let mut bytes = std::fs::read(&file).expect("there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).expect("writes");
        let opened = Database::open(folder.path()).map(drop);
        assert!(matches!(opened, Err(Error::Corrupt { .. })), "{commits}: {opened:?}");
    }
}

#[test]
fn damage_is_found_and_what_is_good_is_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, saved) = (folder.path().join("bank.evg"), folder.path().join("saved.evg"));
    let db = open(&Database::options().text_keys(), &path);
    for v in 0..50u32 {
        db.transaction(0, |tx| {
            tx.add_vertex(format!("v{v}").as_str())?;
            if v > 0 {
                tx.add_edge(format!("v{v}").as_str(), format!("v{}", v - 1).as_str())?;
            }
            Ok(())
        })
        .expect("commits");
    }
    db.close().expect("closes");
    let checked = evergraph_store::check(&path).expect("looked at");
    assert_eq!((checked.vertices, checked.edges, checked.problems.len()), (50, 49, 0));
    let log = path.join("log-00000000000000000001.evl");
    let mut bytes = std::fs::read(&log).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, &bytes).expect("writes");
    let Err(Error::Corrupt { path: file, offset, .. }) = Database::open(&path).map(drop) else {
        panic!("damage is not opened");
    };
    assert_eq!(file, log);
    assert!(offset as usize <= middle);
    assert_eq!(evergraph_store::check(&path).expect("looked at").problems.len(), 1);
    let report = evergraph_store::salvage(&path, &saved).expect("saved");
    assert_eq!((report.vertices, report.dangling, report.gaps.len()), (49, 1, 1));
    let db = Database::open(&saved).expect("opens");
    assert_eq!((db.stats().vertices, db.stats().edges), (49, 47));
    db.check().expect("sound");
    assert!(matches!(evergraph_store::salvage(&path, &saved), Err(Error::Locked { .. })));
    drop(db);
    assert!(matches!(evergraph_store::salvage(&path, &saved), Err(Error::Exists { .. })));
}

#[test]
fn readers_keep_their_position_with_their_result() {
    use evergraph_store::Version;
    let folder = tempfile::tempdir().expect("a folder");
    for (round, durability) in modes().into_iter().enumerate() {
        let path = folder.path().join(round.to_string());
        let options = Database::options().dense_keys(4).durability(durability);
        let db = open(&options, &path);
        let note = |db: &Database, position| {
            db.transaction(0, |tx| {
                tx.set_position("ranks", Version(position));
                Ok(())
            })
            .expect("commits")
        };
        assert_eq!(db.position("ranks"), None);
        let version = note(&db, 7);
        assert_eq!((version, db.position("ranks")), (Version(1), Some(Version(7))));
        let mut tx = db.begin().expect("begins");
        tx.add_edge(0u64, 1u64).expect("known");
        tx.set_position("ranks", Version(99));
        tx.rollback();
        assert_eq!(db.position("ranks"), Some(Version(7)));
        db.checkpoint().expect("written");
        note(&db, 8);
        note(&db, 9);
        drop(db);
        let db = open(&options, &path);
        assert_eq!((db.version(), db.position("ranks")), (Version(3), Some(Version(9))));
        assert_eq!(db.position("others"), None);
        db.checkpoint().expect("written");
        drop(db);
        assert_eq!(open(&options, &path).position("ranks"), Some(Version(9)));
    }
}

#[test]
fn streams_give_snapshots_with_what_led_to_them_and_windows() {
    use evergraph_store::{Change, Version, Window, Windows};
    let folder = tempfile::tempdir().expect("a folder");
    let db = open(&Database::options().dense_keys(100).durability(Durability::Os), folder.path());
    let add = |v: u64| db.transaction(0, |tx| tx.add_edge(v, v + 1)).expect("commits");
    let mut stream = db.stream(Version(0)).expect("from the beginning");
    let mut ids = db.stream_ids(Version(0)).expect("from the beginning");
    let edge = |v: u64| Change::AddEdge(v.into(), (v + 1).into(), 1.0);
    for round in 0..3 {
        (10 * round..10 * round + 10).for_each(|v| _ = add(v));
        let step = stream.next_step().expect("there");
        assert_eq!((step.from.0, step.snapshot.version().0), (10 * round, 10 * round + 10));
        assert!(step.changes.iter().cloned().eq((10 * round..10 * round + 10).map(edge)));
        let step = ids.next_step().expect("there");
        assert_eq!((step.from.0, step.snapshot.version().0), (10 * round, 10 * round + 10));
        assert_eq!((step.changes.added_edges.len(), step.changes.len()), (10, 10));
        assert!(stream.next_step().expect("there").changes.is_empty());
    }
    db.transaction(0, |tx| tx.remove_edge(0u64, 1u64)).expect("commits");
    add(0);
    let step = stream.next_step().expect("there");
    assert!(matches!(&step.changes[..], [Change::SetWeight(..)]));
    let changes = ids.next_step().expect("there").changes;
    assert_eq!((&changes.reweighted_edges[..], changes.len()), (&[(0, 1)][..], 1));

    let windows = |window| Windows::new(db.follow(Version(0)).expect("from the beginning"), window);
    let all = |mut windows: Windows| {
        let mut versions = Vec::new();
        while let Some(window) = windows.poll().expect("there") {
            versions.push((window[0].version.0, window[window.len() - 1].version.0));
        }
        (versions, windows.position().map(|version| version.0))
    };
    let tumbling = windows(Window::Commits { size: 10, step: 10 });
    assert_eq!(all(tumbling), (vec![(1, 10), (11, 20), (21, 30)], Some(30)));
    let sliding = windows(Window::Commits { size: 20, step: 5 });
    assert_eq!(all(sliding), (vec![(1, 20), (6, 25), (11, 30)], Some(15)));
    let sampling = windows(Window::Commits { size: 2, step: 12 });
    assert_eq!(all(sampling), (vec![(1, 2), (13, 14), (25, 26)], None));
    std::thread::sleep(Duration::from_millis(50));
    let (size, step) = (Duration::from_hours(1), Duration::from_micros(1));
    assert_eq!(all(windows(Window::Time { size, step })).0, [], "it is not over yet");
    let (covered, _) = all(windows(Window::Time { size: 10 * step, step: 10 * step }));
    let versions = covered.iter().flat_map(|&(first, last)| first..=last);
    assert!(versions.eq(1..=32), "each commit is in one window: {covered:?}");
}
