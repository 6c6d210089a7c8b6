//! Many threads on one database with tiny sizes and the service thread running: what must hold
//! whatever the schedule.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use evergraph_graph::{GraphView, Key};
use evergraph_store::{Database, Options, Tuning, Weights, with_view};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use support::model::read_view;
use support::{for_each_seed, rounds};

const WRITERS: u64 = 4;

fn options() -> Options {
    Database::options().tuning(Tuning::tiny())
}

fn number(key: &Key) -> u64 {
    match key {
        Key::Number(number) => *number,
        Key::Text(text) => panic!("{text} is no number"),
    }
}

/// Runs `writer` on several threads, each with a generator of its own, and `reader` on this one
/// until they are done.
fn race(seed: u64, writer: impl Fn(&mut Pcg64Mcg) + Sync, mut reader: impl FnMut()) {
    let running = AtomicU64::new(WRITERS);
    std::thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (running, writer) = (&running, &writer);
            scope.spawn(move || {
                let _done = Done(running);
                writer(&mut Pcg64Mcg::seed_from_u64(seed * WRITERS + thread));
            });
        }
        while running.load(Ordering::Acquire) > 0 {
            reader();
        }
    });
}

/// Counts a writer as done, also when it panics.
struct Done<'a>(&'a AtomicU64);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[test]
fn no_update_is_lost() {
    for_each_seed(5, |seed| {
        let db = options().weights(Weights::F64).dense_keys(70).in_memory();
        for v in 0..3u64 {
            db.transaction(0, |tx| tx.add_weighted_edge(v, v + 60, 0.0)).expect("new edges");
        }
        let increments = AtomicU64::new(0);
        race(
            seed,
            |rng| {
                for _ in 0..rounds(400) {
                    let v = rng.random_range(0..3u64);
                    db.transaction(usize::MAX, |tx| {
                        let weight = tx.weight(v, v + 60)?.expect("never removed");
                        tx.set_weight(v, v + 60, weight + 1.0)
                    })
                    .expect("conflicts are retried");
                    increments.fetch_add(1, Ordering::Relaxed);
                }
            },
            || _ = db.snapshot().map(|s| s.degree(1u64)),
        );
        let snapshot = db.snapshot().expect("few are open");
        let weight = |v| snapshot.weight(v, v + 60).expect("known").expect("never removed");
        let total: f64 = (0..3u64).map(weight).sum();
        assert!((total - increments.into_inner() as f64).abs() < 0.5, "{total}");
    });
}

#[test]
fn money_is_moved_and_never_made() {
    const ACCOUNTS: u64 = 40;
    for_each_seed(5, |seed| {
        let db = options().undirected().weights(Weights::F64).dense_keys(200).in_memory();
        // The balance of account `a` is the weight of edge `a, 100 + a`.
        let balance = |a: u64| (a, 100 + a);
        db.transaction(0, |tx| {
            (0..ACCOUNTS).try_for_each(|a| tx.add_weighted_edge(balance(a).0, balance(a).1, 100.0))
        })
        .expect("new edges");
        race(
            seed,
            |rng| {
                for _ in 0..rounds(300) {
                    let (a, b) = (rng.random_range(0..ACCOUNTS), rng.random_range(0..ACCOUNTS));
                    if a == b {
                        continue;
                    }
                    db.transaction(usize::MAX, |tx| {
                        let of = |tx: &evergraph_store::Transaction<'_>, a| {
                            tx.weight(balance(a).0, balance(a).1).map(|w| w.expect("is there"))
                        };
                        let (from, to) = (of(tx, a)?, of(tx, b)?);
                        tx.set_weight(balance(a).0, balance(a).1, from - 1.0)?;
                        tx.set_weight(balance(b).1, balance(b).0, to + 1.0)
                    })
                    .expect("conflicts are retried");
                }
            },
            || {
                let snapshot = db.snapshot().expect("few are open");
                let total = with_view!(snapshot.view().expect("not expired"), |view| {
                    let mut total = 0.0;
                    for v in 0..view.vertex_bound() {
                        view.for_each_weighted(v, |_, weight| {
                            total += evergraph_graph::Weight::to_f64(weight);
                        });
                    }
                    total
                });
                let all = (2 * 100 * ACCOUNTS) as f64;
                assert!((total - all).abs() < 0.5, "{total} at {}", snapshot.version());
            },
        );
    });
}

/// Adds and removes vertices and edges at random; refusals and conflicts are part of the game.
fn churn(db: &Database, rng: &mut Pcg64Mcg, vertices: u64, rounds: usize) {
    for _ in 0..rounds {
        let Ok(mut tx) = db.begin() else { continue };
        for _ in 0..rng.random_range(1..6) {
            // A few vertices get most of the edges.
            let v = rng.random_range(0..vertices);
            let u = if rng.random() { v % 3 } else { rng.random_range(0..vertices) };
            _ = match rng.random_range(0..12) {
                0 => tx.remove_vertex(v),
                1..3 => tx.add_vertex(v),
                3..9 => tx.add_edge(u, v),
                _ => tx.remove_edge(u, v),
            };
        }
        _ = tx.commit();
    }
}

#[test]
fn no_edge_dangles_and_no_snapshot_moves() {
    for_each_seed(6, |seed| {
        let options =
            if seed.is_multiple_of(2) { options().directed() } else { options().undirected() };
        let db = options.in_memory();
        race(
            seed,
            |rng| churn(&db, rng, 60, rounds(400)),
            || {
                // Reading checks that all ends exist, and that both lists know every edge.
                let snapshot = db.snapshot().expect("few are open");
                let first = read_view(&snapshot, number);
                std::thread::sleep(Duration::from_millis(2));
                let again = snapshot.again().expect("not expired");
                drop(snapshot);
                assert_eq!(read_view(&again, number), first, "version {}", again.version());
            },
        );
        db.check().expect("every invariant holds");
    });
}

#[test]
fn point_reads_find_what_is_always_there() {
    for_each_seed(4, |seed| {
        // Vertex 0 is a hub whose even neighbours never change, while the odd ones come and go
        // and its segments are cut, packed and folded.
        let db = options().undirected().dense_keys(2000).in_memory();
        for v in (2..2000u64).step_by(2) {
            db.transaction(0, |tx| tx.add_edge(0u64, v)).expect("new edges");
        }
        let reads = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (db, reads, stop) = (&db, &reads, &stop);
                scope.spawn(move || {
                    let mut rng = Pcg64Mcg::seed_from_u64(seed * 100 + thread);
                    loop {
                        let tx = db.begin().expect("few are open");
                        let v = 2 * rng.random_range(1..1000u64);
                        assert!(tx.has_edge(0u64, v).expect("known"), "0 {v} is gone");
                        let list = tx.neighbours(0u64).expect("known");
                        let even =
                            list.iter().filter(|(key, _)| number(key).is_multiple_of(2)).count();
                        assert_eq!(even, 999);
                        assert_eq!(tx.degree(0u64), Ok(list.len() as u32));
                        reads.fetch_add(1, Ordering::Relaxed);
                        if stop.load(Ordering::Acquire) {
                            break;
                        }
                    }
                });
            }
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            for _ in 0..rounds(3000) {
                let v = 2 * rng.random_range(0..1000u64) + 1;
                db.transaction(3, |tx| {
                    if tx.has_edge(0u64, v)? {
                        tx.remove_edge(0u64, v)
                    } else {
                        tx.add_edge(v, 0u64)
                    }
                })
                .expect("one writer has no conflicts");
            }
            stop.store(true, Ordering::Release);
        });
        assert!(reads.into_inner() > 0);
        db.check().expect("every invariant holds");
    });
}

#[test]
fn tasks_of_one_pool_share_a_snapshot() {
    // A thread that counts or lays out waits for its helpers, and takes up the next task meanwhile,
    // which wants the same.
    let db = Database::options().undirected().dense_keys(40_000).in_memory();
    db.transaction(0, |tx| (1..40_000u64).try_for_each(|v| tx.add_edge(v - 1, v)))
        .expect("new edges");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    for_each_seed(200, |_| {
        let snapshot = db.snapshot().expect("few are open");
        let count = || {
            with_view!(snapshot.view().expect("not expired"), |view| {
                (view.entry_count(), view.flat().entry_count())
            })
        };
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| assert_eq!(pool.install(count), (2 * 39_999, 2 * 39_999)));
            }
        });
    });
}

#[test]
fn a_commit_is_seen_by_whatever_begins_after_it() {
    let db = options().dense_keys(4000).in_memory();
    let (sent, received) = std::sync::mpsc::channel::<(u64, u64)>();
    std::thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (db, sent) = (&db, sent.clone());
            scope.spawn(move || {
                for i in 0..rounds(900) as u64 {
                    let (u, v) = (thread * 1000 + i, thread);
                    let version = db.transaction(100, |tx| tx.add_edge(u, v)).expect("new edges");
                    assert!(db.version() >= version);
                    sent.send((u, v)).expect("the receiver waits for all");
                }
            });
        }
        drop(sent);
        while let Ok((u, v)) = received.recv() {
            assert!(db.snapshot().expect("few are open").has_edge(u, v).expect("known"));
        }
    });
}

#[test]
fn ids_of_vertices_that_are_gone_are_given_out_again() {
    let db = options().in_memory();
    for round in 0..200u64 {
        let keys = || (0..20).map(|i| round * 1000 + i);
        db.transaction(0, |tx| keys().try_for_each(|key| tx.add_vertex(key))).expect("new");
        // While they are there nothing of them is given up.
        db.service();
        db.transaction(0, |tx| keys().try_for_each(|key| tx.remove_vertex(key))).expect("there");
        db.service();
        // Nor is anything kept of keys that are not added after all.
        let mut tx = db.begin().expect("few are open");
        keys().try_for_each(|key| tx.add_vertex(key + 100)).expect("buffered");
        tx.rollback();
        db.service();
    }
    let snapshot = db.snapshot().expect("few are open");
    let bound = with_view!(snapshot.view().expect("not expired"), |view| view.vertex_bound());
    assert!(bound <= 200, "4000 vertices came and went, {bound} ids are in use");
}

#[test]
fn snapshots_outlive_the_database_and_leases_expire() {
    let db = options().dense_keys(10).in_memory();
    db.transaction(0, |tx| tx.add_edge(1u64, 2u64)).expect("new");
    let (snapshot, other) = (db.snapshot().expect("free"), db.snapshot().expect("free"));
    assert_eq!(db.stats().snapshots, 2);
    {
        let view = snapshot.view().expect("not expired");
        assert_eq!(db.expire_snapshots(Duration::ZERO), 2);
        // Whoever reads finishes.
        assert_eq!(with_view!(view, |view| view.entry_count()), 1);
        assert_eq!(db.stats().snapshots, 1);
    }
    assert_eq!(db.stats().snapshots, 0);
    assert!(snapshot.view().is_err() && other.has_edge(1u64, 2u64).is_err());

    let last = db.snapshot().expect("free");
    drop(db);
    assert_eq!(last.has_edge(1u64, 2u64), Ok(true));
}

#[test]
fn what_old_snapshots_needed_goes_with_them() {
    let db = options().dense_keys(500).in_memory();
    let (old, first) = (db.snapshot().expect("free"), db.version());
    for v in 0..499u64 {
        db.transaction(0, |tx| tx.add_edge(v, v + 1)).expect("new");
        db.transaction(0, |tx| tx.add_edge(v, 0u64)).map(drop).unwrap_or_default();
    }
    let stats = db.stats();
    assert_eq!(stats.oldest.map(|(version, _)| version), Some(first));
    // While the service looks at them it does not count them.
    assert!(in_time(|| db.stats().groups_with_history > 0));
    assert_eq!(old.degree(0u64), Ok(0));
    drop(old);
    let settled = || {
        let stats = db.stats();
        stats.groups_with_history == 0 && stats.groups_pending == 0
    };
    assert!(in_time(settled), "the service thread settles and drops by itself: {:?}", db.stats());
}

/// Waits for the service thread, which should take a fraction of a second.
fn in_time(ready: impl Fn() -> bool) -> bool {
    let tries = 0..500;
    tries.into_iter().any(|_| {
        let is_ready = ready();
        if !is_ready {
            std::thread::sleep(Duration::from_millis(20));
        }
        is_ready
    })
}
