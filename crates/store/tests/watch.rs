//! Following the files of a database that somebody else has open and writes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use evergraph_graph::Key;
use evergraph_store::{
    Change, Commit, Database, Durability, Error, Keep, LogSizes, Options, Start, Version, Watcher,
    Weights, watch,
};

const SIZES: LogSizes =
    LogSizes { segment: 2000, growth: 500, buffer: 1000, record: 300, checkpoint: 1 << 30 };

fn open(options: &Options, path: &Path) -> Database {
    options.clone().log_sizes(SIZES).open(path).expect("it opens")
}

/// Commits that add, change and remove, so that ids are used again for other keys.
fn commit(db: &Database, step: u32) {
    let key = |n: u32| format!("k{}", n % 40);
    let (a, b) = (key(step), key(step * 7 + 1));
    let done = db.transaction(0, |tx| match step % 5 {
        4 if tx.has_vertex(b.as_str())? => tx.remove_vertex(b.as_str()),
        _ => {
            for key in [&a, &b] {
                if !tx.has_vertex(key.as_str())? {
                    tx.add_vertex(key.as_str())?;
                }
            }
            if tx.has_edge(a.as_str(), b.as_str())? {
                tx.set_weight(a.as_str(), b.as_str(), f64::from(step))
            } else {
                tx.add_edge(a.as_str(), b.as_str())
            }
        }
    });
    done.expect("commits");
}

/// All that is there now, in small steps.
fn drain(watcher: &mut Watcher) -> Vec<Commit> {
    let mut all = Vec::new();
    loop {
        let commits = watcher.poll(3).expect("readable");
        if commits.is_empty() {
            return all;
        }
        all.extend(commits);
    }
}

#[test]
fn it_sees_what_the_writer_sees() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Database::options().text_keys().weights(Weights::F32).keep(Keep::Everything);
    let mut db = open(&options, folder.path());
    let mut watcher = watch(folder.path(), Start::Oldest).expect("watches");
    let mut seen = Vec::new();
    for step in 0..600 {
        commit(&db, step);
        if step % 50 == 0 {
            seen.extend(drain(&mut watcher));
        }
        match step {
            170 | 430 => _ = db.checkpoint().expect("written"),
            300 => {
                db.close().expect("closes");
                db = open(&options, folder.path());
            }
            _ => (0..2).for_each(|_| _ = db.service()),
        }
    }
    seen.extend(drain(&mut watcher));
    let all = db.changes(Version(0), db.version()).expect("kept");
    assert!(all.len() > 400, "{} commits", all.len());
    assert_eq!(seen, all);
    for after in (0..=db.version().0).step_by(23) {
        let mut watcher = watch(folder.path(), Start::After(Version(after))).expect("watches");
        assert_eq!(drain(&mut watcher), all[after as usize..], "after {after}");
        assert_eq!(watcher.position(), db.version());
    }
    let mut watcher = watch(folder.path(), Start::Newest).expect("watches");
    assert_eq!((drain(&mut watcher), watcher.position()), (Vec::new(), db.version()));
    commit(&db, 601);
    assert_eq!(drain(&mut watcher).len(), 1);
}

#[test]
fn it_follows_a_writer_at_full_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Database::options().text_keys().weights(Weights::F64).durability(Durability::Os);
    let db = open(&options.keep(Keep::Everything), folder.path());
    let written = AtomicBool::new(false);
    let mut watcher = watch(folder.path(), Start::Newest).expect("watches");
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..20_000).for_each(|step| commit(&db, step));
            db.sync().expect("written");
            written.store(true, Ordering::Release);
        });
        let mut seen = Vec::new();
        loop {
            let done = written.load(Ordering::Acquire);
            seen.extend(drain(&mut watcher));
            if done {
                return seen;
            }
        }
    });
    assert_eq!(seen, db.changes(Version(0), db.version()).expect("kept"));
}

#[test]
fn what_is_gone_is_refused_and_what_is_left_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Database::options().text_keys().weights(Weights::F64);
    let db = open(&options, folder.path());
    let (mut slow, mut quick) = (
        watch(folder.path(), Start::Oldest).expect("watches"),
        watch(folder.path(), Start::Oldest).expect("watches"),
    );
    (0..200).for_each(|step| commit(&db, step));
    assert_eq!(slow.poll(1).expect("there").len(), 1);
    drain(&mut quick);
    db.checkpoint().expect("written");
    (200..300).for_each(|step| commit(&db, step));
    let rest = drain(&mut quick);
    let oldest = db.files().expect("counted").changes_after;
    assert!(oldest > Version(1));
    // The piece it holds is handed out; then the next one is missing.
    let refused = loop {
        match slow.poll(1000) {
            Ok(commits) if !commits.is_empty() => {}
            other => break other,
        }
    };
    assert_eq!(refused, Err(Error::PositionTooOld { oldest }));
    assert_eq!(quick.position(), db.version());
    let mut again = watch(folder.path(), Start::Oldest).expect("watches");
    let all = drain(&mut again);
    assert_eq!(all.first().map(|commit| commit.version.0), Some(oldest.0 + 1));
    assert!(all.ends_with(&rest) && !rest.is_empty());
    let early = watch(folder.path(), Start::After(Version(1))).map(drop);
    assert_eq!(early, Err(Error::PositionTooOld { oldest }));
    let newest = db.version();
    let late = watch(folder.path(), Start::After(Version(newest.0 + 1))).map(drop);
    assert_eq!(late, Err(Error::NotYet { newest }));
}

#[test]
fn commits_that_were_never_logged_are_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let logged = Database::options().text_keys();
    let add = |options: &Options, key: &str| {
        let db = open(options, folder.path());
        db.transaction(0, |tx| tx.add_vertex(key)).expect("commits");
        db.close().expect("closes");
    };
    add(&logged, "a");
    let mut watcher = watch(folder.path(), Start::Oldest).expect("watches");
    assert_eq!(drain(&mut watcher)[0].changes, [Change::AddVertex(Key::Text("a".into()))]);
    add(&logged.clone().durability(Durability::None), "b");
    let missed = Err(Error::PositionTooOld { oldest: Version(2) });
    assert_eq!(watcher.poll(10), missed);
    add(&logged, "c");
    let mut watcher = watch(folder.path(), Start::After(Version(2))).expect("watches");
    assert_eq!(drain(&mut watcher)[0].changes, [Change::AddVertex(Key::Text("c".into()))]);
}

#[test]
fn damage_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = open(&Database::options().text_keys().keep(Keep::Everything), folder.path());
    (0..100).for_each(|step| {
        let key = format!("v{step}");
        db.transaction(0, |tx| tx.add_vertex(key.as_str())).expect("commits");
    });
    let all = db.version().0;
    db.close().expect("closes");
    for file in std::fs::read_dir(folder.path()).expect("there") {
        let path = file.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "evl") {
            continue;
        }
        let good = std::fs::read(&path).expect("there");
        let mut bad = good.clone();
        let middle = good.iter().rposition(|&byte| byte != 0).expect("frames") / 2;
        bad[middle] ^= 4;
        std::fs::write(&path, &bad).expect("writes");
        let mut watcher = watch(folder.path(), Start::Oldest).expect("watches");
        let told = loop {
            match watcher.poll(7) {
                Ok(commits) if commits.is_empty() => break None,
                Ok(_) => {}
                Err(error) => break Some(error),
            }
        };
        assert!(matches!(told, Some(Error::Corrupt { path: at, .. }) if at == path), "{path:?}");
        assert!(watcher.position().0 < all);
        let mut at_once = watch(folder.path(), Start::Oldest).expect("watches");
        let before = at_once.poll(usize::MAX).map_or(0, |commits| commits.len() as u64);
        assert_eq!(before, watcher.position().0, "the good commits come first");
        assert!(at_once.poll(1).is_err() || before == 0);
        std::fs::write(&path, &good).expect("writes");
    }
    let missing = watch(folder.path().join("none"), Start::Oldest).map(drop);
    assert!(matches!(missing, Err(Error::NotFound { .. })));
}

#[test]
fn a_watcher_that_saw_the_log_closed_sees_what_comes_after() {
    let folder = tempfile::tempdir().expect("there is space");
    Database::open(folder.path()).and_then(Database::close).expect("it is new");
    let mut watcher = watch(folder.path(), Start::Oldest).expect("it is a database");
    for key in 0..3u64 {
        assert_eq!(watcher.poll(10), Ok(Vec::new()));
        let db = Database::open(folder.path()).expect("nobody else writes");
        db.transaction(0, |tx| tx.add_vertex(key)).expect("it is new");
        db.close().expect("all is on the disk");
        let seen = watcher.poll(10).expect("nothing was removed");
        assert_eq!(seen.iter().map(|commit| commit.version.0).collect::<Vec<_>>(), [key + 1]);
    }
}
