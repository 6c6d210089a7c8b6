//! The table of the live part: it refreshes in place on a terminal; elsewhere it is printed every
//! few seconds.

use std::collections::VecDeque;
use std::fmt::Write;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use evergraph::Database;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::analyst::Kernel;
use super::live::{Live, Shared};
use crate::failure::Failure;
use crate::numbers::{Seconds, count, counted, per_second};
use crate::output;

/// Between two refreshes on a terminal.
const REFRESH: Duration = Duration::from_millis(200);
/// Between two tables where nobody watches.
const PRINT: Duration = Duration::from_secs(5);
/// "Now" is this long.
const NOW: Duration = Duration::from_secs(1);

/// The table and what it is made of.
pub(super) struct Board<'a> {
    db: &'a Database,
    shared: &'a Shared,
    writers: usize,
    planned: Duration,
    started: Instant,
    shown: Instant,
    /// The commits at moments of the last [`NOW`].
    samples: VecDeque<(Instant, u64)>,
    /// On a terminal, what is drawn in place.
    screen: Option<ProgressBar>,
}

impl<'a> Board<'a> {
    pub(super) fn new(live: &Live<'a>, shared: &'a Shared) -> Self {
        let screen = output::is_watched().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            bar.set_style(ProgressStyle::with_template("{msg}").expect("a well-formed template"));
            bar
        });
        let now = Instant::now();
        Self {
            db: live.db,
            shared,
            writers: live.plan.writers,
            planned: live.plan.time,
            started: now,
            shown: now,
            samples: VecDeque::from([(now, 0)]),
            screen,
        }
    }

    /// How long the live part runs.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Looks at the counters, and shows the table if it is time.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        let now = Instant::now();
        self.samples.push_back((now, self.commits()));
        while self.samples.get(1).is_some_and(|&(at, _)| now - at >= NOW) {
            self.samples.pop_front();
        }
        let pause = if self.screen.is_some() { REFRESH } else { PRINT };
        // What would stand right above the last table is not printed.
        let last_is_near = self.screen.is_none() && self.elapsed() + PRINT / 2 > self.planned;
        if now - self.shown < pause || last_is_near {
            return Ok(());
        }
        self.shown = now;
        match &self.screen {
            Some(screen) => screen.set_message(self.text()),
            None => output::print(&format!("{}\n", self.text()))?,
        }
        Ok(())
    }

    /// Prints the table as it is in the end.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if let Some(screen) = &self.screen {
            screen.finish_and_clear();
        }
        output::print(&self.text())
    }

    fn commits(&self) -> u64 {
        self.shared.sum(|tally| &tally.commits)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _done = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let stats = self.db.stats();
        let elapsed = self.elapsed().min(self.planned);
        let commits = self.commits();
        let (since, before) = self.samples[0];
        let now = per_second(commits - before, since.elapsed());
        writeln!(
            text,
            "{:>5.1} s of {}, {}",
            elapsed.as_secs_f64(),
            Seconds(self.planned),
            counted(self.writers as u64, "writer", "writers")
        )?;
        writeln!(
            text,
            "commits   {now}/s now, {}/s on average, {} in all",
            per_second(commits, self.elapsed()),
            count(commits),
        )?;
        let conflicts = self.shared.sum(|tally| &tally.conflicts);
        let (edges, version) = (count(stats.edges), count(stats.version.0));
        let conflicts = counted(conflicts, "conflict", "conflicts");
        writeln!(text, "edges     {edges} now, version {version}, {conflicts} tried again")?;
        writeln!(text, "{}", self.table().trim_fmt())
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header([
            "algorithm",
            "runs",
            "snapshot",
            "age",
            "live",
            "static",
            "ratio",
            "copy",
        ]);
        for kernel in Kernel::ALL {
            table.add_row(self.row(kernel));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    fn row(&self, kernel: Kernel) -> [String; 8] {
        let runs = self.shared.runs(kernel);
        let (version, age) = match runs.snapshot {
            Some((version, opened)) => {
                (format!("v{}", count(version)), format!("{:.1} s", opened.elapsed().as_secs_f64()))
            }
            None => (String::new(), String::new()),
        };
        let [live, fixed, ratio, copy] = match runs.medians() {
            Some(times) => {
                let ratio = times.live.as_secs_f64() / times.fixed.as_secs_f64().max(1e-9);
                [
                    Seconds(times.live).to_string(),
                    Seconds(times.fixed).to_string(),
                    format!("{ratio:.2}"),
                    Seconds(times.copy).to_string(),
                ]
            }
            None => Default::default(),
        };
        let completed = count(runs.count() as u64).to_string();
        [kernel.name().to_owned(), completed, version, age, live, fixed, ratio, copy]
    }
}
