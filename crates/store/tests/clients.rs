//! Clients that do not behave: threads that panic, transactions and snapshots that are forgotten
//! or kept too long, transactions that are too large. Nobody else is held up by any of them.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use evergraph_store::{Database, Error, Isolation, Options, Service, Snapshot, Tuning};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use support::{for_each_seed, rounds};

const VERTICES: u64 = 200;
const THREADS: u64 = 4;
/// Transactions of a thread.
const ROUNDS: usize = rounds(300);

fn options() -> Options {
    Database::options().tuning(Tuning::tiny())
}

/// Waits for the service thread, which should take a fraction of a second.
fn wait_until(mut ready: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How a client stops in the middle of its work.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Panics,
    PanicsWhileItReads,
    Forgets,
}

const ENDINGS: [Ending; 3] = [Ending::Panics, Ending::PanicsWhileItReads, Ending::Forgets];

/// Begins something with the database and leaves it in the middle.
fn misbehave(db: &Database, ending: Ending, number: u64) {
    let isolation = [Isolation::Snapshot, Isolation::Serializable][number as usize % 2];
    let mut tx = db.begin_with(isolation).expect("few are open");
    tx.add_vertex(VERTICES + number).expect("buffered");
    tx.add_edge(number % VERTICES, VERTICES + number).expect("buffered");
    _ = tx.degree(number % VERTICES);
    let snapshot = db.snapshot().expect("few are open");
    match ending {
        Ending::Panics => panic!("the client's own fault"),
        Ending::PanicsWhileItReads => {
            let _view = snapshot.view().expect("not expired");
            panic!("the client's own fault");
        }
        Ending::Forgets => std::mem::forget((tx, snapshot)),
    }
}

/// Adds and removes edges, again after conflicts. How many transactions changed something.
fn work(db: &Database, seed: u64) -> usize {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut done = 0;
    for _ in 0..ROUNDS {
        let (u, v) = (rng.random_range(0..VERTICES), rng.random_range(0..VERTICES));
        let changed = db.transaction(usize::MAX, |tx| {
            if tx.has_edge(u, v)? { tx.remove_edge(u, v) } else { tx.add_edge(u, v) }
        });
        changed.expect("conflicts are retried");
        done += 1;
    }
    done
}

#[test]
fn clients_that_panic_or_forget_hold_nobody_up() {
    for_each_seed(3, |seed| {
        for ending in ENDINGS {
            let db = options().in_memory();
            db.transaction(0, |tx| (0..VERTICES).try_for_each(|v| tx.add_vertex(v))).expect("new");
            let done = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (db, done) = (&db, &done);
                    scope.spawn(move || {
                        let result =
                            catch_unwind(AssertUnwindSafe(|| misbehave(db, ending, thread)));
                        assert_eq!(result.is_ok(), matches!(ending, Ending::Forgets));
                        done.fetch_add(work(db, seed * THREADS + thread), Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(done.into_inner(), THREADS as usize * ROUNDS, "{ending:?}");
            let stats = db.stats();
            let left = if matches!(ending, Ending::Forgets) { THREADS as usize } else { 0 };
            assert_eq!((stats.transactions, stats.snapshots), (left, left), "{ending:?}");
            // What they wanted to add is still free for others.
            for thread in 0..THREADS {
                db.transaction(0, |tx| tx.add_vertex(VERTICES + thread)).expect("never committed");
            }
            db.check().expect("whole");
        }
    });
}

#[test]
fn a_panic_inside_of_a_transaction_rolls_it_back() {
    let db = options().service(Service::Manual).in_memory();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        db.transaction(3, |tx| {
            tx.add_vertex(1u64)?;
            panic!("the client's own fault")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!((db.stats().transactions, db.stats().vertices), (0, 0));
    db.transaction(0, |tx| tx.add_vertex(1u64)).expect("never committed");
}

#[test]
fn forgotten_leases_run_out_with_an_error() {
    let db = options().service(Service::Manual).in_memory();
    let refused = loop {
        match db.begin() {
            Ok(tx) => std::mem::forget(tx),
            Err(error) => break error,
        }
    };
    let Error::TooManySnapshots { max } = refused else { panic!("{refused}") };
    assert_eq!(db.stats().transactions, max);
}

fn is_expired(snapshot: &Snapshot) -> bool {
    match snapshot.has_vertex(0u64) {
        Ok(_) => false,
        Err(Error::SnapshotExpired { version }) => version == snapshot.version(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
#[cfg_attr(torture, ignore = "each commit does the work of the service")]
fn of_too_many_snapshots_the_oldest_end() {
    let db = options().service(Service::Manual).max_snapshots(2).in_memory();
    let mut snapshots: Vec<Snapshot> = (0..4u64)
        .map(|v| {
            db.transaction(0, |tx| tx.add_vertex(v)).expect("new");
            db.snapshot().expect("few are open")
        })
        .collect();
    // A second one of an old version is an old one.
    snapshots.push(snapshots[1].again().expect("few are open"));
    assert!(!snapshots.iter().any(is_expired), "it is the service that ends them");
    db.service();
    let third = snapshots[2].version();
    let expired: Vec<bool> = snapshots.iter().map(is_expired).collect();
    assert_eq!(expired, [true, true, false, false, true]);
    let stats = db.stats();
    assert_eq!((stats.snapshots, stats.oldest.map(|(version, _)| version)), (2, Some(third)));
    assert_eq!(db.expire_snapshots(Duration::ZERO), 2, "each ends once");
    assert_eq!(db.expire_snapshots(Duration::ZERO), 0, "each ends once");
}

#[test]
fn a_snapshot_that_is_too_old_ends_and_its_versions_go() {
    let age = Duration::from_millis(300);
    let db = options().dense_keys(VERTICES as u32).max_snapshot_age(age).in_memory();
    let old = db.snapshot().expect("few are open");
    std::mem::forget(old.again().expect("few are open"));
    for seed in 0..3 {
        work(&db, seed);
    }
    wait_until(|| is_expired(&old), "the snapshot has expired");
    wait_until(|| db.stats().oldest.is_none(), "the forgotten one has expired too");
    wait_until(|| db.stats().groups_with_history == 0, "old versions are gone");
    assert_eq!(db.snapshot().map(|new| is_expired(&new)), Ok(false));
}

#[test]
fn a_transaction_that_is_too_old_ends_and_its_versions_go() {
    let age = Duration::from_millis(300);
    let db = options().dense_keys(VERTICES as u32).max_transaction_age(age).in_memory();
    let mut old = db.begin().expect("few are open");
    let version = old.snapshot_version();
    assert_eq!(old.degree(0u64), Ok(0));
    old.add_edge(0u64, 1u64).expect("known");
    std::mem::forget(db.begin().expect("few are open"));
    for seed in 0..3 {
        work(&db, seed);
    }
    wait_until(|| db.stats().transactions == 0, "both have expired");
    assert_eq!(db.stats().oldest, None);
    wait_until(|| db.stats().groups_with_history == 0, "old versions are gone");
    let expired = Error::TransactionExpired { version };
    assert_eq!(old.has_vertex(0u64), Err(expired.clone()));
    assert_eq!(old.weight(0u64, 1u64), Err(expired.clone()));
    assert_eq!(old.degree(0u64), Err(expired.clone()));
    assert_eq!(old.neighbours(0u64), Err(expired.clone()));
    assert_eq!(old.vertices(), Err(expired.clone()));
    assert_eq!(old.vertex_count(), Err(expired.clone()));
    assert_eq!(old.vertices_in(0u64..), Err(expired.clone()));
    assert_eq!(old.edge_count(), Err(expired.clone()));
    assert_eq!(old.remove_vertex(0u64), Err(expired.clone()));
    let (before, refused) = (db.version(), old.commit().expect_err("it has expired"));
    assert_eq!((refused.operation, refused.error), (None, expired));
    assert_eq!(db.version(), before);

    // Others begin, read and commit as always.
    db.transaction(0, |tx| tx.remove_vertex(0u64)).expect("young");
    assert_eq!(db.check(), Ok(()));
}

/// Forgotten transactions must not take the places of others for ever: a program that leaks them
/// could begin no other, so nothing could move the version on either.
#[test]
fn forgotten_transactions_that_expired_leave_their_places() {
    const FORGOTTEN: u64 = 10_000;
    let db = options().dense_keys(10).max_transaction_age(Duration::from_millis(100)).in_memory();
    let mut old = db.begin().expect("few are open");
    old.add_edge(0u64, 1u64).expect("young");
    let mut forgotten = 0;
    while forgotten < FORGOTTEN {
        match db.begin() {
            Ok(tx) => {
                std::mem::forget(tx);
                forgotten += 1;
            }
            Err(Error::TooManySnapshots { max }) => {
                assert!(FORGOTTEN > 2 * max as u64, "each place is taken more than once");
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(other) => panic!("{other}"),
        }
    }
    wait_until(|| db.stats().transactions == 0, "all have expired");
    assert_eq!(db.stats().outcomes.expired, FORGOTTEN + 1);

    // Whoever has the place of the old one now keeps it.
    let young = db.begin().expect("there is room");
    let expired = Error::TransactionExpired { version: old.snapshot_version() };
    assert_eq!(old.add_edge(1u64, 2u64), Err(expired.clone()));
    assert_eq!(old.add_vertex(9u64), Err(expired.clone()));
    old.set_position("reader", old.snapshot_version());
    assert_eq!(old.commit().map_err(|refused| refused.error), Err(expired));
    // Unless the machine was so busy that it has expired by itself.
    assert!(young.has_vertex(0u64).is_ok() || db.stats().outcomes.expired == FORGOTTEN + 2);
    db.transaction(0, |tx| tx.add_edge(0u64, 1u64)).expect("never committed");
}

#[test]
fn what_a_forgotten_transaction_buffered_does_not_count_for_ever() {
    const LIMIT: u64 = 1_000_000;
    let age = Duration::from_millis(300);
    let db = options().dense_keys(100).max_transaction_age(age).memory_limit(LIMIT).in_memory();
    let empty = db.stats().memory_bytes;
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let fill = || {
            let mut tx = db.begin_with(isolation).expect("few are open");
            while tx.remove_edge(0u64, 1u64).is_ok() && db.stats().memory_bytes < LIMIT {}
            tx
        };
        let kept = fill();
        std::mem::forget(fill());
        let refused = db.transaction(0, |tx| tx.add_edge(0u64, 1u64));
        assert!(matches!(refused, Err(Error::MemoryLimit { limit: LIMIT, .. })), "{refused:?}");
        wait_until(|| db.stats().transactions == 0, "both have expired");
        assert_eq!(db.stats().memory_bytes, empty);
        drop(kept);
        assert_eq!(db.stats().memory_bytes, empty, "it is taken off once");
    }
    db.transaction(0, |tx| tx.add_edge(0u64, 1u64)).expect("there is room again");
}

#[test]
fn a_position_is_noted_with_the_changes_or_not_at_all() {
    let db = options().dense_keys(10).in_memory();
    let note = |source: u64, version| {
        db.transaction(0, |tx| {
            tx.set_position("reader", version);
            tx.add_edge(source, 1u64)
        })
    };
    let first = note(0, db.version()).map(|_| db.position("reader"));
    assert_eq!(first, Ok(Some(evergraph_store::Version(0))));
    note(0, db.version()).expect_err("the edge is there");
    assert_eq!(db.position("reader"), Some(evergraph_store::Version(0)));
    db.transaction(0, |tx| tx.add_edge(2u64, 1u64)).expect("new");
    assert_eq!(db.position("reader"), Some(evergraph_store::Version(0)), "nothing was said");
}

#[test]
fn a_transaction_that_is_too_large_is_refused_as_a_whole() {
    let db = options().dense_keys(VERTICES as u32).max_transaction(10).in_memory();
    let add = |edges: u64| {
        let range = 1..edges + 1;
        db.transaction(0, |tx| range.clone().try_for_each(|v| tx.add_edge(0u64, v)))
    };
    assert_eq!(add(11).err(), Some(Error::TransactionTooLarge { max: 10 }));
    assert_eq!(db.stats().edges, 0);
    add(10).expect("as large as it may be");
    db.transaction(0, |tx| tx.add_edge(20u64, 0u64)).expect("new");

    // The vertex and its eleven edges are twelve operations.
    let mut tx = db.begin().expect("few are open");
    assert_eq!(tx.remove_vertex(0u64), Err(Error::TransactionTooLarge { max: 10 }));
    assert!(tx.is_empty());
    tx.remove_edge(0u64, 1u64).and_then(|()| tx.remove_edge(20u64, 0u64)).expect("there");
    tx.commit().expect("one writer");
    db.transaction(0, |tx| tx.remove_vertex(0u64)).expect("ten operations");
    assert_eq!(db.stats().edges, 0);
}
