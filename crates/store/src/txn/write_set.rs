//! What a transaction asked for, in order, and what it comes to in the end.
//!
//! # Invariants
//!   - Operations take effect in the order they were asked for: what one of them needs is
//!     checked against the snapshot with all earlier ones applied.
//!   - [`WriteSet::fold`] leaves at most one change per vertex and per edge.

use evergraph_graph::VertexId;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::engine::fat_tree::{EdgeChange, Effect, Ends, Refusal, VertexChange};

/// Operations of a transaction at most: half of what one delta can hold, as an edge may be two
/// rows of the same group.
pub(crate) const OPERATIONS_MAX: usize = 1 << 25;

/// Operations of a small transaction: these many stay off the heap.
const INLINE: usize = 4;

/// What one operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    AddVertex,
    RemoveVertex,
    AddEdge(f64),
    SetWeight(f64),
    RemoveEdge,
}

/// One operation; a vertex stands in `source`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) action: Action,
    pub(super) source: VertexId,
    pub(super) target: VertexId,
    /// Which call of the user it came from.
    pub(super) call: u32,
}

impl Operation {
    fn is_of_edge(&self) -> bool {
        !matches!(self.action, Action::AddVertex | Action::RemoveVertex)
    }
}

/// The operations of a transaction.
#[derive(Default)]
pub(super) struct WriteSet {
    operations: SmallVec<[Operation; INLINE]>,
    has_vertices: bool,
}

/// What a transaction comes to.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) vertices: Vec<VertexChange>,
    pub(super) edges: SmallVec<[EdgeChange; INLINE]>,
}

/// The operations on vertices, by vertex, in order: where, and whether it was added.
type VertexHistory = HashMap<VertexId, Vec<(usize, Operation)>>;

impl WriteSet {
    pub(super) fn push(&mut self, operation: Operation) {
        self.has_vertices |= !operation.is_of_edge();
        self.operations.push(operation);
    }

    /// Whether the next operation needs a larger buffer.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.operations.len() == self.operations.capacity()
    }

    /// Bytes of the buffer, unless it lies in the transaction itself.
    pub(super) fn bytes(&self) -> usize {
        let spilled = usize::from(self.operations.spilled());
        spilled * self.operations.capacity() * size_of::<Operation>()
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// What it all comes to; `symmetric` says that an edge and its reverse are one.
    pub(super) fn fold(&self, symmetric: impl Fn() -> bool) -> Result<Folded, Refusal> {
        let mut folded = Folded::default();
        if let [operation] = self.operations.as_slice()
            && operation.is_of_edge()
        {
            let both = Ends { source: true, target: true };
            folded.edges.push(fold_edge(&[(0, *operation)], both)?);
            return Ok(folded);
        }
        let vertices = self.vertex_history();
        for history in vertices.values() {
            folded.vertices.push(fold_vertex(history)?);
        }
        self.fold_edges(&vertices, symmetric(), &mut folded.edges)?;
        Ok(folded)
    }

    fn vertex_history(&self) -> VertexHistory {
        let mut history = VertexHistory::new();
        if self.has_vertices {
            for (at, operation) in self.operations.iter().enumerate() {
                if !operation.is_of_edge() {
                    history.entry(operation.source).or_default().push((at, *operation));
                }
            }
        }
        history
    }

    fn fold_edges(
        &self,
        vertices: &VertexHistory,
        symmetric: bool,
        edges: &mut SmallVec<[EdgeChange; INLINE]>,
    ) -> Result<(), Refusal> {
        let of_edges = self.operations.iter().enumerate().filter(|(_, o)| o.is_of_edge());
        let mut keyed: Vec<(u64, u32)> = of_edges
            .map(|(at, &Operation { source, target, .. })| {
                let (a, b) =
                    if symmetric && source > target { (target, source) } else { (source, target) };
                (u64::from(a) << 32 | u64::from(b), at as u32)
            })
            .collect();
        keyed.sort_unstable();
        edges.reserve_exact(keyed.len());
        let mut history = Vec::new();
        for of_edge in keyed.chunk_by(|a, b| a.0 == b.0) {
            history.clear();
            let operation = |&(_, at): &(u64, u32)| (at as usize, self.operations[at as usize]);
            history.extend(of_edge.iter().map(operation));
            let needs = needed_ends(&history, vertices)?;
            edges.push(fold_edge(&history, needs)?);
        }
        Ok(())
    }
}

/// Which ends must exist in the snapshot, and whether the others do when they are needed.
fn needed_ends(history: &[(usize, Operation)], vertices: &VertexHistory) -> Result<Ends, Refusal> {
    let mut needs = Ends { source: false, target: false };
    for &(at, operation) in history {
        let (first, _) = (history[0].1.source, history[0].1.target);
        for end in [operation.source, operation.target] {
            let before = vertices.get(&end).and_then(|of_vertex| {
                of_vertex.iter().rev().find(|&&(vertex_at, _)| vertex_at < at)
            });
            match before.map(|(_, operation)| operation.action) {
                Some(Action::AddVertex) => {}
                Some(_) => {
                    let operation = operation.call as usize;
                    return Err(Refusal::UnknownVertex { vertex: end, operation });
                }
                None if end == first => needs.source = true,
                None => needs.target = true,
            }
        }
    }
    Ok(needs)
}

/// Follows one edge through the transaction.
fn fold_edge(history: &[(usize, Operation)], needs: Ends) -> Result<EdgeChange, Refusal> {
    let (_, first) = history[0];
    let expected = !matches!(first.action, Action::AddEdge(_));
    let mut present = expected;
    let mut weight = None;
    for (_, operation) in history {
        let Operation { source, target, call, .. } = *operation;
        let call = call as usize;
        match (operation.action, present) {
            (Action::AddEdge(_), true) => {
                return Err(Refusal::DuplicateEdge { source, target, operation: call });
            }
            (Action::SetWeight(_) | Action::RemoveEdge, false) => {
                return Err(Refusal::MissingEdge { source, target, operation: call });
            }
            (Action::AddEdge(new) | Action::SetWeight(new), _) => {
                (present, weight) = (true, Some(new));
            }
            _ => (present, weight) = (false, None),
        }
    }
    let effect = match (expected, present, weight) {
        (false, true, weight) => Effect::Add(weight.unwrap_or(1.0)),
        (true, false, _) => Effect::Remove,
        (true, true, Some(weight)) => Effect::Set(weight),
        _ => Effect::None,
    };
    let Operation { source, target, call, .. } = first;
    Ok(EdgeChange { source, target, expected, effect, needs, operation: call as usize })
}

/// Follows one vertex through the transaction.
fn fold_vertex(history: &[(usize, Operation)]) -> Result<VertexChange, Refusal> {
    let (_, first) = history[0];
    let vertex = first.source;
    let expected = first.action == Action::RemoveVertex;
    let mut present = expected;
    for (_, operation) in history {
        let adds = operation.action == Action::AddVertex;
        let operation = operation.call as usize;
        match (adds, present) {
            (true, true) => return Err(Refusal::DuplicateVertex { vertex, operation }),
            (false, false) => return Err(Refusal::UnknownVertex { vertex, operation }),
            _ => present = adds,
        }
    }
    let operation = first.call as usize;
    Ok(VertexChange { vertex, expected, present, removed: expected, operation })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn write_set(operations: &[(Action, u32, u32)]) -> WriteSet {
        let mut set = WriteSet::default();
        for (call, &(action, source, target)) in operations.iter().enumerate() {
            set.push(Operation { action, source, target, call: call as u32 });
        }
        set
    }

    #[test]
    fn an_edge_is_followed_through_the_transaction() {
        use Action::{AddEdge, RemoveEdge, SetWeight};
        let effect = |actions: &[Action]| {
            let operations: Vec<_> = actions.iter().map(|&action| (action, 1, 2)).collect();
            let folded = write_set(&operations).fold(|| false);
            folded.map(|folded| (folded.edges[0].expected, folded.edges[0].effect))
        };
        assert_eq!(effect(&[AddEdge(1.0)]), Ok((false, Effect::Add(1.0))));
        assert_eq!(effect(&[AddEdge(1.0), SetWeight(2.0)]), Ok((false, Effect::Add(2.0))));
        assert_eq!(effect(&[AddEdge(1.0), RemoveEdge]), Ok((false, Effect::None)));
        assert_eq!(effect(&[RemoveEdge, AddEdge(3.0)]), Ok((true, Effect::Set(3.0))));
        assert_eq!(effect(&[RemoveEdge]), Ok((true, Effect::Remove)));
        let (source, target) = (1, 2);
        let twice = Refusal::DuplicateEdge { source, target, operation: 1 };
        assert_eq!(effect(&[SetWeight(1.0), AddEdge(1.0)]), Err(twice));
        let missing = Refusal::MissingEdge { source, target, operation: 1 };
        assert_eq!(effect(&[RemoveEdge, RemoveEdge]), Err(missing));
    }

    #[test]
    fn an_undirected_edge_is_the_same_both_ways() {
        let set = write_set(&[(Action::AddEdge(1.0), 1, 2), (Action::RemoveEdge, 2, 1)]);
        let folded = set.fold(|| true).expect("in order");
        assert_eq!((folded.edges.len(), folded.edges[0].effect), (1, Effect::None));
        assert_eq!(set.fold(|| false).map(|f| f.edges.len()).ok(), Some(2));
    }

    #[test]
    fn operations_on_vertices_and_edges_keep_their_order() {
        use Action::{AddEdge, AddVertex, RemoveVertex};
        let early = write_set(&[(RemoveVertex, 1, 1), (AddEdge(1.0), 1, 2)]);
        let unknown = Refusal::UnknownVertex { vertex: 1, operation: 1 };
        assert_eq!(early.fold(|| false).map(|_| ()), Err(unknown));
        let set = write_set(&[(RemoveVertex, 1, 1), (AddVertex, 1, 1), (AddEdge(1.0), 1, 2)]);
        let folded = set.fold(|| false).expect("in order");
        assert_eq!(folded.edges[0].needs, Ends { source: false, target: true });
        let vertex = folded.vertices[0];
        assert!(vertex.expected && vertex.present && vertex.removed);
    }
}
