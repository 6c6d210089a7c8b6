//! Peers that are this program: Evergraph, and libraries in Rust.

mod changing;
mod evergraph;
mod graph;
mod petgraph;

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use rayon::ThreadPoolBuilder;

use crate::answer::{Answer, Kernel};
use crate::peer::Peer;
use crate::protocol::{Reply, Request};
use crate::work::{Change, GraphFiles, read_changes};
use crate::{Error, Result};

use changing::{ChangingDatabase, ChangingMap};

/// Runs a loaded graph's kernel; `None` if there is no such kernel.
trait Kernels {
    fn run(&self, kernel: Kernel, source: u32) -> Result<Option<(f64, Answer)>>;
}

/// A graph that changes.
trait Changing {
    /// Makes the changes one by one. An edge that is inserted must not be there, and one that is
    /// removed must.
    fn update(&mut self, changes: &[Change]) -> Result<()>;

    /// For every vertex its degree, and the sum of its neighbours.
    fn scan(&self) -> Result<Vec<i64>>;
}

/// Answers requests until the input ends.
pub(crate) fn serve(peer: Peer, threads: usize) -> Result<()> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::Protocol(error.to_string()))?;
    let mut worker = Worker { peer, graph: None, changing: None };
    let mut out = io::stdout().lock();
    let mut say = |reply: &Reply| -> Result<()> {
        let text =
            serde_json::to_string(reply).map_err(|error| Error::Protocol(error.to_string()))?;
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(evergraph_bench::Error::from)?;
        Ok(())
    };
    say(&Reply::Version(version(peer).to_owned()))?;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let request = serde_json::from_str(&line);
        let request = request.map_err(|error| Error::Protocol(error.to_string()));
        let reply = match request.and_then(|request| worker.answer(&request)) {
            Ok(Some(seconds)) => Reply::Seconds(seconds),
            Ok(None) => Reply::Absent("it has no such function".to_owned()),
            Err(error) => Reply::Error(error.to_string()),
        };
        say(&reply)?;
    }
    Ok(())
}

/// The versions are those of the workspace; a test looks whether they still are.
fn version(peer: Peer) -> &'static str {
    match peer {
        Peer::Petgraph => petgraph::VERSION,
        Peer::Graph => graph::VERSION,
        _ => env!("CARGO_PKG_VERSION"),
    }
}

struct Worker {
    peer: Peer,
    graph: Option<Box<dyn Kernels>>,
    changing: Option<Box<dyn Changing>>,
}

impl Worker {
    /// Seconds that it took; `None` if there is no such thing.
    fn answer(&mut self, request: &Request) -> Result<Option<f64>> {
        let missing = || Error::Protocol("no graph was made".to_owned());
        match request {
            Request::Load { edges, weights, vertices } => {
                self.graph = None;
                let (edges, weights) = (edges.clone(), weights.clone());
                let files = GraphFiles { edges, weights, vertices: *vertices };
                let (seconds, graph) = load(self.peer, &files)?;
                self.graph = Some(graph);
                Ok(Some(seconds))
            }
            Request::Kernel { kernel, source, answer } => {
                let graph = self.graph.as_ref().ok_or_else(missing)?;
                write(graph.run(*kernel, *source)?, answer)
            }
            Request::Create { vertices } => {
                self.changing = None;
                let start = Instant::now();
                self.changing = Some(match self.peer {
                    Peer::Petgraph => Box::new(ChangingMap::new(*vertices)),
                    _ => Box::new(ChangingDatabase::new(*vertices)),
                });
                Ok(Some(start.elapsed().as_secs_f64()))
            }
            Request::Update { updates } => {
                let (changes, graph) =
                    (read_changes(updates)?, self.changing.as_mut().ok_or_else(missing)?);
                timed(|| graph.update(&changes)).map(|(seconds, ())| Some(seconds))
            }
            Request::Scan { answer } => {
                let graph = self.changing.as_ref().ok_or_else(missing)?;
                let (seconds, rows) = timed(|| graph.scan())?;
                write(Some((seconds, Answer::Numbers(rows))), answer)
            }
        }
    }
}

/// Loads a graph; how long it took.
fn load(peer: Peer, files: &GraphFiles) -> Result<(f64, Box<dyn Kernels>)> {
    Ok(match peer {
        Peer::Evergraph => {
            let (seconds, database) = timed(|| evergraph::Live::load(files))?;
            database.settle()?;
            (seconds, Box::new(database))
        }
        Peer::EvergraphCsr => boxed(timed(|| evergraph::Static::load(files))?),
        Peer::Petgraph => boxed(timed(|| petgraph::Rows::load(files))?),
        Peer::Graph => boxed(timed(|| graph::Rows::load(files))?),
        _ => return Err(Error::Protocol(format!("{} is another program", peer.name()))),
    })
}

fn boxed<K: Kernels + 'static>((seconds, graph): (f64, K)) -> (f64, Box<dyn Kernels>) {
    (seconds, Box::new(graph))
}

fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}

/// Stops the clock; only then the answer is put into the form in which it is handed over.
fn stop(start: Instant, answer: impl FnOnce() -> Answer) -> (f64, Answer) {
    let seconds = start.elapsed().as_secs_f64();
    (seconds, answer())
}

/// Numbers in the form in which they are handed over.
fn numbers<N: Into<i64>>(values: impl IntoIterator<Item = N>) -> Answer {
    Answer::Numbers(values.into_iter().map(Into::into).collect())
}

fn write(outcome: Option<(f64, Answer)>, path: &Path) -> Result<Option<f64>> {
    let Some((seconds, answer)) = outcome else {
        return Ok(None);
    };
    answer.write(path)?;
    Ok(Some(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_told_are_those_of_the_workspace() {
        let lock = include_str!("../../../../Cargo.lock");
        for peer in [Peer::Petgraph, Peer::Graph] {
            let entry = format!("name = \"{}\"\nversion = \"{}\"", peer.name(), version(peer));
            assert!(lock.contains(&entry), "{entry}");
        }
    }
}
