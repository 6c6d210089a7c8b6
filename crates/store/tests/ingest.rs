//! Changes that nobody checked: the later one wins, whatever the batches; nothing is lost and nothing
//! stands in one list only, whoever else writes; errors say what is wrong.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evergraph_graph::Key;
use evergraph_store::{
    Backlog, Change, Database, Durability, Error, Full, IngestOptions, Isolation, Keep, Options,
    SelfLoops, Service, StaticView, Tuning, Version, Weights,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use support::model::{Model, Op, V, ingest, read_view};
use support::{for_each_seed, rounds};

fn number(key: &Key) -> V {
    match key {
        Key::Number(number) => *number,
        Key::Text(text) => text.parse().expect("texts are numbers here"),
    }
}

fn random_op(rng: &mut Pcg64Mcg, vertices: V, weighted: bool) -> Op {
    // Half of the time one of few vertices, so that there are hubs.
    let mut vertex = || {
        let bound = if rng.random() { 3.min(vertices) } else { vertices };
        rng.random_range(0..bound)
    };
    let (u, v) = (vertex(), vertex());
    let weight = if weighted { f64::from(rng.random_range(0..4)) } else { 1.0 };
    match rng.random_range(0..10) {
        0..6 => Op::AddEdge(u, v, weight),
        6..7 if weighted => Op::SetWeight(u, v, weight),
        _ => Op::RemoveEdge(u, v),
    }
}

/// How changes are cut into batches, at random.
fn random_cut(rng: &mut Pcg64Mcg) -> IngestOptions {
    IngestOptions {
        threshold: [1, 10, 1000][rng.random_range(0..3)],
        delay: Duration::from_millis(rng.random_range(0..3)),
        batch: [1, 7, 100, 1 << 20][rng.random_range(0..4)],
        backlog: [1, 20, 1 << 20][rng.random_range(0..3)],
        threads: rng.random_range(1..4),
        full: Full::Wait,
    }
}

fn random_options(rng: &mut Pcg64Mcg) -> Options {
    let options = match rng.random_range(0..3) {
        0 => Database::options().number_keys(),
        1 => Database::options().text_keys(),
        _ => Database::options().dense_keys(rng.random_range(0..10)),
    };
    let options = if rng.random() { options.directed() } else { options.undirected() };
    let weights = [Weights::None, Weights::F32, Weights::F64][rng.random_range(0..3)];
    let tuning = [Tuning::tiny(), Tuning::default()][rng.random_range(0..2)];
    options.weights(weights).tuning(tuning)
}

#[test]
fn how_changes_are_cut_into_batches_makes_no_difference() {
    for_each_seed(100, |seed| {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let options = random_options(&mut rng).ingest(random_cut(&mut rng));
        let service = [Service::Manual, Service::Thread][rng.random_range(0..2)];
        let db = options.service(service).in_memory();
        let into = db.ingest().expect("it is not read only");
        let text = db.key_kind() == evergraph_graph::KeyKind::Text;
        let key = |v: V| if text { Key::Text(v.to_string().into()) } else { Key::Number(v) };
        let mut model = Model::new(db.is_directed());
        let start = db.snapshot().expect("few are open");
        model.vertices = read_view(&start, number).vertices;
        for _ in 0..rounds(600) {
            let op = random_op(&mut rng, 80, db.is_weighted());
            ingest(&into, op, db.is_weighted(), key).expect("it is right");
            model.wish(op);
            if rng.random_range(0..100) == 0 {
                let view = [StaticView::Plain, StaticView::Private][rng.random_range(0..2)];
                let shown = db.static_view(view).expect("few are open");
                assert_eq!(read_view(&shown, number), model, "{view:?}");
            }
        }
        let version = into.flush().expect("nothing is in the way");
        assert!(version >= start.version());
        assert_eq!(into.backlog(), Backlog { changes: 0, age: Duration::ZERO });
        let stale = db.static_view(StaticView::Stale).expect("few are open");
        assert_eq!(read_view(&stale, number), model);
        assert_eq!(db.stats().edges, model.edges.len() as u64);
        assert_eq!(db.stats().vertices, model.vertices.len() as u64);
        db.check().expect("every invariant holds");
    });
}

/// Each thread ingests edges that are its own while another adds and removes vertices by
/// transactions; whoever reads finds every edge in both lists.
#[test]
fn batches_and_transactions_leave_no_half_edge() {
    const THREADS: u64 = 2;
    const VERTICES: V = 40;
    for_each_seed(8, |seed| {
        let cut = IngestOptions { batch: 64, threshold: 32, threads: 2, ..Default::default() };
        let options = Database::options().undirected().tuning(Tuning::tiny());
        let db = options.dense_keys(VERTICES as u32).ingest(cut).in_memory();
        let running = AtomicU64::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (db, running) = (&db, &running);
                scope.spawn(move || {
                    let into = db.ingest().expect("it is not read only");
                    let mut rng = Pcg64Mcg::seed_from_u64(seed * THREADS + thread);
                    for _ in 0..rounds(3000) {
                        let op = random_op(&mut rng, VERTICES, false);
                        ingest(&into, op, false, Key::Number).expect("it is right");
                    }
                    running.fetch_sub(1, Ordering::AcqRel);
                });
            }
            let (db, running) = (&db, &running);
            scope.spawn(move || {
                let mut rng = Pcg64Mcg::seed_from_u64(!seed);
                while running.load(Ordering::Acquire) > 0 {
                    let v = rng.random_range(0..VERTICES);
                    let changed = db.transaction(10, |tx| {
                        if tx.has_vertex(v)? { tx.remove_vertex(v) } else { tx.add_vertex(v) }
                    });
                    assert!(changed.err().is_none_or(|error| error.is_conflict()));
                }
            });
            while running.load(Ordering::Acquire) > 0 {
                // Compares both lists of every edge, and that both ends exist.
                read_view(&db.snapshot().expect("few are open"), number);
            }
        });
        db.ingest().and_then(|into| into.flush()).expect("nothing is in the way");
        read_view(&db.snapshot().expect("few are open"), number);
        db.check().expect("every invariant holds");
    });
}

/// What one thread appends is archived in its order, also beside others.
#[test]
fn the_order_of_a_thread_is_kept() {
    for_each_seed(5, |seed| {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let cut = IngestOptions { full: Full::Wait, ..random_cut(&mut rng) };
        let db = Database::options().weights(Weights::F64).ingest(cut).in_memory();
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let into = db.ingest().expect("it is not read only");
                scope.spawn(move || {
                    for step in 0..rounds(2000) {
                        into.add_weighted_edge(thread, 100u64, step as f64).expect("it is right");
                    }
                    into.flush().expect("nothing is in the way");
                });
            }
            let mut seen = [-1.0; 3];
            while seen.iter().any(|&weight| weight < rounds(2000) as f64 - 1.0) {
                let cut = IngestOptions { full: Full::Wait, ..random_cut(&mut rng) };
                db.ingest_with(cut).expect("it is not read only");
                let snapshot = db.snapshot().expect("few are open");
                for (thread, seen) in (0u64..).zip(&mut seen) {
                    let weight = snapshot.weight(thread, 100u64).ok().flatten().unwrap_or(-1.0);
                    assert!(weight >= *seen, "{weight} after {seen}");
                    *seen = weight;
                }
            }
        });
    });
}

#[test]
fn what_is_wrong_is_refused_and_what_came_before_is_kept() {
    let manual = || Database::options().service(Service::Manual);
    let db = manual().self_loops(SelfLoops::Forbidden).in_memory();
    let into = db.ingest().expect("it is not read only");
    let wrong = into.add_edges([(1u64, 2u64), (2, 3), (3, 3), (3, 4)]);
    assert_eq!(wrong, Err(Error::SelfLoop { key: Key::Number(3) }));
    assert_eq!(into.backlog().changes, 2);
    assert_eq!(into.add_weighted_edge(1u64, 2u64, 1.0), Err(Error::NotWeighted));
    assert_eq!(into.set_weight(1u64, 2u64, 1.0), Err(Error::NotWeighted));
    assert!(matches!(into.add_edge("a", "b"), Err(Error::WrongKeyKind { .. })));
    let dense = manual().dense_keys(3).weights(Weights::F64).in_memory();
    let into = dense.ingest().expect("it is not read only");
    assert!(matches!(into.add_edge(u64::MAX, 0u64), Err(Error::TooManyVertices { .. })));
    let nan = into.add_weighted_edge(1u64, 2u64, f64::NAN);
    assert!(matches!(nan, Err(Error::InvalidWeight { .. })));
    // Nothing there is taken out, and makes no vertex.
    into.remove_edge(1u64, 1_000_000u64).expect("it is right");
    assert_eq!((into.flush(), dense.stats().vertices), (Ok(dense.version()), 3));
}

#[test]
fn a_full_backlog_refuses_or_waits() {
    let cut = |full| IngestOptions { backlog: 3, full, ..IngestOptions::default() };
    let with = |full| Database::options().service(Service::Manual).ingest(cut(full)).in_memory();
    let db = with(Full::Refuse);
    let into = db.ingest().expect("it is not read only");
    let edges = || (0..10u64).map(|v| (v, v + 1));
    assert_eq!(into.add_edges(edges()), Err(Error::BacklogFull { max: 3 }));
    assert_eq!((into.backlog().changes, db.stats().backlog, db.stats().edges), (3, 3, 0));
    into.flush().expect("nothing is in the way");
    assert_eq!((into.backlog().changes, db.stats().edges), (0, 3));
    let db = with(Full::Wait);
    let into = db.ingest().expect("it is not read only");
    into.add_edges(edges()).expect("whoever waits archives");
    assert!(db.stats().edges >= 7);
}

#[test]
fn options_that_are_changed_count_from_then_on() {
    let cut = IngestOptions { backlog: 3, full: Full::Refuse, ..IngestOptions::default() };
    let db = Database::options().service(Service::Manual).in_memory();
    let into = db.ingest_with(cut).expect("it is not read only");
    let edges = |vertices: std::ops::Range<u64>| vertices.map(|v| (v, v + 1));
    assert_eq!(into.add_edges(edges(0..5)), Err(Error::BacklogFull { max: 3 }));
    // An older handle hears of it too, and what waits stays in one piece.
    let cut = IngestOptions { backlog: 5, batch: 2, threads: 2, ..cut };
    db.ingest_with(cut).expect("it is not read only");
    assert_eq!(db.ingest_options(), IngestOptions { threshold: 5, ..cut });
    assert_eq!(into.add_edges(edges(3..9)), Err(Error::BacklogFull { max: 5 }));
    assert_eq!(into.flush(), Ok(Version(1)));
    into.add_edges(edges(5..10)).expect("there is room");
    assert_eq!(into.flush(), Ok(Version(4)), "two, two and one");
    assert_eq!(db.stats().edges, 10);
    db.check().expect("every invariant holds");
}

#[test]
fn what_finds_no_memory_waits_and_is_not_lost() {
    let options = Database::options().dense_keys(64).memory_limit(3 << 20);
    let db = options.service(Service::Manual).in_memory();
    let into = db.ingest().expect("it is not read only");
    let all: Vec<(u64, u64)> = (0..200_000).map(|i| (i % 300, i / 300)).collect();
    let limited = all.chunks(10_000).try_for_each(|some| {
        into.add_edges(some.iter().copied())?;
        into.flush().map(drop)
    });
    assert!(matches!(limited, Err(Error::MemoryLimit { .. })), "{limited:?}");
    let waiting = into.backlog().changes;
    assert!(waiting > 0 && db.stats().edges > 0);
    assert!(matches!(into.flush(), Err(Error::MemoryLimit { .. })));
    assert_eq!(into.backlog().changes, waiting);
}

#[test]
fn the_service_archives_by_itself() {
    let cut = IngestOptions { delay: Duration::from_millis(1), ..IngestOptions::default() };
    let db = Database::options().ingest(cut).in_memory();
    db.ingest().and_then(|into| into.add_edge(1u64, 2u64)).expect("it is right");
    while !db.snapshot().is_ok_and(|snapshot| snapshot.has_edge(1u64, 2u64) == Ok(true)) {
        std::thread::yield_now();
    }
    let all_at_once = IngestOptions { threshold: 5, delay: Duration::MAX, ..cut };
    let db = Database::options().ingest(all_at_once).in_memory();
    let into = db.ingest().expect("it is not read only");
    into.add_edges((0..4u64).map(|v| (v, v + 1))).expect("it is right");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(into.backlog().changes, 4);
    into.add_edge(4u64, 5u64).expect("it is right");
    while db.version() == Version(0) {
        std::thread::yield_now();
    }
    assert_eq!(db.stats().edges, 5);
}

#[test]
fn transactions_conflict_with_batches() {
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let db = Database::options().service(Service::Manual).in_memory();
        db.transaction(0, |tx| tx.add_vertex(1u64).and_then(|()| tx.add_vertex(2u64)))
            .expect("new");
        let into = db.ingest().expect("it is not read only");
        let mut tx = db.begin_with(isolation).expect("few are open");
        let alone = tx.degree(1u64) == Ok(0);
        tx.add_edge(2u64, 1u64).expect("both ends exist");
        into.add_edge(1u64, 2u64).and_then(|()| into.flush().map(drop)).expect("it is right");
        assert!(alone);
        assert_eq!(tx.commit().is_err(), isolation == Isolation::Serializable);
        let mut tx = db.begin_with(isolation).expect("few are open");
        tx.add_edge(2u64, 2u64).expect("both ends exist");
        into.add_edge(2u64, 2u64).and_then(|()| into.flush().map(drop)).expect("it is right");
        assert!(tx.commit().expect_err("the batch came first").error.is_conflict());
    }
}

/// What was flushed is there again, as ordinary commits, whatever was in the log before.
#[test]
fn batches_survive_and_are_told_as_commits() {
    for_each_seed(10, |seed| {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let folder = tempfile::tempdir().expect("there is space");
        let path = folder.path().join("ingested.evg");
        let weights = [Weights::None, Weights::F64][rng.random_range(0..2)];
        let mode = [Durability::Sync, Durability::Os, Durability::None][rng.random_range(0..3)];
        let options = || {
            let options = Database::options().weights(weights).tuning(Tuning::tiny());
            options.durability(mode).keep(Keep::Everything)
        };
        let mut model = Model::new(true);
        for _ in 0..3 {
            let options = options().ingest(random_cut(&mut rng));
            let db = options.open(&path).expect("it is a database");
            assert_eq!(read_view(&db.snapshot().expect("few are open"), number), model);
            let into = db.ingest().expect("it is not read only");
            for _ in 0..rng.random_range(1..300) {
                let op = random_op(&mut rng, 50, weights != Weights::None);
                ingest(&into, op, weights != Weights::None, Key::Number).expect("it is right");
                model.wish(op);
            }
            if rng.random() {
                into.flush().expect("nothing is in the way");
            }
            drop(into);
            // Closing archives what waits.
            db.close().expect("all is on the disk");
        }
        let db = options().open(&path).expect("it is a database");
        assert_eq!(read_view(&db.snapshot().expect("few are open"), number), model);
        if mode != Durability::None {
            assert_eq!(told(&db), model);
        }
        drop(db);
        let read = Database::options().open_read_only(&path).expect("nobody writes");
        assert_eq!(read.ingest().err(), Some(Error::ReadOnly));
    });
}

/// The graph that the commits since the beginning come to.
fn told(db: &Database) -> Model {
    let (mut vertices, mut edges) = (BTreeSet::new(), BTreeMap::new());
    for commit in db.changes(Version(0), db.version()).expect("all is kept") {
        for change in commit.changes {
            match change {
                Change::AddVertex(key) => _ = vertices.insert(number(&key)),
                Change::AddEdge(source, target, weight) => {
                    let before = edges.insert((number(&source), number(&target)), weight);
                    assert_eq!(before, None, "an edge that is there is not added");
                }
                Change::SetWeight(source, target, weight) => {
                    let before = edges.insert((number(&source), number(&target)), weight);
                    let before = before.map(f64::to_bits);
                    assert!(before.is_some_and(|before| before != weight.to_bits()), "unchanged");
                }
                Change::RemoveEdge(source, target) => {
                    let before = edges.remove(&(number(&source), number(&target)));
                    assert!(before.is_some(), "an edge that is not there is not removed");
                }
                other => panic!("{other:?} is not ingested"),
            }
        }
    }
    Model { directed: true, vertices, edges }
}
