//! The account of memory against the allocator, and the limit on it.
//!
//! The allocator of this program counts, so the tests take turns. Under torture sizes are others, and
//! what is measured here means nothing.

#![cfg(not(torture))]

mod support;

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap::Cap;
use evergraph_graph::{Key, KeyKind};
use evergraph_store::{Database, Error, Isolation, Options, Service, Snapshot, Tuning, Weights};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use support::for_each_seed;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rounds after which spare memory of leaves is freed, with some to spare.
const ROUNDS: usize = 40;

/// Has everything done that the service does, old memory freed included.
fn serve(db: &Database) {
    (0..ROUNDS).for_each(|_| _ = db.service());
}

/// Edges, as pairs of numbers of vertices.
type Edges = [(u64, u64)];

/// How many edges a transaction of these tests has.
const BATCH: usize = 500;

/// A graph to be put in and taken out: some vertices, one of them a hub.
struct Graph {
    vertices: u64,
    edges: Vec<(u64, u64)>,
}

impl Graph {
    fn random(seed: u64, vertices: u64, edges: usize) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut end = || rng.random_range(0..vertices);
        let mut edges: Vec<_> = (0..edges).map(|_| (end(), end())).collect();
        edges.extend((1..vertices / 2).map(|v| (0, v)));
        edges.sort_unstable();
        edges.dedup();
        edges.retain(|(u, v)| u < v);
        for i in (1..edges.len()).rev() {
            edges.swap(i, rng.random_range(0..=i));
        }
        Self { vertices, edges }
    }

    fn add_vertices(&self, db: &Database) -> Result<(), Error> {
        (0..self.vertices).step_by(BATCH).try_for_each(|first| {
            let mut range = first..(first + BATCH as u64).min(self.vertices);
            db.transaction(0, |tx| range.try_for_each(|v| tx.add_vertex(&key(db, v)))).map(drop)
        })
    }

    fn remove_vertices(&self, db: &Database) {
        for v in 0..self.vertices {
            db.transaction(0, |tx| tx.remove_vertex(&key(db, v))).expect("one writer");
        }
    }
}

fn key(db: &Database, v: u64) -> Key {
    match db.key_kind() {
        KeyKind::Text => Key::Text(format!("vertex number {v}").into()),
        _ => Key::Number(v),
    }
}

/// How many of the edges were added before an error.
fn add(db: &Database, edges: &Edges) -> (usize, Option<Error>) {
    for (i, batch) in edges.chunks(BATCH).enumerate() {
        let mut batch = batch.iter();
        let added = db.transaction(0, |tx| {
            batch.try_for_each(|&(u, v)| tx.add_edge(&key(db, u), &key(db, v)))
        });
        if let Err(error) = added {
            return (i * BATCH, Some(error));
        }
    }
    (edges.len(), None)
}

fn remove(db: &Database, edges: &Edges) {
    for batch in edges.chunks(BATCH) {
        let removed = db.transaction(0, |tx| {
            batch.iter().try_for_each(|&(u, v)| tx.remove_edge(&key(db, u), &key(db, v)))
        });
        removed.expect("a commit that only removes is let through");
    }
}

/// What both say has been taken since the start.
struct Start {
    allocated: usize,
    counted: u64,
}

impl Start {
    fn of(db: &Database) -> Self {
        Self { allocated: ALLOCATOR.allocated(), counted: db.stats().memory_bytes }
    }

    /// Compares the account with the allocator: to one part in 25, and 32 KB for queues and the like.
    fn compare(&self, db: &Database, when: &str) {
        let allocated = ALLOCATOR.allocated().saturating_sub(self.allocated) as f64;
        let counted = (db.stats().memory_bytes - self.counted) as f64;
        let off = (counted - allocated).abs();
        assert!(off <= allocated / 25.0 + 32e3, "{when}: {counted} counted, {allocated} allocated");
    }
}

fn kinds_of_database() -> Vec<(&'static str, Options)> {
    let options = || Database::options().service(Service::Manual);
    vec![
        ("dense", options().dense_keys(0)),
        ("number keys, weights", options().weights(Weights::F64)),
        ("text keys, undirected", options().text_keys().undirected()),
        ("tiny sizes", options().tuning(Tuning::tiny()).weights(Weights::F32)),
    ]
}

#[test]
fn the_account_agrees_with_the_allocator() {
    let _turn = take_turn();
    for_each_seed(2, |seed| {
        let graph = Graph::random(seed, 20_000, 200_000);
        for (name, options) in kinds_of_database() {
            let db = options.in_memory();
            let start = Start::of(&db);
            let compare = |when| start.compare(&db, &format!("{name}, {when}"));
            graph.add_vertices(&db).expect("no limit");
            compare("vertices added");
            assert_eq!(add(&db, &graph.edges).1, None);
            compare("edges added");
            serve(&db);
            compare("settled");
            let snapshot = db.snapshot().expect("few are open");
            let (half, rest) = graph.edges.split_at(graph.edges.len() / 2);
            remove(&db, half);
            compare("half removed, but for a snapshot");
            serve(&db);
            compare("and settled");
            drop(snapshot);
            serve(&db);
            compare("and pruned");
            remove(&db, rest);
            serve(&db);
            compare("all edges removed");
            graph.remove_vertices(&db);
            serve(&db);
            compare("all vertices removed");
        }
    });
}

#[test]
fn the_account_is_back_where_it_was_when_all_is_removed() {
    let _turn = take_turn();
    for_each_seed(1, |seed| {
        let graph = Graph::random(seed, 5_000, 200_000);
        for (name, options) in kinds_of_database() {
            let db = options.in_memory();
            let mut peak = 0;
            let mut cycle = || {
                graph.add_vertices(&db).expect("no limit");
                assert_eq!(add(&db, &graph.edges).1, None);
                let snapshot = db.snapshot().expect("few are open");
                serve(&db);
                remove(&db, &graph.edges);
                graph.remove_vertices(&db);
                peak = db.stats().memory_bytes;
                drop(snapshot);
                serve(&db);
                db.stats().memory_bytes
            };
            // The first leaves the directory, and room for keys.
            let (first, second, third) = (cycle(), cycle(), cycle());
            assert!(second.abs_diff(third) <= third / 100, "{name}: {first}, {second}, {third}");
            assert!(3 * third < peak, "{name}: {third} of {peak}");
        }
    });
}

fn limit_of(error: Option<Error>) -> (u64, u64) {
    match error {
        Some(Error::MemoryLimit { limit, used }) => (limit, used),
        other => panic!("{other:?} in place of a refusal for want of memory"),
    }
}

fn degrees(snapshot: &Snapshot, vertices: u64) -> u64 {
    (0..vertices).map(|v| u64::from(snapshot.degree(v).expect("known"))).sum()
}

#[test]
fn a_full_store_refuses_reads_on_and_works_again() {
    const LIMIT: u64 = 4_000_000;
    let _turn = take_turn();
    for_each_seed(2, |seed| {
        let graph = Graph::random(seed, 10_000, 1_000_000);
        let options = Database::options().service(Service::Manual).memory_limit(LIMIT);
        let db = options.in_memory();
        let start = Start::of(&db);
        graph.add_vertices(&db).expect("vertices take little");
        let (added, refused) = add(&db, &graph.edges);
        let (limit, used) = limit_of(refused);
        assert_eq!(limit, LIMIT);
        assert!((LIMIT * 9 / 10..LIMIT * 11 / 10).contains(&used), "{used} used");
        start.compare(&db, "full");

        // Nothing was changed, readers go on, and nothing else can be added.
        let snapshot = db.snapshot().expect("few are open");
        assert_eq!(db.stats().edges, added as u64);
        assert_eq!(degrees(&snapshot, graph.vertices), added as u64);
        db.check().expect("whole");

        // Everything can be removed, with the snapshot still open.
        remove(&db, &graph.edges[..added]);
        assert_eq!(degrees(&snapshot, graph.vertices), added as u64);
        assert_eq!(degrees(&db.snapshot().expect("few are open"), graph.vertices), 0);
        drop(snapshot);
        serve(&db);
        assert!(db.stats().memory_bytes < LIMIT / 2, "{}", db.stats().memory_bytes);
        let again = &graph.edges[..added / 2];
        assert_eq!(add(&db, again), (again.len(), None));
        db.check().expect("whole");
    });
}

#[test]
fn keys_that_are_refused_leave_room_for_others() {
    let _turn = take_turn();
    let options = Database::options().service(Service::Manual).memory_limit(1_000_000);
    let db = options.text_keys().in_memory();
    let fill = |prefix: &str| {
        let mut tx = db.begin().expect("few are open");
        let mut number = 0;
        let refused = loop {
            if let Err(error) = tx.add_vertex(&Key::Text(format!("{prefix}{number}").into())) {
                break error;
            }
            number += 1;
        };
        (number, limit_of(Some(refused)).0)
    };
    let (first, limit) = fill("some key ");
    assert_eq!((limit, db.stats().vertices), (1_000_000, 0));
    serve(&db);
    let (second, _) = fill("another key ");
    assert!(second >= first / 4, "{second} keys after {first}");
    serve(&db);
    db.transaction(0, |tx| tx.add_vertex("one")).expect("there is room again");
}

#[test]
fn what_open_transactions_hold_is_counted_and_given_back() {
    let _turn = take_turn();
    let options = Database::options().service(Service::Manual).dense_keys(100_000);
    let db = options.clone().in_memory();
    db.transaction(0, |tx| tx.add_edge(0u64, 1u64)).expect("new");
    let held = || db.stats().memory_bytes as usize;
    let (empty, allocated) = (held(), ALLOCATOR.allocated());
    let mut tx = db.begin_with(Isolation::Serializable).expect("few are open");
    tx.add_edge(1u64, 2u64).expect("known");
    assert_eq!(held(), empty, "a small transaction takes nothing beside itself");
    let compare = |what: &str| {
        let (counted, real) = (held() - empty, ALLOCATOR.allocated() - allocated);
        assert!((real * 2 / 3..real * 4 / 3).contains(&counted), "{what}: {counted} of {real}");
        counted
    };
    (2..50_000u64).try_for_each(|v| tx.add_edge(0u64, v)).expect("known");
    let written = compare("written");
    (0..50_000u64).for_each(|v| assert_eq!(tx.degree(v + 50_000), Ok(0)));
    assert!(compare("read") > written);
    drop(tx);
    assert_eq!(held(), empty);

    // Buffers are limited, too; but what removes can always be asked for.
    let db = options.memory_limit(held() as u64 + 100_000).in_memory();
    let mut tx = db.begin().expect("few are open");
    let refused = (0..50_000u64).find_map(|v| tx.add_edge(0u64, v).err());
    limit_of(refused);
    (0..50_000u64).try_for_each(|v| tx.remove_edge(0u64, v)).expect("known");
}

#[test]
fn without_memory_a_commit_names_no_operation() {
    let _turn = take_turn();
    let db =
        Database::options().service(Service::Manual).dense_keys(100).memory_limit(1).in_memory();
    let mut tx = db.begin().expect("few are open");
    tx.add_edge(1u64, 2u64).expect("buffered");
    let refused = tx.commit().expect_err("one byte is too little");
    assert_eq!(refused.operation, None);
    assert!(!refused.error.is_conflict());
    assert_eq!(limit_of(Some(refused.error)).0, 1);
    assert_eq!((db.version().0, db.stats().edges), (0, 0));
    assert_eq!(limit_of(db.transaction(0, |tx| tx.add_vertex(100u64)).err()).0, 1);
}
