//! How far a long step is: a bar on the terminal, nothing where nobody watches.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use evergraph::graph::progress::{Progress, Stage, Status};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::interrupt::Interrupt;
use crate::numbers::count;

/// Between two looks of a step that only turns a wheel.
const TURN: Duration = Duration::from_millis(100);

/// No stage has this number.
const NOTHING_SHOWN: u8 = u8::MAX;

/// The progress of one step. Gone from the terminal when it is dropped.
pub(crate) struct Bar {
    shape: ProgressBar,
    interrupt: Interrupt,
    /// What reading is called in this step.
    reading: &'static str,
    /// The stage that the bar shows, as a number; `Relaxed`, as it decides no more than that.
    shown: AtomicU8,
    /// How much was read, in bytes of the files: statistics, `Relaxed`.
    bytes: AtomicU64,
    started: Instant,
}

impl Bar {
    /// A step whose files are read to become a graph, or a graph that is made or loaded.
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        Self::with_reading(interrupt, "reading")
    }

    /// A step that replays what it reads.
    pub(crate) fn replaying(interrupt: &Interrupt) -> Self {
        Self::with_reading(interrupt, "replaying")
    }

    fn with_reading(interrupt: &Interrupt, reading: &'static str) -> Self {
        Self {
            shape: ProgressBar::new_spinner(),
            interrupt: interrupt.clone(),
            reading,
            shown: AtomicU8::new(NOTHING_SHOWN),
            bytes: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// A step that cannot say how far it is.
    pub(crate) fn wheel(interrupt: &Interrupt, what: &'static str) -> Self {
        let bar = Self::new(interrupt);
        bar.turn(what);
        bar
    }

    /// A step of so many pieces.
    pub(crate) fn counted(interrupt: &Interrupt, what: &'static str, total: u64) -> Self {
        let bar = Self::new(interrupt);
        bar.count(what, Some(total));
        bar
    }

    /// A step that writes so many bytes that nobody knows before.
    pub(crate) fn writing(interrupt: &Interrupt) -> Self {
        let bar = Self::with_reading(interrupt, "writing");
        bar.read(bar.reading, None);
        bar
    }

    /// How much was read, in bytes of the files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes the bar from the terminal.
    pub(crate) fn clear(&self) {
        self.shape.finish_and_clear();
    }

    /// Since when the step runs.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// `done` pieces are done; whether to go on.
    pub(crate) fn advance(&self, done: u64) -> ControlFlow<()> {
        if !self.shape.is_hidden() {
            self.shape.set_position(done);
        }
        if self.interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn show(&self, stage: Stage, total: Option<u64>) {
        match stage {
            Stage::Reading => self.read(self.reading, total),
            Stage::Recovering => self.read("opening", total),
            Stage::Comparing => self.count("comparing", total),
            Stage::Generating => self.count("generating", total),
            Stage::Committing => self.count("loading", total),
            _ => self.turn("arranging"),
        }
    }

    fn read(&self, what: &'static str, total: Option<u64>) {
        let template = match total {
            Some(_) => "{msg:12} {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left",
            None => "{msg:12} {spinner} {bytes}  {bytes_per_sec}",
        };
        self.restart(what, total, template);
    }

    fn count(&self, what: &'static str, total: Option<u64>) {
        let template = match total {
            Some(_) => "{msg:12} {bar:30} {human_pos}/{human_len}  {rate}  {eta} left",
            None => "{msg:12} {spinner} {human_pos}  {rate}",
        };
        self.restart(what, total, template);
    }

    fn turn(&self, what: &'static str) {
        self.restart(what, None, "{msg:12} {spinner} {elapsed}");
        if !self.shape.is_hidden() {
            self.shape.enable_steady_tick(TURN);
        }
    }

    fn restart(&self, what: &'static str, total: Option<u64>, template: &str) {
        let style = ProgressStyle::with_template(template).expect("the templates are well-formed");
        self.shape.disable_steady_tick();
        self.shape.set_message(what);
        match total {
            Some(total) => self.shape.set_length(total),
            None => self.shape.unset_length(),
        }
        self.shape.set_style(style.with_key("rate", write_rate));
        self.shape.reset();
    }
}

impl Progress for Bar {
    fn tick(&self, status: &Status) -> ControlFlow<()> {
        if status.stage == Stage::Reading {
            self.bytes.store(status.done, Ordering::Relaxed);
        }
        if !self.shape.is_hidden() {
            let stage = number(status.stage);
            if self.shown.load(Ordering::Relaxed) != stage
                && self.shown.swap(stage, Ordering::Relaxed) != stage
            {
                self.show(status.stage, status.total);
            }
        }
        self.advance(status.done)
    }
}

/// How many a second, in whole numbers.
#[expect(clippy::cast_sign_loss, reason = "a rate is not negative")]
fn write_rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    // What cannot be written cannot be read either.
    let _lost = write!(out, "{}/s", count(state.per_sec() as u64));
}

fn number(stage: Stage) -> u8 {
    match stage {
        Stage::Reading => 0,
        Stage::Generating => 1,
        Stage::Committing => 2,
        Stage::Recovering => 3,
        Stage::Comparing => 4,
        _ => 5,
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
