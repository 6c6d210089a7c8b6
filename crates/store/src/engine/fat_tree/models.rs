//! The parts of the layout that loom runs; the models themselves are in `crate::models`.

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::base::{Base, Kind, Op, Runs, put_in_place};
use super::fold::{Folded, fold};
use super::hub::{CutAs, Destination, Hub};
use super::layout::{Leaves, lists_in};
use super::leaf::{Draft, LeafMemory, Shelf};
use super::{
    Address, Changes, Directed, EdgeChange, Effect, Ends, FatTree, Read, Reads, Side, Tuning,
    VertexChange,
};
use super::{Unchecked, Wish};
use crate::account::Account;
use crate::epoch::{LeaseKind, Versions};
use crate::pool::Pool;
use crate::raw::Chain;

fn add(id: u32) -> Op<()> {
    Op { local: 0, id, kind: Kind::Add, weight: () }
}

fn destination(versions: &Versions) -> Destination<'_, ()> {
    Destination { versions, shelf: Shelf::Anywhere }
}

fn versions() -> Arc<Versions> {
    Arc::new(Versions::new(0))
}

fn base_of(folded: Folded<()>) -> Base<()> {
    base_on(folded, &mut Shelf::Anywhere)
}

fn base_on(folded: Folded<()>, shelf: &mut Shelf<'_, ()>) -> Base<()> {
    let ends = folded.ends.map(|end| end as u16);
    let (ids, weights) = shelf.place(folded.ids, folded.weights);
    let runs = Runs { ends, ids, weights, ..Runs::empty(1) };
    let base = Base::marked(runs, folded.version, shelf.mark(), &Account::default());
    base.make_delta(4);
    for (op, version) in &folded.carried {
        base.append(op, *version);
    }
    base
}

/// A writer appends and completes; a reader at `s` sees every row up to `s`, dirty bit and all.
pub(crate) fn rows_are_seen() {
    let versions = versions();
    let base = Arc::new(Base::new(Runs::empty(1), 0, &Account::default()));
    base.make_delta(4);
    let reader = {
        let (versions, base) = (Arc::clone(&versions), Arc::clone(&base));
        thread::spawn(move || {
            let open = versions.leases.open(&versions.clock, LeaseKind::Snapshot);
            let (slot, version) = open.expect("free");
            let seen = [10, 20].map(|id| base.edge_at(0, id, version).is_some());
            assert_eq!(seen, [version >= 1, version >= 2]);
            versions.leases.close(slot);
        })
    };
    for id in [10, 20] {
        let ticket = versions.clock.take();
        base.append(&add(id), ticket.version());
        ticket.complete();
    }
    reader.join().expect("no panic");
}

/// One thread commits and merges, as a commit that finds no room does; another opens a lease and
/// reads its version by a pin.
pub(crate) fn merge_against_readers() {
    let versions = versions();
    let chain = Arc::new(Chain::default());
    let base: Base<()> = Base::new(Runs::empty(1), 0, &Account::default());
    base.make_delta(4);
    chain.lock().install((0, 0), base, &*versions, &versions.pins);
    let writer = {
        let (versions, chain) = (Arc::clone(&versions), Arc::clone(&chain));
        thread::spawn(move || {
            let mut locked = chain.lock();
            let ticket = versions.clock.take();
            locked.head().expect("installed").value.append(&add(10), ticket.version());
            drop(locked);
            ticket.complete();
            locked = chain.lock();
            let folded = fold(locked.head().expect("installed").value, versions.clock.visible());
            let version = folded.version;
            locked.install((version, version), base_of(folded), &*versions, &versions.pins);
        })
    };
    let (slot, version) = versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
    for _ in 0..2 {
        let pin = versions.pins.pin();
        let state = chain.at(version, &pin).expect("the state of a leased version is kept");
        assert_eq!(state.value.edge_at(0, 10, version).is_some(), version >= 1);
        drop(pin);
    }
    versions.leases.close(slot);
    writer.join().expect("no panic");
}

/// One thread lays a group out again and publishes the new leaf; another commits to the group, before and
/// after it opens a lease, and reads the leaf where it may, else the base.
pub(crate) fn leaf_against_writer() {
    let versions = versions();
    let chain = Arc::new(Chain::default());
    let base: Base<()> = Base::new(Runs::empty(1), 0, &Account::default());
    base.make_delta(4);
    chain.lock().install((0, 0), base, &*versions, &versions.pins);
    let leaves = Arc::new(Leaves::default());
    lay_one_out(&versions, &chain, &leaves);
    let layer = {
        let (versions, chain, leaves) =
            (Arc::clone(&versions), Arc::clone(&chain), Arc::clone(&leaves));
        thread::spawn(move || lay_one_out(&versions, &chain, &leaves))
    };
    let commit = |id| {
        let locked = chain.lock();
        let ticket = versions.clock.take();
        locked.head().expect("installed").value.append(&add(id), ticket.version());
        drop(locked);
        ticket.complete();
    };
    commit(10);
    let (slot, version) = versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
    commit(20);
    let seen = match leaves.one_at(version, 0).filter(|leaf| leaf.holds(0)) {
        Some(leaf) => [10, 20].map(|id| leaf.lists().get(0).is_some_and(|list| list.contains(&id))),
        None => {
            let pin = versions.pins.pin();
            let state = chain.at(version, &pin).expect("the state of a leased version is kept");
            [10, 20].map(|id| state.value.edge_at(0, id, version).is_some())
        }
    };
    assert_eq!(seen, [true, false]);
    versions.leases.close(slot);
    layer.join().expect("no panic");
}

/// What `lay_out` does, for one group.
fn lay_one_out(versions: &Versions, chain: &Chain<Base<()>>, leaves: &Leaves<()>) {
    let limit = versions.clock.visible();
    let mut draft = Draft::with_capacity(1, &LeafMemory::new(&Account::default()));
    let mut locked = chain.lock();
    let folded = fold(locked.at(limit).expect("the first state").value, limit);
    let mut shelf = Shelf::Leaf(&mut draft, 0);
    let base = base_on(folded, &mut shelf);
    let at = base.since;
    put_in_place(&mut locked, (at, at.max(limit + 1)), base, versions);
    let lists = lists_in(&draft, &locked, limit);
    draft.record(0, lists);
    drop(locked);
    leaves.publish(0, draft.finish().shared());
}

/// One thread cuts a segment in two; another looks an edge up in the right half, and counts.
pub(crate) fn split_against_reader() {
    let versions = versions();
    let hub = Arc::new(Hub::<()>::new(&[1, 2, 3, 4], &[(); 4], (0, 8), destination(&versions)));
    let (slot, version) = versions.leases.open(&versions.clock, LeaseKind::Snapshot).expect("free");
    let writer = {
        let (versions, hub) = (Arc::clone(&versions), Arc::clone(&hub));
        thread::spawn(move || {
            let ids = vec![1, 2, 3, 4];
            let folded = Folded::of_run(ids, vec![(); 4], 0);
            hub.replace(0, folded, &CutAs { from: 1, entries: 2, room: 0 }, destination(&versions));
        })
    };
    let pin = versions.pins.pin();
    assert!(hub.edge_at(4, version, &pin).is_some(), "lost in the cut");
    let mut seen = 0;
    for segment in hub.segments_at(version, &pin) {
        let below = |&&id: &&u32| segment.upper.is_none_or(|upper| id < upper);
        seen += segment.base.run(0).iter().filter(below).count();
    }
    assert_eq!(seen, 4);
    drop(pin);
    writer.join().expect("no panic");
    versions.leases.close(slot);
}

/// A committer of the models of validation: what it changes.
#[derive(Clone, Copy, Default)]
struct Change {
    edge: Option<EdgeChange>,
    vertex: Option<VertexChange>,
}

/// A tree in which 128 vertices exist and nothing was written.
fn tree(tuning: Tuning) -> Arc<FatTree<()>> {
    Arc::new(FatTree::new(versions(), Directed::No, 128, tuning))
}

/// Commits; the snapshot and, unless it was refused, the version.
fn commit(tree: &FatTree<()>, change: Change, reads: Option<&Reads<'_>>) -> (u64, Option<u64>) {
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, snapshot) = leases.open(clock, LeaseKind::Writer).expect("free");
    let (vertices, edges) = (change.vertex.as_slice(), change.edge.as_slice());
    let changes = Changes { vertices, edges, ..Changes::default() };
    let version = tree.commit(changes, reads, snapshot).ok();
    leases.close(slot);
    (snapshot, version)
}

/// Runs two committers at once; how each ended.
fn commit_two(
    one: impl FnOnce(&FatTree<()>) -> (u64, Option<u64>),
    other: impl FnOnce(&FatTree<()>) -> (u64, Option<u64>) + 'static,
) -> [(u64, Option<u64>); 2] {
    let tree = tree(Tuning::default());
    // Growing is another model.
    for group in [0, 1] {
        tree.slot(Address { side: Side::Out, group });
    }
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || other(&tree))
    };
    let one = one(&tree);
    [one, other.join().expect("no panic")]
}

/// The reader has seen everything before its own commit: what it read did not change in between.
fn assert_seen(reader: (u64, Option<u64>), changer: (u64, Option<u64>)) {
    if let ((snapshot, Some(version)), (_, Some(changed))) = (reader, changer) {
        assert!(changed <= snapshot || changed > version, "{reader:?} missed {changer:?}");
    }
}

fn new_edge(source: u32) -> Change {
    Change { edge: Some(edge(source, source + 1)), vertex: None }
}

fn edge(source: u32, target: u32) -> EdgeChange {
    let (needs, effect) = (Ends { source: true, target: true }, Effect::Add(1.0));
    EdgeChange { source, target, expected: false, effect, needs, operation: 0 }
}

/// Adds edges, in one transaction without a lease: nobody else changes them.
fn add_edges(tree: &FatTree<()>, edges: &[EdgeChange]) -> u64 {
    let snapshot = tree.versions.clock.visible();
    tree.commit(Changes { edges, ..Changes::default() }, None, snapshot).expect("new edges")
}

fn new_vertex(vertex: u32) -> Change {
    let (expected, present, removed, operation) = (false, true, false, 0);
    let vertex = VertexChange { vertex, expected, present, removed, operation };
    Change { edge: None, vertex: Some(vertex) }
}

/// Each finds that the edge is absent which the other adds, in another group.
pub(crate) fn validate_edges() {
    let skew = |read, changed| {
        move |tree: &FatTree<()>| {
            let found = [Read::Edge(read, read + 1)];
            let reads = Reads { found: &found, ..Reads::default() };
            commit(tree, new_edge(changed), Some(&reads))
        }
    };
    let [one, other] = commit_two(skew(64, 0), skew(0, 64));
    assert_seen(one, other);
    assert_seen(other, one);
    assert!(one.1.or(other.1).is_some(), "one of them is first");
}

/// One adds a vertex, the other has read which vertices there are.
pub(crate) fn validate_vertices() {
    let read = |tree: &FatTree<()>| {
        let reads = Reads { vertices: true, ..Reads::default() };
        commit(tree, new_edge(0), Some(&reads))
    };
    let [reader, changer] = commit_two(read, |tree| commit(tree, new_vertex(128), None));
    assert_seen(reader, changer);
}

/// One adds a vertex, the other has found its key absent.
pub(crate) fn validate_absence() {
    let read = |tree: &FatTree<()>| {
        let ids = || vec![(0, 128)];
        let reads = Reads { absent: Some(&ids), ..Reads::default() };
        commit(tree, new_edge(0), Some(&reads))
    };
    let [reader, changer] = commit_two(read, |tree| commit(tree, new_vertex(128), None));
    // That it is there already, when it begins, is no conflict but what it would have found.
    let began_later = reader.0 > 0;
    assert!(began_later || reader.1.is_none_or(|version| changer.1 > Some(version)));
}

/// Two commits that each touch the same two groups, named in different orders.
pub(crate) fn two_groups() {
    let tree = tree(Tuning::default());
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || add_edges(&tree, &[edge(65, 1)]))
    };
    add_edges(&tree, &[edge(0, 64)]);
    other.join().expect("no panic");
    let list = |v| tree.list(Side::Out, v, 2).ids;
    assert_eq!([list(0), list(64), list(65), list(1)], [[64], [0], [1], [65]]);
}

/// The first write to a group, chunk and delta and all, against a reader that finds nothing or
/// all of it.
pub(crate) fn first_write() {
    let tree = tree(Tuning::default());
    let reader = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || {
            let Versions { clock, leases, .. } = &*tree.versions;
            let (slot, version) = leases.open(clock, LeaseKind::Snapshot).expect("free");
            assert_eq!(tree.edge(0, 1, version).is_some(), version >= 1);
            assert_eq!(tree.edge(1, 0, version).is_some(), version >= 1);
            leases.close(slot);
        })
    };
    add_edges(&tree, &[edge(0, 1)]);
    reader.join().expect("no panic");
}

/// Two writers that both find a chunk of the directory missing.
pub(crate) fn growing_directory() {
    let tree = tree(Tuning::default());
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || add_edges(&tree, &[edge(64, 65)]))
    };
    let version = add_edges(&tree, &[edge(66, 67)]);
    assert!(tree.edge(66, 67, version).is_some());
    other.join().expect("no panic");
    assert!(tree.edge(64, 65, 2).is_some() && tree.edge(66, 67, 2).is_some());
}

/// A commit makes a hub of a vertex while another one to it is in place and not visible yet; then
/// it reads, at a version from before it and at its own.
pub(crate) fn extraction() {
    let tuning = Tuning {
        delta_min: 3,
        delta_max: 3,
        group_entries_max: 1,
        hub_entries_min: 2,
        ..Tuning::tiny()
    };
    let tree = tree(tuning);
    add_edges(&tree, &[edge(0, 64), edge(0, 65)]);
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || add_edges(&tree, &[edge(0, 66)]))
    };
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, before) = leases.open(clock, LeaseKind::Snapshot).expect("free");
    let after = add_edges(&tree, &[edge(0, 67), edge(0, 68)]);
    let seen = |id, version| tree.edge(0, id, version).is_some();
    assert_eq!([64, 65, 66, 67].map(|id| seen(id, before)), [true, true, before >= 2, false]);
    leases.close(slot);
    other.join().expect("no panic");
    assert!([64, 65, 67, 68].iter().all(|&id| seen(id, after)));
    assert_eq!(tree.list(Side::Out, 0, 3).ids, [64, 65, 66, 67, 68]);
    let locked = tree.slot(FatTree::<()>::address(Side::Out, 0)).chain.lock();
    assert!(locked.head().is_some_and(|head| head.value.hub(0).is_some()), "no hub was made");
}

/// A vertex is removed and its id given up, as the service does it, while a snapshot is opened
/// that may still see it.
pub(crate) fn giving_up() {
    let tree = tree(Tuning::default());
    tree.slot(FatTree::<()>::address(Side::Out, 0));
    let given_up = Arc::new(AtomicBool::new(false));
    let service = {
        let (tree, given_up) = (Arc::clone(&tree), Arc::clone(&given_up));
        thread::spawn(move || {
            let (expected, present, removed, operation) = (true, false, true, 0);
            let change = VertexChange { vertex: 0, expected, present, removed, operation };
            let changes = Changes { vertices: &[change], ..Changes::default() };
            tree.commit(changes, None, 0).expect("nobody else changes it");
            let visible = tree.versions.clock.visible();
            if let Some(leases) = tree.versions.leases.versions() {
                let release = || given_up.store(true, Ordering::SeqCst);
                tree.if_gone(0, (visible, &leases), release);
            }
        })
    };
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, version) = leases.open(clock, LeaseKind::Snapshot).expect("free");
    let exists = tree.has_vertex(0, version);
    assert_eq!(exists, version < 1);
    service.join().expect("no panic");
    assert!(!(exists && given_up.load(Ordering::SeqCst)), "a snapshot still sees it");
    leases.close(slot);
}

/// Each finds that there is no edge, and adds one, far from that of the other.
pub(crate) fn validate_edge_count() {
    let skew = |source| {
        move |tree: &FatTree<()>| {
            commit(tree, new_edge(source), Some(&Reads { edges: Some(0), ..Reads::default() }))
        }
    };
    let [one, other] = commit_two(skew(0), skew(64));
    assert!(one.1.is_none() || other.1.is_none(), "both found no edge: {one:?} {other:?}");
    assert!(one.1.or(other.1).is_some(), "one of them is first");
}

/// Two commit to one group, whose delta has room for one row: the second merges while the first may
/// not be visible yet. A reader opens a snapshot meanwhile, and sees what was there before.
pub(crate) fn merge_by_a_committer() {
    let tuning = Tuning { delta_min: 1, delta_max: 1, ..Tuning::default() };
    let tree = FatTree::<()>::new(versions(), Directed::No, 64, tuning);
    assert_eq!(commit(&tree, new_edge(0), None).1, Some(1));
    let tree = Arc::new(tree);
    let writers = [4, 8].map(|source| {
        let tree = Arc::clone(&tree);
        thread::spawn(move || commit_unleased(&tree, source))
    });
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, version) = leases.open(clock, LeaseKind::Snapshot).expect("free");
    assert!(tree.edge(0, 1, version).is_some(), "lost at {version}");
    leases.close(slot);
    for writer in writers {
        writer.join().expect("no panic");
    }
}

/// Commits a new edge that nobody else knows of: without a lease, of which there are few in models.
fn commit_unleased(tree: &FatTree<()>, source: u32) {
    let change = new_edge(source);
    let changes =
        Changes { vertices: &[], edges: change.edge.as_slice(), record: &[], positions: &[] };
    tree.commit(changes, None, tree.versions.clock.visible()).expect("nobody is in the way");
}

/// Ends of edges in two groups: no two locks are taken at once by who reads.
const ENDS: [u32; 2] = [0, 64];

fn absorb(tree: &FatTree<()>, wish: Wish) -> u64 {
    let change = Unchecked { source: ENDS[0], target: ENDS[1], wish };
    tree.absorb(&[change], &Pool::new(1), None).expect("there is no log")
}

/// A batch against a reader, who finds its edge in both lists or in none.
pub(crate) fn absorb_against_reader() {
    let tree = tree(Tuning::default());
    // Growing is another model.
    for group in [0, 1] {
        tree.slot(Address { side: Side::Out, group });
    }
    let reader = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || {
            let Versions { clock, leases, .. } = &*tree.versions;
            let (slot, version) = leases.open(clock, LeaseKind::Snapshot).expect("free");
            let [one, other] = ENDS;
            assert_eq!(tree.edge(one, other, version).is_some(), version >= 1);
            assert_eq!(tree.edge(other, one, version).is_some(), version >= 1);
            leases.close(slot);
        })
    };
    assert_eq!(absorb(&tree, Wish::Put(1.0)), 1);
    reader.join().expect("no panic");
}

/// Takes one of the ends away, with its edge.
fn remove_end(tree: &FatTree<()>) -> Option<u64> {
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, snapshot) = leases.open(clock, LeaseKind::Writer).expect("free");
    let (expected, operation) = (true, 0);
    let vertex =
        VertexChange { vertex: ENDS[1], expected, present: false, removed: true, operation };
    // With its edges, as far as the snapshot has them.
    let seen = tree.edge(ENDS[0], ENDS[1], snapshot).map(|()| EdgeChange {
        expected,
        effect: Effect::Remove,
        ..edge(ENDS[0], ENDS[1])
    });
    let (vertices, edges) = ([vertex], seen.as_slice());
    let changes = Changes { vertices: &vertices, edges, ..Changes::default() };
    let version = tree.commit(changes, None, snapshot).ok();
    leases.close(slot);
    version
}

/// A batch that puts an edge in, against a commit that takes one of its ends away.
pub(crate) fn absorb_against_removal() {
    against_batch(Wish::Put(1.0), remove_end);
}

/// A commit that looks ahead, against one that does something else to its edge: which versions
/// they took.
fn against_ahead(
    other: impl FnOnce(&FatTree<()>) -> Option<u64> + Send + 'static,
) -> (Arc<FatTree<()>>, [Option<u64>; 2]) {
    let tree = tree(Tuning { ahead_min: 3, ..Tuning::default() });
    for group in [0, 1] {
        tree.slot(Address { side: Side::Out, group });
    }
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || other(&tree))
    };
    let Versions { clock, leases, .. } = &*tree.versions;
    let (slot, snapshot) = leases.open(clock, LeaseKind::Writer).expect("free");
    let edges = [edge(ENDS[0], ENDS[1]), edge(ENDS[0] + 1, ENDS[1] + 1)];
    let version = tree.commit(Changes { edges: &edges, ..Changes::default() }, None, snapshot).ok();
    leases.close(slot);
    let other = other.join().expect("no panic");
    assert_eq!(tree.check(128), Ok(()));
    (tree, [version, other])
}

/// .. that adds the same edge: one of the two is refused.
pub(crate) fn ahead_against_addition() {
    let same = Change { edge: Some(edge(ENDS[1], ENDS[0])), vertex: None };
    let (_, versions) = against_ahead(move |tree| commit(tree, same, None).1);
    assert_eq!(versions.iter().flatten().count(), 1, "{versions:?}");
}

/// .. that takes one of its ends away: no edge dangles.
pub(crate) fn ahead_against_removal() {
    let (tree, [added, removed]) = against_ahead(remove_end);
    assert!(added.or(removed).is_some(), "one of them is first");
    let there = tree.edge(ENDS[0], ENDS[1], u64::MAX).is_some();
    assert_eq!(there, added.is_some() && removed.is_none());
}

/// A batch that puts an edge in, against a commit that adds the same one.
pub(crate) fn absorb_against_addition() {
    let edge = Change { edge: Some(edge(ENDS[1], ENDS[0])), vertex: None };
    against_batch(Wish::Put(1.0), move |tree| commit(tree, edge, None).1);
}

fn against_batch(wish: Wish, other: impl FnOnce(&FatTree<()>) -> Option<u64> + Send + 'static) {
    let tree = tree(Tuning::default());
    for group in [0, 1] {
        tree.slot(Address { side: Side::Out, group });
    }
    let other = {
        let tree = Arc::clone(&tree);
        thread::spawn(move || other(&tree))
    };
    let version = absorb(&tree, wish);
    let committed = other.join().expect("no panic");
    let there = tree.edge(ENDS[0], ENDS[1], u64::MAX).is_some();
    let last = committed.is_none_or(|committed| committed < version);
    assert!(there || !last, "the batch came last");
    assert_eq!(tree.check(128), Ok(()));
}
