//! The crate `graph`: its compressed sparse rows, an arc each way, since most of its algorithms are
//! for directed graphs. Real numbers have 32 bits.

use std::sync::atomic::Ordering;
use std::time::Instant;

use evergraph::graph::EdgeList;
use graph::prelude::{
    Components, CsrLayout, DeltaSteppingConfig, DirectedCsrGraph, Graph, GraphBuilder,
    PageRankConfig, UndirectedCsrGraph, WccConfig, delta_stepping, global_triangle_count,
    page_rank, relabel_graph, wcc_afforest,
};

use super::{Kernels, numbers, stop};
use crate::Result;
use crate::answer::{Answer, Kernel};
use crate::work::GraphFiles;

/// What is measured.
pub(super) const VERSION: &str = "0.3.2";

const DAMPING: f32 = 0.85;
/// The change of all ranks in one iteration after which none follows; the numbers have seven
/// digits.
const TOLERANCE: f64 = 1e-6;
/// Enough for that.
const ITERATIONS_MAX: usize = 100;
/// The width of a bucket of distances, for weights from 0 to 1.
const DELTA: f32 = 0.1;

/// A graph, with weights or without.
pub(super) struct Rows {
    rows: Arcs,
    list: EdgeList,
}

enum Arcs {
    Plain(DirectedCsrGraph<u32>),
    Weighted(DirectedCsrGraph<u32, (), f32>),
}

impl Rows {
    pub(super) fn load(files: &GraphFiles) -> Result<Self> {
        let list = files.read()?;
        let builder = GraphBuilder::new().csr_layout(CsrLayout::Sorted);
        let edges = &list.edges;
        let rows = match &list.weights {
            None => {
                let arcs = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
                Arcs::Plain(builder.edges(arcs.collect::<Vec<_>>()).build())
            }
            Some(weights) => {
                let arcs = edges.iter().zip(weights);
                let arcs = arcs.flat_map(|(&(a, b), &w)| [(a, b, w as f32), (b, a, w as f32)]);
                Arcs::Weighted(builder.edges_with_values(arcs.collect::<Vec<_>>()).build())
            }
        };
        Ok(Self { rows, list })
    }

    fn vertices(&self) -> usize {
        self.list.keys.len() as usize
    }

    /// Ranks, also of the last vertices, which the graph does not know if they have no edges: such
    /// vertices have the rank that nobody adds to.
    fn ranks(&self, graph: &DirectedCsrGraph<u32>, start: Instant) -> (f64, Answer) {
        let (ranks, ..) = page_rank(graph, PageRankConfig::new(ITERATIONS_MAX, TOLERANCE, DAMPING));
        stop(start, || {
            let rest = f64::from(1.0 - DAMPING) / ranks.len() as f64;
            let mut ranks: Vec<f64> = ranks.into_iter().map(f64::from).collect();
            ranks.resize(self.vertices(), rest);
            Answer::Reals(ranks)
        })
    }

    fn components(&self, graph: &DirectedCsrGraph<u32>, start: Instant) -> (f64, Answer) {
        let components = wcc_afforest(graph, WccConfig::default());
        stop(start, || {
            let known = graph.node_count();
            let unknown = known..self.list.keys.len();
            numbers((0..known).map(|v| components.component(v)).chain(unknown))
        })
    }

    /// Putting vertices into the order of their degrees is a part of it; it changes the graph,
    /// which therefore is made anew for it.
    fn triangles(&self) -> (f64, Answer) {
        let builder = GraphBuilder::new().csr_layout(CsrLayout::Deduplicated);
        let edges = self.list.edges.clone();
        let mut graph: UndirectedCsrGraph<u32> = builder.edges(edges).build();
        let start = Instant::now();
        relabel_graph(&mut graph);
        let triangles = global_triangle_count(&graph);
        stop(start, || numbers([triangles.cast_signed()]))
    }
}

impl Kernels for Rows {
    fn run(&self, kernel: Kernel, source: u32) -> Result<Option<(f64, Answer)>> {
        let start = Instant::now();
        Ok(match (kernel, &self.rows) {
            (Kernel::PageRankConverged, Arcs::Plain(graph)) => Some(self.ranks(graph, start)),
            (Kernel::Wcc, Arcs::Plain(graph)) => Some(self.components(graph, start)),
            (Kernel::Triangles, Arcs::Plain(_)) => Some(self.triangles()),
            (Kernel::Sssp, Arcs::Weighted(graph)) => {
                let config = DeltaSteppingConfig::new(source as usize, DELTA);
                let distances = delta_stepping(graph, config);
                Some(stop(start, || {
                    let distances = distances.iter().map(|d| d.load(Ordering::Relaxed));
                    // Not reached is the greatest number.
                    let real = |d: f32| if d >= f32::MAX { f64::INFINITY } else { d.into() };
                    let mut distances: Vec<f64> = distances.map(real).collect();
                    distances.resize(self.vertices(), f64::INFINITY);
                    Answer::Reals(distances)
                }))
            }
            _ => None,
        })
    }
}
