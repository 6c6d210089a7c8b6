//! `bytes_per_entry`: all memory of a process that holds a graph and nothing else, per entry; and
//! `memory_back`: how long after the release of an old snapshot it is back.
//!
//! # How
//!   A process of its own is started (`worker.rs`). It gets the edges through a pipe, one by one
//!   in random order, commits each in a transaction, and keeps none; so what is resident in it is
//!   the database and the program. First the whole graph, then insertions and deletions of
//!   temporary edges, after which the graph is the same. A second process does the same with a
//!   snapshot held that was opened after the load. Without a way to start a process it all happens
//!   in this one, and what was resident before is taken off.

mod subject;
mod worker;

use std::time::{Duration, Instant};

use evergraph::graph::update::Workload;

use self::subject::Subject;
pub use self::worker::WorkerSpec;
pub(crate) use self::worker::serve;
use super::update::{parts, workload};
use super::{SETTLE_LIMIT, Session, on};
use crate::input::Input;
use crate::progress::{wait, wait_until};
use crate::report::{Row, Series, State};
use crate::samples::Samples;
use crate::{Error, Result};

/// Memory counts as back once it is at most so many times what it was after the load.
const BACK: f64 = 1.1;

/// Whether an old snapshot is held while the graph changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    Nothing,
    Snapshot,
}

/// Measures without and with a snapshot held.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let static_bytes = input.twin()?.bytes() as f64 / input.entries() as f64;
    for holding in [Holding::Nothing, Holding::Snapshot] {
        let mut workload = workload(session, input)?;
        let mut run = Run::start(session, input, threads)?;
        run.begin(holding, "loading")?;
        run.feed(&mut workload, input.len())?;
        let (fresh, settled) = run.read()?;
        if holding == Holding::Nothing {
            run.add("load", State::Fresh, fresh, ("csr", static_bytes));
            run.add("load", State::Settled, settled, ("csr", static_bytes));
        } else {
            run.subject.hold_snapshot()?;
        }
        run.begin(holding, "changing")?;
        run.feed(&mut workload, usize::MAX)?;
        run.finish(holding, settled)?;
        let points = run.points;
        let name = match holding {
            Holding::Nothing => "no snapshot held",
            Holding::Snapshot => "a snapshot held",
        };
        session.report.memory.push(Series { name: name.to_owned(), points });
    }
    Ok(())
}

/// One process and what was seen of it.
struct Run<'s, 'a> {
    session: &'s mut Session<'a>,
    input: &'s Input,
    threads: usize,
    subject: Subject,
    start: Instant,
    /// Bytes per entry, over time.
    points: Vec<(f64, f64)>,
}

impl<'s, 'a> Run<'s, 'a> {
    fn start(session: &'s mut Session<'a>, input: &'s Input, threads: usize) -> Result<Self> {
        let spec = WorkerSpec {
            vertices: input.vertices(),
            directed: input.list.directed,
            weighted: input.is_weighted(),
            threads,
        };
        let subject = Subject::start(session.args, spec)?;
        Ok(Self { session, input, threads, subject, start: Instant::now(), points: Vec::new() })
    }

    fn begin(&self, holding: Holding, step: &str) -> Result<()> {
        let held = match holding {
            Holding::Nothing => "",
            Holding::Snapshot => ", a snapshot held",
        };
        self.session.begin(&self.input.name, self.threads, &format!("memory, {step}{held}"))
    }

    /// Sends the next updates, at most so many, and waits until they are committed.
    fn feed(&mut self, workload: &mut Workload<'_>, most: usize) -> Result<()> {
        let total = workload.remaining().min(most as u64);
        let (mut sent, mut last_look) = (0, Instant::now());
        for update in workload.take(most) {
            let full = self.subject.send(parts(update))?;
            sent += 1;
            if full && last_look.elapsed() >= LOOK {
                last_look = Instant::now();
                self.look()?;
                if self.session.reporter.advance(sent, Some(total)).is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        self.subject.wait_committed()
    }

    /// Bytes per entry now.
    fn look(&mut self) -> Result<f64> {
        let bytes = self.subject.resident()? as f64 / self.input.entries() as f64;
        self.points.push((self.start.elapsed().as_secs_f64(), bytes));
        Ok(bytes)
    }

    /// Bytes per entry now, and after a while.
    fn read(&mut self) -> Result<(f64, f64)> {
        let fresh = self.look()?;
        wait(self.session.reporter, self.session.args.idle)?;
        Ok((fresh, self.look()?))
    }

    /// Reads memory after the updates; if a snapshot is held, releases it and waits until memory
    /// is back to what it was.
    fn finish(&mut self, holding: Holding, loaded: f64) -> Result<()> {
        let after = match holding {
            Holding::Nothing => "mix",
            Holding::Snapshot => "mix_with_snapshot",
        };
        let (fresh, settled) = self.read()?;
        self.add(after, State::Fresh, fresh, ("load", loaded));
        self.add(after, State::Settled, settled, ("load", loaded));
        if holding == Holding::Nothing {
            return Ok(());
        }
        self.begin(holding, "letting go")?;
        self.subject.release_snapshot()?;
        let (released, reporter) = (Instant::now(), self.session.reporter);
        let limit = self.session.args.idle * SETTLE_LIMIT;
        let is_back = wait_until(reporter, limit, || Ok(self.look()? <= BACK * loaded))?;
        let times =
            if is_back { released.elapsed().as_secs_f64().into() } else { Samples::default() };
        let left = self.look()?;
        self.add("release", State::Settled, left, ("load", loaded));
        let row = Row { after: Some("release"), ..Row::of("memory_back", "s", &times) };
        self.add_row(row);
        Ok(())
    }

    fn add(
        &mut self,
        after: &'static str,
        state: State,
        bytes: f64,
        (baseline, value): (&'static str, f64),
    ) {
        let row = Row::of("bytes_per_entry", "B", &bytes.into()).against(baseline, value);
        self.add_row(Row { after: Some(after), state: Some(state), ..row });
    }

    fn add_row(&mut self, row: Row) {
        let process = Some(if self.subject.is_own_process() { "own" } else { "shared" });
        self.session.report.add(on(self.input, self.threads, Row { process, ..row }));
    }
}

/// Between two points on the chart.
const LOOK: Duration = Duration::from_millis(100);
