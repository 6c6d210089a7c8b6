//! Loom models: every interleaving and every allowed reordering of the protocols, with the code
//! of the store itself on tiny tables.
//!
//! Where one thread only reads what another writes, the reader is the one that is spawned. Loom
//! begins with the other thread, and remembers the last access to each place only: a read by a
//! reader that came first is forgotten when the writer reads the same place before it writes,
//! and then the orders in which the reader comes later are not tried.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p evergraph-store --release --lib loom_`

use std::ptr::NonNull;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::Database;
use crate::engine::fat_tree::models as fat_tree;
use crate::epoch::{Clock, LeaseKind, Versions};
use crate::raw::{Chain, Retention};
use crate::view::Lease;

/// A value that says when it was dropped.
struct Tracked {
    value: u64,
    dropped: Arc<AtomicBool>,
}

impl Tracked {
    fn new(value: u64) -> (Self, Arc<AtomicBool>) {
        let dropped = Arc::new(AtomicBool::new(false));
        (Self { value, dropped: Arc::clone(&dropped) }, dropped)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

fn versions() -> std::sync::Arc<Versions> {
    std::sync::Arc::new(Versions::new(0))
}

/// A model with so many preemptions at most; without a bound it would take hours.
fn bounded(preemptions: usize) -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model
}

/// Commits a new state of a chain, as `write.rs` and `merge.rs` do it: the state of version `v` is
/// installed once `v` is visible.
fn commit_state(versions: &Versions, chain: &Chain<Tracked>) {
    let ticket = versions.clock.take();
    let version = ticket.version();
    ticket.complete();
    let (state, _) = Tracked::new(version);
    chain.lock().install((version, version), state, versions, &versions.pins);
}

#[test]
fn loom_clock_makes_versions_visible_in_order() {
    loom::model(|| {
        let versions = versions();
        let commit = |versions: std::sync::Arc<Versions>| {
            move || {
                let ticket = versions.clock.take();
                let version = ticket.version();
                assert!(versions.clock.visible() < version);
                ticket.complete();
                assert!(versions.clock.visible() >= version);
            }
        };
        let other = thread::spawn(commit(std::sync::Arc::clone(&versions)));
        commit(std::sync::Arc::clone(&versions))();
        other.join().expect("no panic");
        assert_eq!(versions.clock.visible(), 2);
    });
}

#[test]
fn loom_clock_waits_for_a_free_place_in_the_ring() {
    loom::model(|| {
        let clock = Arc::new(Clock::with_ring(0, 1));
        let other = {
            let clock = Arc::clone(&clock);
            thread::spawn(move || clock.take().complete())
        };
        clock.take().complete();
        other.join().expect("no panic");
        assert_eq!(clock.visible(), 2);
    });
}

#[test]
fn loom_clock_shows_what_was_put_in_place_before() {
    loom::model(|| {
        let versions = versions();
        // As a delta or a dirty bit: stored `Relaxed` before the version is complete (I4).
        let placed = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let reader = {
            let (versions, placed) = (std::sync::Arc::clone(&versions), Arc::clone(&placed));
            thread::spawn(move || {
                let open = versions.leases.open(&versions.clock, LeaseKind::Snapshot);
                let (slot, version) = open.expect("free");
                assert!(placed.load(Ordering::Relaxed) >= version);
                versions.leases.close(slot);
            })
        };
        for _ in 0..2 {
            let ticket = versions.clock.take();
            placed.store(ticket.version(), Ordering::Relaxed);
            ticket.complete();
        }
        reader.join().expect("no panic");
    });
}

#[test]
fn loom_clock_hands_on_what_others_completed() {
    bounded(2).check(|| {
        // Whoever moves `visible` over the version of another publishes what that one did.
        let versions = versions();
        let placed = Arc::new([(); 3].map(|()| loom::sync::atomic::AtomicU64::new(0)));
        let share = || (std::sync::Arc::clone(&versions), Arc::clone(&placed));
        let write = || {
            let (versions, placed) = share();
            move || {
                let ticket = versions.clock.take();
                placed[ticket.version() as usize].store(1, Ordering::Relaxed);
                ticket.complete();
            }
        };
        let writer = thread::spawn(write());
        let reader = {
            let (versions, placed) = share();
            thread::spawn(move || {
                let visible = versions.clock.visible() as usize;
                for version in 1..=visible {
                    assert_eq!(placed[version].load(Ordering::Relaxed), 1);
                }
            })
        };
        write()();
        writer.join().expect("no panic");
        reader.join().expect("no panic");
    });
}

#[test]
fn loom_lease_keeps_the_state_it_was_opened_on() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        let (state, first_dropped) = Tracked::new(0);
        chain.lock().install((0, 0), state, &*versions, &versions.pins);
        let writer = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || commit_state(&versions, &chain))
        };
        let (slot, version) =
            versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
        // Resolved under the latch, read without it, as a view does.
        let lent = chain.lock().lend(version).expect("there is a state since 0");
        let still_there = || version > 0 || !first_dropped.load(Ordering::SeqCst);
        assert!(still_there(), "the state was dropped while it was leased");
        writer.join().expect("no panic");
        assert!(still_there(), "the state was dropped while it was leased");
        // Compared by address: reading through it is what the assertion above allows.
        let now = chain.lock().lend(version).expect("there is a state since 0");
        assert_eq!((version == 0).then_some(lent), (version == 0).then_some(now));
        versions.leases.close(slot);
        chain.lock().prune(&*versions, &versions.pins);
        assert_eq!(first_dropped.load(Ordering::SeqCst), true);
    });
}

#[test]
fn loom_lease_of_a_writer_keeps_all_that_came_after() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        chain.lock().install((0, 0), Tracked::new(0).0, &*versions, &versions.pins);
        let (slot, version) =
            versions.leases.open(&versions.clock, LeaseKind::Writer).expect("free");
        let writer = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                commit_state(&versions, &chain);
                commit_state(&versions, &chain);
            })
        };
        writer.join().expect("no panic");
        let kept: Vec<u64> = chain.lock().states().map(|state| state.value.value).collect();
        assert_eq!((version, kept), (0, vec![2, 1, 0]));
        versions.leases.close(slot);
    });
}

#[test]
fn loom_lease_expiry_waits_for_readers_and_frees_once() {
    loom::model(|| {
        let versions = versions();
        let (slot, version) =
            versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
        let lease = Arc::new(Lease::new(std::sync::Arc::clone(&versions), slot, version));
        let expire = {
            let lease = Arc::clone(&lease);
            thread::spawn(move || lease.expire())
        };
        if let Some(reading) = lease.enter() {
            assert!(versions.leases.need(0, 1), "freed while somebody reads");
            drop(reading);
        }
        expire.join().expect("no panic");
        assert!(lease.enter().is_none());
        assert!(!versions.leases.need(0, 1), "not freed");
        // The slot is free once: two may take both slots now, and dropping the lease frees none.
        let open = || versions.leases.open(&versions.clock, LeaseKind::Snapshot);
        let (first, second) = (open().expect("free"), open().expect("free"));
        drop(lease);
        assert!(open().is_err());
        versions.leases.close(first.0);
        versions.leases.close(second.0);
    });
}

#[test]
fn loom_lease_of_a_transaction_expires_between_its_reads() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        let (state, first_dropped) = Tracked::new(0);
        chain.lock().install((0, 0), state, &*versions, &versions.pins);
        let (slot, _) = versions.leases.open(&versions.clock, LeaseKind::Writer).expect("free");
        let other = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                assert!(versions.leases.expire_writers(0, 0).leases <= 1);
                commit_state(&versions, &chain);
            })
        };
        for _ in 0..2 {
            if versions.leases.enter(slot) {
                assert!(!first_dropped.load(Ordering::SeqCst), "dropped while it was read");
                versions.leases.leave(slot);
            }
        }
        other.join().expect("no panic");
        let is_held = !first_dropped.load(Ordering::SeqCst);
        assert_eq!(versions.leases.enter(slot), is_held);
        assert_eq!(versions.leases.close_unless_expired(slot), is_held);
    });
}

#[test]
fn loom_lease_that_expired_is_the_next_owners() {
    loom::model(|| {
        let versions = versions();
        let open = |kind| versions.leases.open(&versions.clock, kind).map(|(slot, _)| slot);
        let reader = open(LeaseKind::Snapshot).expect("free");
        let old = open(LeaseKind::Writer).expect("free");
        let next = {
            let versions = std::sync::Arc::clone(&versions);
            thread::spawn(move || {
                let expired = versions.leases.expire_writers(0, 0);
                let next = versions.leases.open(&versions.clock, LeaseKind::Writer).ok();
                (expired, next.map(|(slot, _)| slot))
            })
        };
        // The owner is in the middle of a call, and then ends.
        let entered = versions.leases.enter(old);
        if entered {
            versions.leases.count(old, 5);
            versions.leases.leave(old);
        }
        let is_own = versions.leases.close_unless_expired(old);
        let (expired, next) = next.join().expect("no panic");
        assert_eq!(expired.leases, u64::from(!is_own), "one of the two ends it");
        assert_eq!(expired.bytes, if entered && !is_own { 5 } else { 0 });
        // The slot is the next one's now, if it was free in time; the old owner touched nothing.
        if let Some(next) = next {
            assert!(is_own || !versions.leases.enter(old), "it comes back as it was");
            assert!(versions.leases.need(0, 1));
            assert!(versions.leases.enter(next), "somebody else freed it");
            versions.leases.leave(next);
            assert!(versions.leases.close_unless_expired(next));
        } else {
            assert!(is_own, "what has expired is free");
        }
        versions.leases.close(reader);
        assert!(!versions.leases.need(0, 1));
    });
}

#[test]
fn loom_pin_keeps_what_can_be_reached() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        chain.lock().install((0, 0), Tracked::new(0).0, &*versions, &versions.pins);
        let reader = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                let pin = versions.pins.pin();
                let state = chain.at(u64::MAX, &pin).expect("there is a state since 0");
                let dropped = Arc::clone(&state.value.dropped);
                assert_eq!(dropped.load(Ordering::SeqCst), false, "dropped while pinned");
                drop(pin);
            })
        };
        commit_state(&versions, &chain);
        reader.join().expect("no panic");
        versions.pins.collect();
    });
}

#[test]
fn loom_pin_of_two_readers_and_a_writer() {
    bounded(2).check(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        chain.lock().install((0, 0), Tracked::new(0).0, &*versions, &versions.pins);
        let read = |versions: std::sync::Arc<Versions>, chain: Arc<Chain<Tracked>>| {
            move || {
                let pin = versions.pins.pin();
                let state = chain.at(u64::MAX, &pin).expect("there is a state since 0");
                assert_eq!(state.value.dropped.load(Ordering::SeqCst), false);
                drop(pin);
            }
        };
        let readers = [(); 2]
            .map(|()| thread::spawn(read(std::sync::Arc::clone(&versions), Arc::clone(&chain))));
        commit_state(&versions, &chain);
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

/// Nobody reads.
struct Nobody;

impl Retention for Nobody {
    fn need(&self, _: u64, _: u64) -> bool {
        false
    }
}

#[test]
fn loom_chain_is_walked_while_it_is_pruned() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        let (slot, _) = versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
        chain.lock().install((0, 0), Tracked::new(0).0, &*versions, &versions.pins);
        commit_state(&versions, &chain);
        let reader = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                let pin = versions.pins.pin();
                if let Some(state) = chain.at(0, &pin) {
                    assert_eq!(state.value.dropped.load(Ordering::SeqCst), false);
                }
                drop(pin);
            })
        };
        versions.leases.close(slot);
        chain.lock().prune(&Nobody, &versions.pins);
        reader.join().expect("no panic");
    });
}

#[test]
fn loom_delta_rows_are_seen_by_whoever_sees_their_version() {
    loom::model(fat_tree::rows_are_seen);
}

#[test]
fn loom_merge_against_a_snapshot_and_a_point_read() {
    bounded(3).check(fat_tree::merge_against_readers);
}

#[test]
fn loom_hub_split_against_a_point_read() {
    bounded(3).check(fat_tree::split_against_reader);
}

#[test]
fn loom_leaf_against_a_writer() {
    loom::model(fat_tree::leaf_against_writer);
}

#[test]
fn loom_validation_of_two_committers() {
    bounded(3).check(fat_tree::validate_edges);
}

#[test]
fn loom_merge_by_a_committer_against_a_snapshot() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(fat_tree::merge_by_a_committer);
}

#[test]
fn loom_ahead_against_a_commit_of_the_same_edge() {
    bounded(2).check(fat_tree::ahead_against_addition);
}

#[test]
fn loom_ahead_against_the_removal_of_an_end() {
    bounded(2).check(fat_tree::ahead_against_removal);
}

#[test]
fn loom_absorb_against_a_point_read() {
    bounded(2).check(fat_tree::absorb_against_reader);
}

#[test]
fn loom_absorb_against_the_removal_of_an_end() {
    bounded(2).check(fat_tree::absorb_against_removal);
}

#[test]
fn loom_absorb_against_a_commit_of_the_same_edge() {
    bounded(2).check(fat_tree::absorb_against_addition);
}

#[test]
fn loom_validation_of_an_edge_count() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(fat_tree::validate_edge_count);
}

#[test]
fn loom_validation_against_a_new_vertex() {
    bounded(2).check(fat_tree::validate_vertices);
    bounded(2).check(fat_tree::validate_absence);
}

#[test]
fn loom_latches_of_two_groups_are_taken_in_order() {
    bounded(2).check(fat_tree::two_groups);
}

#[test]
fn loom_first_write_against_a_point_read() {
    bounded(3).check(fat_tree::first_write);
}

#[test]
fn loom_directory_grows_for_two_writers() {
    bounded(2).check(fat_tree::growing_directory);
}

#[test]
fn loom_hub_extraction_against_a_writer_and_a_point_read() {
    bounded(2).check(fat_tree::extraction);
}

#[test]
fn loom_ids_are_given_up_when_nobody_can_see_them() {
    bounded(3).check(fat_tree::giving_up);
}

#[test]
fn loom_collection_against_a_lease_that_moves() {
    loom::model(|| {
        // The second lease gets a slot before that of the first.
        let versions = versions();
        let open = || versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
        let (early, first) = (open().0, open());
        versions.leases.close(early);
        let chain = Arc::new(Chain::default());
        let (state, dropped) = Tracked::new(0);
        chain.lock().install((0, 0), state, &*versions, &versions.pins);
        commit_state(&versions, &chain);
        let collector = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || chain.lock().prune(&*versions, &versions.pins))
        };
        let lease = Lease::new(std::sync::Arc::clone(&versions), first.0, first.1);
        let again = lease.again().expect("not expired").expect("a free slot");
        drop(lease);
        collector.join().expect("no panic");
        assert_eq!(dropped.load(Ordering::SeqCst), false, "the state was dropped under a lease");
        drop(again);
        chain.lock().prune(&*versions, &versions.pins);
        assert_eq!(dropped.load(Ordering::SeqCst), true);
    });
}

#[test]
fn loom_layout_against_a_younger_snapshot() {
    loom::model(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        let (state, dropped) = Tracked::new(0);
        chain.lock().install((0, 0), state, &*versions, &versions.pins);
        let first = NonNull::from(chain.lock().head().expect("installed").value);
        let layer = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                // The limit is read before the latch is taken, as `lay_out` does.
                let limit = versions.clock.visible();
                let copy = Tracked::new(0).0;
                chain.lock().install((0, limit + 1), copy, &*versions, &versions.pins);
            })
        };
        // Something else is changed.
        versions.clock.take().complete();
        let (slot, version) =
            versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
        let lent = chain.lock().lend(version).expect("there is a state since 0");
        layer.join().expect("no panic");
        let is_there = lent != first || !dropped.load(Ordering::SeqCst);
        assert!(is_there, "the state was dropped while a view held it");
        versions.leases.close(slot);
        chain.lock().prune(&*versions, &versions.pins);
        assert_eq!(dropped.load(Ordering::SeqCst), true);
    });
}

#[test]
fn loom_pin_of_a_thread_that_ends_leaves_nothing_behind() {
    bounded(3).check(|| {
        let versions = versions();
        let chain = Arc::new(Chain::default());
        let (state, dropped) = Tracked::new(0);
        chain.lock().install((0, 0), state, &*versions, &versions.pins);
        let reader = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || {
                let pin = versions.pins.pin();
                assert!(chain.at(u64::MAX, &pin).is_some());
            })
        };
        let writer = {
            let (versions, chain) = (std::sync::Arc::clone(&versions), Arc::clone(&chain));
            thread::spawn(move || commit_state(&versions, &chain))
        };
        reader.join().expect("no panic");
        writer.join().expect("no panic");
        // Both are gone: what they left in the bag is freed by whoever comes next.
        versions.pins.collect();
        assert_eq!(dropped.load(Ordering::SeqCst), true);
    });
}

#[test]
fn loom_service_thread_ends_with_its_database() {
    bounded(2).check(|| drop(Database::options().dense_keys(0).in_memory()));
}
