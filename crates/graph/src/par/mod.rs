//! Parallel building blocks on rayon: cutting work by edges, prefix sums, bit sets.

mod bitset;
mod split;

pub use bitset::AtomicBitset;
pub use split::{chunks_by_range, prefix_sums, splits_by_offsets};
