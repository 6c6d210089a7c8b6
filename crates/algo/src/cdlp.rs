//! Community detection by label propagation: vertices that hang closely together come to share a
//! label.
//!
//! # Method
//! Every vertex starts with a label of its own. In each iteration all vertices at once take the
//! label that most of their neighbours have, the smallest of several. In a directed view the
//! neighbours are the ends of the out-edges and of the in-edges, so one that is both counts twice;
//! a vertex without any keeps its label. The number of iterations is fixed, since labels may swap
//! back and forth for ever. These are the semantics of LDBC Graphalytics.
//!
//! A vertex none of whose neighbours changed would choose as it did before. Once few vertices
//! change, the next iteration looks only at the neighbours of those; the result is the same.
//!
//! # Encoding
//! Labels are numbered in their order before the first iteration, and only named again after the
//! last. A short list of labels is sorted and its runs measured; for a long one, each thread has a
//! counter per label, which the list also clears again.
//!
//! # Paper
//! Raghavan, Albert, Kumara: Near Linear Time Algorithm to Detect Community Structures in
//! Large-scale Networks, Phys. Rev. E 2007; Iosup et al.: LDBC Graphalytics, VLDB 2016, for the
//! semantics.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use evergraph_graph::par::AtomicBitset;
use evergraph_graph::{GraphView, VertexId};
use rayon::prelude::*;

use crate::crew::{crew, share};
use crate::{AlgoError, Cancel, ENTRIES_PER_TASK};

/// The label of an id that is no vertex.
pub const NO_LABEL: u64 = u64::MAX;

/// What Graphalytics prescribes for most of its graphs.
pub const DEFAULT_ITERATIONS: u32 = 10;

/// What to start from, and how far to iterate.
#[derive(Clone, Debug)]
pub struct CdlpConfig<'a> {
    /// The first label of each id, usually its external key; what stands at ids that are no vertex
    /// is ignored. `None` starts from the ids themselves.
    pub labels: Option<&'a [u64]>,
    /// How many iterations to run, at least 1.
    pub iterations: u32,
    /// Stops the kernel between two iterations.
    pub cancel: Cancel,
}

impl Default for CdlpConfig<'_> {
    fn default() -> Self {
        Self { labels: None, iterations: DEFAULT_ITERATIONS, cancel: Cancel::default() }
    }
}

/// The community of every vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CdlpOutput {
    /// The label of each id, one of the first labels; [`NO_LABEL`] where there is no vertex.
    pub labels: Vec<u64>,
}

/// Propagates labels. Time O(V + E) per iteration, less once few labels change; memory of 4 bytes
/// per vertex and thread.
pub fn cdlp<G: GraphView>(view: &G, config: &CdlpConfig<'_>) -> Result<CdlpOutput, AlgoError> {
    if config.iterations == 0 {
        return Err(AlgoError::NoIterations);
    }
    let flat = view.flat();
    let bound = flat.vertex_bound();
    let names = Names::new(config.labels, bound)?;
    let mut round = Round {
        view: &flat,
        labels: names.numbers.iter().copied().map(AtomicU32::new).collect(),
        next: names.numbers.iter().copied().map(AtomicU32::new).collect(),
        active: None,
        changed: AtomicBitset::new(bound),
    };
    let tasks = flat.splits(ENTRIES_PER_TASK);
    let mut members = crew(|| Counter::new(bound));
    for _ in 0..config.iterations {
        config.cancel.check()?;
        let affected = AtomicU64::new(0);
        share(&mut members, tasks.len(), |counter, shared| {
            for task in shared.rest() {
                let entries = round.choose_all(counter, tasks[task].clone());
                affected.fetch_add(entries, Ordering::Relaxed);
            }
        });
        round.finish(affected.into_inner());
    }
    let labels = round.labels.into_par_iter().zip(0..bound);
    let name = |label: u32, v| {
        if flat.contains(v) { names.name(label) } else { NO_LABEL }
    };
    Ok(CdlpOutput { labels: labels.map(|(label, v)| name(label.into_inner(), v)).collect() })
}

/// Labels and their numbers, which sort alike.
struct Names {
    /// The label of each number; empty where they are the same.
    sorted: Vec<u64>,
    /// The number of each id's label.
    numbers: Vec<u32>,
}

impl Names {
    fn new(labels: Option<&[u64]>, bound: u32) -> Result<Self, AlgoError> {
        let Some(labels) = labels else {
            return Ok(Self { sorted: Vec::new(), numbers: (0..bound).collect() });
        };
        if labels.len() != bound as usize {
            return Err(AlgoError::LabelCount { expected: bound as usize, found: labels.len() });
        }
        let mut sorted = labels.to_vec();
        sorted.par_sort_unstable();
        sorted.dedup();
        let number = |label: &u64| sorted.partition_point(|other| other < label) as u32;
        let numbers = labels.par_iter().map(number).collect();
        Ok(Self { sorted, numbers })
    }

    fn name(&self, number: u32) -> u64 {
        let label = self.sorted.get(number as usize);
        label.copied().unwrap_or(u64::from(number))
    }
}

/// Marking who is to look again costs about as much per entry as looking; it is worth it only when
/// fewer than one in this many entries lead to a change.
const MARK_WORTH: u64 = 8;

/// The state between two iterations.
struct Round<'a, G> {
    view: &'a G,
    labels: Vec<AtomicU32>,
    /// What `labels` will be. Both are accessed `Relaxed`: one is only read, a slot of the other
    /// is written by one thread, and the end of the parallel loop comes before they change roles.
    next: Vec<AtomicU32>,
    /// Who has a neighbour that changed; `None` if most may have.
    active: Option<AtomicBitset>,
    changed: AtomicBitset,
}

impl<G: GraphView> Round<'_, G> {
    /// Chooses the next label of a range; how many entries lead to those that changed.
    fn choose_all(&self, counter: &mut Counter, range: std::ops::Range<VertexId>) -> u64 {
        let mut affected = 0;
        for v in range {
            let old = self.labels[v as usize].load(Ordering::Relaxed);
            let looks = self.active.as_ref().is_none_or(|active| active.contains(v));
            let new = if looks {
                counter.collect(self.view, v, &self.labels);
                counter.most_frequent().unwrap_or(old)
            } else {
                old
            };
            self.next[v as usize].store(new, Ordering::Relaxed);
            if new != old {
                self.changed.insert(v);
                affected += u64::from(self.view.degree(v)) + u64::from(self.view.in_degree(v));
            }
        }
        affected
    }

    /// Makes the next labels the current ones and finds out who has to look again.
    fn finish(&mut self, affected: u64) {
        std::mem::swap(&mut self.labels, &mut self.next);
        self.active = (affected.saturating_mul(MARK_WORTH) < self.view.entry_count()).then(|| {
            let bound = self.view.vertex_bound();
            let active = AtomicBitset::new(bound);
            let mark = |u| {
                if !active.contains(u) {
                    active.insert(u);
                }
            };
            (0..bound).into_par_iter().for_each(|v| {
                if self.changed.contains(v) {
                    self.view.for_each(v, mark);
                    if self.view.is_directed() {
                        self.view.for_each_in(v, mark);
                    }
                }
            });
            active
        });
        self.changed.clear();
    }
}

/// Lists up to this long are sorted, longer ones counted.
const SORTED_MAX: usize = 16;

/// Finds the label that stands most often in a list.
struct Counter {
    list: Vec<u32>,
    /// How often each label stands in the list; all 0 between calls.
    counts: Vec<u32>,
}

impl Counter {
    fn new(labels: u32) -> Self {
        Self { list: Vec::new(), counts: vec![0; labels as usize] }
    }

    /// Reads the labels around `v`.
    #[inline]
    fn collect<G: GraphView>(&mut self, view: &G, v: VertexId, labels: &[AtomicU32]) {
        self.list.clear();
        let list = &mut self.list;
        view.for_each(v, |u| list.push(labels[u as usize].load(Ordering::Relaxed)));
        if view.is_directed() {
            view.for_each_in(v, |u| list.push(labels[u as usize].load(Ordering::Relaxed)));
        }
    }

    /// The label that stands most often in the list, the smallest of several.
    #[inline]
    fn most_frequent(&mut self) -> Option<u32> {
        let first = *self.list.first()?;
        if self.list.iter().all(|&label| label == first) {
            Some(first)
        } else if self.list.len() <= SORTED_MAX {
            Some(self.by_sorting())
        } else {
            Some(self.by_counting())
        }
    }

    fn by_sorting(&mut self) -> u32 {
        self.list.sort_unstable();
        let (mut best, mut most) = (0, 0);
        for same in self.list.chunk_by(|a, b| a == b) {
            if same.len() > most {
                (best, most) = (same[0], same.len());
            }
        }
        best
    }

    fn by_counting(&mut self) -> u32 {
        let (mut best, mut most) = (0, 0);
        for &label in &self.list {
            let count = &mut self.counts[label as usize];
            *count += 1;
            if *count > most || (*count == most && label < best) {
                (best, most) = (label, *count);
            }
        }
        for &label in &self.list {
            self.counts[label as usize] = 0;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directed, undirected};
    use crate::verify;

    #[test]
    fn ties_go_to_the_smallest_label_not_the_smallest_id() {
        let view = undirected(3, &[(0, 1), (0, 2)]);
        let labels = [50, 30, 20];
        let config = CdlpConfig { labels: Some(&labels), iterations: 1, ..CdlpConfig::default() };
        let output = cdlp(&view, &config).expect("one label per id");
        assert_eq!(output.labels, [20, 50, 50]);
        verify::cdlp(&view, &config, &output).expect("as the hash maps say");
    }

    #[test]
    fn a_neighbour_both_ways_counts_twice() {
        // 3 hears 0 and 1 once and 2 twice.
        let view = directed(4, &[(0, 3), (3, 1), (2, 3), (3, 2)]);
        let config = CdlpConfig { iterations: 1, ..CdlpConfig::default() };
        let output = cdlp(&view, &config).expect("a good configuration");
        assert_eq!(output.labels, [3, 3, 3, 2]);
    }

    #[test]
    fn two_cliques_joined_by_an_edge_stay_two() {
        let clique =
            |first: u32| (first..first + 5).flat_map(move |u| (first..u).map(move |v| (v, u)));
        let edges: Vec<_> = clique(0).chain(clique(5)).chain([(4, 5)]).collect();
        let output = cdlp(&undirected(11, &edges), &CdlpConfig::default());
        let expected = vec![0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 10];
        assert_eq!(output, Ok(CdlpOutput { labels: expected }));
    }

    #[test]
    fn long_lists_are_counted_as_short_ones_are_sorted() {
        let mut counter = Counter::new(100);
        for list in [&[7, 3, 3, 7, 9][..], &[5], &[1, 2, 2, 99, 99, 99]] {
            counter.list = list.to_vec();
            let counted = counter.by_counting();
            assert_eq!(counted, counter.by_sorting());
            assert!(counter.counts.iter().all(|&count| count == 0));
        }
    }

    #[test]
    fn bad_configurations_are_refused() {
        let view = undirected(2, &[(0, 1)]);
        let config = CdlpConfig { labels: Some(&[1]), ..CdlpConfig::default() };
        let refusal = AlgoError::LabelCount { expected: 2, found: 1 };
        assert_eq!(cdlp(&view, &config), Err(refusal));
        let config = CdlpConfig { iterations: 0, ..CdlpConfig::default() };
        assert_eq!(cdlp(&view, &config), Err(AlgoError::NoIterations));
    }
}
