//! Commit numbers.

use std::fmt;

/// A commit number: dense, ascending, the first commit of a database is 1. `Version(0)` is the
/// database as it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
