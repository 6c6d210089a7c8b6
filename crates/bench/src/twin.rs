//! The static twin of a live graph: the baseline of every ratio, and the oracle of every answer.

use std::time::{Duration, Instant};

use evergraph::graph::{Csr, GraphView, VertexId};
use evergraph::{AnyView, Snapshot};

use crate::kernel::{Answer, Inputs, Kernel};
use crate::{Error, Result};

/// Compressed sparse rows, with or without weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Twin {
    Plain(Csr<()>),
    Weighted(Csr<f64>),
}

impl Twin {
    /// Copies a snapshot.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Self> {
        Ok(match snapshot.view()? {
            AnyView::Plain(view) => Self::Plain(Csr::from_view(&view)),
            AnyView::F64(view) => Self::Weighted(Csr::from_view(&view)),
            AnyView::F32(_) => unreachable!("weights are measured as `f64`"),
        })
    }

    /// Runs a kernel; the answer, and how long it took.
    pub(crate) fn run(
        &self,
        kernel: Kernel,
        inputs: &Inputs,
        round: usize,
    ) -> Result<(Answer, Duration)> {
        let start = Instant::now();
        let answer = match self {
            Self::Plain(rows) => kernel.run(rows, inputs, round),
            Self::Weighted(rows) => kernel.run(rows, inputs, round),
        };
        Ok((answer?, start.elapsed()))
    }

    /// An error unless the snapshot shows the same graph.
    pub(crate) fn compare(&self, snapshot: &Snapshot) -> Result<()> {
        if Self::of(snapshot)? == *self {
            return Ok(());
        }
        Err(Error::Differs { what: "all edges".into(), other: "the static graph" })
    }

    pub(crate) fn has_edge(&self, from: VertexId, to: VertexId) -> bool {
        let neighbours = match self {
            Self::Plain(rows) => rows.neighbours(from),
            Self::Weighted(rows) => rows.neighbours(from),
        };
        neighbours.binary_search(&to).is_ok()
    }

    pub(crate) fn degree(&self, v: VertexId) -> u32 {
        match self {
            Self::Plain(rows) => rows.degree(v),
            Self::Weighted(rows) => rows.degree(v),
        }
    }

    pub(crate) fn vertices(&self) -> u32 {
        match self {
            Self::Plain(rows) => rows.vertex_bound(),
            Self::Weighted(rows) => rows.vertex_bound(),
        }
    }

    pub(crate) fn entries(&self) -> u64 {
        match self {
            Self::Plain(rows) => rows.entry_count(),
            Self::Weighted(rows) => rows.entry_count(),
        }
    }

    /// The bytes that a scan of all out-neighbours reads: one offset per vertex, one id per entry.
    pub(crate) fn scan_bytes(&self) -> u64 {
        const OFFSET: u64 = size_of::<u64>() as u64;
        const ID: u64 = size_of::<VertexId>() as u64;
        OFFSET * (u64::from(self.vertices()) + 1) + ID * self.entries()
    }

    /// The bytes of its arrays.
    pub(crate) fn bytes(&self) -> u64 {
        let (directed, weight) = match self {
            Self::Plain(rows) => (rows.is_directed(), 0),
            Self::Weighted(rows) => (rows.is_directed(), size_of::<f64>() as u64),
        };
        let sides = if directed { 2 } else { 1 };
        sides * self.scan_bytes() + weight * self.entries()
    }
}
