//! `load`, `peak_memory` and the kernels: a peer and Evergraph in turns, on the same graph.
//!
//! # How
//!   Both load the graph from the same file. Then, kernel by kernel and round by round, both run
//!   from the same source, who is first changes, and the answers are compared: a peer with another
//!   answer gets a row without a time. A peer that fails or is late is started again for the next
//!   kernel.

use std::path::Path;

use evergraph_bench::{Pairs, Row, Samples, State};

use crate::answer::Kernel;
use crate::child::{Child, Trouble};
use crate::peer::Peer;
use crate::protocol::Request;
use crate::session::{SLOW_SECONDS, Session, answer_file, forget, remark};
use crate::{Error, Result};

/// Evergraph, and the times it took.
struct Base {
    child: Child,
    load: f64,
    times: Vec<(Kernel, Samples)>,
}

/// What became of a kernel on a peer.
enum Outcome {
    Measured(Pairs),
    Absent,
    Failed(Trouble),
}

/// Measures all kernels of all peers.
pub(crate) fn measure(session: &mut Session<'_>, peers: &[Peer]) -> Result<()> {
    let kernels = if session.args.weighted { Kernel::WEIGHTED } else { Kernel::UNWEIGHTED };
    let mut child = session.start_baseline()?;
    let load = session.ask_baseline(&mut child, &load_request(session))?;
    session.add(Peer::Evergraph, Some(&child.version), Row::of("load", "s", &load.into()));
    add_peak(session, Peer::Evergraph, &child);
    let times = kernels.iter().map(|&kernel| (kernel, Samples::default())).collect();
    let mut base = Base { child, load, times };
    let measured = peers.iter().try_for_each(|&peer| measure_peer(session, &mut base, peer));
    for (kernel, samples) in base.times.iter().filter(|(_, samples)| !samples.is_empty()) {
        let row = Row { state: Some(State::Settled), ..Row::of(kernel.name(), "s", samples) };
        session.add(Peer::Evergraph, Some(&base.child.version), row);
    }
    measured
}

fn measure_peer(session: &mut Session<'_>, base: &mut Base, peer: Peer) -> Result<()> {
    let (child, seconds) = match start(session, peer) {
        Ok(started) => started,
        Err(trouble) => {
            session.add_trouble(peer, ("load", "s"), &trouble);
            return Ok(());
        }
    };
    let row = Row::of("load", "s", &seconds.into()).against(Peer::Evergraph.name(), base.load);
    session.add(peer, Some(&child.version), row);
    add_peak(session, peer, &child);
    let mut child = Some(child);
    for at in 0..base.times.len() {
        let kernel = base.times[at].0;
        let Some(mut running) = child.take().or_else(|| Some(start(session, peer).ok()?.0)) else {
            session.add_trouble(peer, (kernel.name(), "s"), "it did not start again");
            continue;
        };
        match measure_kernel(session, base, &mut running, (peer, at))? {
            Outcome::Measured(pairs) => {
                add_pairs(session, peer, kernel, &running.version, &pairs);
                child = Some(running);
            }
            Outcome::Absent => child = Some(running),
            Outcome::Failed(trouble) => session.add_trouble(peer, (kernel.name(), "s"), &trouble),
        }
    }
    Ok(())
}

/// Runs a kernel on both sides, round by round.
fn measure_kernel(
    session: &Session<'_>,
    base: &mut Base,
    child: &mut Child,
    (peer, at): (Peer, usize),
) -> Result<Outcome> {
    let (kernel, repeats) = (base.times[at].0, session.args.repeats.get());
    let (ours, theirs) = (answer_file(session, Peer::Evergraph), answer_file(session, peer));
    let mut pairs = Pairs::default();
    for round in 0..repeats {
        let step = format!("{}: {}, {} of {repeats}", peer.name(), kernel.name(), round + 1);
        session.reporter.begin(&step);
        // An end of an edge has a neighbour; edges are in random order.
        let edges = &session.input.list.edges;
        let source = edges[round % edges.len()].0;
        let request = |answer: &Path| Request::Kernel { kernel, source, answer: answer.into() };
        forget(&theirs);
        let first = round.is_multiple_of(2);
        let mut time = None;
        if first {
            time = Some(session.ask_baseline(&mut base.child, &request(&ours))?);
        }
        let seconds = match session.ask(child, &request(&theirs)) {
            Ok(Some(seconds)) => seconds,
            Ok(None) => return Ok(Outcome::Absent),
            Err(trouble) => return Ok(Outcome::Failed(trouble)),
        };
        let time = match time {
            Some(time) => time,
            None => session.ask_baseline(&mut base.child, &request(&ours))?,
        };
        if let Err(trouble) = compare(kernel, &ours, &theirs, peer)? {
            return Ok(Outcome::Failed(trouble));
        }
        pairs.ours.push(seconds);
        pairs.base.push(time);
        base.times[at].1.push(time);
        if seconds > SLOW_SECONDS {
            break;
        }
    }
    Ok(Outcome::Measured(pairs))
}

/// Whether a peer gave our answer. A difference between two ways of our own is an error.
pub(crate) fn compare(
    kernel: Kernel,
    ours: &Path,
    theirs: &Path,
    peer: Peer,
) -> Result<Result<(), Trouble>> {
    let ours = kernel.read(ours)?;
    let theirs = match kernel.read(theirs) {
        Ok(theirs) => theirs,
        Err(error) => return Ok(Err(format!("no answer: {error}"))),
    };
    let compared = kernel.compare(&ours, &theirs, peer.is_single_precision());
    if peer == Peer::EvergraphCsr && compared.is_err() {
        return Err(Error::Differs { what: kernel.name() });
    }
    Ok(compared.map_err(|difference| format!("another answer: {difference}")))
}

fn add_pairs(session: &mut Session<'_>, peer: Peer, kernel: Kernel, version: &str, pairs: &Pairs) {
    let samples = pairs.ours.len();
    let row = Row {
        threads: peer.threads(kernel, session.args.thread_count()),
        compared: samples,
        remark: remark(samples, session.args.repeats.get()),
        ..Row::of_pairs(kernel.name(), pairs, Peer::Evergraph.name())
    };
    session.add(peer, Some(version), row);
}

fn add_peak(session: &mut Session<'_>, peer: Peer, child: &Child) {
    if let Some(peak) = child.peak() {
        let row = Row { after: Some("load"), ..Row::of("peak_memory", "B", &(peak as f64).into()) };
        session.add(peer, Some(&child.version), row);
    }
}

/// Starts a peer and loads the graph; how long the latter took.
fn start(session: &mut Session<'_>, peer: Peer) -> Result<(Child, f64), Trouble> {
    let mut child = session.start(peer)?;
    session.reporter.begin(&format!("{}: loading", peer.name()));
    let seconds = session.ask(&mut child, &load_request(session))?;
    Ok((child, seconds.ok_or("it cannot load a graph")?))
}

fn load_request(session: &Session<'_>) -> Request {
    let files = session.files.clone();
    Request::Load { edges: files.edges, weights: files.weights, vertices: files.vertices }
}
