//! A triangle count that stands: triangles are lost and won with their edges.
//!
//! # Method
//! A pair of vertices is *lost* if an edge joined them before and none does after; *won* is the
//! opposite. The triangles that are lost are those before that hold a lost pair, those won the ones
//! after that hold a won pair. A triangle with several such pairs is counted at the first of them.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId};

use super::{Standing, around, joined};
use crate::{AlgoError, Cancel, TriangleConfig, TriangleOutput, triangle_count};

/// How many triangles there are.
#[derive(Clone, Debug)]
pub struct Triangles {
    output: TriangleOutput,
}

impl Standing for Triangles {
    type Config = ();
    type Output<'a> = TriangleOutput;

    fn new<G: GraphView>(view: &G, (): &(), cancel: &Cancel) -> Result<Self, AlgoError> {
        Ok(Self { output: triangle_count(view, &TriangleConfig { cancel: cancel.clone() })? })
    }

    /// Time O(degrees of the ends) per changed edge, a logarithm for the larger end's.
    fn update<G: GraphView>(
        &mut self,
        before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError> {
        let lost = Pairs::new(&changes.removed_edges, |u, v| !joined(after, u, v));
        let won = Pairs::new(&changes.added_edges, |u, v| !joined(before, u, v));
        let triangles = self.output.triangles + won.triangles(after, cancel)?;
        self.output.triangles = triangles - lost.triangles(before, cancel)?;
        Ok(())
    }

    fn output(&self) -> TriangleOutput {
        self.output
    }
}

/// Pairs of vertices in an order, the smaller end of each first.
struct Pairs {
    order: Vec<(VertexId, VertexId)>,
    place: HashMap<(VertexId, VertexId), usize>,
    ends: HashSet<VertexId>,
}

impl Pairs {
    /// The ends of edges, if they count; without self loops, each pair once.
    fn new(edges: &[(VertexId, VertexId)], counts: impl Fn(VertexId, VertexId) -> bool) -> Self {
        let named = edges.iter().map(|&(u, v)| (u.min(v), u.max(v)));
        let mut order: Vec<_> = named.filter(|&(u, v)| u != v && counts(u, v)).collect();
        order.sort_unstable();
        order.dedup();
        let place = order.iter().zip(0..).map(|(&pair, place)| (pair, place)).collect();
        let ends = order.iter().flat_map(|&(u, v)| [u, v]).collect();
        Self { order, place, ends }
    }

    /// The triangles of a view that hold one of the pairs. All pairs are joined in it.
    fn triangles<G: GraphView>(&self, view: &G, cancel: &Cancel) -> Result<u64, AlgoError> {
        let mut common = Common::default();
        let mut total = 0;
        for (&(u, v), place) in self.order.iter().zip(0..) {
            cancel.check()?;
            let thirds = common.of(view, u, v);
            let counted =
                thirds.filter(|&w| !(self.is_before(u, w, place) || self.is_before(v, w, place)));
            total += counted.count() as u64;
        }
        Ok(total)
    }

    /// Whether a pair comes before a place in the order.
    fn is_before(&self, u: VertexId, w: VertexId, place: usize) -> bool {
        self.ends.contains(&w)
            && self.place.get(&(u.min(w), u.max(w))).is_some_and(|&other| other < place)
    }
}

/// Memory for finding common neighbours.
#[derive(Default)]
struct Common {
    few: Vec<VertexId>,
    met: Vec<bool>,
}

impl Common {
    /// The vertices that are joined with both `u` and `v`.
    fn of<G: GraphView>(
        &mut self,
        view: &G,
        u: VertexId,
        v: VertexId,
    ) -> impl Iterator<Item = VertexId> {
        let size = |v| u64::from(view.degree(v)) + u64::from(view.in_degree(v));
        let (small, large) = if size(u) <= size(v) { (u, v) } else { (v, u) };
        let Self { few, met } = self;
        few.clear();
        let _: ControlFlow<()> = around(view, small, |w| {
            if w != small && w != large {
                few.push(w);
            }
            ControlFlow::Continue(())
        });
        if view.is_directed() {
            few.sort_unstable();
            few.dedup();
        }
        met.clear();
        met.resize(few.len(), false);
        let _: ControlFlow<()> = view.runs(large, |run| meet(few, met, run));
        if view.is_directed() {
            let _: ControlFlow<()> = view.in_runs(large, |run| meet(few, met, run));
        }
        few.iter().zip(&*met).filter(|&(_, &met)| met).map(|(&w, _)| w)
    }
}

/// Marks the vertices of one ascending list that stand in another, which is not empty; searches
/// the longer one.
fn meet(few: &[VertexId], met: &mut [bool], run: &[VertexId]) -> ControlFlow<()> {
    let from = few.partition_point(|&w| w < run[0]);
    let until = from + few[from..].partition_point(|&w| w <= run[run.len() - 1]);
    let (few, met) = (&few[from..until], &mut met[from..until]);
    if few.len() <= run.len() {
        let mut rest = run;
        for (w, met) in few.iter().zip(met) {
            rest = &rest[rest.partition_point(|x| x < w)..];
            *met |= rest.first() == Some(w);
        }
    } else {
        for w in run {
            if let Ok(place) = few.binary_search(w) {
                met[place] = true;
            }
        }
    }
    ControlFlow::Continue(())
}
