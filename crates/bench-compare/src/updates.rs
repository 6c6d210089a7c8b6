//! `insert_rate`, `mix_rate`, `scan`: edges one by one from one thread, then a look at all of them.
//!
//! # How
//!   In every round a peer makes an empty graph with all vertices, inserts all edges in random
//!   order, makes half as many insertions and deletions, and tells the degree of every vertex and
//!   the sum of its neighbours. Evergraph does the same before or after it. Each change is a
//!   transaction of its own in peers that have transactions, and every peer checks in it that an
//!   edge is not there before it is inserted and is there before it is deleted.

use std::path::{Path, PathBuf};

use evergraph_bench::{Action, Pairs, Row};

use crate::Result;
use crate::answer::Kernel;
use crate::child::{Child, Trouble};
use crate::kernels::compare;
use crate::peer::Peer;
use crate::protocol::Request;
use crate::session::{SLOW_SECONDS, Session, answer_file, forget, remark};
use crate::work;

/// What is done in a round.
struct Plan {
    vertices: u32,
    inserts: PathBuf,
    mix: PathBuf,
    /// How many changes these are.
    counts: [usize; 2],
}

/// The figures of a round: changes per second, and seconds.
#[derive(Clone, Copy, Default)]
struct Figures {
    insert_rate: f64,
    mix_rate: f64,
    scan: f64,
    /// All of it.
    seconds: f64,
}

/// Why a round has no figures: the figure at which it ended, and what happened.
type Stop = ((&'static str, &'static str), Trouble);

const INSERT: (&str, &str) = ("insert_rate", "edges/s");
const MIX: (&str, &str) = ("mix_rate", "updates/s");
const SCAN: (&str, &str) = ("scan", "s");

/// Measures all peers.
pub(crate) fn measure(session: &mut Session<'_>, peers: &[Peer]) -> Result<()> {
    let plan = plan(session)?;
    let mut base = session.start_baseline()?;
    for &peer in peers {
        let mut child = match session.start(peer) {
            Ok(child) => child,
            Err(trouble) => {
                session.add_trouble(peer, INSERT, &trouble);
                continue;
            }
        };
        match measure_peer(session, &plan, &mut base, (peer, &mut child))? {
            Ok(rounds) => add_rounds(session, peer, &child, &rounds),
            Err((figure, trouble)) => session.add_trouble(peer, figure, &trouble),
        }
    }
    Ok(())
}

fn plan(session: &Session<'_>) -> Result<Plan> {
    let (inserts, mix) = work::changes(&session.input, session.args.seed)?;
    let removed = mix.iter().filter(|(action, ..)| *action == Action::Remove).count();
    session.reporter.note(&format!(
        "{}: {} insertions, then {} changes, {removed} of them deletions",
        session.input.name,
        inserts.len(),
        mix.len()
    ));
    let plan = Plan {
        vertices: session.files.vertices,
        inserts: session.file("inserts"),
        mix: session.file("mix"),
        counts: [inserts.len(), mix.len()],
    };
    work::write_changes(&plan.inserts, &inserts)?;
    work::write_changes(&plan.mix, &mix)?;
    Ok(plan)
}

/// The figures of both sides, theirs first.
type Rounds = Vec<(Figures, Figures)>;

fn measure_peer(
    session: &Session<'_>,
    plan: &Plan,
    base: &mut Child,
    (peer, child): (Peer, &mut Child),
) -> Result<Result<Rounds, Stop>> {
    let (ours, theirs) = (answer_file(session, Peer::Evergraph), answer_file(session, peer));
    let repeats = session.args.repeats.get();
    let mut rounds = Rounds::new();
    for round in 0..repeats {
        session.reporter.begin(&format!("{}: changes, {} of {repeats}", peer.name(), round + 1));
        forget(&theirs);
        let mut our_round = || {
            let figures = plan.run(session, base, &ours);
            figures.map_err(|(_, trouble)| crate::Error::Baseline(trouble))
        };
        let before = round.is_multiple_of(2).then(&mut our_round).transpose()?;
        let their_figures = match plan.run(session, child, &theirs) {
            Ok(figures) => figures,
            Err(stop) => return Ok(Err(stop)),
        };
        let our_figures = before.map_or_else(our_round, Ok)?;
        if let Err(trouble) = compare(Kernel::Scan, &ours, &theirs, peer)? {
            return Ok(Err((SCAN, trouble)));
        }
        rounds.push((their_figures, our_figures));
        if their_figures.seconds > SLOW_SECONDS {
            break;
        }
    }
    Ok(Ok(rounds))
}

impl Plan {
    fn run(
        &self,
        session: &Session<'_>,
        child: &mut Child,
        answer: &Path,
    ) -> Result<Figures, Stop> {
        let mut ask = |figure, request| match session.ask(child, &request) {
            Ok(Some(seconds)) => Ok(seconds),
            Ok(None) => Err((figure, "it has no such function".to_owned())),
            Err(trouble) => Err((figure, trouble)),
        };
        let create = ask(INSERT, Request::Create { vertices: self.vertices })?;
        let insert = ask(INSERT, Request::Update { updates: self.inserts.clone() })?;
        let mix = ask(MIX, Request::Update { updates: self.mix.clone() })?;
        let scan = ask(SCAN, Request::Scan { answer: answer.into() })?;
        Ok(Figures {
            insert_rate: self.counts[0] as f64 / insert,
            mix_rate: self.counts[1] as f64 / mix,
            scan,
            seconds: create + insert + mix + scan,
        })
    }
}

/// Adds the figures of a peer, and those of Evergraph beside it as their baseline.
fn add_rounds(session: &mut Session<'_>, peer: Peer, child: &Child, rounds: &Rounds) {
    type Figure = fn(&Figures) -> f64;
    let scan_threads = peer.threads(Kernel::Scan, session.args.thread_count());
    let figures: [(_, usize, Figure); 3] = [
        (INSERT, 1, |figures| figures.insert_rate),
        (MIX, 1, |figures| figures.mix_rate),
        (SCAN, scan_threads, |figures| figures.scan),
    ];
    for ((metric, unit), threads, figure) in figures {
        let mut pairs = Pairs::default();
        for (theirs, ours) in rounds {
            pairs.ours.push(figure(theirs));
            pairs.base.push(figure(ours));
        }
        let row = Row::of(metric, unit, &pairs.ours).beside(&pairs, Peer::Evergraph.name());
        let remark = remark(rounds.len(), session.args.repeats.get());
        let row = Row { threads, compared: rounds.len(), remark, ..row };
        session.add(peer, Some(&child.version), row);
    }
}
