//! Who may change the set of vertices, and who may rely on it.
//!
//! Latches of groups say nothing about vertices that do not exist yet: they have no group that a
//! reader could have looked at. So a commit that relies on the set of vertices, or on a key that
//! is not in it, keeps the set as it is while it takes its version.
//!
//! # Protocol
//!   A commit that adds or removes vertices enters as *changing*, shared with others of its kind;
//!   one that has read the set, or found a key absent, enters as *relying*, alone. Both enter after
//!   they locked all their groups, before they take their version, and leave once their rows are
//!   in place. A commit that only changes edges never comes here.
//! # Invariants
//!   - VS1 While somebody relies on the set, no row about a vertex is appended to any group by
//!     another commit.
//!   - VS2 `newest` is not less than the version of any row about a vertex, seen by who relies.
//!   - VS3 `recent` knows the vertex of each such row whose version is after `forgotten`.
//! # Checked by
//!   loom: `models::loom_validation_against_a_new_vertex`; tests/isolation.rs.

use std::collections::VecDeque;

use evergraph_graph::VertexId;

use crate::sync::{AtomicU64, Mutex, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Changes that are remembered one by one: who began before more of them is refused in vain.
const RECENT_MAX: usize = 1024;

/// The latch of the set of vertices.
#[derive(Default)]
pub(super) struct VertexSet {
    latch: RwLock<()>,
    /// The version of the last change. Raised `Relaxed` by those who hold the latch shared, read
    /// by those who hold it alone: the latch orders the two.
    newest: AtomicU64,
    recent: Mutex<Recent>,
}

/// The last changes.
#[derive(Default)]
struct Recent {
    /// Versions and vertices, as they came.
    changes: VecDeque<(u64, VertexId)>,
    /// Changes up to this version may be missing.
    forgotten: u64,
}

/// What a commit has to do with the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    Outside,
    /// It adds or removes vertices.
    Changing,
    /// It relies on which vertices there are, and may change them as well.
    Relying,
}

/// The latch, held as the role asks for.
pub(super) enum Entered<'a> {
    Outside,
    Changing { _latch: RwLockReadGuard<'a, ()> },
    Relying { _latch: RwLockWriteGuard<'a, ()> },
}

impl VertexSet {
    /// Enters; what is returned is kept until the rows of the commit are in place.
    #[inline]
    pub(super) fn enter(&self, role: Role) -> Entered<'_> {
        match role {
            Role::Outside => Entered::Outside,
            Role::Changing => Entered::Changing { _latch: self.latch.read() },
            Role::Relying => Entered::Relying { _latch: self.latch.write() },
        }
    }

    /// Whether the set was changed after `version`. For those who rely on it.
    pub(super) fn changed_after(&self, version: u64) -> bool {
        self.newest.load(Ordering::Relaxed) > version
    }

    /// Whether one of the vertices that are asked for came or went after `version`, or nobody
    /// remembers. For those who rely on the set.
    pub(super) fn any_changed_after(
        &self,
        version: u64,
        is_asked_for: impl Fn(VertexId) -> bool,
    ) -> bool {
        if !self.changed_after(version) {
            return false;
        }
        let recent = self.recent.lock();
        let changed = |&(at, v): &(u64, VertexId)| at > version && is_asked_for(v);
        recent.forgotten > version || recent.changes.iter().any(changed)
    }

    /// Says that vertices came or went at `version`. For those who entered.
    pub(super) fn change(&self, version: u64, vertices: impl Iterator<Item = VertexId>) {
        self.newest.fetch_max(version, Ordering::Relaxed);
        let mut recent = self.recent.lock();
        for v in vertices {
            if recent.changes.len() == RECENT_MAX
                && let Some((oldest, _)) = recent.changes.pop_front()
            {
                recent.forgotten = recent.forgotten.max(oldest);
            }
            recent.changes.push_back((version, v));
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle, torture))))]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_after_a_version() {
        let set = VertexSet::default();
        assert!(!set.changed_after(0));
        set.change(7, [3].into_iter());
        set.change(5, [4].into_iter());
        assert!(set.changed_after(6) && !set.changed_after(7));
        let any = |version, asked| set.any_changed_after(version, |v| v == asked);
        assert!(any(6, 3) && !any(7, 3));
        assert!(any(4, 4) && !any(5, 4), "another one came after it");
        assert!(!any(0, 9));
    }

    #[test]
    fn more_changes_than_are_remembered_may_be_about_anything() {
        const LAST: u64 = RECENT_MAX as u64;
        let set = VertexSet::default();
        (1..=LAST).for_each(|version| set.change(version, [version as VertexId].into_iter()));
        let any = |version, asked| set.any_changed_after(version, |v| v == asked);
        assert!(any(0, 1) && !any(0, 0), "all are remembered");
        set.change(LAST + 1, [0].into_iter());
        assert!(any(0, LAST as VertexId + 1), "the first is forgotten");
        assert!(!any(1, 1) && any(1, 2) && any(LAST, 0) && !any(LAST + 1, 0));
    }

    #[test]
    fn who_relies_on_the_set_is_alone() {
        let set = VertexSet::default();
        let changing = set.enter(Role::Changing);
        let other = set.enter(Role::Changing);
        assert!(set.latch.try_write().is_none());
        drop((changing, other));
        let _outside = set.enter(Role::Outside);
        let relying = set.enter(Role::Relying);
        assert!(set.latch.try_read().is_none());
        drop(relying);
        assert!(set.latch.try_write().is_some());
    }
}
