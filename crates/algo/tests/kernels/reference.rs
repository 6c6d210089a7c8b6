//! The answers that LDBC, libgrape-lite and SNAP published for their graphs, read from the folder
//! `EVERGRAPH_DATA` names, or from `shared/data` beside the checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evergraph_algo::bfs::UNREACHED;
use evergraph_algo::pagerank::DEFAULT_DAMPING;
use evergraph_algo::{
    BfsConfig, CdlpConfig, LccConfig, PageRankConfig, SccConfig, SsspConfig, TriangleConfig,
    WccConfig, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, wcc,
};
use evergraph_graph::Csr;

use crate::support::graph;

/// What the files write for a vertex that breadth-first search does not reach.
const UNREACHED_IN_FILES: f64 = 9_223_372_036_854_775_807.0;

/// LDBC accepts 1e-4; nothing of that is needed.
const TOLERANCE: f64 = 1e-9;

/// How the ranks of the validation graphs were made, found by trying: the directed ones are those
/// that iterating for ever ends with, the undirected ones those of 26 iterations with a damping
/// rounded to single precision. With these all agree to 15 digits, with others to 6.
const VALIDATION_RANKS: [(f64, u32); 2] = [(DEFAULT_DAMPING, 100), (0.85_f32 as f64, 26)];

/// The folder of reference data, if there is one.
fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("EVERGRAPH_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stdout, reason = "a skipped test must say so")]
    {
        println!("skipped: there is no reference data at {}", folder.display());
    }
    None
}

/// The numbers of each line of a file.
fn lines(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let numbers = |line: &str| line.split_whitespace().map(number).collect();
    text.lines().map(numbers).collect()
}

fn number(word: &str) -> f64 {
    let word = word.to_lowercase().replace("infinity", "inf");
    word.parse().expect("a number")
}

#[expect(clippy::cast_sign_loss, reason = "ids in the files are whole and not negative")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// A graph with the external ids of its vertices, ascending.
struct Keyed {
    csr: Csr<f64>,
    keys: Vec<u64>,
}

impl Keyed {
    fn new(directed: bool, mut keys: Vec<u64>, edges: &[Vec<f64>]) -> Self {
        keys.sort_unstable();
        keys.dedup();
        let id = |key: f64| keys.binary_search(&whole(key)).expect("a vertex") as u32;
        let edges: Vec<_> =
            edges.iter().map(|e| (id(e[0]), id(e[1]), e.get(2).copied().unwrap_or(1.0))).collect();
        let csr = graph(directed, keys.len() as u32, &edges);
        Self { csr, keys }
    }

    /// From `<path>.v`, a vertex a line, and `<path>.e`, an edge a line.
    fn from_lists(directed: bool, path: &Path) -> Self {
        let vertices = lines(&path.with_extension("v"));
        let keys = vertices.iter().map(|line| whole(line[0])).collect();
        Self::new(directed, keys, &lines(&path.with_extension("e")))
    }

    /// From a file with a vertex and its neighbours on each line. A vertex without neighbours may
    /// have no line; an undirected edge stands on the lines of both its ends.
    fn from_adjacency(directed: bool, path: &Path) -> Self {
        let lists = lines(path);
        let keys = lists.iter().flatten().map(|&key| whole(key)).collect();
        let edges = lists.iter().flat_map(|line| line[1..].iter().map(|&to| vec![line[0], to]));
        Self::new(directed, keys, &edges.collect::<Vec<_>>())
    }

    fn id(&self, key: u64) -> u32 {
        self.keys.binary_search(&key).expect("a vertex") as u32
    }

    /// Compares one value per vertex with a file of `<key> <value>`.
    fn expect(&self, path: &Path, value: impl Fn(usize) -> f64) {
        let answers = lines(path);
        assert_eq!(answers.len(), self.keys.len(), "{}", path.display());
        for line in answers {
            let found = value(self.id(whole(line[0])) as usize);
            let near = (found - line[1]).abs() <= TOLERANCE * line[1].abs();
            assert!(
                found.to_bits() == line[1].to_bits() || near,
                "{}: vertex {}: expected {}, found {found}",
                path.display(),
                line[0],
                line[1]
            );
        }
    }

    fn expect_bfs(&self, source: u64, path: &Path) {
        let config = BfsConfig { source: self.id(source), ..BfsConfig::default() };
        let output = bfs(&self.csr, &config).expect("the source is a vertex");
        self.expect(path, |v| match output.levels[v] {
            UNREACHED => UNREACHED_IN_FILES,
            level => f64::from(level),
        });
    }

    fn expect_cdlp(&self, iterations: u32, path: &Path) {
        let config = CdlpConfig { labels: Some(&self.keys), iterations, ..CdlpConfig::default() };
        let output = cdlp(&self.csr, &config).expect("one label per vertex");
        self.expect(path, |v| output.labels[v] as f64);
    }

    fn expect_lcc(&self, path: &Path) {
        let output = lcc(&self.csr, &LccConfig::default()).expect("nothing to refuse");
        self.expect(path, |v| output.coefficients[v]);
    }

    fn expect_pagerank(&self, damping: f64, iterations: u32, path: &Path) {
        let config = PageRankConfig { damping, iterations, ..PageRankConfig::default() };
        let output = pagerank(&self.csr, &config).expect("nothing to refuse");
        self.expect(path, |v| output.ranks[v]);
    }

    fn expect_sssp(&self, source: u64, path: &Path) {
        let config = SsspConfig { source: self.id(source), ..SsspConfig::default() };
        let output = sssp(&self.csr, &config).expect("the source is a vertex");
        self.expect(path, |v| output.distances[v]);
    }

    /// Component labels are free; both sides must cut the vertices into the same parts.
    fn expect_wcc(&self, path: &Path) {
        let output = wcc(&self.csr, &WccConfig::default()).expect("nothing to refuse");
        let (mut theirs, mut ours) = (BTreeMap::new(), BTreeMap::new());
        for line in lines(path) {
            let label = output.labels[self.id(whole(line[0])) as usize];
            let there = whole(line[1]);
            assert_eq!(*theirs.entry(there).or_insert(label), label);
            assert_eq!(*ours.entry(label).or_insert(there), there);
        }
        assert_eq!(ours.len(), output.components as usize);
    }
}

#[test]
fn ldbc_validation_graphs() {
    let Some(data) = data() else { return };
    let folder = data.join("graphalytics");
    for (directed, name) in [(true, "dir"), (false, "undir")] {
        let of = |kernel: &str| {
            let input = folder.join(kernel).join(format!("{name}-input"));
            let output = folder.join(kernel).join(format!("{name}-output"));
            (Keyed::from_adjacency(directed, &input), output)
        };
        let (graph, answer) = of("bfs");
        graph.expect_bfs(1, &answer);
        let (graph, answer) = of("cdlp");
        graph.expect_cdlp(5, &answer);
        let (graph, answer) = of("lcc");
        graph.expect_lcc(&answer);
        let (graph, answer) = of("pr");
        let (damping, iterations) = VALIDATION_RANKS[usize::from(!directed)];
        graph.expect_pagerank(damping, iterations, &answer);
        let (graph, answer) = of("wcc");
        graph.expect_wcc(&answer);
        let input = folder.join(format!("sssp/{name}-input"));
        let graph = Keyed::from_lists(directed, &input);
        graph.expect_sssp(1, &folder.join(format!("sssp/{name}-output")));
    }
}

#[test]
fn ldbc_example_graphs() {
    let Some(data) = data() else { return };
    for (directed, name, source) in
        [(true, "example-directed", 1), (false, "example-undirected", 2)]
    {
        let stem = data.join("graphalytics/example").join(name);
        let answer = |kernel| stem.with_file_name(format!("{name}-{kernel}"));
        let graph = Keyed::from_lists(directed, &stem);
        graph.expect_bfs(source, &answer("BFS"));
        graph.expect_cdlp(2, &answer("CDLP"));
        graph.expect_lcc(&answer("LCC"));
        graph.expect_pagerank(DEFAULT_DAMPING, 2, &answer("PR"));
        graph.expect_sssp(source, &answer("SSSP"));
        graph.expect_wcc(&answer("WCC"));
    }
}

#[test]
fn gnutella_peers() {
    let Some(data) = data() else { return };
    let stem = data.join("p2p31/p2p-31");
    let answer = |kernel| stem.with_file_name(format!("p2p-31-{kernel}"));
    let graph = Keyed::from_lists(false, &stem);
    graph.expect_bfs(6, &answer("BFS"));
    graph.expect_cdlp(10, &answer("CDLP"));
    graph.expect_lcc(&answer("LCC"));
    graph.expect_pagerank(DEFAULT_DAMPING, 10, &answer("PR"));
    graph.expect_sssp(6, &answer("SSSP"));
    graph.expect_wcc(&answer("WCC"));
    let graph = Keyed::from_lists(true, &stem);
    graph.expect_bfs(6, &answer("BFS-directed"));
    graph.expect_sssp(6, &answer("SSSP-directed"));
}

#[test]
fn gnutella_peers_as_snap_counts_them() {
    let Some(data) = data() else { return };
    let stem = data.join("p2p31/p2p-31");
    let Keyed { csr, .. } = Keyed::from_lists(true, &stem);
    let output = triangle_count(&csr, &TriangleConfig::default()).expect("nothing to refuse");
    assert_eq!(output.triangles, 2024);
    let largest = |labels: &[u32]| {
        let mut sizes = vec![0; labels.len()];
        for &label in labels {
            sizes[label as usize] += 1;
        }
        sizes.into_iter().max()
    };
    let output = wcc(&csr, &WccConfig::default()).expect("nothing to refuse");
    assert_eq!(largest(&output.labels), Some(62_561));
    let output = scc(&csr, &SccConfig::default()).expect("nothing to refuse");
    assert_eq!(largest(&output.labels), Some(14_149));
}
