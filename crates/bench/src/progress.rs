//! Who hears how far the measuring is, and the place where it can be stopped.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use evergraph::graph::progress::{Progress, Status};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{Error, Result};

/// Hears how far the measuring is, from many threads at once.
pub trait Reporter: Sync {
    /// A step begins.
    fn begin(&self, step: &str);
    /// So much of the step is done, in a unit of its own; `Break` stops the measuring.
    fn advance(&self, done: u64, total: Option<u64>) -> ControlFlow<()>;
    /// Something the user should know beside the results.
    fn note(&self, line: &str);
}

/// Nobody listens.
impl Reporter for () {
    fn begin(&self, _: &str) {}

    fn advance(&self, _: u64, _: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn note(&self, _: &str) {}
}

/// Shows progress on standard error: a bar on a terminal, a line per step elsewhere.
pub struct Terminal {
    bar: ProgressBar,
    /// The step that was written last, where there is no terminal.
    written: Option<Mutex<String>>,
}

/// How often the bar moves by itself.
const STEADY_TICK: Duration = Duration::from_millis(100);

impl Terminal {
    /// Shows the progress of one run; what it drew goes when it is dropped.
    pub fn new() -> Self {
        let written = (!io::stderr().is_terminal()).then(|| Mutex::new(String::new()));
        let bar = ProgressBar::new(0);
        let template = "{spinner} [{elapsed_precise}] {msg} {wide_bar:.dim} {percent}%";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if written.is_none() {
            bar.enable_steady_tick(STEADY_TICK);
        }
        Self { bar, written }
    }

    /// A line on standard error. If that is closed, there is nobody to tell.
    fn write_line(line: &str) {
        drop(writeln!(io::stderr().lock(), "{line}"));
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Reporter for Terminal {
    fn begin(&self, step: &str) {
        let Some(written) = &self.written else {
            self.bar.set_position(0);
            self.bar.set_message(step.to_owned());
            return;
        };
        let mut written = written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *written != step {
            Self::write_line(step);
            step.clone_into(&mut written);
        }
    }

    fn advance(&self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
        ControlFlow::Continue(())
    }

    fn note(&self, line: &str) {
        self.bar.suspend(|| Self::write_line(line));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A [`Reporter`] for work that speaks of [`Progress`].
pub(crate) struct Loading<'r>(pub(crate) &'r dyn Reporter);

impl Progress for Loading<'_> {
    fn tick(&self, status: &Status) -> ControlFlow<()> {
        self.0.advance(status.done, status.total)
    }
}

/// Between two looks at whether to stop.
const NAP: Duration = Duration::from_millis(20);

/// Waits until `done` answers, or for `limit`; whether it answered.
pub(crate) fn wait_until(
    reporter: &dyn Reporter,
    limit: Duration,
    mut done: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    let start = std::time::Instant::now();
    loop {
        if done()? {
            return Ok(true);
        }
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        if reporter.advance(0, None).is_break() {
            return Err(Error::Interrupted);
        }
        std::thread::sleep(left.min(NAP));
    }
}

/// Waits.
pub(crate) fn wait(reporter: &dyn Reporter, time: Duration) -> Result<()> {
    wait_until(reporter, time, || Ok(false)).map(|_| ())
}
