//! All `unsafe` of Evergraph, behind safe types.
//!
//! - [`pin`]: epochs; memory that was unlinked is freed when nobody can still look at it.
//! - [`chain`]: the versions of one group of vertices, newest first, behind a pointer.
//! - [`delta`]: a table of fixed capacity that one writer appends to and all may read.
//! - [`leased`]: references that stay good as long as a lease.
//! - [`slice`]: immutable arrays, by themselves or side by side in a leaf.
//! - [`lists`]: lists in one such array, looked up without checks.
//! - `prefetch`: asking for memory before it is needed.
//!
//! Each block names what proves it. The protocols are told in `docs/design/versions.md`.

mod chain;
mod delta;
mod leased;
mod lists;
mod pin;
mod prefetch;
mod slice;

pub(crate) use chain::{Chain, Lent, Locked, Placed, Retention};
pub(crate) use delta::{Delta, Row, Rows};
pub(crate) use leased::LeasedTable;
pub(crate) use lists::{ELSEWHERE, ListTable, Lists, Places, packed};
pub(crate) use pin::{Pin, Pins};
pub(crate) use prefetch::prefetch;
pub(crate) use slice::{LeafBuilder, LeafPool, Slice};
