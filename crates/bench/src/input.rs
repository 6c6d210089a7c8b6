//! The graph that is measured: its edges in a random order.

use evergraph::graph::{Csr, EdgeList, GraphSource, KeyTable, ReadOptions, VertexId};
use evergraph::{Database, Options, Weights};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::progress::Loading;
use crate::twin::Twin;
use crate::{Error, Reporter, Result};

/// Fewer edges than this give no figure that means anything.
const EDGES_MIN: usize = 64;

/// An edge has an entry in a list of each of its ends, whether it has a direction or not. (A self
/// loop of a graph without directions has only one; so few do not matter.)
pub(crate) const ENTRIES_PER_EDGE: usize = 2;

/// The random streams of one seed.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Order,
    Churn,
    Sources,
    Lookups,
    Hub,
}

/// Random numbers for one purpose.
pub(crate) fn random(seed: u64, stream: Stream) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed.wrapping_mul(31).wrapping_add(stream as u64))
}

/// An edge to be added or removed; it weighs 1 where edges carry no weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// One end.
    pub from: VertexId,
    /// The other end.
    pub to: VertexId,
    /// What it weighs.
    pub weight: f64,
}

/// A graph over dense ids, its edges in a random order.
pub struct Input {
    /// What the graph is called in the results.
    pub name: String,
    /// Its edges, over dense keys.
    pub list: EdgeList,
}

impl Input {
    /// Reads or makes the graph. Its keys are left out: vertices are named by their dense ids.
    pub fn load(
        source: &GraphSource,
        options: &ReadOptions,
        seed: u64,
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        let name = match source {
            GraphSource::Generated(spec) => spec.to_string(),
            GraphSource::File(path) => {
                let file = path.file_name().unwrap_or(path.as_os_str());
                file.to_string_lossy().into_owned()
            }
        };
        reporter.begin(&format!("{name}: reading or making it"));
        let mut list = source.load(options, &Loading(reporter))?;
        list.keys = KeyTable::dense(list.keys.len());
        if list.edges.len() < EDGES_MIN {
            let edges = list.edges.len();
            return Err(Error::TooSmall { graph: name, edges, needed: EDGES_MIN });
        }
        reporter.begin(&format!("{name}: putting edges into a random order"));
        let mut input = Self { name, list };
        input.shuffle(seed);
        Ok(input)
    }

    /// Puts the edges into a random order, and the ends of undirected ones too.
    fn shuffle(&mut self, seed: u64) {
        let list = &mut self.list;
        // The same numbers over the same length make the same permutation.
        list.edges.shuffle(&mut random(seed, Stream::Order));
        if let Some(weights) = &mut list.weights {
            weights.shuffle(&mut random(seed, Stream::Order));
        }
        if !list.directed {
            let mut coins = random(seed, Stream::Order);
            for (from, to) in &mut list.edges {
                if coins.random() {
                    std::mem::swap(from, to);
                }
            }
        }
    }

    /// How many edges there are.
    pub(crate) fn len(&self) -> usize {
        self.list.edges.len()
    }

    /// How many entries all lists of a database with the graph have together.
    pub(crate) fn entries(&self) -> usize {
        ENTRIES_PER_EDGE * self.len()
    }

    pub(crate) fn vertices(&self) -> u32 {
        self.list.keys.len()
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.list.weights.is_some()
    }

    pub(crate) fn edge(&self, place: usize) -> Edge {
        let (from, to) = self.list.edges[place];
        let weight = self.list.weights.as_ref().map_or(1.0, |weights| weights[place]);
        Edge { from, to, weight }
    }

    /// The options of a database for the graph, its keys aside.
    pub(crate) fn options(&self) -> Options {
        let options = Database::options();
        let options = if self.list.directed { options.directed() } else { options.undirected() };
        options.weights(if self.is_weighted() { Weights::F64 } else { Weights::None })
    }

    /// An empty database for the graph, its vertices there.
    pub(crate) fn database(&self) -> Database {
        self.options().dense_keys(self.vertices()).in_memory()
    }

    /// The graph as a static array.
    pub(crate) fn twin(&self) -> Result<Twin> {
        Ok(if self.is_weighted() {
            Twin::Weighted(Csr::from_edges(&self.list)?)
        } else {
            Twin::Plain(Csr::from_edges(&self.list)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stay_with_their_edges() {
        // Edge `v` weighs `v`.
        let edges: Vec<(u32, u32)> = (0..500).map(|v| (v, v + 500)).collect();
        let weights = Some((0..500).map(f64::from).collect());
        let list = EdgeList { directed: false, keys: KeyTable::dense(1000), edges, weights };
        let mut input = Input { name: "test".into(), list };
        input.shuffle(7);
        let edges: Vec<Edge> = (0..input.len()).map(|place| input.edge(place)).collect();
        let weights: Vec<f64> =
            edges.iter().map(|edge| f64::from(edge.from.min(edge.to))).collect();
        assert!(edges.iter().map(|edge| edge.weight).eq(weights.iter().copied()));
        let in_place =
            weights.iter().zip(0..500).filter(|&(&a, b)| a.total_cmp(&f64::from(b)).is_eq());
        let in_place = in_place.count();
        let turned = edges.iter().filter(|edge| edge.from >= 500).count();
        assert!(in_place < 50, "{in_place} did not move");
        assert!((150..350).contains(&turned), "{turned} of 500 turned");
    }
}
