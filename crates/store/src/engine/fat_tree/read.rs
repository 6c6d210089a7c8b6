//! One vertex or edge at one version: the point path.
//!
//! A reader pins, finds the state of its version, and looks at the run if nothing is pending for
//! the vertex; else it takes the pending rows in as it goes. No latch is taken.

use std::ops::ControlFlow;

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP, group_of, local_of};
use super::hub::SegmentAt;
use super::pieces::{length, pieces};
use super::{Address, FatTree, Side};
use crate::fault::{Fault, planted};
use crate::raw::Pin;

/// The neighbours of a vertex at one version, with the pending rows taken in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListAt<W> {
    pub(crate) ids: Vec<VertexId>,
    pub(crate) weights: Vec<W>,
}

impl<W: Weight> ListAt<W> {
    /// The neighbours in one segment of a hub at `version`.
    pub(super) fn of_segment(base: &Base<W>, version: u64) -> Self {
        let mut list = Self { ids: Vec::new(), weights: Vec::new() };
        append_run(&mut list, base, 0, version);
        list
    }
}

impl<W: Weight> FatTree<W> {
    /// Whether a vertex exists at `version`.
    pub(crate) fn has_vertex(&self, v: VertexId, version: u64) -> bool {
        let pin = self.versions.pins.pin();
        self.base_at(Side::Out, v, version, &pin).live_at(local_of(v), version)
    }

    /// The vertices below `bound` that exist at `version`, ascending.
    pub(crate) fn vertices(&self, bound: u32, version: u64) -> Vec<VertexId> {
        let mut vertices = Vec::new();
        for first in (0..bound).step_by(GROUP) {
            // A pin per group: one for all would keep garbage alive as long as this takes.
            let pin = self.versions.pins.pin();
            let base = self.base_at(Side::Out, first, version, &pin);
            let of_group = first..first.saturating_add(GROUP as u32).min(bound);
            vertices.extend(of_group.filter(|&v| base.live_at(local_of(v), version)));
        }
        vertices
    }

    /// How many edges there are at `version` between vertices below `bound`, each counted once.
    pub(crate) fn edge_count_at(&self, bound: u32, version: u64) -> u64 {
        let groups =
            (0..bound.div_ceil(GROUP as u32)).map(|group| Address { side: Side::Out, group });
        let entries: u64 = groups.map(|address| self.entries_at(address, version)).sum();
        if self.is_directed() {
            return entries;
        }
        // Each edge has two entries, but for those from a vertex to itself.
        let loops = (0..bound).filter(|&v| self.edge(v, v, version).is_some());
        entries.midpoint(loops.count() as u64)
    }

    /// The weight of an edge at `version`, if there is one.
    #[inline]
    pub(crate) fn edge(&self, source: VertexId, target: VertexId, version: u64) -> Option<W> {
        let pin = self.versions.pins.pin();
        let base = self.base_at(Side::Out, source, version, &pin);
        match base.hub(local_of(source)) {
            Some(hub) => hub.edge_at(target, version, &pin),
            None => base.edge_at(local_of(source), target, version),
        }
    }

    /// How many neighbours a vertex has at `version`. A hub is counted segment by segment.
    pub(crate) fn degree(&self, side: Side, v: VertexId, version: u64) -> u32 {
        let pin = self.versions.pins.pin();
        let base = self.base_at(side, v, version, &pin);
        let Some(hub) = base.hub(local_of(v)) else {
            return length(base, local_of(v), version);
        };
        let length_of = |segment: SegmentAt<'_, W>| match segment.upper {
            Some(upper) if reaches(segment.base, upper) => {
                let mut list = ListAt::default();
                append_segment(&mut list, &segment, version);
                list.ids.len() as u32
            }
            _ => length(segment.base, 0, version),
        };
        hub.segments_at(version, &pin).into_iter().map(length_of).sum()
    }

    /// The neighbours of a vertex at `version`, ascending.
    pub(crate) fn list(&self, side: Side, v: VertexId, version: u64) -> ListAt<W> {
        let version = if planted(Fault::ReadsNow) { u64::MAX } else { version };
        let pin = self.versions.pins.pin();
        let base = self.base_at(side, v, version, &pin);
        let mut list = ListAt::default();
        match base.hub(local_of(v)) {
            Some(hub) => {
                for segment in hub.segments_at(version, &pin) {
                    append_segment(&mut list, &segment, version);
                }
            }
            None => append_run(&mut list, base, local_of(v), version),
        }
        list
    }

    #[inline]
    pub(super) fn base_at<'a>(
        &'a self,
        side: Side,
        v: VertexId,
        version: u64,
        pin: &'a Pin<'_>,
    ) -> &'a Base<W> {
        let group = group_of(v);
        self.directory(side)
            .get(group)
            .and_then(|slot| slot.chain.at(version, pin))
            .map_or_else(|| self.untouched(group), |placed| placed.value)
    }
}

/// Whether a segment still holds entries from `upper` on.
fn reaches<W: Weight>(base: &Base<W>, upper: VertexId) -> bool {
    base.runs.ids.last().is_some_and(|&id| id >= upper)
        || base.rows().is_some_and(|rows| rows.ids.iter().any(|&id| id >= upper))
}

fn append_segment<W: Weight>(list: &mut ListAt<W>, segment: &SegmentAt<'_, W>, version: u64) {
    let start = list.ids.len();
    append_run(list, segment.base, 0, version);
    if let Some(upper) = segment.upper {
        let end = start + list.ids[start..].partition_point(|&id| id < upper);
        list.ids.truncate(end);
        list.weights.truncate(end);
    }
}

/// Appends the list of a local vertex at `version`.
fn append_run<W: Weight>(list: &mut ListAt<W>, base: &Base<W>, local: u8, version: u64) {
    let _: ControlFlow<()> = pieces(base, local, version, |ids, weights| {
        list.ids.extend_from_slice(ids);
        list.weights.extend_from_slice(weights);
        ControlFlow::Continue(())
    });
}
