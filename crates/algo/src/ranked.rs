//! A copy of a graph made for meeting neighbours of neighbours: undirected, without self loops,
//! numbered by degree.
//!
//! # Method
//! Vertices are numbered by falling degree, so rank 0 is the largest hub. A row is cut in two: the
//! neighbours of lower rank (*hubs*, ascending) and those of higher rank (*spokes*, in any order).
//! Every edge is a hub entry of exactly one end, and no vertex has more hubs than the square root
//! of twice the edges, however skewed the graph is.
//!
//! A triangle `x < w < u` is then found once, at `w`: mark the hubs of `w`, and look through the
//! hubs of every spoke `u`, up to `w`, for marked ones.
//!
//! A directed view is read once: the two lists of a vertex are merged into one, which tells its degree,
//! and later, when degrees have given ranks, its row.
//!
//! # Encoding
//! [`Arcs`] says how many directed edges an undirected one stands for. Where that is always the
//! same it is a type of size zero, and the array of them takes no memory.
//!
//! # Paper
//! Chiba, Nishizeki: Arboricity and Subgraph Listing Algorithms, SIAM J. Computing 1985, for the
//! bound; Latapy: Main-memory Triangle Computations, TCS 2008, for the order by degree.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ops::{ControlFlow, Range};

use evergraph_graph::par::{chunks_by_range, prefix_sums, splits_by_offsets};
use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::{AlgoError, Cancel, ENTRIES_PER_TASK};

/// How many directed edges an edge of a [`Ranked`] graph stands for.
pub(crate) trait Arcs: Copy + Default + Send + Sync {
    /// From the number found in the view: 1 or 2.
    fn new(arcs: u8) -> Self;

    /// The number to count.
    fn count(self) -> u32;
}

/// Both directions, as in an undirected view.
#[derive(Clone, Copy, Default)]
pub(crate) struct Both;

impl Arcs for Both {
    fn new(_: u8) -> Self {
        Self
    }

    #[inline]
    fn count(self) -> u32 {
        2
    }
}

/// One direction or both, as a directed view has it.
impl Arcs for u8 {
    fn new(arcs: u8) -> Self {
        arcs
    }

    #[inline]
    fn count(self) -> u32 {
        u32::from(self)
    }
}

/// The copy; see the module.
pub(crate) struct Ranked<A> {
    /// The id of each rank.
    pub(crate) order: Vec<VertexId>,
    rows: Vec<Row>,
    /// Where each row starts, and the end.
    offsets: Vec<u64>,
    ends: Vec<u32>,
    arcs: Vec<A>,
}

/// Where the row of a rank lies: all that is needed to visit it in one cache line.
#[derive(Clone, Copy, Default)]
struct Row {
    start: u64,
    hubs: u32,
    degree: u32,
}

/// Spokes whose rows are fetched at a time: as many cache misses as a core keeps in flight.
const FETCH: usize = 16;

impl<A: Arcs> Ranked<A> {
    /// Copies a view. Time O(V + E log d); a directed one is copied twice for a while.
    pub(crate) fn new<G: GraphView>(view: &G, cancel: &Cancel) -> Result<Self, AlgoError> {
        let flat = view.flat();
        let source = Source::new(&flat);
        let degrees = source.degrees();
        cancel.check()?;
        let (order, ranks) = rank_by_degree(&degrees);
        cancel.check()?;
        let degrees: Vec<u32> = order.par_iter().map(|&v| degrees[v as usize]).collect();
        let offsets = prefix_sums(&degrees);
        let entries = offsets[degrees.len()] as usize;
        let (mut ends, mut arcs) = (vec![0; entries], vec![A::default(); entries]);
        let mut rows = vec![Row::default(); degrees.len()];
        let tasks = splits_by_offsets(&offsets, ENTRIES_PER_TASK);
        let offset = |rank: u32| offsets[rank as usize] as usize;
        tasks
            .par_iter()
            .zip(chunks_by_range(&mut ends, &tasks, offset))
            .zip(chunks_by_range(&mut arcs, &tasks, offset))
            .zip(chunks_by_range(&mut rows, &tasks, |rank| rank as usize))
            .for_each(|(((task, mut ends), mut arcs), rows)| {
                let mut scratch = Scratch::default();
                for (rank, row) in task.clone().zip(rows) {
                    let degree = degrees[rank as usize];
                    let (row_ends, rest_ends) = ends.split_at_mut(degree as usize);
                    let (row_arcs, rest_arcs) = arcs.split_at_mut(degree as usize);
                    (ends, arcs) = (rest_ends, rest_arcs);
                    scratch.gather(&source, order[rank as usize], &ranks);
                    *row = Row {
                        start: offsets[rank as usize],
                        hubs: scratch.write_row(rank, row_ends, row_arcs),
                        degree,
                    };
                }
            });
        cancel.check()?;
        Ok(Self { order, rows, offsets, ends, arcs })
    }

    /// How many neighbours the vertex of this rank has, other than itself.
    pub(crate) fn degree(&self, rank: u32) -> u32 {
        self.rows[rank as usize].degree
    }

    /// How many directed edges lead to and from the vertex of this rank, self loops apart.
    pub(crate) fn arcs(&self, rank: u32) -> u64 {
        let row = self.offsets[rank as usize] as usize..self.offsets[rank as usize + 1] as usize;
        self.arcs[row].iter().map(|arcs| u64::from(arcs.count())).sum()
    }

    /// Whether it has neighbours of lower rank and of higher rank: else it is no middle of a triangle.
    #[inline]
    pub(crate) fn is_between(&self, rank: u32) -> bool {
        let row = self.rows[rank as usize];
        row.hubs > 0 && row.hubs < row.degree
    }

    /// The neighbours of lower rank, ascending, and the arcs to them.
    #[inline]
    pub(crate) fn hubs(&self, rank: u32) -> (&[u32], &[A]) {
        self.slices(self.rows[rank as usize])
    }

    /// Passes every neighbour of higher rank, with the arcs to it, and its own hubs.
    ///
    /// The rows of a few spokes are touched before the first is passed: their cache misses
    /// overlap, where one after the other each would wait for the loop before it.
    #[inline]
    pub(crate) fn for_each_spoke(&self, rank: u32, mut f: impl FnMut(u32, A, (&[u32], &[A]))) {
        let row = self.rows[rank as usize];
        let span = row.start as usize + row.hubs as usize..self.offsets[rank as usize + 1] as usize;
        let mut rows = [Row::default(); FETCH];
        let spokes = self.ends[span.clone()].chunks(FETCH);
        for (spokes, arcs) in spokes.zip(self.arcs[span].chunks(FETCH)) {
            for (row, &spoke) in rows.iter_mut().zip(spokes) {
                *row = self.rows[spoke as usize];
            }
            let touched = rows[..spokes.len()].iter();
            std::hint::black_box(touched.fold(0, |sum, row| {
                sum ^ self.ends[row.start as usize] ^ self.arcs[row.start as usize].count()
            }));
            for ((&spoke, &arcs), &row) in spokes.iter().zip(arcs).zip(&rows) {
                f(spoke, arcs, self.slices(row));
            }
        }
    }

    /// Ranges of ranks of about equal numbers of entries.
    pub(crate) fn tasks(&self) -> Vec<Range<u32>> {
        splits_by_offsets(&self.offsets, ENTRIES_PER_TASK)
    }

    #[inline]
    fn slices(&self, row: Row) -> (&[u32], &[A]) {
        let span = row.start as usize..row.start as usize + row.hubs as usize;
        (&self.ends[span.clone()], &self.arcs[span])
    }
}

/// The neighbours of every vertex other than itself, directions ignored.
struct Source<'v, G> {
    view: &'v G,
    /// If the view is directed, its lists merged.
    merged: Option<Merged>,
}

/// Lists of neighbours, each once, with the number of edges to and from it.
struct Merged {
    /// Those of a range of vertices one after the other.
    parts: Vec<Vec<(VertexId, u8)>>,
    /// The part and the place of the list of every vertex, and its length.
    places: Vec<(u32, u32, u32)>,
}

impl Merged {
    fn new<G: GraphView>(view: &G) -> Self {
        let mut places = vec![(0, 0, 0); view.vertex_bound() as usize];
        let tasks = view.splits(ENTRIES_PER_TASK);
        let ranges = chunks_by_range(&mut places, &tasks, |v| v as usize);
        let parts = tasks.par_iter().zip(ranges).enumerate().map(|(part, (task, places))| {
            let mut lists = Lists::default();
            let mut all = Vec::with_capacity(ENTRIES_PER_TASK);
            for (v, place) in task.clone().zip(places) {
                let start = all.len();
                lists.merge(view, v, |u, arcs| all.push((u, arcs)));
                *place = (part as u32, start as u32, (all.len() - start) as u32);
            }
            all
        });
        let parts = parts.collect();
        Self { parts, places }
    }

    fn list(&self, v: VertexId) -> &[(VertexId, u8)] {
        let (part, start, length) = self.places[v as usize];
        &self.parts[part as usize][start as usize..][..length as usize]
    }
}

impl<'v, G: GraphView> Source<'v, G> {
    fn new(view: &'v G) -> Self {
        Self { view, merged: view.is_directed().then(|| Merged::new(view)) }
    }

    /// How many neighbours each id has.
    fn degrees(&self) -> Vec<u32> {
        if let Some(merged) = &self.merged {
            return merged.places.iter().map(|&(_, _, length)| length).collect();
        }
        let mut degrees = vec![0; self.view.vertex_bound() as usize];
        let tasks = self.view.splits(ENTRIES_PER_TASK);
        tasks.par_iter().zip(chunks_by_range(&mut degrees, &tasks, |v| v as usize)).for_each(
            |(task, degrees)| {
                for (v, degree) in task.clone().zip(degrees) {
                    *degree = self.view.degree(v) - u32::from(has_loop(self.view, v));
                }
            },
        );
        degrees
    }

    /// Passes every neighbour of `v` with the number of edges to and from it.
    fn for_each(&self, v: VertexId, mut f: impl FnMut(VertexId, u8)) {
        if let Some(merged) = &self.merged {
            return merged.list(v).iter().for_each(|&(u, arcs)| f(u, arcs));
        }
        self.view.for_each(v, |u| {
            if u != v {
                f(u, 2);
            }
        });
    }
}

fn has_loop<G: GraphView>(view: &G, v: VertexId) -> bool {
    view.runs(v, |run| {
        if run.last().is_some_and(|&last| last < v) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(run.binary_search(&v).is_ok())
        }
    })
    .break_value()
    .unwrap_or(false)
}

/// Ids by falling degree, and the place of each id in that order. Of equal degrees the smaller id
/// comes first.
fn rank_by_degree(degrees: &[u32]) -> (Vec<VertexId>, Vec<u32>) {
    // Where the vertices of each degree begin: first how many there are, of the largest first.
    let largest = degrees.par_iter().copied().max().unwrap_or(0);
    let place = |degree: u32| (largest - degree) as usize;
    let mut next = vec![0_u32; place(0) + 1];
    for &degree in degrees {
        next[place(degree)] += 1;
    }
    let mut before = 0;
    for next in &mut next {
        before += std::mem::replace(next, before);
    }
    let (mut order, mut ranks) = (vec![0; degrees.len()], vec![0; degrees.len()]);
    for (v, (&degree, rank)) in degrees.iter().zip(&mut ranks).enumerate() {
        *rank = next[place(degree)];
        next[place(degree)] += 1;
        order[*rank as usize] = v as VertexId;
    }
    (order, ranks)
}

/// A thread's memory for the row it builds.
#[derive(Default)]
struct Scratch<A> {
    row: Vec<(u32, A)>,
}

impl<A: Arcs> Scratch<A> {
    /// Collects the ranks of the neighbours of `v`.
    fn gather<G: GraphView>(&mut self, source: &Source<'_, G>, v: VertexId, ranks: &[u32]) {
        self.row.clear();
        source.for_each(v, |u, arcs| self.row.push((ranks[u as usize], A::new(arcs))));
    }

    /// Puts the collected neighbours of `rank` in place; how many of them are hubs.
    fn write_row(&mut self, rank: u32, ends: &mut [u32], arcs: &mut [A]) -> u32 {
        let (mut hubs, mut spokes) = (0, ends.len());
        for i in 0..self.row.len() {
            // Written to both sides, counted on one: a branch would be mispredicted every other time.
            // What is left in front of the spokes is overwritten by the hubs.
            let (end, arc) = self.row[i];
            let is_hub = end < rank;
            self.row[hubs] = (end, arc);
            (ends[spokes - 1], arcs[spokes - 1]) = (end, arc);
            hubs += usize::from(is_hub);
            spokes -= usize::from(!is_hub);
        }
        self.row.truncate(hubs);
        self.row.sort_unstable_by_key(|&(end, _)| end);
        for ((end, arc), entry) in ends.iter_mut().zip(arcs).zip(&self.row) {
            (*end, *arc) = *entry;
        }
        hubs as u32
    }
}

/// The two lists of a vertex in a directed view.
#[derive(Default)]
struct Lists {
    outgoing: Vec<VertexId>,
    incoming: Vec<VertexId>,
}

impl Lists {
    /// Passes every neighbour of `v` but itself once, with the number of edges to and from it.
    fn merge<G: GraphView>(&mut self, view: &G, v: VertexId, mut f: impl FnMut(VertexId, u8)) {
        self.outgoing.clear();
        self.incoming.clear();
        view.for_each(v, |u| self.outgoing.push(u));
        view.for_each_in(v, |u| self.incoming.push(u));
        let (mut a, mut b) = (&*self.outgoing, &*self.incoming);
        while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
            let (u, arcs) = match x.cmp(&y) {
                Less => (x, 1),
                Equal => (x, 2),
                Greater => (y, 1),
            };
            a = &a[usize::from(x <= y)..];
            b = &b[usize::from(y <= x)..];
            if u != v {
                f(u, arcs);
            }
        }
        for &u in a.iter().chain(b).filter(|&&u| u != v) {
            f(u, 1);
        }
    }
}
