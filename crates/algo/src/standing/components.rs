//! Connected components that stand, by a spanning forest.
//!
//! # Method
//! Every component is spanned by a tree. A removed edge that is in no tree cannot part anything;
//! one that is in a tree cuts it. The pieces of a component are then compared two at a time: both
//! search for an edge that leads out of their piece, the one that has looked at fewer edges first.
//! What is found hangs one piece on another; a piece that has searched itself through is a
//! component of its own. After that every added edge between two components joins their trees.
//!
//! # Invariants
//!   - `labels` is what [`crate::wcc()`] says: the smallest id of the component.
//!   - `parents` is a forest of edges of the graph, directions ignored; two vertices are in one
//!     tree exactly if they have one label.
//!   - `sizes[label]` is how many vertices have the label.

use std::collections::HashSet;
use std::ops::ControlFlow;

use evergraph_graph::{GraphChanges, GraphView, VertexId};

use super::{NO_PARENT, Patience, Standing, around, joined};
use crate::wcc::NO_COMPONENT;
use crate::{AlgoError, Cancel, WccConfig, WccOutput, wcc};

/// A component with fewer than one in so many vertices gets another label by a search through it,
/// any other by one pass over all labels: a step of a search costs some tens of steps of a pass.
const SEARCH_SHARE: usize = 32;

/// The component of every vertex.
#[derive(Clone, Debug)]
pub struct Components {
    output: WccOutput,
    parents: Vec<VertexId>,
    sizes: Vec<u32>,
}

impl Standing for Components {
    type Config = ();
    type Output<'a> = &'a WccOutput;

    fn new<G: GraphView>(view: &G, (): &(), cancel: &Cancel) -> Result<Self, AlgoError> {
        let output = wcc(view, &WccConfig { cancel: cancel.clone(), ..WccConfig::default() })?;
        let mut patience = Patience::new(cancel);
        let bound = view.vertex_bound();
        let mut parents = vec![NO_PARENT; bound as usize];
        let mut sizes = vec![0; bound as usize];
        for root in (0..bound).filter(|&v| output.labels[v as usize] == v) {
            let mut queue = vec![root];
            while let Some(v) = queue.pop() {
                patience.step()?;
                sizes[root as usize] += 1;
                let _: ControlFlow<()> = around(view, v, |u| {
                    if u != root && parents[u as usize] == NO_PARENT {
                        parents[u as usize] = v;
                        queue.push(u);
                    }
                    ControlFlow::Continue(())
                });
            }
        }
        Ok(Self { output, parents, sizes })
    }

    /// Time: for every tree edge that is cut, that of searching the smaller piece or of finding
    /// another edge; for every label that goes to many others, a pass over the labels.
    fn update<G: GraphView>(
        &mut self,
        _before: &G,
        after: &G,
        changes: &GraphChanges,
        cancel: &Cancel,
    ) -> Result<(), AlgoError> {
        let mut patience = Patience::new(cancel);
        self.grow(after.vertex_bound() as usize);
        for &v in &changes.added_vertices {
            self.output.labels[v as usize] = v;
            self.sizes[v as usize] = 1;
            self.output.components += 1;
        }
        let cuts = self.cut(after, &changes.removed_edges);
        for piece in cuts.chunk_by(|a, b| a.label == b.label) {
            self.mend(after, piece, &mut patience)?;
        }
        for &v in &changes.removed_vertices {
            assert_eq!(self.sizes[v as usize], 1, "the edges of {v} were removed with it");
            self.output.labels[v as usize] = NO_COMPONENT;
            self.sizes[v as usize] = 0;
            self.output.components -= 1;
        }
        for &(u, v) in &changes.added_edges {
            patience.step()?;
            self.unite(after, u, v);
        }
        Ok(())
    }

    fn output(&self) -> &WccOutput {
        &self.output
    }
}

/// A tree edge that is gone, and the component it was in.
struct Cut {
    label: VertexId,
    child: VertexId,
    parent: VertexId,
}

impl Components {
    fn grow(&mut self, bound: usize) {
        self.output.labels.resize(bound, NO_COMPONENT);
        self.parents.resize(bound, NO_PARENT);
        self.sizes.resize(bound, 0);
    }

    fn label(&self, v: VertexId) -> VertexId {
        self.output.labels[v as usize]
    }

    /// The root of the tree of `v`.
    fn root(&self, mut v: VertexId) -> VertexId {
        while self.parents[v as usize] != NO_PARENT {
            v = self.parents[v as usize];
        }
        v
    }

    /// Makes `v` the root of its tree, and hangs it on `parent`.
    fn hang(&mut self, mut v: VertexId, mut parent: VertexId) {
        while v != NO_PARENT {
            let above = std::mem::replace(&mut self.parents[v as usize], parent);
            (v, parent) = (above, v);
        }
    }

    /// Cuts the removed edges out of the trees; those that were in one, by component.
    fn cut<G: GraphView>(&mut self, after: &G, removed: &[(VertexId, VertexId)]) -> Vec<Cut> {
        let mut cuts = Vec::new();
        for &(u, v) in removed {
            for (child, parent) in [(u, v), (v, u)] {
                if self.parents[child as usize] == parent && !joined(after, child, parent) {
                    self.parents[child as usize] = NO_PARENT;
                    cuts.push(Cut { label: self.label(child), child, parent });
                }
            }
        }
        cuts.sort_by_key(|cut| cut.label);
        cuts
    }

    /// Joins the pieces of one component again where the graph does.
    fn mend<G: GraphView>(
        &mut self,
        after: &G,
        cuts: &[Cut],
        patience: &mut Patience<'_>,
    ) -> Result<(), AlgoError> {
        let mut rest = cuts[0].parent;
        for v in cuts.iter().map(|cut| cut.child).chain(cuts.iter().map(|cut| cut.parent)) {
            if self.label(v) == self.label(rest) {
                rest = self.compare(after, (rest, v), patience)?;
            }
        }
        Ok(())
    }

    /// Finds out whether the pieces of two vertices hang together. If not, one of them becomes a
    /// component; answers a vertex of what may still be more.
    fn compare<G: GraphView>(
        &mut self,
        after: &G,
        (rest, other): (VertexId, VertexId),
        patience: &mut Patience<'_>,
    ) -> Result<VertexId, AlgoError> {
        let (mut of_rest, mut of_other) = (Search::new(rest), Search::new(other));
        while self.root(rest) != self.root(other) {
            patience.step()?;
            let (side, left) = if of_other.looked <= of_rest.looked {
                (&mut of_other, rest)
            } else {
                (&mut of_rest, other)
            };
            if !side.step(self, after) {
                self.part(&side.found);
                return Ok(left);
            }
        }
        Ok(rest)
    }

    /// Makes a component of a part of one.
    fn part(&mut self, members: &[VertexId]) {
        let count = members.len() as u32;
        let (old, least) = (self.label(members[0]), members.iter().copied().min());
        let least = least.unwrap_or(old);
        let mut of_rest = old;
        if least == old {
            // The rest loses its smallest id.
            for &v in members {
                self.output.labels[v as usize] = NO_COMPONENT;
            }
            let bound = self.parents.len() as VertexId;
            of_rest = (old..bound).find(|&v| self.label(v) == old).unwrap_or(old);
            self.rename_all(old, of_rest);
        }
        self.sizes[of_rest as usize] = self.sizes[old as usize] - count;
        self.sizes[least as usize] = count;
        for &v in members {
            self.output.labels[v as usize] = least;
        }
        self.output.components += 1;
    }

    /// Joins the components of the ends of an edge.
    fn unite<G: GraphView>(&mut self, after: &G, u: VertexId, v: VertexId) {
        let (a, b) = (self.label(u), self.label(v));
        if a == b {
            return;
        }
        let (low, high, end) = if a < b { (a, b, v) } else { (b, a, u) };
        let (small, large) =
            if self.sizes[a as usize] < self.sizes[b as usize] { (u, v) } else { (v, u) };
        self.hang(small, large);
        if self.sizes[high as usize] as usize * SEARCH_SHARE < self.parents.len() {
            self.rename_around(after, end, low);
        } else {
            self.rename_all(high, low);
        }
        self.sizes[low as usize] += std::mem::take(&mut self.sizes[high as usize]);
        self.output.components -= 1;
    }

    /// Gives a label to all vertices that have another one.
    fn rename_all(&mut self, from: VertexId, to: VertexId) {
        for label in &mut self.output.labels {
            *label = if *label == from { to } else { *label };
        }
    }

    /// As [`Components::rename_all`], by a search through the component of `v`.
    fn rename_around<G: GraphView>(&mut self, after: &G, v: VertexId, to: VertexId) {
        let from = self.label(v);
        let labels = &mut self.output.labels;
        labels[v as usize] = to;
        let mut queue = vec![v];
        while let Some(v) = queue.pop() {
            let _: ControlFlow<()> = around(after, v, |u| {
                if labels[u as usize] == from {
                    labels[u as usize] = to;
                    queue.push(u);
                }
                ControlFlow::Continue(())
            });
        }
    }
}

/// A search through a piece, for an edge that leads out of it. Only edges within the old component
/// count.
struct Search {
    /// All that was found, in the order in which it is looked at.
    found: Vec<VertexId>,
    known: HashSet<VertexId>,
    /// How many of the found ones were looked at.
    done: usize,
    /// How many edges were.
    looked: u64,
}

impl Search {
    fn new(start: VertexId) -> Self {
        Self { found: vec![start], known: HashSet::from([start]), done: 0, looked: 0 }
    }

    /// Looks at one vertex, and hangs the piece on another if an edge leads there; false if all
    /// were looked at.
    fn step<G: GraphView>(&mut self, forest: &mut Components, after: &G) -> bool {
        let Some(&v) = self.found.get(self.done) else { return false };
        let (root, label) = (forest.root(v), forest.label(v));
        let way_out = around(after, v, |u| {
            self.looked += 1;
            if forest.label(u) == label && self.known.insert(u) {
                self.found.push(u);
                if forest.root(u) != root {
                    return ControlFlow::Break(u);
                }
            }
            ControlFlow::Continue(())
        });
        match way_out {
            // The other edges of `v` are looked at in the next step.
            ControlFlow::Break(u) => forest.hang(v, u),
            ControlFlow::Continue(()) => self.done += 1,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::undirected;

    #[test]
    fn pieces_that_hung_together_by_a_third_part_too() {
        // 1 - 0 - 2 loses both edges: 1 and 2 are compared though no removed edge joins them.
        let (before, after) = (undirected(3, &[(0, 1), (0, 2)]), undirected(3, &[]));
        let mut components =
            Components::new(&before, &(), &Cancel::default()).expect("nothing to refuse");
        let removed_edges = vec![(0, 1), (0, 2)];
        let changes = GraphChanges { removed_edges, ..GraphChanges::default() };
        let cancel = Cancel::default();
        components.update(&before, &after, &changes, &cancel).expect("nothing to refuse");
        assert_eq!(components.output().labels, [0, 1, 2]);
        assert_eq!(components.output().components, 3);
    }

    #[test]
    fn the_rest_gets_its_own_smallest_id() {
        let before = undirected(5, &[(0, 3), (3, 4), (4, 2), (1, 2)]);
        let after = undirected(5, &[(3, 4), (4, 2), (1, 2)]);
        let mut components =
            Components::new(&before, &(), &Cancel::default()).expect("nothing to refuse");
        let removed_edges = vec![(0, 3)];
        let changes = GraphChanges { removed_edges, ..GraphChanges::default() };
        let cancel = Cancel::default();
        components.update(&before, &after, &changes, &cancel).expect("nothing to refuse");
        assert_eq!(components.output().labels, [0, 1, 1, 1, 1]);
    }
}
