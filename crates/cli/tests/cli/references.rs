//! The answers that LDBC and libgrape-lite published, from the live store: as the graphs were
//! loaded, and after a tenth of their edges was deleted and added again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::{Folder, data};

/// LDBC accepts 1e-4; nothing of that is needed.
const TOLERANCE: f64 = 1e-9;
/// The validation graphs' ranks of undirected graphs were made with a damping in single precision.
const SINGLE_PRECISION_DAMPING: &str = "0.8500000238418579";

/// A graph of the references.
struct Reference {
    folder: Folder,
    /// The options that read it.
    graph: String,
    edges: Vec<String>,
}

impl Reference {
    /// From `<path>.v` and `<path>.e`.
    fn from_lists(path: &Path, options: &str) -> Self {
        let text = |extension| read(&path.with_extension(extension));
        Self::new(&text("v"), text("e").lines().map(str::to_owned).collect(), options)
    }

    /// From a file with a vertex and its neighbours on each line. An undirected edge stands on the
    /// lines of both its ends.
    fn from_adjacency(path: &Path, options: &str) -> Self {
        let text = read(path);
        let lists: Vec<Vec<u64>> = text.lines().map(numbers).collect();
        let mut keys: Vec<u64> = lists.iter().flatten().copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let undirected = options.contains("--undirected");
        let mut edges = Vec::new();
        for list in &lists {
            for &to in &list[1..] {
                let from = list[0];
                edges.push(if undirected { (from.min(to), from.max(to)) } else { (from, to) });
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let vertices: Vec<String> = keys.iter().map(u64::to_string).collect();
        let edges = edges.into_iter().map(|(from, to)| format!("{from} {to}")).collect();
        Self::new(&vertices.join("\n"), edges, options)
    }

    fn new(vertices: &str, edges: Vec<String>, options: &str) -> Self {
        let folder = Folder::new();
        folder.write("g.v", vertices);
        folder.write("g.e", edges.join("\n") + "\n");
        let reference = Self { folder, graph: format!("--graph g.e {options}"), edges };
        reference.folder.write("tenth.log", reference.tenth());
        reference
    }

    /// A log that deletes a random tenth of the edges and adds them again in another order.
    fn tenth(&self) -> String {
        let mut state = 12_345_u64;
        let mut random = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let mut order: Vec<usize> = (0..self.edges.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random(at + 1));
        }
        let tenth = &order[..self.edges.len().div_ceil(10)];
        let mut log = String::new();
        for &edge in tenth {
            let ends: Vec<&str> = self.edges[edge].split_whitespace().take(2).collect();
            writeln!(log, "d {}", ends.join(" ")).expect("a string");
        }
        for &edge in tenth.iter().rev() {
            let weighted = self.graph.contains("--weighted");
            let words = self.edges[edge].split_whitespace().take(if weighted { 3 } else { 2 });
            writeln!(log, "a {}", words.collect::<Vec<_>>().join(" ")).expect("a string");
        }
        log
    }

    /// The answers of an algorithm, loaded and after the updates.
    fn answers(&self, algorithm: &str) -> [BTreeMap<u64, f64>; 2] {
        ["", " --updates tenth.log --batch 7"].map(|updates| {
            let line = format!(
                "run {algorithm} {}{updates} --output-format graphalytics --output answer",
                self.graph
            );
            let ran = self.folder.run(&line);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{line}: {ran:?}");
            values(&self.folder.path("answer"))
        })
    }

    /// Compares every value with the reference.
    fn expect(&self, algorithm: &str, reference: &Path) {
        let expected = values(reference);
        for found in self.answers(algorithm) {
            assert!(found.keys().eq(expected.keys()), "{}", reference.display());
            for (key, found) in found {
                let expected = expected[&key];
                let near = (found - expected).abs() <= TOLERANCE * expected.abs();
                assert!(
                    near || found.to_bits() == expected.to_bits(),
                    "{algorithm}, {}: vertex {key}: expected {expected}, found {found}",
                    reference.display()
                );
            }
        }
    }

    /// Labels are free; both sides must cut the vertices into the same parts.
    fn expect_parts(&self, algorithm: &str, reference: &Path) {
        let expected = values(reference);
        for found in self.answers(algorithm) {
            assert!(found.keys().eq(expected.keys()), "{}", reference.display());
            let (mut theirs, mut ours) = (BTreeMap::new(), BTreeMap::new());
            for (key, label) in found {
                let (there, here) = (expected[&key].to_bits(), label.to_bits());
                assert_eq!(*theirs.entry(there).or_insert(here), here, "{}", reference.display());
                assert_eq!(*ours.entry(here).or_insert(there), there, "{}", reference.display());
            }
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// The values of a file of `<key> <value>`.
fn values(path: &Path) -> BTreeMap<u64, f64> {
    let line = |line: &str| {
        let (key, value) = line.split_once(char::is_whitespace).expect("a key and a value");
        (key.parse().expect("a key"), value.trim().parse().expect("a value"))
    };
    read(path).lines().map(line).collect()
}

fn graphalytics() -> Option<PathBuf> {
    data().map(|data| data.join("graphalytics"))
}

#[test]
fn ldbc_validation_graphs() {
    let Some(folder) = graphalytics() else { return };
    let ranks = [
        "pagerank --iterations 100".to_owned(),
        format!("pagerank --iterations 26 --damping {SINGLE_PRECISION_DAMPING}"),
    ];
    for (at, (name, direction)) in
        [("dir", "--directed"), ("undir", "--undirected")].into_iter().enumerate()
    {
        let of = |kernel: &str| {
            let input = folder.join(kernel).join(format!("{name}-input"));
            let output = folder.join(kernel).join(format!("{name}-output"));
            (Reference::from_adjacency(&input, direction), output)
        };
        let (graph, answer) = of("bfs");
        graph.expect("bfs --source 1", &answer);
        let (graph, answer) = of("cdlp");
        graph.expect("cdlp --iterations 5", &answer);
        let (graph, answer) = of("lcc");
        graph.expect("lcc", &answer);
        let (graph, answer) = of("pr");
        graph.expect(&ranks[at], &answer);
        let (graph, answer) = of("wcc");
        graph.expect_parts("wcc", &answer);
        let input = folder.join(format!("sssp/{name}-input.e"));
        let graph = Reference::from_lists(&input, &format!("{direction} --weighted"));
        graph.expect("sssp --source 1", &folder.join(format!("sssp/{name}-output")));
        // This folder has no answers: the oracle must do.
        let (graph, _) = of("ffm");
        for algorithm in ["pagerank", "cdlp", "lcc", "wcc", "scc"] {
            graph.answers(&format!("{algorithm} --verify"));
        }
    }
}

#[test]
fn ldbc_example_graphs() {
    let Some(folder) = graphalytics() else { return };
    for (direction, name, source) in
        [("--directed", "example-directed", 1), ("--undirected", "example-undirected", 2)]
    {
        let stem = folder.join("example").join(name);
        let answer = |kernel| stem.with_file_name(format!("{name}-{kernel}"));
        let graph = Reference::from_lists(&stem, &format!("{direction} --weighted"));
        graph.expect(&format!("bfs --source {source}"), &answer("BFS"));
        graph.expect("cdlp --iterations 2", &answer("CDLP"));
        graph.expect("lcc", &answer("LCC"));
        graph.expect("pagerank --iterations 2", &answer("PR"));
        graph.expect(&format!("sssp --source {source}"), &answer("SSSP"));
        graph.expect_parts("wcc", &answer("WCC"));
        // The same graph as a vertex and its neighbours a line.
        let input = stem.with_file_name(format!("{name}-input"));
        let graph = Reference::from_adjacency(&input, direction);
        graph.expect(&format!("bfs --source {source}"), &answer("BFS"));
        graph.expect("lcc", &answer("LCC"));
    }
}

#[test]
fn gnutella_peers() {
    let Some(data) = data() else { return };
    let stem = data.join("p2p31/p2p-31");
    let answer = |kernel| stem.with_file_name(format!("p2p-31-{kernel}"));
    let graph = Reference::from_lists(&stem, "--undirected --weighted");
    graph.expect("bfs --source 6", &answer("BFS"));
    graph.expect("cdlp --iterations 10", &answer("CDLP"));
    graph.expect("lcc", &answer("LCC"));
    graph.expect("pagerank --iterations 10", &answer("PR"));
    graph.expect("sssp --source 6", &answer("SSSP"));
    graph.expect_parts("wcc", &answer("WCC"));
    let graph = Reference::from_lists(&stem, "--directed --weighted");
    graph.expect("bfs --source 6", &answer("BFS-directed"));
    graph.expect("sssp --source 6", &answer("SSSP-directed"));
}
