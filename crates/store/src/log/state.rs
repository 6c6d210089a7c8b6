//! The graph at a version, put together from a checkpoint and the commits after it.
//!
//! # Steps
//!   1. A checkpoint gives the vertices, and the edges in order.
//!   2. The commits after it, up to the version wanted, become edits: vertices at once, edges into
//!      a list.
//!   3. The edits are sorted, so that the last one of each edge is known, and merged with the edges:
//!      so many at a time that whoever wants to stop is heard soon.
//! # Invariants
//!   - An undirected edge stands once, with the lower id first.
//!   - Edges are strictly ascending.

use std::io;
use std::ops::Range;

use evergraph_graph::{Key, KeyKind, KeyRef, VertexId};
use rayon::prelude::*;

use super::record::{Item, Malformed, Shape, Source};
use super::segment::Batch;
use crate::checkpoint;
use crate::engine::fat_tree::Directed;
use crate::folder::Schema;
use crate::{Result, Version};

/// An edge, with its weight.
pub(crate) type Edge = (VertexId, VertexId, f64);

/// Edges that one task merges.
const EDGES_PER_TASK: usize = 1 << 16;

/// Edits that are sorted at a time, unless one vertex has more: that takes a tenth of a second.
const EDITS_PER_STEP: usize = 1 << 20;

/// Ranges of sources, at most, from which those of the steps are made.
const RANGES: u32 = 1 << 12;

/// The graph at a version.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) schema: Schema,
    pub(crate) version: u64,
    /// When that version was written, in microseconds since 1970.
    pub(crate) time: u64,
    pub(crate) vertices: Vertices,
    pub(crate) edges: Vec<Edge>,
    /// How far readers of the log are.
    pub(crate) positions: Vec<(Box<str>, Version)>,
    edits: Vec<Edit>,
}

/// The vertices: which ids are there, and the keys, also of some that are gone.
#[derive(Debug, Default)]
pub(crate) struct Vertices {
    /// A bit per id.
    pub(crate) live: Vec<u64>,
    /// The key of each id that was given out, unless the id is the key.
    pub(crate) keys: Vec<Option<Key>>,
    /// Every id is less.
    pub(crate) bound: u32,
}

/// A change of an edge; no weight if it is taken out.
#[derive(Clone, Copy, Debug)]
struct Edit {
    source: VertexId,
    target: VertexId,
    weight: Option<f64>,
}

impl Vertices {
    fn cover(&mut self, id: VertexId) {
        self.bound = self.bound.max(id + 1);
        let words = (self.bound as usize).div_ceil(64);
        if self.live.len() < words {
            self.live.resize(words, 0);
        }
    }

    /// Whether there is such a vertex.
    pub(crate) fn contains(&self, id: VertexId) -> bool {
        self.live.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.live.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(crate) fn set(&mut self, id: VertexId, live: bool) {
        self.cover(id);
        let bit = 1 << (id % 64);
        let word = &mut self.live[id as usize / 64];
        *word = if live { *word | bit } else { *word & !bit };
    }

    /// All ids below `bound`.
    pub(crate) fn set_all(&mut self, ids: Range<VertexId>) {
        ids.for_each(|id| self.set(id, true));
    }

    pub(crate) fn name(&mut self, id: VertexId, key: KeyRef<'_>) {
        self.cover(id);
        if self.keys.len() <= id as usize {
            self.keys.resize(id as usize + 1, None);
        }
        self.keys[id as usize] = Some(key.to_owned());
    }
}

impl State {
    /// The graph before the first commit.
    pub(crate) fn initial(schema: Schema) -> Self {
        let mut vertices = Vertices::default();
        vertices.set_all(0..schema.dense);
        Self::new(schema, (0, 0), vertices, Vec::new())
    }

    /// A graph with edges as the invariants want them.
    pub(crate) fn new(
        schema: Schema,
        (version, time): (u64, u64),
        vertices: Vertices,
        edges: Vec<Edge>,
    ) -> Self {
        let (positions, edits) = (Vec::new(), Vec::new());
        Self { schema, version, time, vertices, edges, positions, edits }
    }

    /// A copy of a graph.
    pub(crate) fn copied(
        schema: Schema,
        version: u64,
        graph: &impl checkpoint::Graph,
    ) -> io::Result<Self> {
        let mut vertices = Vertices::default();
        graph.vertices(&mut |id, live, key| {
            if schema.keys != KeyKind::Dense {
                vertices.name(id, key.as_ref());
            }
            vertices.set(id, live);
            Ok(())
        })?;
        graph.ranges(&mut |first, count| {
            vertices.set_all(first..first + count);
            Ok(())
        })?;
        let mut edges = Vec::new();
        graph.edges(&mut |edge| {
            edges.push(edge);
            Ok(())
        })?;
        Ok(Self::new(schema, (version, 0), vertices, edges))
    }

    /// Takes the commits of a batch in, up to a version. Those at or before that of the state
    /// are passed over.
    pub(crate) fn take(&mut self, batch: &Batch<'_>, limit: u64) -> Result<(), Malformed> {
        let mut source = Source::new(batch.payload, self.schema.shape());
        for version in batch.header.versions() {
            let wanted = version > self.version && version <= limit;
            source.record(|item| {
                if wanted {
                    self.apply(item);
                }
                Ok(())
            })?;
            if wanted {
                (self.version, self.time) = (version, batch.header.time);
            }
        }
        source.end()
    }

    fn apply(&mut self, item: Item<'_>) {
        match item {
            Item::AddVertex(id, key) => {
                if self.schema.keys != KeyKind::Dense {
                    self.vertices.name(id, key);
                }
                self.vertices.set(id, true);
            }
            Item::RemoveVertex(id) => self.vertices.set(id, false),
            Item::AddEdge(source, target, weight) | Item::SetWeight(source, target, weight) => {
                self.edit(source, target, Some(weight));
            }
            Item::RemoveEdge(source, target) => self.edit(source, target, None),
            Item::Position(name, version) => self.set_position(name, Version(version)),
        }
    }

    pub(crate) fn set_position(&mut self, name: &str, version: Version) {
        self.positions.retain(|(other, _)| **other != *name);
        self.positions.push((name.into(), version));
    }

    fn edit(&mut self, source: VertexId, target: VertexId, weight: Option<f64>) {
        let (source, target) = self.schema.in_order(source, target);
        self.edits.push(Edit { source, target, weight });
    }

    /// Whether every edge ends at vertices that are there.
    pub(crate) fn is_whole(&self) -> bool {
        let vertices = &self.vertices;
        let is_whole = |edge: &Edge| vertices.contains(edge.0) && vertices.contains(edge.1);
        self.edges.par_iter().all(is_whole)
    }

    /// Takes away what can not be: edges with an end that is no vertex; how many.
    pub(crate) fn drop_dangling(&mut self) -> u64 {
        let before = self.edges.len();
        let vertices = &self.vertices;
        self.edges.retain(|edge| vertices.contains(edge.0) && vertices.contains(edge.1));
        (before - self.edges.len()) as u64
    }

    /// Merges what was taken in with the edges. `heard` is called after each step; with its error it ends, and the state is of no use.
    pub(crate) fn settle(&mut self, heard: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let edits = std::mem::take(&mut self.edits);
        if edits.is_empty() {
            return Ok(());
        }
        let edges = std::mem::take(&mut self.edges);
        let mut left = &edges[..];
        let mut merged = Vec::new();
        for (end, mut edits) in steps(edits, EDITS_PER_STEP) {
            let (of_step, after) = left.split_at(left.partition_point(|edge| edge.0 < end));
            left = after;
            // Stable: the last edit of an edge stays the last.
            edits.par_sort_by_key(|edit| (edit.source, edit.target));
            let tasks = tasks(of_step, &edits).into_par_iter();
            let of_tasks = tasks.map(|(edges, edits)| merge(edges, edits));
            merged.extend(of_tasks.collect::<Vec<_>>());
            heard()?;
        }
        self.edges = merged.concat();
        Ok(())
    }
}

/// Cuts edits, in their order, into those of ascending ranges of sources, each with the end of its
/// range: `size` edits at most, or those of few sources. Nothing comes after the last range.
fn steps(edits: Vec<Edit>, size: usize) -> Vec<(VertexId, Vec<Edit>)> {
    let last = edits.iter().map(|edit| edit.source).max().unwrap_or(0);
    if edits.len() <= size {
        return vec![(VertexId::MAX, edits)];
    }
    let width = last / RANGES + 1;
    let mut counts = vec![0_usize; (last / width) as usize + 1];
    for edit in &edits {
        counts[(edit.source / width) as usize] += 1;
    }
    let mut steps: Vec<(VertexId, Vec<Edit>)> = Vec::new();
    let mut lengths: Vec<usize> = Vec::new();
    let step_of: Vec<usize> = (1..)
        .zip(counts)
        .map(|(range, count)| {
            match (lengths.last_mut(), steps.last_mut()) {
                (Some(length), Some(step)) if *length + count <= size => {
                    *length += count;
                    step.0 = range * width;
                }
                _ => {
                    lengths.push(count);
                    steps.push((range * width, Vec::new()));
                }
            }
            steps.len() - 1
        })
        .collect();
    for (step, length) in steps.iter_mut().zip(lengths) {
        step.1.reserve_exact(length);
    }
    if let Some(step) = steps.last_mut() {
        step.0 = VertexId::MAX;
    }
    for edit in edits {
        steps[step_of[(edit.source / width) as usize]].1.push(edit);
    }
    steps
}

/// Cuts edges and edits at the same places.
fn tasks<'a>(edges: &'a [Edge], edits: &'a [Edit]) -> Vec<(&'a [Edge], &'a [Edit])> {
    let mut tasks = Vec::new();
    let (mut edges, mut edits) = (edges, edits);
    while edges.len() + edits.len() > 2 * EDGES_PER_TASK {
        let of_edges = edges.get(EDGES_PER_TASK).map(|edge| (edge.0, edge.1));
        let of_edits = edits.get(EDGES_PER_TASK).map(|edit| (edit.source, edit.target));
        let at = match (of_edges, of_edits) {
            (Some(edge), Some(edit)) => edge.min(edit),
            (at, other) => at.or(other).expect("one of them is longer than a task"),
        };
        let (first_edges, left) =
            edges.split_at(edges.partition_point(|edge| (edge.0, edge.1) < at));
        let (first_edits, left_edits) =
            edits.split_at(edits.partition_point(|edit| (edit.source, edit.target) < at));
        if first_edges.is_empty() && first_edits.is_empty() {
            break; // one edge was edited so often
        }
        tasks.push((first_edges, first_edits));
        (edges, edits) = (left, left_edits);
    }
    tasks.push((edges, edits));
    tasks
}

fn merge(edges: &[Edge], edits: &[Edit]) -> Vec<Edge> {
    let mut merged = Vec::with_capacity(edges.len() + edits.len());
    let mut edges = edges.iter().copied().peekable();
    for of_edge in edits.chunk_by(|a, b| (a.source, a.target) == (b.source, b.target)) {
        let last = of_edge[of_edge.len() - 1];
        let at = (last.source, last.target);
        while let Some(edge) = edges.next_if(|edge| (edge.0, edge.1) < at) {
            merged.push(edge);
        }
        edges.next_if(|edge| (edge.0, edge.1) == at);
        if let Some(weight) = last.weight {
            merged.push((last.source, last.target, weight));
        }
    }
    merged.extend(edges);
    merged
}

impl Schema {
    /// What decides how long fields are.
    pub(crate) fn shape(self) -> Shape {
        Shape { keys: self.keys, weights: self.weights }
    }

    /// The ends of an edge, the lower id first if it has no direction.
    pub(crate) fn in_order(self, source: VertexId, target: VertexId) -> (VertexId, VertexId) {
        match self.directed {
            Directed::No if source > target => (target, source),
            _ => (source, target),
        }
    }
}

impl checkpoint::Graph for State {
    fn vertices(
        &self,
        take: &mut dyn FnMut(VertexId, bool, &Key) -> io::Result<()>,
    ) -> io::Result<()> {
        let keyed = (0..self.vertices.bound).zip(&self.vertices.keys);
        let mut keyed = keyed.filter_map(|(id, key)| Some((id, key.as_ref()?)));
        keyed.try_for_each(|(id, key)| take(id, self.vertices.contains(id), key))
    }

    fn ranges(&self, take: &mut dyn FnMut(VertexId, u32) -> io::Result<()>) -> io::Result<()> {
        let mut ids = (0..self.vertices.bound).filter(|&id| self.vertices.contains(id));
        ids.try_for_each(|id| take(id, 1))
    }

    fn positions(&self) -> &[(Box<str>, Version)] {
        &self.positions
    }

    fn edges(&self, take: &mut dyn FnMut(Edge) -> io::Result<()>) -> io::Result<()> {
        self.edges.iter().try_for_each(|&edge| take(edge))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Each edit is in the step of its source, and in each step they are in their order.
    #[test]
    fn steps_keep_all_edits_in_order() {
        for seed in 0..40 {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let bound = if seed % 2 == 0 { 20 } else { 3 * RANGES };
            let edits: Vec<Edit> = (0..rng.random_range(0..400_u32))
                .map(|target| {
                    let source = rng.random_range(0..bound).min(rng.random_range(0..bound));
                    Edit { source, target, weight: None }
                })
                .collect();
            let ends = |edits: &[Edit]| -> Vec<(u32, u32)> {
                edits.iter().map(|edit| (edit.source, edit.target)).collect()
            };
            let mut expected = ends(&edits);
            expected.sort_by_key(|&(source, _)| source);
            let (mut all, mut begin) = (Vec::new(), 0);
            for (end, mut step) in steps(edits, 30) {
                let span = begin..end;
                assert!(step.iter().all(|edit| span.contains(&edit.source)), "seed {seed}");
                let ranges = step.iter().map(|edit| edit.source / (bound / RANGES + 1));
                let ranges: std::collections::BTreeSet<u32> = ranges.collect();
                assert!(step.len() <= 30 || ranges.len() == 1, "seed {seed}: {}", step.len());
                step.sort_by_key(|edit| edit.source);
                all.extend(ends(&step));
                begin = end;
            }
            assert_eq!(all, expected, "seed {seed}");
            assert_eq!(begin, VertexId::MAX, "seed {seed}");
        }
    }
}
