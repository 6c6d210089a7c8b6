//! A graph as a set of vertices and a map of edges, and what can be asked of one and done to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use evergraph::StoreError;

/// A vertex; also its key.
pub type V = u64;

/// The graph that the store must agree with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Whether edges have a direction.
    pub directed: bool,
    /// Its vertices.
    pub vertices: BTreeSet<V>,
    /// Its edges with their weights; an undirected one stands once, its smaller end first.
    pub edges: BTreeMap<(V, V), f64>,
}

/// A change, with the weight as a number or as it is to be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change<W = f64> {
    AddVertex(V),
    RemoveVertex(V),
    AddEdge(V, V, W),
    SetWeight(V, V, W),
    RemoveEdge(V, V),
}

/// The change does not fit the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misfit;

impl<W> Change<W> {
    pub(crate) fn map<X>(self, weight: impl FnOnce(W) -> X) -> Change<X> {
        match self {
            Self::AddVertex(v) => Change::AddVertex(v),
            Self::RemoveVertex(v) => Change::RemoveVertex(v),
            Self::AddEdge(u, v, w) => Change::AddEdge(u, v, weight(w)),
            Self::SetWeight(u, v, w) => Change::SetWeight(u, v, weight(w)),
            Self::RemoveEdge(u, v) => Change::RemoveEdge(u, v),
        }
    }
}

impl Graph {
    /// Vertices `1 ..= vertices`, and edges with their weights.
    pub fn new(vertices: V, edges: &[(V, V, f64)]) -> Self {
        let vertices = (1..=vertices).collect();
        let edges = edges.iter().map(|&(u, v, w)| ((u, v), w)).collect();
        Self { directed: true, vertices, edges }
    }

    /// The same without directions.
    #[must_use]
    pub fn undirected(self) -> Self {
        let edges = self.edges.into_iter().map(|((u, v), w)| ((u.min(v), u.max(v)), w)).collect();
        Self { directed: false, vertices: self.vertices, edges }
    }

    /// The name of an edge in the map.
    pub(crate) fn name(&self, u: V, v: V) -> (V, V) {
        if self.directed { (u, v) } else { (u.min(v), u.max(v)) }
    }

    /// The weight of an edge, if there is one.
    pub fn weight_of(&self, u: V, v: V) -> Option<f64> {
        self.edges.get(&self.name(u, v)).copied()
    }

    /// How many edges a vertex has, out-edges if they have a direction.
    pub fn degree_of(&self, v: V) -> usize {
        self.list_of(Side::Out, v).len()
    }

    /// Whether a way leads from one vertex to another.
    pub fn has_path(&self, from: V, to: V) -> bool {
        ask(self, &Query::Path(from, to)) == Ok(Answer::Truth(true))
    }

    fn list_of(&self, side: Side, v: V) -> Vec<(V, f64)> {
        let entry = |(&(source, target), &weight): (&(V, V), &f64)| {
            let (near, far) = if side == Side::Out { (source, target) } else { (target, source) };
            match () {
                () if near == v => Some((far, weight)),
                () if !self.directed && far == v => Some((near, weight)),
                () => None,
            }
        };
        let mut list: Vec<(V, f64)> = self.edges.iter().filter_map(entry).collect();
        list.sort_unstable_by_key(|&(other, _)| other);
        list
    }

    /// Makes a change, or nothing if it does not fit.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<(), Misfit> {
        let has_ends = |u, v| self.vertices.contains(&u) && self.vertices.contains(&v);
        let fits = match *change {
            Change::AddVertex(v) => self.vertices.insert(v),
            Change::RemoveVertex(v) => {
                self.edges.retain(|&(source, target), _| source != v && target != v);
                self.vertices.remove(&v)
            }
            Change::AddEdge(u, v, weight) => {
                let may = has_ends(u, v);
                may && self.edges.insert(self.name(u, v), weight).is_none()
            }
            Change::SetWeight(u, v, weight) => {
                let name = self.name(u, v);
                self.edges.get_mut(&name).map(|old| *old = weight).is_some()
            }
            Change::RemoveEdge(u, v) => self.edges.remove(&self.name(u, v)).is_some(),
        };
        if fits { Ok(()) } else { Err(Misfit) }
    }
}

/// Which of the lists of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Out,
    In,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Query {
    Vertex(V),
    Edge(V, V),
    Weight(V, V),
    Degree(Side, V),
    List(Side, V),
    /// Out-neighbours by edges of at least this weight.
    Heavy(V, f64),
    /// Which of these vertices exist.
    Vertices(Range<V>),
    /// Which vertices exist at all.
    AllVertices,
    /// Which keys lie in a range.
    Keys(Range<V>),
    /// How many edges there are.
    EdgeCount,
    /// Whether a way leads from one to another.
    Path(V, V),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Truth(bool),
    Weight(Option<f64>),
    Count(u32),
    List(Vec<(V, f64)>),
    /// There is no such vertex.
    Unknown,
}

impl Answer {
    /// Whether it says that something is there.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Weight(weight) => weight.is_some(),
            Self::Count(count) => *count > 0,
            Self::List(list) => !list.is_empty(),
            Self::Unknown => false,
        }
    }

    /// The answer as a number; of a list, the sum of its weights.
    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Truth(truth) => f64::from(u8::from(*truth)),
            Self::Weight(weight) => weight.unwrap_or(0.0),
            Self::Count(count) => f64::from(*count),
            Self::List(list) => list.iter().map(|(_, weight)| weight).sum(),
            Self::Unknown => 0.0,
        }
    }
}

/// What answers: a graph, a transaction, a snapshot. `None` stands for a vertex that is not there.
pub(crate) trait Look {
    fn has_vertex(&self, v: V) -> Result<bool, StoreError>;
    fn vertices(&self) -> Result<BTreeSet<V>, StoreError>;
    /// In the order of the keys.
    fn vertices_in(&self, range: Range<V>) -> Result<Vec<V>, StoreError>;
    fn edge_count(&self) -> Result<u64, StoreError>;
    /// An [`Answer::Weight`].
    fn weight(&self, u: V, v: V) -> Result<Option<Answer>, StoreError>;
    fn degree(&self, side: Side, v: V) -> Result<Option<u32>, StoreError>;
    /// In the order of the vertices.
    fn list(&self, side: Side, v: V) -> Result<Option<Vec<(V, f64)>>, StoreError>;
}

impl Look for Graph {
    fn has_vertex(&self, v: V) -> Result<bool, StoreError> {
        Ok(self.vertices.contains(&v))
    }

    fn vertices(&self) -> Result<BTreeSet<V>, StoreError> {
        Ok(self.vertices.clone())
    }

    fn vertices_in(&self, range: Range<V>) -> Result<Vec<V>, StoreError> {
        Ok(self.vertices.range(range).copied().collect())
    }

    fn edge_count(&self) -> Result<u64, StoreError> {
        Ok(self.edges.len() as u64)
    }

    fn weight(&self, u: V, v: V) -> Result<Option<Answer>, StoreError> {
        let known = self.vertices.contains(&u) && self.vertices.contains(&v);
        Ok(known.then(|| Answer::Weight(self.weight_of(u, v))))
    }

    fn degree(&self, side: Side, v: V) -> Result<Option<u32>, StoreError> {
        Ok(self.list(side, v)?.map(|list| list.len() as u32))
    }

    fn list(&self, side: Side, v: V) -> Result<Option<Vec<(V, f64)>>, StoreError> {
        Ok(self.vertices.contains(&v).then(|| self.list_of(side, v)))
    }
}

/// Asks a query; what takes several reads is the same for whoever answers.
pub(crate) fn ask(of: &impl Look, query: &Query) -> Result<Answer, StoreError> {
    let or_unknown = |answer: Option<Answer>| answer.unwrap_or(Answer::Unknown);
    Ok(match *query {
        Query::Vertex(v) => Answer::Truth(of.has_vertex(v)?),
        Query::Edge(u, v) => {
            or_unknown(of.weight(u, v)?.map(|weight| Answer::Truth(weight.is_there())))
        }
        Query::Weight(u, v) => or_unknown(of.weight(u, v)?),
        Query::Degree(side, v) => or_unknown(of.degree(side, v)?.map(Answer::Count)),
        Query::List(side, v) => or_unknown(of.list(side, v)?.map(Answer::List)),
        Query::Heavy(v, least) => {
            let heavy = |list: Vec<(V, f64)>| list.into_iter().filter(|&(_, w)| w >= least);
            or_unknown(of.list(Side::Out, v)?.map(|list| Answer::List(heavy(list).collect())))
        }
        Query::Vertices(ref range) => {
            let mut found = Vec::new();
            for v in range.clone() {
                if of.has_vertex(v)? {
                    found.push((v, 1.0));
                }
            }
            Answer::List(found)
        }
        Query::AllVertices => Answer::List(of.vertices()?.into_iter().map(|v| (v, 1.0)).collect()),
        Query::Keys(ref range) => {
            let keys = of.vertices_in(range.clone())?;
            Answer::List(keys.into_iter().map(|v| (v, 1.0)).collect())
        }
        Query::EdgeCount => Answer::Count(of.edge_count()? as u32),
        Query::Path(from, to) => Answer::Truth(has_path(of, from, to)?),
    })
}

fn has_path(of: &impl Look, from: V, to: V) -> Result<bool, StoreError> {
    let mut seen = BTreeSet::from([from]);
    let mut queue = VecDeque::from([from]);
    while let Some(v) = queue.pop_front() {
        for (next, _) in of.list(Side::Out, v)?.unwrap_or_default() {
            if next == to {
                return Ok(true);
            }
            if seen.insert(next) {
                queue.push_back(next);
            }
        }
    }
    Ok(false)
}
