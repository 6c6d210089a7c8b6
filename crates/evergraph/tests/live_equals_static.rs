//! Every kernel gives the same answer, to the last bit, on a live database that was filled by
//! single-edge transactions in random order as on the static graph; and again after a random
//! tenth of the edges was removed and put back. Together with the reference tests of the kernels
//! on the static graph this gives other people's answers from the live store.

use std::path::PathBuf;

use evergraph::graph::generate::{GraphSpec, Weights};
use evergraph::graph::read::{self, ReadOptions};
use evergraph::graph::{Csr, EdgeList, GraphView};
use evergraph::kernels::{
    BfsConfig, CdlpConfig, LccConfig, PageRankConfig, SccConfig, SsspConfig, TriangleConfig,
    WccConfig, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, wcc,
};
use evergraph::{Database, Service, Snapshot, Tuning, options_for, with_view};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What all kernels say of a graph.
struct Answers {
    levels: Vec<u32>,
    ranks: Vec<f64>,
    components: Vec<u32>,
    communities: Vec<u64>,
    coefficients: Vec<f64>,
    distances: Vec<f64>,
    triangles: u64,
    strong: Vec<u32>,
}

fn answers<G: GraphView>(view: &G, source: u32) -> Answers {
    let ok = "the graph is not empty and has no bad weight";
    Answers {
        levels: bfs(view, &BfsConfig { source, ..BfsConfig::default() }).expect(ok).levels,
        ranks: pagerank(view, &PageRankConfig::default()).expect(ok).ranks,
        components: wcc(view, &WccConfig::default()).expect(ok).labels,
        communities: cdlp(view, &CdlpConfig::default()).expect(ok).labels,
        coefficients: lcc(view, &LccConfig::default()).expect(ok).coefficients,
        distances: sssp(view, &SsspConfig { source, ..SsspConfig::default() }).expect(ok).distances,
        triangles: triangle_count(view, &TriangleConfig::default()).expect(ok).triangles,
        strong: scc(view, &SccConfig::default()).expect(ok).labels,
    }
}

/// Names the first vertex that differs: whole answers are too long to read.
fn assert_equal<T: PartialEq + std::fmt::Debug>(
    found: &[T],
    expected: &[T],
    place: &str,
    what: &str,
) {
    assert_eq!(found.len(), expected.len(), "{place}: {what}");
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    if let Some(v) = differs {
        panic!("{place}: {what} of {v}: {:?}, not {:?}", found[v], expected[v]);
    }
}

/// The graph under test, and the static answers.
struct Case {
    name: String,
    list: EdgeList,
    expected: Answers,
}

impl Case {
    fn new(name: impl Into<String>, list: EdgeList) -> Self {
        let expected = if list.weights.is_some() {
            answers(&Csr::<f64>::from_edges(&list).expect("simple"), 0)
        } else {
            answers(&Csr::<()>::from_edges(&list).expect("simple"), 0)
        };
        Self { name: name.into(), list, expected }
    }

    fn add(&self, db: &Database, edge: usize) {
        let (u, v) = self.list.edges[edge];
        let key = |v| self.list.keys.key(v).expect("an end is a vertex");
        db.transaction(0, |tx| match &self.list.weights {
            Some(weights) => tx.add_weighted_edge(key(u), key(v), weights[edge]),
            None => tx.add_edge(key(u), key(v)),
        })
        .expect("the edge is new");
    }

    fn remove(&self, db: &Database, edge: usize) {
        let (u, v) = self.list.edges[edge];
        let key = |v| self.list.keys.key(v).expect("an end is a vertex");
        db.transaction(0, |tx| tx.remove_edge(key(u), key(v))).expect("the edge is there");
    }

    fn compare(&self, db: &Database, when: &str) {
        self.compare_snapshot(&db.snapshot().expect("few are open"), when);
    }

    fn compare_snapshot(&self, snapshot: &Snapshot, when: &str) {
        let found = with_view!(snapshot.view().expect("not expired"), |view| answers(view, 0));
        let place = format!("{} {when}", self.name);
        assert_equal(&found.levels, &self.expected.levels, &place, "levels");
        assert_equal(&found.ranks, &self.expected.ranks, &place, "ranks");
        assert_equal(&found.components, &self.expected.components, &place, "components");
        assert_equal(&found.communities, &self.expected.communities, &place, "communities");
        assert_equal(&found.coefficients, &self.expected.coefficients, &place, "coefficients");
        assert_equal(&found.distances, &self.expected.distances, &place, "distances");
        assert_equal(&[found.triangles], &[self.expected.triangles], &place, "triangles");
        assert_equal(&found.strong, &self.expected.strong, &place, "strong components");
    }

    fn run(&self, tuning: Tuning, seed: u64) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let db = options_for(&self.list).tuning(tuning).service(Service::Manual).in_memory();
        let vertices = 0..self.list.keys.len();
        if !matches!(self.list.keys.kind(), evergraph::graph::KeyKind::Dense) {
            db.transaction(0, |tx| {
                vertices.clone().try_for_each(|v| {
                    tx.add_vertex(self.list.keys.key(v).expect("a vertex has a key"))
                })
            })
            .expect("the keys are new");
        }
        let mut order: Vec<usize> = (0..self.list.edges.len()).collect();
        order.shuffle(&mut rng);
        for &edge in &order {
            self.add(&db, edge);
        }
        self.compare(&db, "after the load");

        let tenth: Vec<usize> =
            order.into_iter().filter(|_| rng.random_range(0..10) == 0).collect();
        let held = db.snapshot().expect("few are open");
        for &edge in &tenth {
            self.remove(&db, edge);
        }
        for &edge in tenth.iter().rev() {
            self.add(&db, edge);
        }
        self.compare(&db, "after a tenth went and came back");
        while db.service() && db.stats().groups_pending > 0 {}
        self.compare(&db, "when it is settled");
        self.compare_snapshot(&held, "from a snapshot held meanwhile");
        db.check().expect("every invariant holds");
    }
}

#[test]
fn generated_graphs() {
    for (name, directed, weights) in [
        ("graph500-9", false, Weights::Uniform),
        ("graph500-9", true, Weights::None),
        ("uniform-8", false, Weights::None),
        ("uniform-8", true, Weights::Uniform),
    ] {
        let spec: GraphSpec = name.parse().expect("a name of a graph");
        let list = spec.generate(weights, &()).expect("it is small");
        let list = if directed { list.into_directed() } else { list };
        let case = Case::new(name, list);
        case.run(Tuning::default(), 1);
        case.run(Tuning::tiny(), 2);
    }
}

fn data() -> Option<PathBuf> {
    let given = std::env::var_os("EVERGRAPH_DATA").map(PathBuf::from);
    let beside = || [env!("CARGO_MANIFEST_DIR"), "../../../shared/data"].iter().collect();
    let folder = given.unwrap_or_else(beside);
    folder.is_dir().then_some(folder)
}

#[expect(clippy::print_stderr, reason = "a test without its data says so")]
fn skipped(what: &str) {
    eprintln!("skipped: {what}: no folder with real graphs; name one in EVERGRAPH_DATA");
}

#[test]
fn graphs_with_reference_answers() {
    let Some(data) = data() else { return skipped("graphs with reference answers") };
    for (name, directed, weighted) in [
        ("graphalytics/example/example-directed", true, true),
        ("graphalytics/example/example-undirected", false, true),
        ("p2p31/p2p-31", false, true),
        ("p2p31/p2p-31", true, true),
        ("p2p31/p2p-31", false, false),
    ] {
        let options = ReadOptions { directed: Some(directed), weighted, ..ReadOptions::default() };
        let list = read::load(&data.join(name), &options, &()).expect("a good file");
        Case::new(name, list).run(Tuning::default(), 3);
    }
}

/// The kernels must read what the store says, not only its shape: one edge less is another answer.
#[test]
fn one_edge_shows() {
    let spec: GraphSpec = "graph500-7".parse().expect("a name of a graph");
    let case = Case::new("graph500-7", spec.generate(Weights::Uniform, &()).expect("small"));
    let db = options_for(&case.list).in_memory();
    (0..case.list.edges.len() - 1).for_each(|edge| case.add(&db, edge));
    let snapshot = db.snapshot().expect("few are open");
    let found = with_view!(snapshot.view().expect("not expired"), |view| answers(view, 0));
    assert!(found.ranks != case.expected.ranks);
}
