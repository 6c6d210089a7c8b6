//! Labels by a hash map of counts per vertex and iteration.

use std::cmp::Reverse;
use std::collections::HashMap;

use evergraph_graph::GraphView;

use super::{Mismatch, compare};
use crate::cdlp::NO_LABEL;
use crate::{CdlpConfig, CdlpOutput};

/// Checks the labels that [`crate::cdlp()`] found.
pub fn cdlp<G: GraphView>(
    view: &G,
    config: &CdlpConfig<'_>,
    output: &CdlpOutput,
) -> Result<(), Mismatch> {
    let bound = view.vertex_bound();
    let own = |v: u32| match config.labels {
        _ if !view.contains(v) => NO_LABEL,
        Some(labels) => labels[v as usize],
        None => u64::from(v),
    };
    let mut labels: Vec<u64> = (0..bound).map(own).collect();
    for _ in 0..config.iterations {
        let choose = |v: u32| {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            let mut count = |u: u32| *counts.entry(labels[u as usize]).or_default() += 1;
            view.for_each(v, &mut count);
            if view.is_directed() {
                view.for_each_in(v, &mut count);
            }
            let best = counts.into_iter().max_by_key(|&(label, n)| (n, Reverse(label)));
            best.map_or(labels[v as usize], |(label, _)| label)
        };
        labels = (0..bound).map(choose).collect();
    }
    compare(&labels, &output.labels, u64::eq)
}
