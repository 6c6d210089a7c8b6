//! Times every kernel on a generated graph in static rows.
//!
//! `kernels [GRAPH] [SAMPLES] [KERNEL,..]`, by default `graph500-20`, 5 and all; the number of
//! threads is rayon's (`RAYON_NUM_THREADS`). Searches start each sample from another vertex. Times
//! are per entry of the out-lists; `pagerank` and `cdlp` are per iteration too. The directed twin
//! has every generated edge in one of the two directions.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use evergraph_algo::{
    AlgoError, BfsConfig, CdlpConfig, LccConfig, PageRankConfig, SccConfig, SsspConfig,
    TriangleConfig, WccConfig, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, wcc,
};
use evergraph_graph::generate::Weights;
use evergraph_graph::{Csr, GraphSpec, GraphView, VertexId};

const DEFAULT_GRAPH: &str = "graph500-20";
const DEFAULT_SAMPLES: usize = 5;
const ITERATIONS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let graph = args.next().unwrap_or_else(|| DEFAULT_GRAPH.to_owned());
    let samples = args.next().map_or(Ok(DEFAULT_SAMPLES), |arg| arg.parse())?;
    let chosen = args.next();
    let mut list = graph.parse::<GraphSpec>()?.generate(Weights::Uniform, &())?;
    let csr: Csr<f64> = Csr::from_edges(&list)?;
    list.directed = true;
    for edge in &mut list.edges {
        *edge = turn(*edge);
    }
    let directed: Csr<f64> = Csr::from_edges(&list)?;
    drop(list);
    let threads = rayon::current_num_threads();
    let (vertices, entries) = (csr.vertex_count(), csr.entry_count());
    println!("{graph}: {vertices} vertices, {entries} entries, {threads} threads");
    println!("kernel          median ms     least ms   ns/entry");
    for (name, iterations, kernel) in KERNELS {
        if chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|word| word == name)) {
            let view = if name.ends_with("-dir") { &directed } else { &csr };
            let times = sample(samples, view, kernel)?;
            let work = view.entry_count() as f64 * f64::from(iterations);
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let (median, least) = (times[times.len() / 2], times[0]);
            let per_entry = median.as_secs_f64() * 1e9 / work;
            println!("{name:12} {:12.2} {:12.2} {per_entry:10.3}", ms(median), ms(least));
        }
    }
    Ok(())
}

/// An edge in one direction or the other, as if a coin were thrown for it.
fn turn((u, v): (VertexId, VertexId)) -> (VertexId, VertexId) {
    // Odd multipliers of random bits carry every bit of the ends to the top.
    let coin =
        (u.wrapping_mul(0x9e37_79b1) ^ v.wrapping_mul(0x85eb_ca77)).wrapping_mul(0xc2b2_ae3d);
    if coin >> (u32::BITS - 1) == 0 { (u, v) } else { (v, u) }
}

/// Runs a kernel once, from this vertex if it starts anywhere.
type Kernel = fn(&Csr<f64>, VertexId) -> Result<(), AlgoError>;

/// Name, iterations to divide by, kernel.
const KERNELS: [(&str, u32, Kernel); 11] = [
    ("bfs", 1, run_bfs),
    ("pagerank", ITERATIONS, run_pagerank),
    ("wcc", 1, run_wcc),
    ("sssp", 1, run_sssp),
    ("cdlp", ITERATIONS, run_cdlp),
    ("triangles", 1, run_triangles),
    ("lcc", 1, run_lcc),
    ("wcc-dir", 1, run_wcc),
    ("scc-dir", 1, run_scc),
    ("cdlp-dir", ITERATIONS, run_cdlp),
    ("lcc-dir", 1, run_lcc),
];

fn run_bfs(view: &Csr<f64>, source: VertexId) -> Result<(), AlgoError> {
    bfs(view, &BfsConfig { source, ..BfsConfig::default() }).map(forget)
}

fn run_pagerank(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    let config = PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() };
    pagerank(view, &config).map(forget)
}

fn run_wcc(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    wcc(view, &WccConfig::default()).map(forget)
}

fn run_sssp(view: &Csr<f64>, source: VertexId) -> Result<(), AlgoError> {
    sssp(view, &SsspConfig { source, ..SsspConfig::default() }).map(forget)
}

fn run_cdlp(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    let config = CdlpConfig { iterations: ITERATIONS, ..CdlpConfig::default() };
    cdlp(view, &config).map(forget)
}

fn run_triangles(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    triangle_count(view, &TriangleConfig::default()).map(forget)
}

fn run_lcc(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    lcc(view, &LccConfig::default()).map(forget)
}

fn run_scc(view: &Csr<f64>, _: VertexId) -> Result<(), AlgoError> {
    scc(view, &SccConfig::default()).map(forget)
}

/// Lets the compiler believe that somebody looks at an answer.
fn forget<T>(output: T) {
    black_box(output);
}

/// The times of `samples` runs after one that is not counted, ascending.
fn sample(samples: usize, view: &Csr<f64>, kernel: Kernel) -> Result<Vec<Duration>, AlgoError> {
    let mut times = Vec::new();
    let sources = (0..view.vertex_bound()).filter(|&v| view.degree(v) > 0).cycle();
    for (run, source) in sources.take(samples + 1).enumerate() {
        let start = Instant::now();
        kernel(view, source)?;
        if run > 0 {
            times.push(start.elapsed());
        }
    }
    times.sort_unstable();
    Ok(times)
}
