//! What the command line says.

use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use evergraph::graph::read::{Duplicates, SelfLoops};
use evergraph::graph::{GraphSource, ReadOptions};

use crate::peer::Peer;
use crate::{Error, Result};

/// Large enough that kernels take milliseconds, small enough for the slowest peers.
const KERNELS_GRAPH: &str = "graph500-18";
/// A change takes some peers a millisecond.
const UPDATES_GRAPH: &str = "graph500-12";
/// The folder that holds what peers need, beside the program.
const FOLDER: &str = "compare";

/// Runs the same work on other stores and libraries and on Evergraph, in turns, compares the
/// answers, and tells the times.
///
/// What a peer needs is fetched when it is first asked for (Python packages, Java archives), into
/// a folder beside the program. A peer that cannot be set up is left out, and why is told.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench-compare", version)]
pub(crate) struct Args {
    /// What to measure
    #[arg(value_enum, value_name = "WHAT", required_unless_present = "serve")]
    what: Option<What>,
    /// A generated graph (graph500-SCALE, uniform-SCALE) or a graph file; its edges are taken
    /// without direction [default: graph500-18 for kernels, graph500-12 for updates]
    #[arg(long)]
    graph: Option<GraphSource>,
    /// Edges carry weights: those of the file, or random ones; measures shortest paths
    #[arg(long)]
    pub(crate) weighted: bool,
    /// Which peers, instead of all that have something to measure
    #[arg(long, value_enum, value_name = "PEER", value_delimiter = ',')]
    peers: Vec<Peer>,
    /// How many threads peers may use, if they have such a setting [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// How often to measure each figure; the median counts
    #[arg(long, value_name = "R", default_value = "5")]
    pub(crate) repeats: NonZeroUsize,
    /// What the order of edges and the choice of sources follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How long a peer may take for one step
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Writes the results as JSON; `-` is standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Where peers are set up and graphs are handed over [default: beside the program]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Serves as this peer
    #[arg(long, hide = true, value_enum, value_name = "PEER")]
    pub(crate) serve: Option<Peer>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Algorithms on a graph that does not change
    Kernels,
    /// Edges that are inserted and deleted one by one, then a scan
    Updates,
}

impl Args {
    pub(crate) fn what(&self) -> What {
        self.what.unwrap_or(What::Kernels)
    }

    /// The peers that are asked for, each once; an error for one that has nothing to measure.
    pub(crate) fn chosen(&self) -> Result<Vec<Peer>> {
        let all = match self.what() {
            What::Kernels => Peer::KERNELS,
            What::Updates => Peer::UPDATES,
        };
        if self.peers.is_empty() {
            return Ok(all.to_vec());
        }
        let mut chosen = Vec::new();
        for &peer in &self.peers {
            if !all.contains(&peer) {
                let can = all.iter().map(|peer| peer.name()).collect::<Vec<_>>().join(", ");
                return Err(Error::NothingToMeasure { peer: peer.name(), can });
            }
            if !chosen.contains(&peer) {
                chosen.push(peer);
            }
        }
        Ok(chosen)
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads.map_or_else(evergraph_bench::cores, NonZeroUsize::get)
    }

    /// The graph that is asked for.
    pub(crate) fn graph(&self) -> GraphSource {
        let default = match self.what() {
            What::Kernels => KERNELS_GRAPH,
            What::Updates => UPDATES_GRAPH,
        };
        let default = || default.parse().expect("the name of a generated graph");
        self.graph.clone().unwrap_or_else(default)
    }

    /// Peers differ in what they make of directions, of edges that stand twice and of self loops:
    /// graphs are taken without any of them.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            directed: Some(false),
            weighted: self.weighted,
            duplicates: Duplicates::Ignore,
            self_loops: SelfLoops::Drop,
            ..ReadOptions::default()
        }
    }

    /// Where peers are set up.
    pub(crate) fn folder(&self) -> PathBuf {
        let beside = || {
            let program = env::current_exe().ok()?;
            Some(program.parent()?.parent()?.join(FOLDER))
        };
        self.folder.clone().or_else(beside).unwrap_or_else(|| FOLDER.into())
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::try_parse_from(line.split(' ')).expect(line)
    }

    #[test]
    fn every_peer_is_chosen_once_and_can_do_what_is_asked() {
        let line = "bench-compare kernels --peers igraph,graph,igraph";
        assert_eq!(args(line).chosen().expect("both can"), [Peer::Igraph, Peer::Graph]);
        assert_eq!(args("bench-compare updates").chosen().expect("all"), Peer::UPDATES);
        let error = args("bench-compare updates --peers igraph").chosen().expect_err("it cannot");
        assert!(error.to_string().starts_with("igraph has nothing to measure"), "{error}");
    }

    #[test]
    fn an_unknown_peer_is_refused_and_the_known_ones_are_listed() {
        let line = "bench-compare kernels --peers nobody";
        let error = Args::try_parse_from(line.split(' ')).expect_err("there is no such peer");
        let text = error.to_string();
        assert!(text.contains("nobody") && text.contains("networkit"), "{text}");
    }

    #[test]
    fn each_measurement_has_a_graph_of_its_own() {
        assert_eq!(args("bench-compare kernels").graph(), KERNELS_GRAPH.parse().expect("a name"));
        assert_eq!(args("bench-compare updates").graph(), UPDATES_GRAPH.parse().expect("a name"));
    }
}
