//! A database that begins with a graph is the one that transactions make of it: the same lists,
//! weights and keys, sound in all invariants, and as good a start for further transactions.
//!
//! A failure names its seed; `EVERGRAPH_SEED` runs that seed alone.

use evergraph::graph::{Csr, EdgeList, Key, KeyKind, KeyTable};
use evergraph::{
    Database, LoadOptions, SelfLoops, StoreError, Weights, load, load_into, options_for, with_view,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const CASES: u64 = 60;
const SIZES: [u32; 5] = [1, 5, 64, 65, 2000];

/// Some keys of each kind.
fn keys(kind: u64, vertices: u32) -> KeyTable {
    match kind {
        0 => KeyTable::dense(vertices),
        1 => KeyTable::ascending((0..u64::from(vertices)).map(|v| 7 * v + 3).collect())
            .expect("ascending"),
        _ => {
            let mut keys = KeyTable::empty(KeyKind::Text);
            for v in 0..vertices {
                keys.push(format!("v{v}").as_str()).expect("new");
            }
            keys
        }
    }
}

/// A simple graph at random: with hubs, vertices without edges, self loops.
fn list(seed: u64) -> EdgeList {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let vertices = SIZES[seed as usize % SIZES.len()];
    let directed: bool = rng.random();
    let ends = |&(u, v): &(u32, u32)| if directed { (u, v) } else { (u.min(v), u.max(v)) };
    let mut edges = Vec::new();
    for _ in 0..rng.random_range(0..4 * vertices) {
        let source = if rng.random_bool(0.3) { 0 } else { rng.random_range(0..vertices) };
        edges.push((source, rng.random_range(0..vertices)));
    }
    edges.sort_unstable_by_key(ends);
    edges.dedup_by_key(|edge| ends(edge));
    let weights = rng.random::<bool>().then(|| edges.iter().map(|_| rng.random()).collect());
    EdgeList { directed, keys: keys(rng.random_range(0..3), vertices), edges, weights }
}

/// All that there is to know of a database.
fn content(db: &Database) -> (Vec<Option<Key>>, Csr<f64>) {
    let snapshot = db.snapshot().expect("a snapshot");
    let rows = with_view!(snapshot.view().expect("a view"), |view| weighted(view));
    (snapshot.keys().expect("keys"), rows)
}

fn weighted<G: evergraph::graph::GraphView>(view: &G) -> Csr<f64> {
    use evergraph::graph::Weight;
    let mut edges = Vec::new();
    let mut weights = Vec::new();
    for v in 0..view.vertex_bound() {
        view.for_each_weighted(v, |u, weight| {
            edges.push((v, u));
            weights.push(weight.to_f64());
        });
        // The in-lists say the same.
        view.for_each_in(v, |u| assert!(view.degree(u) > 0));
    }
    let keys = KeyTable::dense(view.vertex_bound());
    let list = EdgeList { directed: true, keys, edges, weights: Some(weights) };
    Csr::from_edges(&list).expect("simple")
}

fn run(seed: u64) {
    let list = list(seed);
    let loaded = load(&list, &()).expect("simple");
    let made = options_for(&list).in_memory();
    load_into(&made, &list, &LoadOptions::default(), &()).expect("simple");
    for step in 0..2 {
        let place = format!("seed {seed}, step {step}");
        assert_eq!(loaded.check(), Ok(()), "{place}");
        assert!(content(&loaded) == content(&made), "{place}");
        let (found, expected) = (loaded.stats(), made.stats());
        assert_eq!((found.vertices, found.edges), (expected.vertices, expected.edges), "{place}");
        // Every second edge goes, and the first vertex with all of its own.
        for db in [&loaded, &made] {
            let key = |v| list.keys.key(v).expect("a vertex");
            db.transaction(0, |tx| {
                for &(u, v) in list.edges.iter().skip(step).step_by(2) {
                    if u != 0 && v != 0 {
                        tx.remove_edge(key(u), key(v))?;
                    }
                }
                if step == 0 { tx.remove_vertex(key(0)) } else { Ok(()) }
            })
            .expect("all of it is there");
        }
    }
}

#[test]
fn a_loaded_graph_is_the_one_that_transactions_make() {
    let only = std::env::var("EVERGRAPH_SEED").ok().and_then(|seed| seed.parse().ok());
    match only {
        Some(seed) => run(seed),
        None => (0..CASES).for_each(run),
    }
}

#[test]
fn what_a_transaction_refuses_is_refused() {
    let list = |edges: &[(u32, u32)], weights: Option<Vec<f64>>| EdgeList {
        directed: false,
        keys: keys(1, 3),
        edges: edges.to_vec(),
        weights,
    };
    let numbers = || Database::options().number_keys();
    let refused = |options: evergraph::Options, list: &EdgeList| {
        options.load(list).err().expect("something is wrong with it")
    };
    let twice = refused(numbers(), &list(&[(0, 1), (1, 0)], None));
    assert!(matches!(twice, StoreError::DuplicateEdge { source_key: Key::Number(3 | 10), .. }));
    let own = refused(numbers().self_loops(SelfLoops::Forbidden), &list(&[(2, 2)], None));
    assert_eq!(own, StoreError::SelfLoop { key: Key::Number(17) });
    let weights = numbers().weights(Weights::F64);
    let nan = refused(weights, &list(&[(0, 1)], Some(vec![f64::NAN])));
    assert!(matches!(nan, StoreError::InvalidWeight { .. }));
    let weighs = refused(numbers(), &list(&[(0, 1)], Some(vec![1.0])));
    assert_eq!(weighs, StoreError::NotWeighted);
    let kind = refused(Database::options().text_keys(), &list(&[(0, 1)], None));
    assert!(matches!(kind, StoreError::WrongKeyKind { .. }));
    let large = refused(numbers().memory_limit(1), &list(&[(0, 1)], None));
    assert!(matches!(large, StoreError::MemoryLimit { limit: 1, .. }));
}
