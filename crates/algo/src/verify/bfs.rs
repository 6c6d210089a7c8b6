//! Levels by a queue: the textbook search.

use std::collections::VecDeque;

use evergraph_graph::GraphView;

use super::{Mismatch, compare};
use crate::bfs::UNREACHED;
use crate::{BfsConfig, BfsOutput};

/// Checks the levels that [`crate::bfs()`] found.
pub fn bfs<G: GraphView>(view: &G, config: &BfsConfig, output: &BfsOutput) -> Result<(), Mismatch> {
    let mut levels = vec![UNREACHED; view.vertex_bound() as usize];
    levels[config.source as usize] = 0;
    let mut queue = VecDeque::from([config.source]);
    while let Some(v) = queue.pop_front() {
        let next = levels[v as usize] + 1;
        view.for_each(v, |u| {
            if levels[u as usize] == UNREACHED {
                levels[u as usize] = next;
                queue.push_back(u);
            }
        });
    }
    compare(&levels, &output.levels, u32::eq)
}
