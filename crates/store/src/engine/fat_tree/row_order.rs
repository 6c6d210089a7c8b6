//! The rows of a delta in the order of the lists they change: by owner, then by neighbour. Of several
//! about one edge the last one counts.

use evergraph_graph::VertexId;
use smallvec::SmallVec;

use super::base::{Base, GROUP_BITS, VERTEX, local_of_tag};
use crate::raw::Rows;

/// Bits of a row number in a packed key; `raw::delta::ROWS_MAX`.
const ROW_BITS: u32 = 26;

/// Rows of a delta, mostly at most this many: `Tuning::delta_max`.
const INLINE: usize = 64;

/// The row that says what becomes of an edge, packed so that whole keys sort right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey(u64);

impl RowKey {
    #[inline]
    fn new(local: u8, id: VertexId, row: usize) -> Self {
        let local = u64::from(local) << (u64::BITS - GROUP_BITS);
        Self(local | u64::from(id) << ROW_BITS | row as u64)
    }

    /// The owner of the list.
    #[inline]
    pub(super) fn local(self) -> u8 {
        (self.0 >> (u64::BITS - GROUP_BITS)) as u8
    }

    /// The neighbour.
    #[inline]
    pub(super) fn id(self) -> VertexId {
        (self.0 >> ROW_BITS) as u32
    }

    /// Where the row stands in the delta.
    #[inline]
    pub(super) fn row(self) -> usize {
        (self.0 & ((1 << ROW_BITS) - 1)) as usize
    }
}

/// The rows about edges, in order, one per edge.
pub(super) struct RowOrder(SmallVec<[RowKey; INLINE]>);

impl RowOrder {
    /// Of the first rows of a delta.
    pub(super) fn of<W: Copy>(rows: &Rows<'_, W>, taken: usize) -> Self {
        let about = rows.tags[..taken].iter().zip(rows.ids).enumerate();
        let of_edges = about.filter(|&(_, (_, &id))| id != VERTEX);
        let mut keys: SmallVec<[RowKey; INLINE]> =
            of_edges.map(|(row, (&tag, &id))| RowKey::new(local_of_tag(tag), id, row)).collect();
        keys.sort_unstable();
        keys.dedup_by(|next, kept| {
            let same = next.0 >> ROW_BITS == kept.0 >> ROW_BITS;
            if same {
                *kept = *next;
            }
            same
        });
        Self(keys)
    }

    /// Of those that a reader of a base at `version` takes in.
    pub(super) fn at<W: evergraph_graph::Weight>(base: &Base<W>, version: u64) -> Self {
        base.rows().map_or(Self(SmallVec::new()), |rows| Self::of(&rows, base.taken_at(version)))
    }

    /// All of them.
    pub(super) fn keys(&self) -> &[RowKey] {
        &self.0
    }
}

/// Takes the keys of a list from the front of those that are left; owners ascend from call to call.
#[inline]
pub(super) fn next_list<'k>(left: &mut &'k [RowKey], local: u8) -> &'k [RowKey] {
    let all = *left;
    let from = all.iter().take_while(|key| key.local() < local).count();
    let len = all[from..].iter().take_while(|key| key.local() == local).count();
    *left = &all[from + len..];
    &all[from..from + len]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_of_an_edge_counts() {
        let (ids, tags) = ([7, 3, 7, VERTEX, 7], [2, 2, 1, 1, 2]);
        let rows = Rows { ids: &ids, stamps: &[1; 5], tags: &tags, weights: &[(); 5] };
        let found = |order: &RowOrder| -> Vec<_> {
            order.keys().iter().map(|key| (key.local(), key.id(), key.row())).collect()
        };
        assert_eq!(found(&RowOrder::of(&rows, 5)), [(1, 7, 2), (2, 3, 1), (2, 7, 4)]);
        let order = RowOrder::of(&rows, 2);
        assert_eq!(found(&order), [(2, 3, 1), (2, 7, 0)]);
        let mut left = order.keys();
        assert_eq!(next_list(&mut left, 1).len(), 0);
        assert_eq!(next_list(&mut left, 2).len(), 2);
        assert_eq!(next_list(&mut left, 3).len(), 0);
    }
}
