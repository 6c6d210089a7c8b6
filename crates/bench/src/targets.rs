//! What the project wants to reach, as ratios to the static graph; charts and tables show it
//! beside what was measured.

use crate::measure::RECOMPUTED;
use crate::report::{Row, State};

/// A kernel, and its greatest ratio when settled and when fresh.
const RATIOS: [(&str, f64, Option<f64>); 9] = [
    ("scan_seq", 1.05, None),
    ("scan_random", 1.15, None),
    ("bfs", 1.08, Some(2.0)),
    ("pagerank", 1.08, Some(1.25)),
    ("wcc", 1.08, Some(2.0)),
    ("cdlp", 1.05, Some(1.15)),
    ("lcc", 1.10, None),
    ("sssp", 1.08, Some(1.25)),
    ("triangles", 1.10, None),
];

/// Refreshing a standing result, beside computing it anew.
const STANDING_RATIO: f64 = 0.1;

/// The greatest ratio that is wanted of a row, if there is one. While somebody writes a kernel is
/// to be as fast as a fresh one.
pub(crate) fn ratio_max(row: &Row) -> Option<f64> {
    match row.baseline {
        Some(RECOMPUTED) => return Some(STANDING_RATIO),
        Some("csr") => {}
        _ => return None,
    }
    let (_, settled, fresh) = RATIOS.into_iter().find(|(metric, ..)| *metric == row.metric)?;
    match row.state? {
        State::Fresh => fresh,
        State::Settled => Some(settled),
    }
}
