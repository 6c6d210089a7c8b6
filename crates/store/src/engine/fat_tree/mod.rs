//! The live layout: groups of 64 vertices, each an immutable sorted run per vertex with a small
//! delta behind it, versioned as a whole.
//!
//! ```text
//!  directory  slot[v / 64]                  dense, grows in chunks, never moves
//!    slot       latch, newest Base -> older Base -> ..
//!    Base       runs of 64 vertices, sorted; delta of pending rows    (base.rs)
//!    hub        a vertex with many neighbours: segments of its own    (hub.rs)
//! ```
//!
//! Descends from Teseo's fat leaves (read-optimised and write-optimised segments, asynchronous
//! rebalancing; de Leo, Boncz, PVLDB 2021) and GART's coarse versions (epochs per segment, never a
//! stamp per edge at rest; Shen et al., ATC 2023). What differs is in `docs/design/fat-tree.md`.
//!
//! - `write.rs`: a checked set of changes becomes one version.
//! - `absorb.rs`: many unchecked changes become one version.
//! - `validate.rs`: whether what a transaction read still holds; `vertex_set.rs`: who may rely on
//!   which vertices there are.
//! - `merge.rs`: deltas become runs, hubs leave and join their group.
//! - `layout.rs`: the runs of many groups are put into one leaf (`leaf.rs`), a small static CSR;
//!   `leaf_table.rs`: those that a reader uses.
//! - `load.rs`: a whole graph into an empty layout.
//! - `read.rs`: one vertex or edge at one version; `pieces.rs`: a list with rows pending.
//! - `view.rs`: a whole graph at one version, as algorithms read it.
//! - `service.rs`: settles what writers left pending, drops old versions.
//! - `check.rs`: every invariant, by inspection.

mod absorb;
mod ahead;
mod base;
mod check;
mod directory;
mod fold;
mod hub;
mod layout;
mod leaf;
mod leaf_table;
mod load;
mod merge;
#[cfg(all(test, loom))]
pub(crate) mod models;
mod pieces;
mod read;
mod row_order;
mod service;
mod tuning;
mod validate;
mod vertex_set;
mod view;
mod write;

pub(crate) use absorb::{BATCH_MAX, Scribe, Unchecked, Wish};
pub(crate) use load::Load;
pub(crate) use read::ListAt;
pub(crate) use service::Idle;
pub use tuning::Tuning;
pub(crate) use validate::{Read, Reads, Stale};
pub use view::View;
pub(crate) use view::{Keeper, Tables};
pub(crate) use write::{Changes, EdgeChange, Effect, Ends, Refusal, VertexChange};

use std::sync::Arc;

use evergraph_graph::Weight;

use self::base::{Base, Runs};
use self::directory::{Directory, Slot, vertices_below};
use self::leaf::LeafMemory;
use self::service::Queues;
use self::vertex_set::VertexSet;
use crate::epoch::Versions;
use crate::sync::{AtomicU64, Ordering, Padded};

/// Which lists of a directed graph; an undirected one has [`Side::Out`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    /// Out-neighbours, or all neighbours.
    Out,
    /// In-neighbours.
    In,
}

/// A group on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) side: Side,
    pub(crate) group: u32,
}

/// The live layout.
pub(crate) struct FatTree<W> {
    pub(crate) versions: Arc<Versions>,
    pub(crate) tuning: Tuning,
    out: Directory<W>,
    incoming: Option<Directory<W>>,
    /// Vertices `< dense` exist from the start.
    dense: u32,
    /// Stand-ins for groups that were never written: all vertices there, the last ones, none.
    untouched: [Base<W>; 3],
    vertex_set: VertexSet,
    queues: Queues,
    pub(crate) leaf_memory: LeafMemory<W>,
    /// Readers that are laying the graph out. The service waits for them; it guards nothing.
    sweepers: AtomicU64,
    counts: Counts,
}

/// How much there is now.
#[derive(Default)]
struct Counts {
    /// Both on lines of their own: every commit of an edge writes the first.
    edges: Padded<AtomicU64>,
    vertices: Padded<AtomicU64>,
    /// Reads that were validated although their group had changed.
    conflicts_avoided: AtomicU64,
}

impl<W: Weight> FatTree<W> {
    /// An empty graph in which vertices `< dense` exist.
    pub(crate) fn new(
        versions: Arc<Versions>,
        directed: Directed,
        dense: u32,
        tuning: Tuning,
    ) -> Self {
        let account = versions.account.clone();
        let untouched = |live| Base::new(Runs::empty(live), 0, &account);
        let last = vertices_below(dense, base::group_of(dense));
        let counts = Counts::default();
        counts.vertices.store(u64::from(dense), Ordering::Relaxed);
        let directory = || Directory::new(account.clone());
        Self {
            versions,
            tuning,
            out: directory(),
            incoming: (directed == Directed::Yes).then(directory),
            dense,
            untouched: [untouched(u64::MAX), untouched(last), untouched(0)],
            vertex_set: VertexSet::default(),
            queues: Queues::default(),
            leaf_memory: LeafMemory::new(&account),
            sweepers: AtomicU64::new(0),
            counts,
        }
    }

    /// Whether edges have a direction.
    #[inline]
    pub(crate) fn is_directed(&self) -> bool {
        self.incoming.is_some()
    }

    /// Edges now, each counted once.
    pub(crate) fn edge_count(&self) -> u64 {
        self.counts.edges.load(Ordering::Relaxed)
    }

    /// Vertices now.
    pub(crate) fn vertex_count(&self) -> u64 {
        self.counts.vertices.load(Ordering::Relaxed)
    }

    /// Reads that were found unchanged by the rows of a group that had changed.
    pub(crate) fn conflicts_avoided(&self) -> u64 {
        self.counts.conflicts_avoided.load(Ordering::Relaxed)
    }

    #[inline]
    fn directory(&self, side: Side) -> &Directory<W> {
        match side {
            Side::Out => &self.out,
            Side::In => self.incoming.as_ref().unwrap_or(&self.out),
        }
    }

    #[inline]
    fn slot(&self, address: Address) -> &Slot<W> {
        self.directory(address.side).slot(address.group)
    }

    /// The sides that there are.
    fn sides(&self) -> impl Iterator<Item = Side> + use<W> {
        [Side::Out, Side::In].into_iter().take(1 + usize::from(self.is_directed()))
    }

    /// What a group is before anybody writes to it.
    #[inline]
    fn untouched(&self, group: u32) -> &Base<W> {
        match vertices_below(self.dense, group) {
            u64::MAX => &self.untouched[0],
            0 => &self.untouched[2],
            _ => &self.untouched[1],
        }
    }
}

/// Whether the edges of a graph have a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directed {
    /// Edges go from a source to a target; in-lists are kept too.
    Yes,
    /// Edges join two vertices.
    No,
}
