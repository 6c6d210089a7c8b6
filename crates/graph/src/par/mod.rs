//! Parallel building blocks on rayon: cutting work by edges, prefix sums, bit sets, sorting.

mod bitset;
mod buckets;
mod split;

pub use bitset::AtomicBitset;
pub(crate) use buckets::sort_in_buckets;
pub use split::{chunks_by_range, prefix_sums, splits_by_offsets};
