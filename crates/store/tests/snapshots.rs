//! What a snapshot was shown stays there until it is dropped, whatever others do meanwhile.

use evergraph_graph::GraphView;
use evergraph_store::{Database, Service, with_view};

/// Groups of vertices; each of 64.
const GROUPS: u64 = 100;
const VERTICES: u64 = 40_000;
/// Vertices that are not laid out together with the first ones.
const FAR: u64 = 30_000;

/// A reader held a group without anything pending. Another reader, at an older version, had the
/// group laid out, and took its lease for the only one that could hold what it replaced: with that
/// lease the old state went, while the first reader still looked at it.
#[test]
#[cfg_attr(torture, ignore = "each commit does the work of the service")]
fn what_an_older_snapshot_has_laid_out_stays_for_a_younger_one() {
    let db = Database::options().dense_keys(VERTICES as u32).service(Service::Manual).in_memory();
    // So much for one group is merged by the commit itself: nothing is pending there.
    db.transaction(0, |tx| (0..200).try_for_each(|i| tx.add_edge(0u64, FAR + i))).expect("new");
    db.transaction(0, |tx| (1..GROUPS).try_for_each(|group| tx.add_edge(64 * group, FAR)))
        .expect("new");
    let older = db.snapshot().expect("few are open");
    db.transaction(0, |tx| tx.add_edge(FAR, FAR + 1)).expect("new");
    let younger = db.snapshot().expect("few are open");
    with_view!(younger.view().expect("not expired"), |view| {
        assert_eq!(view.degree(0), 200);
        with_view!(older.view().expect("not expired"), |view| assert_eq!(
            view.flat().degree(0),
            200
        ));
        drop(older);
        db.service();
        assert!(db.stats().groups_with_history > 0, "the younger one has lost its state");
        let mut list = Vec::new();
        view.for_each(0, |v| list.push(u64::from(v)));
        assert!(list.into_iter().eq(FAR..FAR + 200));
    });
    drop(younger);
    while db.service() {}
    assert_eq!(db.stats().groups_with_history, 0);
}
