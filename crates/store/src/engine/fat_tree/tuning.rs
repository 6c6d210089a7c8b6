//! The sizes that decide when things are merged, cut and packed.

/// Sizes of the live layout. The defaults are for real work; tests make them tiny, so that
/// everything happens all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// A delta has room for one row per this many neighbours in its runs, ..
    pub delta_share: usize,
    /// .. but for at least so many rows, ..
    pub delta_min: usize,
    /// .. and at most so many, whatever the runs.
    pub delta_max: usize,
    /// A group with more neighbours than this gives its largest vertices segments of their own.
    /// 4096: a merge copies 16 KB at most.
    pub group_entries_max: usize,
    /// A vertex with fewer neighbours than this never gets segments of its own; one that falls
    /// below half of it goes back into its group.
    pub hub_entries_min: usize,
    /// Neighbours in a segment of a hub before it is cut. 1024: 4 KB.
    pub segment_entries_max: usize,
    /// A commit of at least so many rows looks at each group by itself before it latches all.
    pub ahead_min: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        if cfg!(torture) {
            return Self::tiny();
        }
        Self {
            delta_share: 32,
            delta_min: 8,
            delta_max: 64,
            group_entries_max: 4096,
            hub_entries_min: 512,
            segment_entries_max: 1024,
            ahead_min: 8192,
        }
    }
}

/// Neighbours in a group at most: run ends are `u16`.
const GROUP_ENTRIES_LIMIT: usize = u16::MAX as usize;

/// Fewer rows are not sorted.
const AHEAD_LEAST: usize = 3;

impl Tuning {
    /// The smallest sizes that make sense: everything happens all the time.
    #[must_use]
    pub fn tiny() -> Self {
        Self {
            delta_share: 4,
            delta_min: 1,
            delta_max: 3,
            group_entries_max: 24,
            hub_entries_min: 6,
            segment_entries_max: 4,
            ahead_min: 3,
        }
    }

    /// These sizes, with each brought into the range that the layout can hold.
    #[must_use]
    pub(crate) fn checked(self) -> Self {
        let most_per_vertex = GROUP_ENTRIES_LIMIT / super::base::GROUP;
        Self {
            delta_share: self.delta_share.max(1),
            delta_min: self.delta_min.max(1),
            delta_max: self.delta_max.max(self.delta_min).max(1),
            group_entries_max: self.group_entries_max.min(GROUP_ENTRIES_LIMIT),
            hub_entries_min: self.hub_entries_min.clamp(2, most_per_vertex),
            segment_entries_max: self.segment_entries_max.clamp(2, GROUP_ENTRIES_LIMIT / 2),
            ahead_min: self.ahead_min.max(AHEAD_LEAST),
        }
    }

    /// Rows that a delta behind runs of `entries` neighbours has room for.
    pub(crate) fn delta_rows(&self, entries: usize) -> usize {
        (entries / self.delta_share).clamp(self.delta_min, self.delta_max)
    }
}
