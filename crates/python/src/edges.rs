//! Columns of edges, and what transactions and ingesting do with them alike.

use evergraph::graph::KeyRef;
use evergraph::{Ingest, StoreError, Transaction};
use pyo3::prelude::*;

use crate::column::{Keys, Weights};
use crate::error::InvalidError;

type Result<T> = std::result::Result<T, StoreError>;

/// Columns of edges, all of one length.
pub(crate) struct Edges {
    pub(crate) source: Keys,
    pub(crate) target: Keys,
    pub(crate) weights: Option<Weights>,
}

impl Edges {
    /// Checks that the columns go together.
    pub(crate) fn new(source: Keys, target: Keys, weights: Option<Weights>) -> PyResult<Self> {
        let (sources, targets) = (source.len(), target.len());
        let weighted = weights.as_ref().map_or(sources, |weights| weights.0.len());
        if sources == targets && sources == weighted {
            return Ok(Self { source, target, weights });
        }
        Err(InvalidError::new_err(format!(
            "columns of edges are of one length; these have {sources} sources, {targets} targets \
             and {weighted} weights"
        )))
    }

    fn ends(&self) -> impl Iterator<Item = (KeyRef<'_>, KeyRef<'_>)> {
        self.source.iter().zip(self.target.iter())
    }

    /// Ends and weights; nothing if there is no column of weights.
    fn weighted(&self) -> impl Iterator<Item = (KeyRef<'_>, KeyRef<'_>, f64)> {
        let weights = self.weights.iter().flat_map(|weights| weights.0.iter());
        self.ends().zip(weights).map(|((source, target), &weight)| (source, target, weight))
    }
}

/// Who takes changes of edges.
pub(crate) trait TakeEdges {
    fn add(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: Option<f64>) -> Result<()>;

    fn add_all(&mut self, edges: &Edges) -> Result<()>;

    fn remove(&mut self, source: KeyRef<'_>, target: KeyRef<'_>) -> Result<()>;

    fn weigh(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: f64) -> Result<()>;

    fn remove_all(&mut self, edges: &Edges) -> Result<()> {
        edges.ends().try_for_each(|(source, target)| self.remove(source, target))
    }

    fn weigh_all(&mut self, edges: &Edges) -> Result<()> {
        edges.weighted().try_for_each(|(source, target, weight)| self.weigh(source, target, weight))
    }
}

impl TakeEdges for Transaction<'_> {
    fn add(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: Option<f64>) -> Result<()> {
        match weight {
            Some(weight) => self.add_weighted_edge(source, target, weight),
            None => self.add_edge(source, target),
        }
    }

    fn add_all(&mut self, edges: &Edges) -> Result<()> {
        match edges.weights {
            Some(_) => edges.weighted().try_for_each(|(u, v, weight)| self.add(u, v, Some(weight))),
            None => edges.ends().try_for_each(|(u, v)| self.add(u, v, None)),
        }
    }

    fn remove(&mut self, source: KeyRef<'_>, target: KeyRef<'_>) -> Result<()> {
        self.remove_edge(source, target)
    }

    fn weigh(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: f64) -> Result<()> {
        self.set_weight(source, target, weight)
    }
}

impl TakeEdges for Ingest {
    fn add(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: Option<f64>) -> Result<()> {
        match weight {
            Some(weight) => self.add_weighted_edge(source, target, weight),
            None => self.add_edge(source, target),
        }
    }

    fn add_all(&mut self, edges: &Edges) -> Result<()> {
        match edges.weights {
            Some(_) => self.add_weighted_edges(edges.weighted()),
            None => self.add_edges(edges.ends()),
        }
    }

    fn remove(&mut self, source: KeyRef<'_>, target: KeyRef<'_>) -> Result<()> {
        self.remove_edge(source, target)
    }

    fn weigh(&mut self, source: KeyRef<'_>, target: KeyRef<'_>, weight: f64) -> Result<()> {
        self.set_weight(source, target, weight)
    }
}
