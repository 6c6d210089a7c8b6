//! The dense directory: group number to the versions of the group.
//!
//! # Layout
//!   Chunks of slots, each twice as long as the one before, made when first needed and never
//!   moved: a slot's address is good for the life of the database.
//! # Checked by
//!   loom: `models::loom_directory_*`, `models::loom_first_write_*`.

use evergraph_graph::MAX_VERTICES;

use super::base::{Base, GROUP, GROUP_BITS};
use super::layout::Leaves;
use crate::account::Account;
use crate::raw::Chain;
use crate::sync::{AtomicBool, OnceLock, Ordering};

/// Slots of the first chunk, as a power of two: 4096 vertices.
const FIRST_BITS: u32 = if cfg!(any(loom, shuttle, torture)) { 0 } else { 6 };
/// Enough chunks for every group there can be.
const CHUNKS: usize = (MAX_VERTICES.ilog2() - GROUP_BITS + 2 - FIRST_BITS) as usize;

/// The groups of one direction.
pub(crate) struct Directory<W> {
    chunks: [OnceLock<Box<[Slot<W>]>>; CHUNKS],
    pub(crate) leaves: Leaves<W>,
    /// Counts the chunks.
    account: Account,
}

/// One group.
pub(crate) struct Slot<W> {
    pub(crate) chain: Chain<Base<W>>,
    /// Whether the group waits in the queue of groups with old versions.
    pub(crate) in_history_queue: Flag,
    /// Whether the group waits in the queue of groups with pending rows.
    pub(crate) in_pending_queue: Flag,
}

/// A flag that is raised by whoever queues something, and lowered by whoever takes it out.
#[derive(Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Raises the flag; true if it was down.
    #[inline]
    pub(crate) fn raise(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::AcqRel)
    }

    /// Lowers the flag.
    #[inline]
    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<W> Default for Slot<W> {
    fn default() -> Self {
        Self {
            chain: Chain::default(),
            in_history_queue: Flag::default(),
            in_pending_queue: Flag::default(),
        }
    }
}

/// The chunk of a group and its place there.
#[inline]
fn place(group: u32) -> (usize, usize) {
    let number = group + (1 << FIRST_BITS);
    let chunk = number.ilog2() - FIRST_BITS;
    (chunk as usize, (number - (1 << (chunk + FIRST_BITS))) as usize)
}

impl<W> Directory<W> {
    pub(crate) fn new(account: Account) -> Self {
        let chunks = std::array::from_fn(|_| OnceLock::new());
        Self { chunks, leaves: Leaves::default(), account }
    }

    /// The slot of a group, made now if need be.
    #[inline]
    pub(crate) fn slot(&self, group: u32) -> &Slot<W> {
        let (chunk, at) = place(group);
        let slots = self.chunks[chunk].get_or_init(|| {
            let length = 1usize << (FIRST_BITS as usize + chunk);
            self.account.add(length * size_of::<Slot<W>>());
            std::iter::repeat_with(Slot::default).take(length).collect()
        });
        &slots[at]
    }

    /// The slot of a group, if its chunk was made.
    #[inline]
    pub(crate) fn get(&self, group: u32) -> Option<&Slot<W>> {
        let (chunk, at) = place(group);
        self.chunks[chunk].get().map(|slots| &slots[at])
    }
}

/// The vertices of `group` that are `< bound`, a bit each.
#[inline]
pub(crate) fn vertices_below(bound: u32, group: u32) -> u64 {
    let first = u64::from(group) << GROUP_BITS;
    match u64::from(bound).saturating_sub(first) {
        0 => 0,
        count if count >= GROUP as u64 => u64::MAX,
        count => (1 << count) - 1,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_one_place() {
        let mut seen = 0;
        for chunk in 0..5 {
            for at in 0..1usize << (FIRST_BITS as usize + chunk) {
                assert_eq!(place(seen), (chunk, at));
                seen += 1;
            }
        }
        let last = (MAX_VERTICES - 1) >> GROUP_BITS;
        assert!(place(last).0 < CHUNKS);
    }

    #[test]
    fn the_vertices_of_a_group_end_at_the_bound() {
        assert_eq!(vertices_below(0, 0), 0);
        assert_eq!(vertices_below(64, 0), u64::MAX);
        assert_eq!(vertices_below(64, 1), 0);
        assert_eq!(vertices_below(67, 1), 0b111);
    }
}
