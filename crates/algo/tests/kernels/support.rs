//! Graphs and views to test with, and one call that checks every kernel on a view.

use std::ops::{ControlFlow, Range};

use evergraph_algo::{
    BfsConfig, CdlpConfig, LccConfig, Measure, PageRankConfig, SccConfig, SsspConfig,
    TriangleConfig, WccConfig, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, verify, wcc,
};
use evergraph_graph::{Csr, EdgeList, GraphView, KeyTable, VertexId};

/// A graph with weights from edges in any order; of parallel ones the first stays.
pub(crate) fn graph(directed: bool, vertices: u32, edges: &[(u32, u32, f64)]) -> Csr<f64> {
    let turned = |&(u, v, weight): &(u32, u32, f64)| {
        if directed || u <= v { (u, v, weight) } else { (v, u, weight) }
    };
    let mut edges: Vec<_> = edges.iter().map(turned).collect();
    edges.sort_by_key(|&(u, v, _)| (u, v));
    edges.dedup_by_key(|&mut (u, v, _)| (u, v));
    let list = EdgeList {
        directed,
        keys: KeyTable::dense(vertices),
        edges: edges.iter().map(|&(u, v, _)| (u, v)).collect(),
        weights: Some(edges.iter().map(|&(_, _, weight)| weight).collect()),
    };
    Csr::from_edges(&list).expect("duplicates are gone")
}

/// A stream of well mixed numbers from a seed (splitmix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % u64::from(end)) as u32
    }
}

/// A graph with hubs: the ends of an edge are the smaller of a few tries, ids then mixed.
pub(crate) fn skewed(directed: bool, vertices: u32, edges: u32, seed: u64) -> Csr<f64> {
    let mut numbers = Numbers(seed);
    let mut places: Vec<u32> = (0..vertices).collect();
    for i in (1..vertices).rev() {
        places.swap(i as usize, numbers.below(i + 1) as usize);
    }
    let mut end = || {
        let tries = [(); 4].map(|()| numbers.below(vertices));
        places[tries.into_iter().min().unwrap_or(0) as usize]
    };
    let mut list: Vec<_> = (0..edges).map(|_| (end(), end(), 0.0)).collect();
    for edge in &mut list {
        edge.2 = f64::from(numbers.below(1000)) / 8.0;
    }
    graph(directed, vertices, &list)
}

/// A graph as an awkward engine would show it: every list in runs of at most `run_max`, nothing
/// contiguous, tasks of a few entries, and isolated vertices hidden as if deleted.
pub(crate) struct Pieces {
    pub(crate) csr: Csr<f64>,
    pub(crate) run_max: usize,
    pub(crate) hide_isolated: bool,
}

/// Entries per task, whatever the kernel asks for: even small graphs make many tasks.
const ENTRIES_PER_TASK: usize = 5;

impl GraphView for Pieces {
    type Weight = f64;
    type Flat<'a> = &'a Self;

    fn is_directed(&self) -> bool {
        self.csr.is_directed()
    }

    fn vertex_bound(&self) -> u32 {
        self.csr.vertex_bound()
    }

    fn vertex_count(&self) -> u32 {
        (0..self.vertex_bound()).filter(|&v| self.contains(v)).count() as u32
    }

    fn entry_count(&self) -> u64 {
        self.csr.entry_count()
    }

    fn contains(&self, v: VertexId) -> bool {
        let isolated = || self.csr.degree(v) == 0 && self.csr.in_degree(v) == 0;
        self.csr.contains(v) && !(self.hide_isolated && isolated())
    }

    fn degree(&self, v: VertexId) -> u32 {
        self.csr.degree(v)
    }

    fn in_degree(&self, v: VertexId) -> u32 {
        self.csr.in_degree(v)
    }

    fn runs<B>(&self, v: VertexId, f: impl FnMut(&[VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.csr.neighbours(v).chunks(self.run_max).try_for_each(f)
    }

    fn weighted_runs<B>(
        &self,
        v: VertexId,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let ends = self.csr.neighbours(v).chunks(self.run_max);
        let weights = self.csr.weights(v).chunks(self.run_max);
        ends.zip(weights).try_for_each(|(ends, weights)| f(ends, weights))
    }

    fn in_runs<B>(
        &self,
        v: VertexId,
        f: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.csr.in_neighbours(v).chunks(self.run_max).try_for_each(f)
    }

    fn range(
        &self,
        range: Range<VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        for v in range {
            let mut runs = self.csr.neighbours(v).chunks(self.run_max);
            let _ = runs.try_for_each(|run| f(v, run));
        }
    }

    fn in_range(
        &self,
        range: Range<VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) {
        for v in range {
            let mut runs = self.csr.in_neighbours(v).chunks(self.run_max);
            let _ = runs.try_for_each(|run| f(v, run));
        }
    }

    fn contiguous(&self, _: VertexId) -> Option<&[VertexId]> {
        None
    }

    fn splits(&self, _: usize) -> Vec<Range<VertexId>> {
        self.csr.splits(ENTRIES_PER_TASK)
    }

    fn flat(&self) -> &Self {
        self
    }
}

/// The first vertex there is.
fn any_vertex<G: GraphView>(view: &G) -> Option<VertexId> {
    (0..view.vertex_bound()).find(|&v| view.contains(v))
}

/// Runs every kernel on `view` under several configurations and verifies each answer.
pub(crate) fn check_all<G: GraphView>(view: &G) {
    check_searches(view);
    for neighbour_rounds in [0, 1, 2, 5] {
        let config = WccConfig { neighbour_rounds, ..WccConfig::default() };
        let output = wcc(view, &config).expect("nothing to refuse");
        verify::wcc(view, &output).expect("wcc");
    }
    let output = scc(view, &SccConfig::default()).expect("nothing to refuse");
    verify::scc(view, &output).expect("scc");
    let output = triangle_count(view, &TriangleConfig::default()).expect("nothing to refuse");
    verify::triangle_count(view, &output).expect("triangles");
    for measure in [Measure::Edges, Measure::Triangles] {
        let config = LccConfig { measure, ..LccConfig::default() };
        let output = lcc(view, &config).expect("nothing to refuse");
        verify::lcc(view, &config, &output).expect("lcc");
    }
    check_iterative(view);
}

/// Those that start at a vertex.
pub(crate) fn check_searches<G: GraphView>(view: &G) {
    let Some(source) = any_vertex(view) else {
        return;
    };
    // Never bottom-up, as intended, always bottom-up; back at once, never back before the end.
    for (alpha, beta) in [(0, 1), (15, 18), (u32::MAX, 0), (u32::MAX, u32::MAX)] {
        let config = BfsConfig { source, alpha, beta, ..BfsConfig::default() };
        let output = bfs(view, &config).expect("nothing to refuse");
        verify::bfs(view, &config, &output).expect("bfs");
    }
    for delta in [None, Some(1e-9), Some(0.4), Some(1e12)] {
        let config = SsspConfig { source, delta, ..SsspConfig::default() };
        let output = sssp(view, &config).expect("nothing to refuse");
        verify::sssp(view, &config, &output).expect("sssp");
    }
}

/// Those that run a number of iterations.
fn check_iterative<G: GraphView>(view: &G) {
    for (damping, iterations, tolerance) in [(0.85, 7, None), (0.5, 50, Some(1e-3)), (1.0, 3, None)]
    {
        let config = PageRankConfig { damping, iterations, tolerance, ..PageRankConfig::default() };
        let output = pagerank(view, &config).expect("nothing to refuse");
        verify::pagerank(view, &config, &output).expect("pagerank");
        let sum: f64 = output.ranks.iter().sum();
        assert!(any_vertex(view).is_none() || (sum - 1.0).abs() < 1e-9);
    }
    let keys: Vec<u64> =
        (0..u64::from(view.vertex_bound())).map(|v| (v * 7919) % 1009 + (v << 40)).rev().collect();
    for labels in [None, Some(&*keys)] {
        for iterations in [1, 2, 9] {
            let config = CdlpConfig { labels, iterations, ..CdlpConfig::default() };
            let output = cdlp(view, &config).expect("nothing to refuse");
            verify::cdlp(view, &config, &output).expect("cdlp");
        }
    }
}
