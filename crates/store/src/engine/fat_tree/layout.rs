//! Folding pending rows into runs outside of commits, group by group; and laying out: all runs of
//! a stretch of groups are put into one leaf, which is published.
//!
//! # How
//!   Group by group, under the latch of each, the state at one version, the *limit*, is put into
//!   the leaf with everything folded in; then the places of its lists are noted. The latch is
//!   given up between parts of a hub. What a writer changes meanwhile is marked (F1 of `leaf.rs`).
//! # Who
//!   The service thread, once a stretch is idle, at the newest version. And a reader that is going
//!   to read everything more than once, at its own version: folding what is pending costs it
//!   less than reading around it each time.

use std::ops::Range;
use std::sync::Arc;

use evergraph_graph::Weight;

use super::base::Base;
use super::hub::{Hub, Segments};
use super::leaf::{Draft, GroupLists, Leaf, LeafAt, STRETCH, Shelf};
use super::merge::Goal;
use super::pieces::entries_pending;
use super::{Address, FatTree, Side};
use crate::raw::{Locked, Placed, Retention};
use crate::sync::RwLock;

/// Segments of a hub that are folded before the latch is given up: some 100 us.
const SEGMENTS_PER_PART: usize = if cfg!(torture) { 1 } else { 32 };

/// The published leaves of one side, by stretch.
pub(crate) struct Leaves<W>(RwLock<Vec<Option<Arc<Leaf<W>>>>>);

impl<W> Default for Leaves<W> {
    fn default() -> Self {
        Self(RwLock::new(Vec::new()))
    }
}

impl<W: Weight> Leaves<W> {
    /// The leaves of the first stretches as a reader at `version` sees them.
    pub(crate) fn at(&self, version: u64, stretches: usize) -> Box<[Option<LeafAt<W>>]> {
        let leaves = self.0.read();
        let at = |leaf: &Option<Arc<Leaf<W>>>| leaf.as_ref().and_then(|leaf| leaf.at(version));
        let missing = std::iter::repeat_with(|| None);
        leaves.iter().map(at).chain(missing).take(stretches).collect()
    }

    /// The leaf of one stretch as a reader at `version` sees it.
    pub(crate) fn one_at(&self, version: u64, stretch: usize) -> Option<LeafAt<W>> {
        self.0.read().get(stretch)?.as_ref()?.at(version)
    }

    /// Has readers use a leaf, unless they have one that holds more groups.
    pub(super) fn publish(&self, stretch: usize, leaf: &Arc<Leaf<W>>) {
        let mut leaves = self.0.write();
        if leaves.len() <= stretch {
            leaves.resize_with(stretch + 1, || None);
        }
        let holds_less = |old: &Arc<Leaf<W>>| old.marked().len() >= leaf.marked().len();
        if leaves[stretch].as_ref().is_none_or(holds_less) {
            leaves[stretch] = Some(Arc::clone(leaf));
        }
    }

    /// Has new readers use no leaf for a stretch.
    pub(super) fn withdraw(&self, stretch: usize) {
        let withdrawn = self.0.write().get_mut(stretch).and_then(Option::take);
        // Freed outside of the lock.
        drop(withdrawn);
    }
}

/// What is done to groups.
pub(super) struct Task<'l, W> {
    /// Changes up to here are folded in; visible, or the version of a lease.
    pub(super) limit: u64,
    /// A group that was changed after this version is left alone.
    pub(super) idle_since: u64,
    /// Where runs go. Those that lie elsewhere go there too, as far as nobody reads them: states
    /// that a lease before this version may hold stay, or memory would double.
    pub(super) draft: Option<(&'l mut Draft<W>, u64)>,
}

/// Where the work on the hubs of a group goes on.
#[derive(Clone, Copy)]
struct Place {
    local: u8,
    id: u32,
}

impl<W: Weight> FatTree<W> {
    /// Lays a stretch out as of `limit`, which is visible or the version of a lease, and publishes
    /// the leaf. States that a lease before `read_before` may hold stay where they are.
    pub(crate) fn lay_out(
        &self,
        (side, stretch): (Side, usize),
        limit: u64,
        read_before: u64,
    ) -> LeafAt<W> {
        let first = stretch as u32 * STRETCH;
        let groups = (first..first + STRETCH).map(|group| Address { side, group });
        let entries: u64 = groups.clone().map(|address| self.entries_at(address, limit)).sum();
        let mut draft = Draft::with_capacity(entries as usize, &self.leaf_memory);
        for address in groups {
            let draft = Some((&mut draft, read_before));
            self.work_on(address, &mut Task { limit, idle_since: u64::MAX, draft });
        }
        let leaf = draft.finish();
        self.directory(side).leaves.publish(stretch, leaf.shared());
        leaf
    }

    /// Folds everything that is pending in a group at `version`, which is visible or that of a
    /// lease.
    pub(super) fn settle_at(&self, address: Address, version: u64) {
        self.work_on(address, &mut Task { limit: version, idle_since: u64::MAX, draft: None });
    }

    /// Whether rows are pending in a group, or in a segment of its hubs, at `version`.
    pub(super) fn is_pending(&self, address: Address, version: u64) -> bool {
        let slot = self.directory(address.side).get(address.group);
        let locked = slot.map(|slot| slot.chain.lock());
        let state = locked.as_ref().and_then(|locked| locked.at(version));
        state.is_some_and(|state| has_pending(state.value, version))
    }

    /// How many entries a group has at `version`.
    pub(super) fn entries_at(&self, address: Address, version: u64) -> u64 {
        let Some(slot) = self.directory(address.side).get(address.group) else { return 0 };
        let locked = slot.chain.lock();
        let of_base = |state: Placed<'_, Base<W>>| {
            let runs = state.value.runs.ids.len() as u64;
            runs.wrapping_add_signed(entries_pending(state.value, version))
        };
        let of_hub = |hub: &Hub<W>| {
            hub.with_segments(|segments| {
                let cells = segments.cells().iter();
                cells.map(|cell| cell.lock().at(version).map_or(0, of_base)).sum::<u64>()
            })
        };
        locked.at(version).map_or(0, |state| {
            of_base(state) + state.value.hubs().map(|(_, hub)| of_hub(hub)).sum::<u64>()
        })
    }

    /// Does a task to a group and the segments of its hubs.
    pub(super) fn work_on(&self, address: Address, task: &mut Task<'_, W>) {
        let Some(slot) = self.directory(address.side).get(address.group) else {
            // Whoever writes to it first knows of no leaf.
            task.draft.iter_mut().for_each(|(draft, _)| draft.record(address.group, None));
            return;
        };
        let mut locked = slot.chain.lock();
        self.work_on_runs(address, &mut locked, task);
        let mut next = Some(Place { local: 0, id: 0 });
        // The latch is given up between two parts: whoever waits for it waits for one part.
        while let Some(place) = next {
            next = self.work_on_segments(address, &locked, place, task);
            drop(locked);
            locked = slot.chain.lock();
        }
        if let Some((draft, _)) = &mut task.draft {
            let lists = lists_in(draft, &locked, task.limit);
            draft.record(address.group, lists);
        }
    }

    /// Whether a state is to be replaced.
    fn is_due(&self, state: &Base<W>, task: &Task<'_, W>) -> bool {
        let scattered = |(draft, read_before): &(&mut Draft<W>, u64)| {
            !draft.has(state) && !self.versions.need(state.since, *read_before)
        };
        state.is_pending_at(task.limit) || task.draft.as_ref().is_some_and(scattered)
    }

    fn work_on_runs(
        &self,
        address: Address,
        locked: &mut Locked<'_, Base<W>>,
        task: &mut Task<'_, W>,
    ) {
        let Some(state) = at_if_idle(locked, task) else { return };
        let hubs_change = || state.value.hubs().any(|(_, hub)| self.wants_group_merge(hub));
        if self.is_due(state.value, task) || hubs_change() {
            let goal = task.goal(address);
            self.merge_group(address, locked, goal);
        }
    }

    /// Does a task to some segments of the hubs of a group from `place` on; where to go on.
    fn work_on_segments(
        &self,
        address: Address,
        locked: &Locked<'_, Base<W>>,
        place: Place,
        task: &mut Task<'_, W>,
    ) -> Option<Place> {
        let state = at_if_idle(locked, task)?;
        let (local, hub) = state.value.hubs().find(|&(local, _)| local >= place.local)?;
        let start = if place.local == local { place.id } else { 0 };
        let mut index = hub.with_segments(|segments| segments.index(start));
        for _ in 0..SEGMENTS_PER_PART {
            let due = hub.with_segments(|segments| {
                let cell = segments.cells().get(index)?.lock();
                // Only the newest state of a segment is cut.
                let newest = cell.head().filter(|head| head.version <= task.limit);
                Some(newest.is_some_and(|head| self.is_due(head.value, task)))
            });
            match due {
                None => return Some(Place { local: local + 1, id: 0 }),
                Some(true) => {
                    let goal = task.goal(address);
                    self.merge_segment(address, hub, index, goal);
                }
                Some(false) => {}
            }
            index += 1;
        }
        let fence = hub.with_segments(|segments| segments.fences().get(index).copied());
        Some(fence.map_or(Place { local: local + 1, id: 0 }, |id| Place { local, id }))
    }
}

impl<W> Task<'_, W> {
    fn goal(&mut self, address: Address) -> Goal<'_, W> {
        let shelf = match &mut self.draft {
            Some((draft, _)) => Shelf::Leaf(draft, address.group),
            None => Shelf::Anywhere,
        };
        Goal { shelf, ..Goal::new(self.limit, 0) }
    }
}

/// The state that a task is about, if the group is idle.
fn at_if_idle<'l, W: Weight>(
    locked: &'l Locked<'_, Base<W>>,
    task: &Task<'_, W>,
) -> Option<Placed<'l, Base<W>>> {
    let head = locked.head()?;
    let idle = newest_with_hubs(head.value) <= task.idle_since;
    locked.at(task.limit).filter(|_| idle)
}

/// Whether rows are pending in a group, or in a segment of its hubs, at `version`.
pub(super) fn has_pending<W: Weight>(base: &Base<W>, version: u64) -> bool {
    let in_segments = |segments: &Segments<W>| {
        let pending = |state: Placed<'_, Base<W>>| state.value.is_pending_at(version);
        segments.cells().iter().any(|cell| cell.lock().at(version).is_some_and(pending))
    };
    base.is_pending_at(version) || base.hubs().any(|(_, hub)| hub.with_segments(in_segments))
}

/// The version of the last change to a group, its hubs included.
pub(super) fn newest_with_hubs<W: Weight>(base: &Base<W>) -> u64 {
    base.hubs().map(|(_, hub)| hub.newest()).fold(base.newest(), u64::max)
}

/// Where the lists of a group at `limit` lie, if all of them lie in the draft.
pub(super) fn lists_in<W: Weight>(
    draft: &Draft<W>,
    locked: &Locked<'_, Base<W>>,
    limit: u64,
) -> Option<GroupLists> {
    let state = locked.at(limit).filter(|state| !state.value.is_pending_at(limit))?;
    let base = state.value;
    let start = draft.span_of(base)?.start;
    let mut lists = GroupLists {
        spans: std::array::from_fn(|local| {
            let span = base.span(local as u8);
            start + span.start..start + span.end
        }),
        live: base.runs.live,
        since: state.version,
        newest: locked.head()?.version == state.version && !base.has_rows(),
    };
    for (local, hub) in base.hubs() {
        lists.spans[usize::from(local)] = span_of_hub(draft, hub, limit, &mut lists)?;
    }
    Some(lists)
}

/// Where the segments of a hub lie, if they lie side by side in the draft.
fn span_of_hub<W: Weight>(
    draft: &Draft<W>,
    hub: &Hub<W>,
    limit: u64,
    lists: &mut GroupLists,
) -> Option<Range<usize>> {
    hub.with_segments(|segments| {
        let mut whole: Option<Range<usize>> = None;
        for cell in segments.cells() {
            let cell = cell.lock();
            let head = cell.head()?;
            // A cell that was cut off later: at `limit` the one to its left covers it.
            let Some(state) = cell.at(limit) else {
                lists.newest = false;
                continue;
            };
            if state.value.is_pending_at(limit) {
                return None;
            }
            lists.newest &= head.version == state.version && !state.value.has_rows();
            lists.since = lists.since.max(state.version);
            let span = draft.span_of(state.value)?;
            whole = match whole {
                before if span.is_empty() => before,
                Some(before) if before.end == span.start => Some(before.start..span.end),
                Some(_) => return None,
                None => Some(span),
            };
        }
        Some(whole.unwrap_or_default())
    })
}
