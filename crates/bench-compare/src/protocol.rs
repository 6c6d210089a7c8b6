//! What is said to a peer and what it says: one JSON value per line.
//!
//! # Files
//!   Numbers stand in files, little endian, one behind the other. `edges`: two `u32` per edge.
//!   `updates`: three `u32` per change: 1 if it removes, else 0, then both ends. `weights`: an `f64` per
//!   edge. `answer`: an `i64` or `f64` per value, see [`crate::answer::Kernel`].
//! # Order
//!   A peer tells its version when it is ready. Then it gives one reply to each request, and ends
//!   when its input does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::answer::Kernel;

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// The whole graph is loaded, in place of the one before.
    Load { edges: PathBuf, weights: Option<PathBuf>, vertices: u32 },
    /// A kernel is run; searches begin at `source`.
    Kernel { kernel: Kernel, source: u32, answer: PathBuf },
    /// A graph that can change is made, without edges, in place of the one before.
    Create { vertices: u32 },
    /// Edges are inserted and removed, each by a transaction of its own where there are such.
    Update { updates: PathBuf },
    /// The degree of every vertex, and the sum of its neighbours' ids.
    Scan { answer: PathBuf },
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// It is done, and took so long.
    Seconds(f64),
    /// There is no such thing in this peer.
    Absent(String),
    /// It failed.
    Error(String),
    /// The peer is ready, and this is its version.
    Version(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_that_peers_know() {
        let request = Request::Kernel { kernel: Kernel::PageRank, source: 7, answer: "a".into() };
        let text = serde_json::to_string(&request).expect("serialises");
        assert_eq!(text, r#"{"do":"kernel","kernel":"pagerank","source":7,"answer":"a"}"#);
        let reply: Reply = serde_json::from_str(r#"{"seconds": 0.5}"#).expect("a reply");
        assert_eq!(reply, Reply::Seconds(0.5));
        assert!(serde_json::from_str::<Reply>("done").is_err());
    }
}
