//! Where runs are put: each by itself, or all those of a stretch of groups in one leaf.
//!
//! Writers put the runs of a group anywhere. Once a stretch is idle, or when a reader wants all of
//! it, its runs are laid out in one leaf, in order: that is a small static CSR. A reader whose
//! version the leaf holds looks at the leaf alone, as long as the groups it reads are unmarked.
//!
//! # Layout
//!   A list per vertex of the stretch in one array (`raw::lists`); a hub's segments lie side by
//!   side, so its list is one too. The bases of the stretch refer to the same memory by slices of
//!   their own. The lists of a group that could not be laid out lie elsewhere.
//! # Invariants
//!   - F1 At every version `s >= since` at which its mark is down, an unmarked group is what the
//!     leaf says. So a mark is raised before a row is appended to a base of the leaf, and before
//!     another base takes its place; marks are never lowered.
//!   - F2 A reader at `s` sees the marks of all changes `<= s`: they were raised before `visible`
//!     reached `s`, or under the latch that the writer of such a change took later.
//! # Checked by
//!   tests/model.rs, tests/concurrent.rs; loom: `models::loom_leaf_*`.

use std::ops::Range;
use std::sync::Arc;

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP, GROUP_BITS};
use crate::account::{Account, Charge};
use crate::fault::{Fault, planted};
use crate::raw::{ELSEWHERE, LeafBuilder, LeafPool, Lists, Slice, packed};
use crate::sync::{AtomicU64, OnceLock, Ordering};

/// Groups of a stretch, as a power of two. 256: some 2 MB of ids at average degree 30.
const STRETCH_BITS: u32 = if cfg!(any(loom, shuttle, torture)) { 6 } else { 8 };
/// Groups that are laid out together.
pub(crate) const STRETCH: u32 = 1 << STRETCH_BITS;
/// Vertices of a stretch.
pub(crate) const VERTICES: usize = GROUP << STRETCH_BITS;
/// Entries of a leaf at most, far enough below what half a word can say.
const ENTRIES_MAX: usize = 1 << 31;
const WORDS: usize = STRETCH as usize / u64::BITS as usize;

/// The stretch of a vertex.
#[inline]
pub(crate) fn stretch_of(v: VertexId) -> usize {
    (v >> (GROUP_BITS + STRETCH_BITS)) as usize
}

/// A bit per group of a stretch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupSet([u64; WORDS]);

impl GroupSet {
    /// Whether a group, or one at the same place of another stretch, is in the set.
    #[inline]
    pub(crate) fn contains(&self, group: u32) -> bool {
        self.0[(group % STRETCH / u64::BITS) as usize] >> (group % u64::BITS) & 1 == 1
    }

    pub(crate) fn insert(&mut self, group: u32) {
        self.0[(group % STRETCH / u64::BITS) as usize] |= 1 << (group % u64::BITS);
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether every group of the set is in the other one, too.
    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }
}

/// The groups that a leaf does not tell the truth about any more.
#[derive(Default)]
struct Marks([AtomicU64; WORDS]);

/// What a base raises before it is changed or replaced.
#[derive(Clone)]
pub(crate) struct Mark {
    marks: Arc<Marks>,
    group: u8,
}

impl Mark {
    /// `Relaxed`: ordered by what comes after it (F2).
    #[inline]
    pub(crate) fn raise(&self) {
        let word = &self.marks.0[usize::from(self.group) / u64::BITS as usize];
        let bit = 1 << (u32::from(self.group) % u64::BITS);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }
}

/// The lists of a stretch.
pub(crate) type StretchLists<W> = Lists<VertexId, W, VERTICES>;

/// The runs of a stretch side by side.
pub(crate) struct Leaf<W> {
    lists: StretchLists<W>,
    /// The groups whose lists lie elsewhere.
    omitted: GroupSet,
    /// The vertices of each group that exist.
    live: [u64; STRETCH as usize],
    /// The entries of each group.
    entries: [u32; STRETCH as usize],
    since: u64,
    marks: Arc<Marks>,
    _charge: Charge,
}

/// A leaf as a reader at one version sees it.
pub(crate) struct LeafAt<W> {
    leaf: Arc<Leaf<W>>,
    /// Those of the leaf, one step closer.
    lists: StretchLists<W>,
    /// The groups that must be read elsewhere.
    elsewhere: GroupSet,
}

impl<W: Weight> Leaf<W> {
    /// The groups that were changed since, and those that are not here.
    pub(crate) fn marked(&self) -> GroupSet {
        GroupSet(std::array::from_fn(|i| self.marks.0[i].load(Ordering::Relaxed)))
    }

    /// The leaf for readers at `version`, if it holds the states of that version.
    pub(crate) fn at(self: &Arc<Self>, version: u64) -> Option<LeafAt<W>> {
        if version < self.since && !planted(Fault::LeafEarly) {
            return None;
        }
        Some(LeafAt::new(self, self.marked()))
    }
}

impl<W: Weight> Clone for LeafAt<W> {
    fn clone(&self) -> Self {
        Self::new(&self.leaf, self.elsewhere)
    }
}

impl<W: Weight> LeafAt<W> {
    fn new(leaf: &Arc<Leaf<W>>, elsewhere: GroupSet) -> Self {
        Self { leaf: Arc::clone(leaf), lists: leaf.lists.share(), elsewhere }
    }

    /// The leaf for everybody.
    pub(crate) fn shared(&self) -> &Arc<Leaf<W>> {
        &self.leaf
    }

    /// All lists that are held, if they can be told from the others without asking
    /// [`LeafAt::holds`].
    pub(crate) fn whole(&self) -> Option<StretchLists<W>> {
        self.elsewhere.is_within(&self.leaf.omitted).then(|| self.lists.share())
    }

    /// Whether a group of the stretch can be read here.
    #[inline]
    pub(crate) fn holds(&self, group: u32) -> bool {
        !self.elsewhere.contains(group)
    }

    /// The lists, of which those of the groups that are held are good.
    #[inline]
    pub(crate) fn lists(&self) -> &StretchLists<W> {
        &self.lists
    }

    /// The vertices of a group that is held.
    #[inline]
    pub(crate) fn live(&self, group: u32) -> u64 {
        self.leaf.live[(group % STRETCH) as usize]
    }

    /// The entries of a group that is held.
    #[inline]
    pub(crate) fn entries(&self, group: u32) -> u32 {
        self.leaf.entries[(group % STRETCH) as usize]
    }
}

/// Where the memory of leaves comes from.
pub(crate) struct LeafMemory<W> {
    ids: Arc<LeafPool<VertexId>>,
    weights: Arc<LeafPool<W>>,
    nowhere: OnceLock<StretchLists<W>>,
    account: Account,
}

/// Bytes of the spans of a leaf.
const SPANS_BYTES: usize = VERTICES * size_of::<u64>();

impl<W: Weight> LeafMemory<W> {
    /// No memory yet.
    pub(crate) fn new(account: &Account) -> Self {
        Self {
            ids: Arc::new(LeafPool::new(account.clone())),
            weights: Arc::new(LeafPool::new(account.clone())),
            nowhere: OnceLock::new(),
            account: account.clone(),
        }
    }

    /// The lists of a stretch without a leaf.
    pub(crate) fn nowhere(&self) -> &StretchLists<W> {
        self.nowhere.get_or_init(|| {
            self.account.add(SPANS_BYTES);
            Lists::nowhere()
        })
    }

    /// Frees what no leaf took lately.
    pub(crate) fn trim(&self) {
        self.ids.trim();
        self.weights.trim();
    }
}

/// A leaf under construction.
pub(crate) struct Draft<W> {
    ids: LeafBuilder<VertexId>,
    weights: LeafBuilder<W>,
    spans: Vec<u64>,
    live: [u64; STRETCH as usize],
    entries: [u32; STRETCH as usize],
    since: u64,
    marks: Arc<Marks>,
    omitted: GroupSet,
    charge: Charge,
}

/// Where the lists of a group lie, for [`Draft::record`].
pub(crate) struct GroupLists {
    pub(crate) spans: [Range<usize>; GROUP],
    pub(crate) live: u64,
    /// The version of the youngest state.
    pub(crate) since: u64,
    /// Whether nothing changed after the version that is laid out.
    pub(crate) newest: bool,
}

impl<W: Weight> Draft<W> {
    /// A draft for so many entries; those that do not fit lie elsewhere.
    pub(crate) fn with_capacity(entries: usize, memory: &LeafMemory<W>) -> Self {
        let entries = entries.min(ENTRIES_MAX);
        Self {
            ids: LeafBuilder::with_capacity(entries, &memory.ids),
            weights: LeafBuilder::with_capacity(entries, &memory.weights),
            spans: vec![ELSEWHERE; VERTICES],
            live: [0; STRETCH as usize],
            entries: [0; STRETCH as usize],
            since: 0,
            marks: Arc::default(),
            omitted: GroupSet::default(),
            charge: memory.account.charge(SPANS_BYTES + size_of::<Leaf<W>>()),
        }
    }

    /// Where the runs of a base were put, if they were put here.
    pub(crate) fn span_of(&self, base: &Base<W>) -> Option<Range<usize>> {
        let ids = &base.runs.ids;
        match self.ids.offset_of(ids) {
            _ if !self.has(base) => None,
            None if ids.is_empty() => Some(0..0),
            start => start.map(|start| start..start + ids.len()),
        }
    }

    /// Whether a base was put here: even an empty one must know what to raise.
    pub(crate) fn has(&self, base: &Base<W>) -> bool {
        base.mark().is_some_and(|mark| Arc::ptr_eq(&mark.marks, &self.marks))
    }

    /// What the bases of a group are given.
    fn mark(&self, group: u32) -> Mark {
        Mark { marks: Arc::clone(&self.marks), group: (group % STRETCH) as u8 }
    }

    /// Notes where the lists of a group lie, or that they lie elsewhere. The caller holds the
    /// latch of the group.
    pub(crate) fn record(&mut self, group: u32, lists: Option<GroupLists>) {
        if lists.as_ref().is_none_or(|lists| !lists.newest) {
            self.mark(group).raise();
        }
        let Some(lists) = lists else {
            self.omitted.insert(group);
            return;
        };
        let at = (group % STRETCH) as usize;
        for (place, span) in self.spans[at * GROUP..].iter_mut().zip(&lists.spans) {
            *place = packed(span);
        }
        self.live[at] = lists.live;
        self.entries[at] = lists.spans.iter().map(|span| span.len() as u32).sum();
        self.since = self.since.max(lists.since);
    }

    /// The leaf, for all readers and for the one that had it laid out at its version.
    pub(crate) fn finish(self) -> LeafAt<W> {
        let (ids, weights) = (self.ids.finish(), self.weights.finish());
        let leaf = Leaf {
            lists: Lists::new(self.spans.into_boxed_slice(), ids, weights),
            omitted: self.omitted,
            live: self.live,
            entries: self.entries,
            since: self.since,
            marks: self.marks,
            _charge: self.charge,
        };
        LeafAt::new(&Arc::new(leaf), self.omitted)
    }
}

/// Where runs are put.
pub(crate) enum Shelf<'l, W> {
    /// By themselves.
    Anywhere,
    /// Those of a group, behind the ones before.
    Leaf(&'l mut Draft<W>, u32),
}

impl<W: Weight> Shelf<'_, W> {
    /// Puts the ids and weights of some runs away.
    pub(super) fn place(
        &mut self,
        ids: Vec<VertexId>,
        weights: Vec<W>,
    ) -> (Slice<VertexId>, Slice<W>) {
        match self {
            Self::Anywhere => (ids.into(), weights.into()),
            Self::Leaf(draft, _) => (
                draft.ids.place(ids).unwrap_or_else(Slice::from),
                draft.weights.place(weights).unwrap_or_else(Slice::from),
            ),
        }
    }

    /// What a base that is put here has to raise.
    pub(super) fn mark(&self) -> Option<Mark> {
        match self {
            Self::Anywhere => None,
            Self::Leaf(draft, group) => Some(draft.mark(*group)),
        }
    }

    /// The same shelf, for a shorter time.
    pub(super) fn again(&mut self) -> Shelf<'_, W> {
        match self {
            Self::Anywhere => Shelf::Anywhere,
            Self::Leaf(draft, group) => Shelf::Leaf(draft, *group),
        }
    }
}
