//! Dense vertex ids: what adjacency lists hold and what algorithms index their arrays by.

/// A dense vertex id, `0 .. vertex_bound`.
///
/// A plain `u32` and not a newtype: adjacency runs are `&[u32]` straight from the store, kernels
/// index arrays by them billions of times, and the external name of a vertex is a [`crate::Key`],
/// so the two cannot be mixed up.
pub type VertexId = u32;

/// Most vertex ids a graph may hold. The last `u32` values stay free as markers.
pub const MAX_VERTICES: u32 = u32::MAX - 63;

const _: () = assert!(MAX_VERTICES.is_multiple_of(64), "directories grow by groups of 64 vertices");
