//! Standing results: answers that follow a graph while it changes.
//!
//! A result is computed once, and from then on brought from one state of the graph to the next by
//! looking at what changed and at what lies around it. It is the same as the kernel's answer on
//! the state it stands at; for ranks, up to a tolerance. The methods, and the papers they come
//! from, are in `docs/design/standing.md`.
//!
//! ```
//! use evergraph_algo::Cancel;
//! use evergraph_algo::standing::{Components, Standing};
//! use evergraph_graph::{Csr, EdgeList, GraphChanges, KeyTable};
//!
//! let graph = |edges: &[(u32, u32)]| -> Result<Csr, _> {
//!     let (keys, edges) = (KeyTable::dense(3), edges.to_vec());
//!     Csr::from_edges(&EdgeList { directed: false, keys, edges, weights: None })
//! };
//! let (before, after) = (graph(&[(0, 1)])?, graph(&[(1, 2)])?);
//! let mut components = Components::new(&before, &(), &Cancel::default())?;
//! assert_eq!(components.output().labels, [0, 0, 2]);
//! let changes = GraphChanges {
//!     added_edges: vec![(1, 2)],
//!     removed_edges: vec![(0, 1)],
//!     ..GraphChanges::default()
//! };
//! components.update(&before, &after, &changes, &Cancel::default())?;
//! assert_eq!(components.output().labels, [0, 1, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod components;
mod degrees;
mod distances;
mod ranks;
mod triangles;

use std::cmp::Ordering;
use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId};

use crate::{AlgoError, Cancel};

pub use components::Components;
pub use degrees::Degrees;
pub use distances::{Distances, Hops, Length, Levels, Paths, Sums};
pub use ranks::{DEFAULT_TOLERANCE, Ranks, RanksConfig, TOLERANCE_MIN};
pub use triangles::Triangles;

/// A result that follows a graph.
pub trait Standing: Sized {
    /// What is asked for.
    type Config: Clone + PartialEq;
    /// The answer.
    type Output<'a>
    where
        Self: 'a;

    /// Computes the result anew.
    ///
    /// # Errors
    /// Those of the kernel that gives the same answer.
    fn new<G: GraphView>(
        view: &G,
        config: &Self::Config,
        cancel: &Cancel,
    ) -> Result<Self, AlgoError>;

    /// Brings the result to the state `after`, which differs from `before`, where it stands, by
    /// `changes`.
    ///
    /// # Errors
    /// Those of the kernel that gives the same answer, [`AlgoError::Cancelled`] among them. The
    /// result is then of no state, and has to be computed anew.
    fn update<G: GraphView>(
        &mut self,
        before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError>;

    /// The answer for the state where the result stands.
    fn output(&self) -> Self::Output<'_>;
}

/// Marks the end of a chain of parents.
const NO_PARENT: VertexId = VertexId::MAX;

/// The edges, each once in every direction in which it can be followed.
fn arcs(
    edges: &[(VertexId, VertexId)],
    directed: bool,
) -> impl Iterator<Item = (VertexId, VertexId)> {
    edges.iter().flat_map(move |&(u, v)| {
        let back = (!directed && u != v).then_some((v, u));
        std::iter::once((u, v)).chain(back)
    })
}

/// Looks at a [`Cancel`] now and then.
struct Patience<'a> {
    cancel: &'a Cancel,
    steps: u32,
}

impl<'a> Patience<'a> {
    /// Steps between two looks: some microseconds of work.
    const STEPS: u32 = 64;

    fn new(cancel: &'a Cancel) -> Self {
        Self { cancel, steps: 0 }
    }

    /// Takes a step; an error if it is to be the last one.
    fn step(&mut self) -> Result<(), AlgoError> {
        self.steps += 1;
        if self.steps.is_multiple_of(Self::STEPS) { self.cancel.check() } else { Ok(()) }
    }
}

/// Where `v` stands in an ascending run; the search goes on if the run ends before it.
fn place(run: &[VertexId], v: VertexId) -> ControlFlow<Option<usize>> {
    match run.last().map(|last| last.cmp(&v)) {
        None | Some(Ordering::Less) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(run.binary_search(&v).ok()),
    }
}

/// Whether there is an edge from `u` to `v`. Both may be ids that the view does not know.
fn has_edge<G: GraphView>(view: &G, u: VertexId, v: VertexId) -> bool {
    u < view.vertex_bound() && view.runs(u, |run| place(run, v)).break_value().flatten().is_some()
}

/// The weight of the edge from `u` to `v`, if there is one.
fn weight<G: GraphView>(view: &G, u: VertexId, v: VertexId) -> Option<G::Weight> {
    let found = view.weighted_runs(u, |run, weights| {
        place(run, v).map_break(|place| place.map(|place| weights[place]))
    });
    found.break_value().flatten()
}

/// Whether an edge joins `u` and `v`, directions ignored.
fn joined<G: GraphView>(view: &G, u: VertexId, v: VertexId) -> bool {
    has_edge(view, u, v) || (view.is_directed() && has_edge(view, v, u))
}

/// Passes the neighbours of `v` to `f` until it breaks, directions ignored. One to which an edge
/// leads each way comes twice.
fn around<G: GraphView, B>(
    view: &G,
    v: VertexId,
    mut f: impl FnMut(VertexId) -> ControlFlow<B>,
) -> ControlFlow<B> {
    view.runs(v, |run| run.iter().try_for_each(|&u| f(u)))?;
    if view.is_directed() {
        view.in_runs(v, |run| run.iter().try_for_each(|&u| f(u)))?;
    }
    ControlFlow::Continue(())
}
