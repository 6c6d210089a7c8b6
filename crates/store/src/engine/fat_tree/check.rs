//! Every invariant of the layout, by inspection: for tests and for a user who wants to know.

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP, VERTEX, local_of_tag};
use super::hub::Hub;
use super::{Address, FatTree, Side};

/// What was found wrong, in words.
type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl<W: Weight> FatTree<W> {
    /// Checks every group that holds an id `< bound`, and that both entries of every edge are
    /// there. Nobody may write meanwhile.
    pub(crate) fn check(&self, bound: u32) -> Checked {
        for side in self.sides() {
            for group in 0..bound.div_ceil(GROUP as u32) {
                self.check_group(Address { side, group })?;
            }
        }
        let version = self.versions.clock.visible();
        let (mut entries, mut loops) = (0u64, 0u64);
        for source in 0..bound {
            let list = self.list(Side::Out, source, version).ids;
            let live = self.has_vertex(source, version);
            ensure(live || list.is_empty(), || format!("{source} is gone but has edges"))?;
            entries += list.len() as u64;
            loops += u64::from(list.binary_search(&source).is_ok());
            for &target in &list {
                self.check_twin(source, target, version)?;
            }
        }
        let edges = if self.is_directed() { entries } else { entries.midpoint(loops) };
        ensure(edges == self.edge_count(), || {
            format!("{} edges are counted, {edges} are there", self.edge_count())
        })
    }

    fn check_twin(&self, source: VertexId, target: VertexId, version: u64) -> Checked {
        ensure(self.has_vertex(target, version), || format!("edge {source} {target} dangles"))?;
        let side = self.target_side();
        let twin = self.list(side, target, version).ids.binary_search(&source).is_ok();
        ensure(twin, || format!("edge {source} {target} is missing in the list of {target}"))
    }

    fn check_group(&self, address: Address) -> Checked {
        let Some(slot) = self.directory(address.side).get(address.group) else {
            return Ok(());
        };
        let locked = slot.chain.lock();
        let mut newer = u64::MAX;
        for state in locked.states() {
            let place = || format!("group {address:?}, state {}", state.version);
            ensure(state.version <= newer, || format!("{}: versions grow backwards", place()))?;
            newer = state.version;
            ensure(state.version == state.value.since, || format!("{}: since", place()))?;
            check_base(state.value).map_err(|what| format!("{}: {what}", place()))?;
            for (local, hub) in state.value.hubs() {
                let at = || format!("{}, hub {local}", place());
                ensure(state.value.span(local).is_empty(), || format!("{}: has a run", at()))?;
                check_hub(hub).map_err(|what| format!("{}: {what}", at()))?;
            }
        }
        Ok(())
    }
}

/// B1 to B3 of `base.rs`.
fn check_base<W: Weight>(base: &Base<W>) -> Checked {
    let runs = &base.runs;
    ensure(runs.ends.is_sorted(), || "run ends fall".into())?;
    ensure(usize::from(runs.ends[GROUP - 1]) == runs.ids.len(), || "run ends miss ids".into())?;
    ensure(runs.weights.len() == runs.ids.len(), || "weights and ids differ".into())?;
    ensure(runs.hubs.count_ones() as usize == runs.hub_list.len(), || "hub list".into())?;
    for local in 0..GROUP as u8 {
        let ascends = base.run(local).is_sorted_by(|a, b| a < b);
        ensure(ascends, || format!("run {local} does not ascend"))?;
    }
    let Some(rows) = base.rows() else {
        return Ok(());
    };
    ensure(rows.stamps.is_sorted(), || "stamps fall".into())?;
    for (&id, &tag) in rows.ids.iter().zip(rows.tags) {
        let dirty = id == VERTEX || base.is_dirty(local_of_tag(tag));
        ensure(dirty, || format!("row {id} without its dirty bit"))?;
    }
    Ok(())
}

/// H2 and H3 of `hub.rs`, at rest.
fn check_hub<W: Weight>(hub: &Hub<W>) -> Checked {
    hub.with_segments(|segments| {
        let fences = segments.fences();
        ensure(fences.first() == Some(&0), || "the first fence is not 0".into())?;
        ensure(fences.is_sorted_by(|a, b| a < b), || "fences do not ascend".into())?;
        let mut entries = 0;
        for (i, cell) in segments.cells().iter().enumerate() {
            let locked = cell.lock();
            let head = locked.head().ok_or("a cell has no state")?;
            check_base(head.value).map_err(|what| format!("segment {i}: {what}"))?;
            let list = super::read::ListAt::of_segment(head.value, u64::MAX);
            entries += list.ids.len() as u64;
            let upper = fences.get(i + 1).copied().unwrap_or(u32::MAX);
            let inside = list.ids.iter().all(|id| (fences[i]..upper).contains(id));
            ensure(inside, || format!("segment {i} holds ids outside of its fences"))?;
        }
        ensure(entries == hub.entries(), || {
            format!("{} entries are counted, {entries} are there", hub.entries())
        })
    })
}
