//! The results: rows, and what happened over time.

use serde::Serialize;

use crate::machine;
use crate::samples::{Pairs, Samples};

/// One figure. Fields without a meaning for it are null.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// What was measured.
    pub metric: &'static str,
    /// On which graph.
    pub graph: String,
    /// Whether its edges carry a number.
    pub weighted: bool,
    /// Whether its edges have a direction.
    pub directed: bool,
    /// How many threads did what was measured.
    pub threads: usize,
    /// The median of the samples, unless the page on benchmarks says otherwise; null if what was
    /// waited for did not happen.
    pub value: Option<f64>,
    /// In which unit all figures of the row are.
    pub unit: &'static str,
    /// What it is compared with, ..
    pub baseline: Option<&'static str>,
    /// .. the figure of that, ..
    pub baseline_value: Option<f64>,
    /// .. and the median of the quotients, with the least and the greatest.
    pub ratio: Option<f64>,
    /// The least quotient.
    pub ratio_min: Option<f64>,
    /// The greatest quotient.
    pub ratio_max: Option<f64>,
    /// The least sample.
    pub min: Option<f64>,
    /// The sample in the middle.
    pub median: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// How many samples there are.
    pub samples: usize,
    /// What random choices followed from.
    pub seed: u64,
    /// What the program was built from.
    pub commit: Option<&'static str>,
    /// The processor, and how many of its cores there are.
    pub cpu: Option<String>,
    /// `fresh`: right after the last write, nothing warmed up; `settled`: after a while alone.
    pub state: Option<State>,
    /// What vertices were named by: `dense` or `sparse` numbers.
    pub keys: Option<&'static str>,
    /// How transactions were isolated, if not as by default.
    pub isolation: Option<&'static str>,
    /// When commits were on the disk: `memory` (never), `none`, `os`, `group` or `sync`.
    pub durability: Option<&'static str>,
    /// Edges per transaction.
    pub batch: Option<u64>,
    /// What a batch went into: an `empty` database or a `full` one.
    pub into: Option<&'static str>,
    /// After what memory was measured, or from what a database was opened.
    pub after: Option<&'static str>,
    /// Whose memory was measured: a process of its `own` or one that is `shared`.
    pub process: Option<&'static str>,
    /// The kernel that ran meanwhile.
    pub kernel: Option<&'static str>,
    /// Threads that committed changes meanwhile.
    pub writers: usize,
    /// How they did it, if not by transactions: `unchecked`.
    pub written: Option<&'static str>,
    /// Groups of vertices with changes that were not settled when the first sample was taken.
    pub groups_pending: Option<usize>,
    /// Answers that were compared with the baseline's and found equal.
    pub compared: usize,
    /// The other store or library that was measured.
    pub peer: Option<&'static str>,
    /// Its version.
    pub peer_version: Option<String>,
    /// What else must be known to read the figure, or why there is none.
    pub remark: Option<String>,
}

/// How long ago the last write was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Right after the last write.
    Fresh,
    /// After a while alone.
    Settled,
}

impl State {
    /// The word for it in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Settled => "settled",
        }
    }
}

impl Row {
    /// The median of samples. Without a sample the value is null.
    pub fn of(metric: &'static str, unit: &'static str, samples: &Samples) -> Self {
        let some = |value: f64| value.is_finite().then_some(value);
        Self {
            metric,
            unit,
            value: some(samples.median()),
            min: some(samples.min()),
            median: some(samples.median()),
            max: some(samples.max()),
            samples: samples.len(),
            ..Self::default()
        }
    }

    /// Times in seconds beside those of a baseline.
    pub fn of_pairs(metric: &'static str, pairs: &Pairs, baseline: &'static str) -> Self {
        Self::of(metric, "s", &pairs.ours).beside(pairs, baseline)
    }

    /// With the ratio to a baseline that was measured sample by sample.
    #[must_use]
    pub fn beside(self, pairs: &Pairs, baseline: &'static str) -> Self {
        let ratios = pairs.ratios();
        let some = |value: f64| value.is_finite().then_some(value);
        Self {
            baseline: Some(baseline),
            baseline_value: some(pairs.base.median()),
            ratio: some(ratios.median()),
            ratio_min: some(ratios.min()),
            ratio_max: some(ratios.max()),
            ..self
        }
    }

    /// With the ratio of its value to that of a baseline.
    #[must_use]
    pub fn against(self, baseline: &'static str, baseline_value: f64) -> Self {
        let ratio = self.value.map(|value| value / baseline_value);
        Self {
            baseline: Some(baseline),
            baseline_value: Some(baseline_value),
            ratio: ratio.filter(|ratio| ratio.is_finite()),
            ..self
        }
    }
}

/// A quantity over time: seconds since the start, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// All results of a run.
#[derive(Debug)]
pub struct Report {
    /// In the order they were measured.
    pub rows: Vec<Row>,
    /// Updates per second.
    pub(crate) throughput: Vec<Series>,
    /// Bytes per entry.
    pub(crate) memory: Vec<Series>,
    seed: u64,
    commit: Option<&'static str>,
    cpu: Option<String>,
}

impl Report {
    /// A report without rows, of a run with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            rows: Vec::new(),
            throughput: Vec::new(),
            memory: Vec::new(),
            seed,
            commit: machine::commit(),
            cpu: machine::cpu(),
        }
    }

    /// Adds a row, and what all rows of a run share.
    pub fn add(&mut self, row: Row) {
        let cpu = self.cpu.clone();
        self.rows.push(Row { seed: self.seed, commit: self.commit, cpu, ..row });
    }
}
