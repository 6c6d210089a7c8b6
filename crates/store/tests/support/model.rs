//! The graph as a plain set of vertices and map of edges: what the store must agree with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use evergraph_graph::{GraphView, Key};
use evergraph_store::{Error, Ingest, Snapshot, Transaction, with_view};

/// A vertex of the model; tests turn it into a key.
pub(crate) type V = u64;

/// A graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) directed: bool,
    pub(crate) vertices: BTreeSet<V>,
    /// An undirected edge stands once, its smaller end first.
    pub(crate) edges: BTreeMap<(V, V), f64>,
}

/// What a transaction may ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    AddVertex(V),
    RemoveVertex(V),
    AddEdge(V, V, f64),
    SetWeight(V, V, f64),
    RemoveEdge(V, V),
}

/// Something that two transactions may both change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Vertex(V),
    Edge(V, V),
}

impl Model {
    /// Does what is wished for, whatever is there: what ingesting does.
    pub(crate) fn wish(&mut self, op: Op) {
        match op {
            Op::AddEdge(u, v, weight) => {
                self.vertices.extend([u, v]);
                self.edges.insert(self.edge(u, v), weight);
            }
            Op::SetWeight(u, v, weight) => {
                if let Some(now) = self.edges.get_mut(&self.edge(u, v)) {
                    *now = weight;
                }
            }
            Op::RemoveEdge(u, v) => _ = self.edges.remove(&self.edge(u, v)),
            Op::AddVertex(_) | Op::RemoveVertex(_) => panic!("{op:?} is not ingested"),
        }
    }

    pub(crate) fn new(directed: bool) -> Self {
        Self { directed, ..Self::default() }
    }

    /// How an edge is named in the model.
    pub(crate) fn edge(&self, u: V, v: V) -> (V, V) {
        if self.directed || u <= v { (u, v) } else { (v, u) }
    }

    pub(crate) fn weight(&self, u: V, v: V) -> Option<f64> {
        self.edges.get(&self.edge(u, v)).copied()
    }

    /// The out-neighbours (`reverse`: the in-neighbours) of `v` with the weights.
    pub(crate) fn list(&self, v: V, reverse: bool) -> BTreeMap<V, f64> {
        let mut list = BTreeMap::new();
        for (&(a, b), &weight) in &self.edges {
            if !self.directed {
                if a == v {
                    list.insert(b, weight);
                }
                if b == v {
                    list.insert(a, weight);
                }
            } else if !reverse && a == v {
                list.insert(b, weight);
            } else if reverse && b == v {
                list.insert(a, weight);
            }
        }
        list
    }

    /// Makes the change; false, and nothing is changed, if it does not fit. What it wrote is
    /// added to `written`.
    pub(crate) fn apply(&mut self, op: Op, written: &mut BTreeSet<Item>) -> bool {
        let has = |v| self.vertices.contains(&v);
        match op {
            Op::AddVertex(v) => {
                written.insert(Item::Vertex(v));
                self.vertices.insert(v)
            }
            Op::RemoveVertex(v) => {
                if !self.vertices.remove(&v) {
                    return false;
                }
                written.insert(Item::Vertex(v));
                let of_v = |&(a, b): &(V, V)| a == v || b == v;
                written
                    .extend(self.edges.keys().filter(|e| of_v(e)).map(|&(a, b)| Item::Edge(a, b)));
                self.edges.retain(|edge, _| !of_v(edge));
                true
            }
            Op::AddEdge(u, v, weight) => {
                if !has(u) || !has(v) || self.weight(u, v).is_some() {
                    return false;
                }
                let (a, b) = self.edge(u, v);
                written.insert(Item::Edge(a, b));
                self.edges.insert((a, b), weight);
                true
            }
            Op::SetWeight(u, v, weight) => {
                let (a, b) = self.edge(u, v);
                written.insert(Item::Edge(a, b));
                self.edges.get_mut(&(a, b)).map(|old| *old = weight).is_some()
            }
            Op::RemoveEdge(u, v) => {
                let (a, b) = self.edge(u, v);
                written.insert(Item::Edge(a, b));
                self.edges.remove(&(a, b)).is_some()
            }
        }
    }
}

/// Asks a transaction of a database with numbers as keys, and with weights, for a change.
pub(crate) fn write(tx: &mut Transaction<'_>, op: Op) -> Result<(), Error> {
    match op {
        Op::AddVertex(v) => tx.add_vertex(v),
        Op::RemoveVertex(v) => tx.remove_vertex(v),
        Op::AddEdge(u, v, weight) => tx.add_weighted_edge(u, v, weight),
        Op::SetWeight(u, v, weight) => tx.set_weight(u, v, weight),
        Op::RemoveEdge(u, v) => tx.remove_edge(u, v),
    }
}

/// Reads a snapshot back through its view: every vertex, every list both ways, every weight.
///
/// # Panics
/// If the view breaks its own contract (V1-V5 of `GraphView`).
pub(crate) fn read_view(snapshot: &Snapshot, vertex: impl Fn(&Key) -> V) -> Model {
    with_view!(snapshot.view().expect("not expired"), |view| {
        let mut model = read_lists(snapshot, view, &vertex);
        assert_eq!(read_lists(snapshot, &view.flat(), &vertex), model, "flat and resolved differ");
        if !view.is_directed() {
            let once = std::mem::take(&mut model.edges).into_iter();
            model.edges = once.map(|((a, b), weight)| ((a.min(b), a.max(b)), weight)).collect();
        }
        assert_eq!(view.vertex_count() as usize, model.vertices.len());
        model
    })
}

/// The lists of a view; in an undirected one, each edge both ways.
fn read_lists<G: GraphView>(snapshot: &Snapshot, view: &G, vertex: &impl Fn(&Key) -> V) -> Model {
    let mut model = Model::new(view.is_directed());
    let mut incoming = BTreeSet::new();
    let mut entries = 0;
    for v in 0..view.vertex_bound() {
        if !view.contains(v) {
            assert_eq!((view.degree(v), view.in_degree(v)), (0, 0), "a missing vertex has edges");
            continue;
        }
        let key = |v| vertex(&snapshot.key(v).expect("not expired").expect("an end exists"));
        model.vertices.insert(key(v));
        let mut list: Vec<u32> = Vec::new();
        let _: ControlFlow<()> = view.weighted_runs(v, |ids, weights| {
            assert!(!ids.is_empty() && ids.len() == weights.len());
            for (&u, &weight) in ids.iter().zip(weights) {
                let weight = evergraph_graph::Weight::to_f64(weight);
                assert!(model.edges.insert((key(v), key(u)), weight).is_none());
            }
            list.extend(ids);
            ControlFlow::Continue(())
        });
        assert!(list.is_sorted_by(|a, b| a < b), "a list does not ascend");
        assert_eq!(view.degree(v) as usize, list.len());
        assert!(view.contiguous(v).is_none_or(|slice| slice == list));
        entries += list.len() as u64;
        let mut in_list = Vec::new();
        view.for_each_in(v, |u| in_list.push(u));
        assert!(in_list.is_sorted_by(|a, b| a < b), "an in-list does not ascend");
        assert_eq!(view.in_degree(v) as usize, in_list.len());
        incoming.extend(in_list.into_iter().map(|u| (key(u), key(v))));
    }
    assert_eq!(view.entry_count(), entries);
    assert!(incoming.iter().eq(model.edges.keys()), "in-lists and out-lists differ");
    check_ranges(view, entries);
    model
}

/// The sequential pattern over all splits passes every entry once, in order.
fn check_ranges<G: GraphView>(view: &G, entries: u64) {
    let (mut seen, mut last) = (0, None);
    for range in view.splits(7) {
        view.range(range, |v, run| {
            for &u in run {
                assert!(last < Some((v, u)), "a range is out of order");
                last = Some((v, u));
                seen += 1;
            }
            ControlFlow::Continue(())
        });
    }
    assert_eq!(seen, entries);
    check_breaks(view);
    let mut incoming = 0;
    for range in view.splits(1000) {
        view.in_range(range, |_, run| {
            incoming += run.len() as u64;
            ControlFlow::Continue(())
        });
    }
    assert_eq!(incoming, entries);
}

/// Whoever breaks sees the start of each list, once.
fn check_breaks<G: GraphView>(view: &G) {
    let mut starts = Vec::new();
    view.range(0..view.vertex_bound(), |v, run| {
        starts.push((v, run[0]));
        ControlFlow::Break(())
    });
    let start = |v| view.runs(v, |run| ControlFlow::Break((v, run[0]))).break_value();
    assert!((0..view.vertex_bound()).filter_map(start).eq(starts));
}

/// Ingests a change; with a weight if edges carry one.
pub(crate) fn ingest(
    into: &Ingest,
    op: Op,
    weighted: bool,
    key: impl Fn(V) -> Key,
) -> Result<(), Error> {
    match op {
        Op::AddEdge(u, v, weight) if weighted => into.add_weighted_edge(&key(u), &key(v), weight),
        Op::AddEdge(u, v, _) => into.add_edge(&key(u), &key(v)),
        Op::SetWeight(u, v, weight) => into.set_weight(&key(u), &key(v), weight),
        Op::RemoveEdge(u, v) => into.remove_edge(&key(u), &key(v)),
        Op::AddVertex(_) | Op::RemoveVertex(_) => panic!("{op:?} is not ingested"),
    }
}
