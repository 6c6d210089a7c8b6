//! The results: rows, and what happened over time.

use serde::Serialize;

use crate::machine;
use crate::samples::{Pairs, Samples};

/// One figure. Fields without a meaning for it are null.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) metric: &'static str,
    /// On which graph.
    pub(crate) graph: String,
    /// Whether its edges carry a number.
    pub(crate) weighted: bool,
    /// Whether its edges have a direction.
    pub(crate) directed: bool,
    /// How many threads did what was measured.
    pub(crate) threads: usize,
    /// The median of the samples, unless the page on benchmarks says otherwise; null if what was
    /// waited for did not happen.
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
    /// What it is compared with, ..
    pub(crate) baseline: Option<&'static str>,
    /// .. the figure of that, ..
    pub(crate) baseline_value: Option<f64>,
    /// .. and the median of the quotients, with the least and the greatest.
    pub(crate) ratio: Option<f64>,
    pub(crate) ratio_min: Option<f64>,
    pub(crate) ratio_max: Option<f64>,
    pub(crate) min: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) max: Option<f64>,
    /// How many samples there are.
    pub(crate) samples: usize,
    pub(crate) seed: u64,
    /// What the program was built from.
    pub(crate) commit: Option<&'static str>,
    pub(crate) cpu: Option<String>,
    /// `fresh`: right after the last write, nothing warmed up; `settled`: after a while alone.
    pub(crate) state: Option<State>,
    /// What vertices were named by: `dense` or `sparse` numbers.
    pub(crate) keys: Option<&'static str>,
    /// Edges per transaction.
    pub(crate) batch: Option<u64>,
    /// What a batch went into: an `empty` database or a `full` one.
    pub(crate) into: Option<&'static str>,
    /// After what memory was measured.
    pub(crate) after: Option<&'static str>,
    /// Whose memory was measured: a process of its `own` or one that is `shared`.
    pub(crate) process: Option<&'static str>,
    /// The kernel that ran meanwhile.
    pub(crate) kernel: Option<&'static str>,
    /// Threads that committed changes meanwhile.
    pub(crate) writers: usize,
    /// Groups of vertices with changes that were not settled when the first sample was taken.
    pub(crate) groups_pending: Option<usize>,
    /// Answers that were compared with the baseline's and found equal.
    pub(crate) compared: usize,
}

/// How long ago the last write was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Fresh,
    Settled,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Settled => "settled",
        }
    }
}

impl Row {
    /// The median of samples. Without a sample the value is null.
    pub(crate) fn of(metric: &'static str, unit: &'static str, samples: &Samples) -> Self {
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
    pub(crate) fn of_pairs(metric: &'static str, pairs: &Pairs, baseline: &'static str) -> Self {
        Self::of(metric, "s", &pairs.ours).beside(pairs, baseline)
    }

    /// With the ratio to a baseline that was measured sample by sample.
    pub(crate) fn beside(self, pairs: &Pairs, baseline: &'static str) -> Self {
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
    pub(crate) fn against(self, baseline: &'static str, baseline_value: f64) -> Self {
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
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    /// Updates per second.
    pub(crate) throughput: Vec<Series>,
    /// Bytes per entry.
    pub(crate) memory: Vec<Series>,
    seed: u64,
    commit: Option<&'static str>,
    cpu: Option<String>,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
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
    pub(crate) fn add(&mut self, row: Row) {
        let cpu = self.cpu.clone();
        self.rows.push(Row { seed: self.seed, commit: self.commit, cpu, ..row });
    }
}
