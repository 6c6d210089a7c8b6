//! How far readers of the log are, by name: part of the state, changed by transactions.
//!
//! # Invariants
//!   - A position is set before its commit is visible: whoever reads at a version finds what commits
//!     up to it set.
//!   - Older positions of a name are kept while somebody reads at a version ([`Positions::keep`]).

use std::collections::BTreeMap;

use crate::Version;
use crate::sync::Mutex;

/// Positions by name.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// For each name the version of a commit and what that set, ascending.
    names: BTreeMap<Box<str>, Vec<(u64, Version)>>,
    /// How many want to read at a version that they do not know yet.
    keepers: usize,
}

/// Keeps the positions of all versions from when it was made.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    positions: &'a Positions,
}

impl Positions {
    /// Sets positions, of a commit at a version.
    pub(crate) fn set(&self, commit: u64, positions: &[(Box<str>, Version)]) {
        let mut state = self.state.lock();
        let keeps = state.keepers > 0;
        for (name, position) in positions {
            let history = state.names.entry(name.clone()).or_default();
            let at = history.partition_point(|&(version, _)| version <= commit);
            history.insert(at, (commit, *position));
            if !keeps {
                // Those that are not visible yet stay behind the newest visible one.
                let newer = history.len().saturating_sub(IN_FLIGHT);
                history.drain(..newer);
            }
        }
    }

    /// The position of a name at a version.
    pub(crate) fn at(&self, name: &str, version: u64) -> Option<Version> {
        let state = self.state.lock();
        let history = state.names.get(name)?;
        let before = history.partition_point(|&(commit, _)| commit <= version);
        Some(history[before.checked_sub(1)?].1)
    }

    /// All positions at a version.
    pub(crate) fn all_at(&self, version: u64) -> Vec<(Box<str>, Version)> {
        let state = self.state.lock();
        let newest = |history: &[(u64, Version)]| {
            let before = history.partition_point(|&(commit, _)| commit <= version);
            before.checked_sub(1).map(|at| history[at].1)
        };
        let all = state
            .names
            .iter()
            .filter_map(|(name, history)| newest(history).map(|position| (name.clone(), position)));
        all.collect()
    }

    /// From now on positions of every version are kept, until the result is dropped.
    pub(crate) fn keep(&self) -> Kept<'_> {
        self.state.lock().keepers += 1;
        Kept { positions: self }
    }
}

/// Commits of one name that may be in flight at once: more than can be.
const IN_FLIGHT: usize = 1 << 13;

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.positions.state.lock().keepers -= 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_that_of_the_version() {
        let positions = Positions::default();
        let set = |commit, position| positions.set(commit, &[("a".into(), Version(position))]);
        let kept = positions.keep();
        set(3, 30);
        set(9, 90);
        set(5, 50);
        let at = |version| positions.at("a", version);
        assert_eq!(
            [at(2), at(3), at(8), at(9)].map(|at| at.map(|v| v.0)),
            [None, Some(30), Some(50), Some(90)]
        );
        assert_eq!(positions.all_at(4), [("a".into(), Version(30))]);
        drop(kept);
        (0..2 * IN_FLIGHT as u64).for_each(|commit| set(10 + commit, commit));
        assert_eq!(at(u64::MAX), Some(Version(2 * IN_FLIGHT as u64 - 1)));
        assert_eq!(at(5), None, "nobody reads there");
        assert_eq!(positions.at("b", 9), None);
    }
}
