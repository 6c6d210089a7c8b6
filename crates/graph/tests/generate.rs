//! Generated graphs: the same from the same seed on any number of threads, simple, of the right
//! size and shape.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use evergraph_graph::generate::{GenerateError, Weights};
use evergraph_graph::key::KeyKind;
use evergraph_graph::progress::{Progress, Stage, Status};
use evergraph_graph::read::{Format, KeyChoice};
use evergraph_graph::{Csr, EdgeList, GraphSource, GraphSpec, GraphView, ReadOptions};

fn spec(name: &str) -> GraphSpec {
    name.parse().expect("a good name")
}

fn generate(name: &str) -> EdgeList {
    spec(name).generate(Weights::None, &()).expect("small enough")
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads can be started")
        .install(work)
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    for name in ["graph500-14", "uniform-14"] {
        let make = || spec(name).generate(Weights::Uniform, &()).expect("small enough");
        let (one, four) = (on_threads(1, make), on_threads(4, make));
        assert_eq!(one.edges, four.edges, "{name}");
        assert_eq!(one.weights, four.weights, "{name}");
        assert_ne!(generate(&format!("{name}-s2")).edges, one.edges, "{name}");
        assert_eq!(generate(name).edges, one.edges, "weights do not change the edges");
    }
}

#[test]
fn graphs_are_simple_and_undirected_with_dense_keys() {
    for name in ["graph500-1", "graph500-2", "uniform-1", "graph500-12", "uniform-13-s9"] {
        let list = generate(name);
        assert!(!list.directed);
        assert_eq!((list.keys.kind(), list.keys.len()), (KeyKind::Dense, 1 << spec(name).scale));
        assert!(list.edges.iter().all(|&(u, v)| u < v && v < list.keys.len()), "{name}");
        Csr::<()>::from_edges(&list).expect("no edge twice");
    }
}

#[test]
fn most_of_the_pairs_become_edges() {
    // Of 2^20 pairs Graph500 loses some percent to duplicates, the uniform model few.
    let share = |name| generate(name).edges.len() as f64 / f64::from(1 << 20);
    let (kronecker, uniform) = (share("graph500-16"), share("uniform-16"));
    assert!((0.84..0.90).contains(&kronecker), "{kronecker}");
    assert!((0.999..1.0).contains(&uniform), "{uniform}");
}

fn degrees(list: &EdgeList) -> Vec<u32> {
    let rows: Csr = Csr::from_edges(list).expect("simple");
    let mut degrees: Vec<u32> = (0..rows.vertex_bound()).map(|v| rows.degree(v)).collect();
    degrees.sort_unstable();
    degrees
}

#[test]
fn graph500_is_skewed_and_uniform_is_not() {
    let mean = 32;
    let skewed = degrees(&generate("graph500-16"));
    let even = degrees(&generate("uniform-16"));
    let top = |degrees: &[u32]| degrees[degrees.len() - 1];
    assert!(top(&skewed) > 100 * mean, "{}", top(&skewed));
    assert!(top(&even) < 3 * mean, "{}", top(&even));
    let alone = skewed.iter().take_while(|&&degree| degree == 0).count();
    assert!(alone > skewed.len() / 5, "{alone} vertices without edges");
    assert!(even[0] > 0);
    assert!((mean - 2..mean + 2).contains(&even[even.len() / 2]));
}

#[test]
fn neither_names_nor_order_betray_the_hubs() {
    let list = generate("graph500-16");
    let rows: Csr = Csr::from_edges(&list).expect("simple");
    // Without renaming, the first sixteenth of the ids would hold most of the edges.
    let part: u64 = (0..rows.vertex_bound() / 16).map(|v| u64::from(rows.degree(v))).sum();
    let share = part as f64 / rows.entry_count() as f64;
    assert!((0.02..0.15).contains(&share), "{share}");
    // In a random order neighbours in the list rise and fall equally often.
    let rises = list.edges.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let share = rises as f64 / list.edges.len() as f64;
    assert!((0.49..0.51).contains(&share), "{share}");
}

#[test]
fn weights_are_uniform_in_the_half_open_interval() {
    let list = spec("uniform-14").generate(Weights::Uniform, &()).expect("small enough");
    let weights = list.weights.expect("asked for");
    assert_eq!(weights.len(), list.edges.len());
    assert!(weights.iter().all(|&weight| weight > 0.0 && weight <= 1.0));
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    assert!((0.495..0.505).contains(&mean), "{mean}");
    let low = weights.iter().filter(|&&weight| weight < 0.1).count() as f64;
    assert!((0.09..0.11).contains(&(low / weights.len() as f64)));
}

#[test]
fn graphs_that_do_not_fit_are_refused_with_their_size() {
    let error = spec("graph500-40").generate(Weights::None, &()).expect_err("too large");
    let GenerateError::TooLarge { needed, available, .. } = error else { panic!("{error}") };
    assert!(needed > 1 << 48 && available < needed);
    assert!(
        error.to_string().starts_with("graph500-40 needs 272.0 TiB of memory, and "),
        "{error}"
    );
    for name in ["graph500-64", "uniform-4294967295"] {
        let error = spec(name).generate(Weights::Uniform, &()).expect_err("too large");
        assert!(matches!(error, GenerateError::TooLarge { needed: u64::MAX, .. }), "{error}");
    }
    let error = spec("uniform-0").generate(Weights::None, &()).expect_err("no scale");
    assert_eq!(error.to_string(), "uniform-0: the scale must be 1 to 31");
}

/// Stops after some ticks, and keeps the last count.
struct Watcher {
    ticks: AtomicU64,
    most: u64,
    done: AtomicU64,
}

impl Progress for Watcher {
    fn tick(&self, status: &Status) -> ControlFlow<()> {
        if status.stage == Stage::Generating {
            assert_eq!(status.total, Some(1 << 20));
            self.done.fetch_max(status.done, Ordering::Relaxed);
        }
        if self.ticks.fetch_add(1, Ordering::Relaxed) < self.most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

#[test]
fn progress_counts_edges_and_can_stop() {
    let watcher = |most| Watcher { ticks: AtomicU64::new(0), most, done: AtomicU64::new(0) };
    let whole = watcher(u64::MAX);
    spec("uniform-16").generate(Weights::None, &whole).expect("not stopped");
    assert_eq!(whole.done.into_inner(), 1 << 20);
    let stopped = watcher(3);
    let error = spec("uniform-16").generate(Weights::None, &stopped).expect_err("stopped");
    assert_eq!(error, GenerateError::Cancelled);
    assert!(stopped.done.into_inner() < 1 << 20);
}

#[test]
fn a_name_is_a_source_wherever_a_file_is() {
    let source = |word: &str| word.parse::<GraphSource>();
    assert_eq!(source("uniform-4-s3"), Ok(GraphSource::Generated(spec("uniform-4-s3"))));
    assert_eq!(source("./uniform-4"), Ok(GraphSource::File("./uniform-4".into())));
    assert!(source("uniform-4x").is_err());
    let options = ReadOptions { weighted: true, directed: Some(true), ..ReadOptions::default() };
    let source = source("uniform-4").expect("good");
    let arcs = source.load(&options, &()).expect("small");
    let edges = source.load(&ReadOptions::default(), &()).expect("small");
    assert_eq!((arcs.directed, arcs.edges.len()), (true, 2 * edges.edges.len()));
    assert_eq!(arcs.weights.map(|weights| weights.len()), Some(arcs.edges.len()));
    assert_eq!((edges.directed, edges.weights), (false, None));
    for (options, option) in [
        (ReadOptions { keys: KeyChoice::Text, ..ReadOptions::default() }, "choice of text keys"),
        (ReadOptions { vertices: Some("v".into()), ..ReadOptions::default() }, "vertex file"),
        (ReadOptions { format: Some(Format::Metis), ..ReadOptions::default() }, "format"),
    ] {
        let error = source.load(&options, &()).expect_err(option).to_string();
        assert_eq!(
            error,
            format!("uniform-4 is a generated graph: a {option} goes with files only")
        );
    }
    let missing = "./no/such.el".parse::<GraphSource>().expect("a path");
    let error = missing.load(&options, &()).expect_err("missing").to_string();
    assert_eq!(error, "./no/such.el: no such file");
}
