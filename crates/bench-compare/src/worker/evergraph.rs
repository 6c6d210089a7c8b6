//! Evergraph's algorithms: on a live database, and on the static array.

use std::time::{Duration, Instant};

use evergraph::graph::{Csr, GraphView};
use evergraph::kernels::{
    BfsConfig, LccConfig, PageRankConfig, SsspConfig, TriangleConfig, WccConfig, bfs, lcc,
    pagerank, sssp, triangle_count, wcc,
};
use evergraph::{Database, with_view};
use evergraph_bench::wait_settled;

use super::{Kernels, numbers, stop};
use crate::Result;
use crate::answer::{Answer, Kernel};
use crate::work::GraphFiles;

/// When an iteration changes the ranks by no more than this in sum, it is the last one: they are
/// then within 3e-7 of where they would end.
const TOLERANCE: f64 = 5e-8;
/// More than that takes.
const ITERATIONS_MAX: u32 = 1000;
/// Settling a graph of 30 million entries takes seconds.
const SETTLE_LIMIT: Duration = Duration::from_mins(1);

/// A database in memory, loaded in large transactions.
pub(super) struct Live(Database);

impl Live {
    pub(super) fn load(files: &GraphFiles) -> Result<Self> {
        Ok(Self(evergraph::load(&files.read()?, &())?))
    }

    /// Waits until the service thread has nothing more to do.
    pub(super) fn settle(&self) -> Result<()> {
        wait_settled(&self.0, SETTLE_LIMIT, &())?;
        Ok(())
    }
}

impl Kernels for Live {
    /// The time includes opening a snapshot and everything that a view builds.
    fn run(&self, kernel: Kernel, source: u32) -> Result<Option<(f64, Answer)>> {
        let start = Instant::now();
        let snapshot = self.0.snapshot()?;
        with_view!(snapshot.view()?, |view| run(view, (kernel, source), start))
    }
}

/// The static array.
pub(super) enum Static {
    Plain(Csr<()>),
    Weighted(Csr<f64>),
}

impl Static {
    pub(super) fn load(files: &GraphFiles) -> Result<Self> {
        let list = files.read()?;
        Ok(match list.weights {
            None => Self::Plain(Csr::from_edges(&list)?),
            Some(_) => Self::Weighted(Csr::from_edges(&list)?),
        })
    }
}

impl Kernels for Static {
    fn run(&self, kernel: Kernel, source: u32) -> Result<Option<(f64, Answer)>> {
        let start = Instant::now();
        match self {
            Self::Plain(rows) => run(rows, (kernel, source), start),
            Self::Weighted(rows) => run(rows, (kernel, source), start),
        }
    }
}

fn run<G: GraphView>(
    view: &G,
    (kernel, source): (Kernel, u32),
    start: Instant,
) -> Result<Option<(f64, Answer)>> {
    let ranks = |config: PageRankConfig| -> Result<_> {
        let output = pagerank(view, &config)?;
        Ok(stop(start, || Answer::Reals(output.ranks)))
    };
    Ok(Some(match kernel {
        Kernel::Bfs => {
            let output = bfs(view, &BfsConfig { source, ..BfsConfig::default() })?;
            // Not reached is the greatest number here, and -1 there.
            stop(start, || numbers(output.levels.iter().map(|&level| level.cast_signed())))
        }
        Kernel::PageRank => ranks(PageRankConfig::default())?,
        Kernel::PageRankConverged => ranks(PageRankConfig {
            iterations: ITERATIONS_MAX,
            tolerance: Some(TOLERANCE),
            ..PageRankConfig::default()
        })?,
        Kernel::Wcc => {
            let output = wcc(view, &WccConfig::default())?;
            stop(start, || numbers(output.labels))
        }
        Kernel::Triangles => {
            let output = triangle_count(view, &TriangleConfig::default())?;
            stop(start, || numbers([output.triangles.cast_signed()]))
        }
        Kernel::Lcc => {
            let output = lcc(view, &LccConfig::default())?;
            stop(start, || Answer::Reals(output.coefficients))
        }
        Kernel::Sssp => {
            let output = sssp(view, &SsspConfig { source, ..SsspConfig::default() })?;
            stop(start, || Answer::Reals(output.distances))
        }
        Kernel::Scan => return Ok(None),
    }))
}
