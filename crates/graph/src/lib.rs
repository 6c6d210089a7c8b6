//! Graphs as algorithms see them: ids and keys, the read contract, a static reference graph, and
//! the ways a graph comes into the process.
//!
//! Nothing here knows about storage engines. [`GraphView`] is the one seam: engines offer it,
//! algorithms ask for no more than it.
#![forbid(unsafe_code)]

// What a graph is made of.
pub mod id;
pub mod key;
pub mod rank;
pub mod weight;

// What algorithms read.
pub mod view;

// The static reference graph.
pub mod csr;
pub mod edges;

// How a graph comes into the process.
pub mod generate;
pub mod progress;
pub mod read;
pub mod source;

// How a graph changes and how it leaves the process.
pub mod changes;
pub mod update;
pub mod write;

// Parallel building blocks.
pub mod par;

mod memory;
mod mix;

pub use changes::GraphChanges;
pub use csr::Csr;
pub use edges::EdgeList;
pub use generate::GraphSpec;
pub use id::{MAX_VERTICES, VertexId};
pub use key::{Key, KeyKind, KeyRef, KeyTable};
pub use progress::Progress;
pub use read::{ReadError, ReadOptions};
pub use source::GraphSource;
pub use update::Update;
pub use view::GraphView;
pub use weight::Weight;
