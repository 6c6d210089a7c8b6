//! What is run on the live graph and on its static twin: scans and algorithms, from one source.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use evergraph::graph::{GraphView, VertexId};
use evergraph::kernels::{
    AlgoError, BfsConfig, BfsOutput, CdlpConfig, CdlpOutput, LccConfig, LccOutput, PageRankConfig,
    PageRankOutput, SsspConfig, SsspOutput, TriangleConfig, TriangleOutput, WccConfig, WccOutput,
    bfs, cdlp, lcc, pagerank, sssp, triangle_count, wcc,
};
use evergraph::{Database, with_view};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::input::{Stream, random};
use crate::sum::sum;
use crate::twin::Twin;
use crate::{Error, Result};

/// Entries per task of a scan, as the kernels have it.
const ENTRIES_PER_TASK: usize = 1 << 16;
/// Vertices per task of a scan in random order: about as many entries on graphs of degree 16.
const VERTICES_PER_TASK: usize = 1 << 12;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Kernel {
    /// The sum of all neighbours, vertex by vertex
    ScanSeq,
    /// The same, vertices in a random order
    ScanRandom,
    /// Breadth-first search
    Bfs,
    /// `PageRank`, 20 iterations
    #[value(name = "pagerank")]
    PageRank,
    /// Weakly connected components
    Wcc,
    /// Label propagation, 10 iterations
    Cdlp,
    /// Local clustering coefficients
    Lcc,
    /// Shortest paths by weight from one vertex
    Sssp,
    /// How many triangles there are
    Triangles,
}

/// The answer of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Modulo 2^32.
    Sum(u32),
    Bfs(BfsOutput),
    PageRank(PageRankOutput),
    Wcc(WccOutput),
    Cdlp(CdlpOutput),
    Lcc(LccOutput),
    Sssp(SsspOutput),
    Triangles(TriangleOutput),
}

/// What kernels take beside the graph; the same for both sides of a pair.
pub(crate) struct Inputs {
    /// All vertices in a random order.
    permutation: Vec<VertexId>,
    /// Where searches start: in each round another one.
    sources: Vec<VertexId>,
}

impl Inputs {
    /// Chooses sources among the vertices that have neighbours.
    pub(crate) fn new(twin: &Twin, seed: u64, rounds: usize) -> Self {
        let mut permutation: Vec<VertexId> = (0..twin.vertices()).collect();
        permutation.shuffle(&mut random(seed, Stream::Order));
        let mut choice = random(seed, Stream::Sources);
        let mut source = || {
            let start = choice.random_range(0..permutation.len());
            let around = permutation[start..].iter().chain(&permutation[..start]);
            around.copied().find(|&v| twin.degree(v) > 0).unwrap_or(0)
        };
        let sources = (0..rounds.max(1)).map(|_| source()).collect();
        Self { permutation, sources }
    }

    /// Where the searches of a round start.
    pub(crate) fn source(&self, round: usize) -> VertexId {
        self.sources[round % self.sources.len()]
    }
}

impl Kernel {
    pub(crate) const SCANS: [Self; 2] = [Self::ScanSeq, Self::ScanRandom];
    pub(crate) const ALL: [Self; 9] = [
        Self::ScanSeq,
        Self::ScanRandom,
        Self::Bfs,
        Self::PageRank,
        Self::Wcc,
        Self::Cdlp,
        Self::Lcc,
        Self::Sssp,
        Self::Triangles,
    ];

    /// The name of its figure.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ScanSeq => "scan_seq",
            Self::ScanRandom => "scan_random",
            Self::Bfs => "bfs",
            Self::PageRank => "pagerank",
            Self::Wcc => "wcc",
            Self::Cdlp => "cdlp",
            Self::Lcc => "lcc",
            Self::Sssp => "sssp",
            Self::Triangles => "triangles",
        }
    }

    /// Runs it with the settings that the library has by default.
    pub(crate) fn run<G: GraphView>(
        self,
        view: &G,
        inputs: &Inputs,
        round: usize,
    ) -> Result<Answer, AlgoError> {
        let source = inputs.source(round);
        Ok(match self {
            Self::ScanSeq => Answer::Sum(scan_sequential(view)),
            Self::ScanRandom => Answer::Sum(scan_random(view, &inputs.permutation)),
            Self::Bfs => Answer::Bfs(bfs(view, &BfsConfig { source, ..BfsConfig::default() })?),
            Self::PageRank => Answer::PageRank(pagerank(view, &PageRankConfig::default())?),
            Self::Wcc => Answer::Wcc(wcc(view, &WccConfig::default())?),
            Self::Cdlp => Answer::Cdlp(cdlp(view, &CdlpConfig::default())?),
            Self::Lcc => Answer::Lcc(lcc(view, &LccConfig::default())?),
            Self::Sssp => {
                Answer::Sssp(sssp(view, &SsspConfig { source, ..SsspConfig::default() })?)
            }
            Self::Triangles => Answer::Triangles(triangle_count(view, &TriangleConfig::default())?),
        })
    }

    /// Opens a snapshot and runs on it; the answer, and how long both took.
    pub(crate) fn run_live(
        self,
        db: &Database,
        inputs: &Inputs,
        round: usize,
    ) -> Result<(Answer, Duration)> {
        let start = Instant::now();
        let snapshot = db.snapshot()?;
        let answer = with_view!(snapshot.view()?, |view| self.run(view, inputs, round))?;
        Ok((answer, start.elapsed()))
    }

    /// An error unless both sides gave the same answer, to the last bit.
    pub(crate) fn compare(self, live: &Answer, twin: &Answer) -> Result<()> {
        if live == twin {
            return Ok(());
        }
        Err(Error::Differs { what: self.name().into(), other: "the static graph" })
    }
}

/// The sum of all neighbours modulo 2^32, vertex by vertex.
pub(crate) fn scan_sequential<G: GraphView>(view: &G) -> u32 {
    let tasks = view.splits(ENTRIES_PER_TASK).into_par_iter().map(|range| {
        let mut total: u32 = 0;
        view.range(range, |_, run| {
            total = total.wrapping_add(sum(run));
            ControlFlow::Continue(())
        });
        total
    });
    tasks.reduce(|| 0, u32::wrapping_add)
}

/// The sum of all neighbours modulo 2^32, vertices in the given order.
fn scan_random<G: GraphView>(view: &G, order: &[VertexId]) -> u32 {
    let tasks = order.par_chunks(VERTICES_PER_TASK).map(|vertices| {
        let mut total: u32 = 0;
        for &v in vertices {
            let _: ControlFlow<()> = view.runs(v, |run| {
                total = total.wrapping_add(sum(run));
                ControlFlow::Continue(())
            });
        }
        total
    });
    tasks.reduce(|| 0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use evergraph::graph::{Csr, EdgeList, KeyTable};

    use super::*;

    fn path(vertices: u32) -> Twin {
        let edges = (1..vertices).map(|v| (v - 1, v)).collect();
        let keys = KeyTable::dense(vertices);
        let list = EdgeList { directed: false, keys, edges, weights: None };
        Twin::Plain(Csr::from_edges(&list).expect("simple"))
    }

    #[test]
    fn every_kernel_tells_another_graph() {
        let (one, other) = (path(100), path(99));
        let inputs = Inputs { permutation: (0..99).collect(), sources: vec![3] };
        for kernel in Kernel::ALL {
            let answer = |twin: &Twin| twin.run(kernel, &inputs, 0).expect("runs").0;
            kernel.compare(&answer(&one), &answer(&one)).expect("equal");
            if kernel != Kernel::Triangles {
                let error = kernel.compare(&answer(&other), &answer(&one)).expect_err("differ");
                assert!(error.to_string().starts_with(kernel.name()), "{error}");
            }
        }
    }

    #[test]
    fn a_scan_in_any_order_sums_the_same() {
        let twin = path(3000);
        let inputs = Inputs::new(&twin, 5, 2);
        let answer = |kernel| twin.run(kernel, &inputs, 0).expect("runs").0;
        // Every inner vertex is a neighbour twice, the two ends once.
        let expected = Answer::Sum(2 * (2999 * 3000 / 2) - 2999);
        assert_eq!(answer(Kernel::ScanSeq), expected);
        assert_eq!(answer(Kernel::ScanRandom), expected);
    }
}
