//! Folding the pending rows of a base into new runs.
//!
//! The runs between two touched places are copied as slices, over several vertices at once, so a
//! fold costs one pass of memory plus a search per row.
//!
//! # Invariants
//!   - The new runs are the state of the base at `limit` (B2 of `base.rs`).
//!   - Rows after `limit` are carried over, in order.

use std::ops::Range;

use evergraph_graph::{VertexId, Weight};

use super::base::{Base, GROUP, Kind, Op, VERTEX, local_of_tag, position};
use super::row_order::RowOrder;
use crate::fault::{Fault, planted};
use crate::raw::Rows;

/// A base after a fold: the new runs in parts that may still be cut, and what was left pending.
pub(crate) struct Folded<W> {
    pub(crate) ends: [u32; GROUP],
    pub(crate) ids: Vec<VertexId>,
    pub(crate) weights: Vec<W>,
    pub(crate) live: u64,
    /// The version of the last row folded in; that of the base if there was none.
    pub(crate) version: u64,
    /// Later changes with their versions, in order.
    pub(crate) carried: Vec<(Op<W>, u64)>,
}

impl<W: Weight> Folded<W> {
    /// One run, of local vertex 0, with nothing pending.
    pub(crate) fn of_run(ids: Vec<VertexId>, weights: Vec<W>, version: u64) -> Self {
        let ends = [ids.len() as u32; GROUP];
        Self { ends, ids, weights, live: 0, version, carried: Vec::new() }
    }

    /// Where the run of a local vertex lies.
    pub(crate) fn span(&self, local: u8) -> Range<usize> {
        let local = usize::from(local);
        let start = if local == 0 { 0 } else { self.ends[local - 1] };
        start as usize..self.ends[local] as usize
    }

    /// Takes the run of a local vertex out.
    pub(crate) fn cut_out(&mut self, local: u8) -> (Vec<VertexId>, Vec<W>) {
        let span = self.span(local);
        let length = span.len() as u32;
        self.ends[usize::from(local)..].iter_mut().for_each(|end| *end -= length);
        (self.ids.drain(span.clone()).collect(), self.weights.drain(span).collect())
    }

    /// Puts a run in for a local vertex that has none.
    pub(crate) fn put_in(&mut self, local: u8, ids: &[VertexId], weights: &[W]) {
        let at = self.span(local).start;
        self.ids.splice(at..at, ids.iter().copied());
        self.weights.splice(at..at, weights.iter().copied());
        self.ends[usize::from(local)..].iter_mut().for_each(|end| *end += ids.len() as u32);
    }
}

/// What a row does to the runs.
struct Edit {
    /// Where, in the ids of the base.
    at: u32,
    /// The row it comes from.
    row: u32,
    local: u8,
    action: Action,
}

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Insert,
    Overwrite,
    Delete,
}

/// Folds the rows of `base` up to version `limit`.
pub(crate) fn fold<W: Weight>(base: &Base<W>, limit: u64) -> Folded<W> {
    let mut folded = Folded {
        ends: base.runs.ends.map(u32::from),
        ids: Vec::new(),
        weights: Vec::new(),
        live: base.runs.live,
        version: base.since,
        carried: Vec::new(),
    };
    let Some(rows) = base.rows() else {
        folded.ids = base.runs.ids.to_vec();
        folded.weights = base.runs.weights.to_vec();
        return folded;
    };
    let taken = base.taken_at(limit);
    if let Some(&stamp) = rows.stamps[..taken].last() {
        folded.version += u64::from(stamp);
    }
    folded.carried = carried(base, &rows, taken);
    for i in (0..taken).filter(|&i| rows.ids[i] == VERTEX) {
        let bit = 1 << local_of_tag(rows.tags[i]);
        match Kind::of(rows.tags[i]) {
            Kind::Remove => folded.live &= !bit,
            Kind::Add | Kind::Set => folded.live |= bit,
        }
    }
    let lost = usize::from(planted(Fault::MergeLosesFolded));
    let edits = edits(base, &rows, taken.saturating_sub(lost));
    copy(base, &rows, &edits, &mut folded);
    folded
}

fn carried<W: Weight>(base: &Base<W>, rows: &Rows<'_, W>, taken: usize) -> Vec<(Op<W>, u64)> {
    let carry = |i| {
        let row = rows.row(i);
        let (local, kind) = (local_of_tag(row.tag), Kind::of(row.tag));
        let op = Op { local, id: row.id, kind, weight: row.weight };
        (op, base.since + u64::from(row.stamp))
    };
    (taken..rows.len()).skip(usize::from(planted(Fault::MergeLosesCarried))).map(carry).collect()
}

/// The edits of the last row of each edge, in the order of the runs.
fn edits<W: Weight>(base: &Base<W>, rows: &Rows<'_, W>, taken: usize) -> Vec<Edit> {
    let order = RowOrder::of(rows, taken);
    let mut edits = Vec::with_capacity(order.keys().len());
    let mut from = 0;
    for &key in order.keys() {
        let (local, row) = (key.local(), key.row());
        let span = base.span(local);
        from = span.start.max(from);
        let found = position(&base.runs.ids[from..span.end], key.id());
        let (Ok(offset) | Err(offset)) = found;
        let action = match (Kind::of(rows.tags[row]), found) {
            (Kind::Remove, Ok(_)) => Action::Delete,
            (Kind::Remove, Err(_)) => continue,
            (Kind::Add | Kind::Set, Ok(_)) => Action::Overwrite,
            (Kind::Add | Kind::Set, Err(_)) => Action::Insert,
        };
        from += offset;
        edits.push(Edit { at: from as u32, row: row as u32, local, action });
    }
    edits
}

/// Copies the runs of `base` with the edits made.
fn copy<W: Weight>(base: &Base<W>, rows: &Rows<'_, W>, edits: &[Edit], folded: &mut Folded<W>) {
    let (ids, weights) = (&base.runs.ids, &base.runs.weights);
    let inserted = edits.iter().filter(|edit| edit.action == Action::Insert).count();
    let deleted = edits.iter().filter(|edit| edit.action == Action::Delete).count();
    let total = ids.len() + inserted - deleted;
    folded.ids.reserve_exact(total);
    folded.weights.reserve_exact(total);
    let mut copied = 0;
    let mut change = [0i32; GROUP];
    for edit in edits {
        let (at, row) = (edit.at as usize, edit.row as usize);
        folded.ids.extend_from_slice(&ids[copied..at]);
        folded.weights.extend_from_slice(&weights[copied..at]);
        copied = at;
        if edit.action != Action::Delete {
            folded.ids.push(rows.ids[row]);
            folded.weights.push(rows.weights[row]);
        }
        if edit.action != Action::Insert {
            copied += 1;
        }
        change[usize::from(edit.local)] += match edit.action {
            Action::Insert => 1,
            Action::Overwrite => 0,
            Action::Delete => -1,
        };
    }
    folded.ids.extend_from_slice(&ids[copied..]);
    folded.weights.extend_from_slice(&weights[copied..]);
    let mut shift = 0;
    for (end, change) in folded.ends.iter_mut().zip(change) {
        shift += change;
        *end = end.wrapping_add_signed(shift);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::base::Runs;
    use super::*;

    fn base_of(lists: &[(u8, &[u32])]) -> Base<f64> {
        let mut runs = Runs::empty(u64::MAX);
        let mut ids = Vec::new();
        for local in 0..GROUP as u8 {
            for (_, list) in lists.iter().filter(|(owner, _)| *owner == local) {
                ids.extend_from_slice(list);
            }
            runs.ends[usize::from(local)] = ids.len() as u16;
        }
        runs.weights = ids.iter().map(|&id| f64::from(id)).collect::<Vec<_>>().into();
        runs.ids = ids.into();
        Base::new(runs, 10, &crate::account::Account::default())
    }

    fn list(folded: &Folded<f64>, local: u8) -> Vec<(u32, f64)> {
        let span = folded.span(local);
        folded.ids[span.clone()].iter().copied().zip(folded.weights[span].iter().copied()).collect()
    }

    #[test]
    fn rows_become_runs_and_later_rows_are_carried() {
        let base = base_of(&[(0, &[3, 5, 9]), (2, &[1]), (63, &[7, 8])]);
        base.make_delta(16);
        let op = |local, id, kind, weight| Op { local, id, kind, weight };
        base.append(&op(0, 4, Kind::Add, 40.0), 11);
        base.append(&op(63, 8, Kind::Remove, 0.0), 11);
        base.append(&op(1, 6, Kind::Add, 60.0), 12);
        base.append(&op(0, 4, Kind::Remove, 0.0), 13);
        base.append(&op(0, 9, Kind::Set, 90.0), 14);
        base.append(&op(5, VERTEX, Kind::Remove, 0.0), 14);
        base.append(&op(2, 1, Kind::Remove, 0.0), 20);
        let folded = fold(&base, 15);
        assert_eq!(list(&folded, 0), [(3, 3.0), (5, 5.0), (9, 90.0)]);
        assert_eq!(list(&folded, 1), [(6, 60.0)]);
        assert_eq!(list(&folded, 2), [(1, 1.0)]);
        assert_eq!(list(&folded, 63), [(7, 7.0)]);
        assert_eq!((folded.version, folded.live), (14, !(1 << 5)));
        assert_eq!(folded.carried, [(op(2, 1, Kind::Remove, 0.0), 20)]);
    }

    #[test]
    fn a_run_can_be_cut_out_and_put_in() {
        let base = base_of(&[(0, &[3]), (2, &[1, 2]), (3, &[9])]);
        let mut folded = fold(&base, 10);
        let (ids, weights) = folded.cut_out(2);
        assert_eq!((ids.as_slice(), weights.as_slice()), (&[1, 2][..], &[1.0, 2.0][..]));
        assert_eq!((list(&folded, 2), list(&folded, 3)), (vec![], vec![(9, 9.0)]));
        folded.put_in(2, &ids, &weights);
        assert_eq!(
            (list(&folded, 2), list(&folded, 3)),
            (vec![(1, 1.0), (2, 2.0)], vec![(9, 9.0)])
        );
    }
}
