//! Kernels on the live graph beside the same kernels on its static twin: `scan_seq`, `scan_random`
//! and the algorithms.
//!
//! # How
//!   *Fresh*: the graph was just written; a snapshot is opened and the kernel runs. Then the
//!   database is left to settle, so that its service does not slow the baseline down, and the
//!   kernel runs on the twin. Before each further sample a part of the edges is removed and put
//!   back. *Settled*: nothing is written any more; the two run in turns, who is first changes.
//!   Every answer is compared with the twin's.

use evergraph::Database;
use rayon::ThreadPool;

use super::{Session, bandwidth, check, on, pool};
use crate::Result;
use crate::input::Input;
use crate::kernel::{Inputs, Kernel};
use crate::live::{Churn, Live};
use crate::report::{Row, State};
use crate::samples::{Pairs, Samples};
use crate::twin::Twin;

/// Measures all kernels.
pub(crate) fn measure_all(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    measure(session, input, threads, &Kernel::ALL)
}

/// Measures the scans alone.
pub(crate) fn measure_scans(
    session: &mut Session<'_>,
    input: &Input,
    threads: usize,
) -> Result<()> {
    measure(session, input, threads, &Kernel::SCANS)
}

/// A live graph, its twin, and what kernels take.
struct Stage<'s> {
    input: &'s Input,
    threads: usize,
    db: Database,
    twin: Twin,
    inputs: Inputs,
    pool: ThreadPool,
}

fn measure(
    session: &mut Session<'_>,
    input: &Input,
    threads: usize,
    kernels: &[Kernel],
) -> Result<()> {
    let kernels = &session.args.kernels_of(kernels);
    let twin = input.twin()?;
    let inputs = Inputs::new(&twin, session.args.seed, session.repeats());
    let pool = pool(threads)?;
    bandwidth::measure(session, (input, &twin), threads)?;
    let db = session.load(input, threads)?;
    let stage = Stage { input, threads, db, twin, inputs, pool };
    stage.measure_fresh(session, kernels)?;
    stage.measure_settling(session)?;
    session.settle(&stage.db)?;
    stage.measure_settled(session, kernels)?;
    check(&stage.db, &stage.twin)
}

impl Stage<'_> {
    /// The load is the first state; each further sample has one of its own.
    fn measure_fresh(&self, session: &mut Session<'_>, kernels: &[Kernel]) -> Result<()> {
        let mut churn = Churn::new(Live::dense(&self.db), self.threads, session.args.seed);
        let mut written = true;
        for &kernel in kernels {
            let mut pairs = Pairs::default();
            let mut groups_pending = None;
            for round in 0..session.repeats() {
                self.begin(session, kernel, State::Fresh, round)?;
                if !written {
                    churn.run(self.input, session.reporter)?;
                }
                written = false;
                groups_pending.get_or_insert(self.db.stats().groups_pending);
                let (live, time) =
                    self.pool.install(|| kernel.run_live(&self.db, &self.inputs, round))?;
                pairs.ours.push_time(time);
                session.wait_settled(&self.db)?;
                let (twin, time) =
                    self.pool.install(|| self.twin.run(kernel, &self.inputs, round))?;
                pairs.base.push_time(time);
                kernel.compare(&live, &twin)?;
            }
            let row = Row::of_pairs(kernel.name(), &pairs, "csr");
            let (state, compared) = (Some(State::Fresh), pairs.ours.len());
            let row = Row { state, groups_pending, compared, ..row };
            session.report.add(on(self.input, self.threads, row));
        }
        Ok(())
    }

    /// How long it takes after the last write until nothing is pending, if nobody reads.
    fn measure_settling(&self, session: &mut Session<'_>) -> Result<()> {
        let mut churn = Churn::new(Live::dense(&self.db), self.threads, session.args.seed);
        let mut times = Samples::default();
        for _ in 0..session.repeats() {
            session.begin(&self.input.name, self.threads, "settling")?;
            churn.run(self.input, session.reporter)?;
            if let Some(time) = session.wait_settled(&self.db)? {
                times.push_time(time);
            }
        }
        let row = Row::of("settle_time", "s", &times);
        session.report.add(on(self.input, self.threads, row));
        Ok(())
    }

    fn measure_settled(&self, session: &mut Session<'_>, kernels: &[Kernel]) -> Result<()> {
        for &kernel in kernels {
            let mut pairs = Pairs::default();
            for round in 0..session.repeats() {
                self.begin(session, kernel, State::Settled, round)?;
                self.pool.install(|| self.pair(kernel, round, &mut pairs))?;
            }
            let row = Row::of_pairs(kernel.name(), &pairs, "csr");
            let row = Row { state: Some(State::Settled), compared: pairs.ours.len(), ..row };
            session.report.add(on(self.input, self.threads, row));
        }
        Ok(())
    }

    /// Runs both, in an order that changes from round to round.
    fn pair(&self, kernel: Kernel, round: usize, pairs: &mut Pairs) -> Result<()> {
        let live = || kernel.run_live(&self.db, &self.inputs, round);
        let twin = || self.twin.run(kernel, &self.inputs, round);
        let (live, twin) = if round.is_multiple_of(2) {
            let live = live()?;
            (live, twin()?)
        } else {
            let twin = twin()?;
            (live()?, twin)
        };
        pairs.ours.push_time(live.1);
        pairs.base.push_time(twin.1);
        kernel.compare(&live.0, &twin.0)
    }

    fn begin(
        &self,
        session: &Session<'_>,
        kernel: Kernel,
        state: State,
        round: usize,
    ) -> Result<()> {
        let (name, state, repeats) = (kernel.name(), state.name(), session.repeats());
        let step = format!("{name}, {state}, {} of {repeats}", round + 1);
        session.begin(&self.input.name, self.threads, &step)
    }
}
