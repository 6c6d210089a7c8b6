//! The peers: what they are called, what they run in, what must be known of them.

use clap::ValueEnum;

use crate::answer::Kernel;

/// A store or library that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// The live database: what all others are compared with.
    #[value(hide = true)]
    Evergraph,
    /// Evergraph's algorithms on its static array
    EvergraphCsr,
    /// Rust: petgraph
    Petgraph,
    /// Rust: graph (with `graph_builder`)
    Graph,
    /// Python: igraph
    Igraph,
    /// Python: NetworKit
    Networkit,
    /// Python: rustworkx
    Rustworkx,
    /// Python: SuiteSparse:GraphBLAS by python-graphblas
    Graphblas,
    /// Python: Kùzu, in memory
    Kuzu,
    /// Java: embedded Neo4j
    Neo4j,
}

/// What a peer runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// This program.
    Own,
    /// Python, with these packages.
    Python(&'static [&'static str]),
    Java,
}

impl Peer {
    /// Those that have algorithms, in the order they are measured.
    pub(crate) const KERNELS: &[Self] = &[
        Self::EvergraphCsr,
        Self::Petgraph,
        Self::Graph,
        Self::Igraph,
        Self::Networkit,
        Self::Rustworkx,
        Self::Graphblas,
    ];
    /// Those that change, in the order they are measured.
    pub(crate) const UPDATES: &[Self] = &[Self::Petgraph, Self::Rustworkx, Self::Kuzu, Self::Neo4j];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Evergraph => "evergraph",
            Self::EvergraphCsr => "evergraph-csr",
            Self::Petgraph => "petgraph",
            Self::Graph => "graph",
            Self::Igraph => "igraph",
            Self::Networkit => "networkit",
            Self::Rustworkx => "rustworkx",
            Self::Graphblas => "graphblas",
            Self::Kuzu => "kuzu",
            Self::Neo4j => "neo4j",
        }
    }

    pub(crate) const fn runtime(self) -> Runtime {
        match self {
            Self::Evergraph | Self::EvergraphCsr | Self::Petgraph | Self::Graph => Runtime::Own,
            Self::Igraph => Runtime::Python(&["igraph", "numpy"]),
            Self::Networkit => Runtime::Python(&["networkit", "numpy"]),
            Self::Rustworkx => Runtime::Python(&["rustworkx", "numpy"]),
            Self::Graphblas => Runtime::Python(&["python-graphblas", "numpy"]),
            Self::Kuzu => Runtime::Python(&["kuzu", "numpy"]),
            Self::Neo4j => Runtime::Java,
        }
    }

    /// How many threads run a kernel, of those that are allowed.
    pub(crate) const fn threads(self, kernel: Kernel, allowed: usize) -> usize {
        match (self, kernel) {
            (Self::Petgraph, Kernel::PageRank)
            | (Self::Rustworkx, Kernel::Triangles)
            | (
                Self::Networkit,
                Kernel::PageRankConverged | Kernel::Wcc | Kernel::Lcc | Kernel::Triangles,
            )
            | (Self::Kuzu, Kernel::Scan) => allowed,
            (_, Kernel::Scan)
            | (Self::Igraph | Self::Petgraph | Self::Rustworkx | Self::Networkit, _) => 1,
            _ => allowed,
        }
    }

    /// Whether its real numbers have 32 bits.
    pub(crate) const fn is_single_precision(self) -> bool {
        matches!(self, Self::Graph)
    }
}
