//! Databases in a folder: what is there when they are opened again.

use std::path::Path;
use std::time::Duration;

use evergraph_store::{Database, Durability, Error, Keep, LogSizes, Options, Service, Weights};

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
    let readers: Vec<Database> = (0..2)
        .map(|_| Database::options().open_read_only(path).expect("opens"))
        .collect();
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
}

#[test]
fn a_checkpoint_takes_the_place_of_the_log() {
    let sizes = LogSizes { segment: 2000, growth: 500, buffer: 1000, record: 300, checkpoint: 1 << 30 };
    for (keep, dense) in [(Keep::Nothing, false), (Keep::Everything, true), (Keep::Nothing, true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Database::options()
            .undirected()
            .keep(keep)
            .log_sizes(sizes)
            .service(Service::Manual);
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
            .or_else(|error| if matches!(error, Error::UnknownVertex { .. }) { Ok(db.version()) } else { Err(error) })
            .expect("commits");
            if v == 200 {
                assert_eq!(db.checkpoint(), Ok(db.version()));
            }
        }
        let (before, version) = (content(&db), db.version());
        let segments = || {
            let names = std::fs::read_dir(folder.path()).expect("there").map(|e| e.expect("one").file_name());
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
