//! The kernels, their answers, and when two answers are equal.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::on;
use crate::{Error, Result};

/// An algorithm that several peers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kernel {
    /// The level of every vertex, -1 if it is not reached.
    Bfs,
    /// The rank of every vertex after 20 iterations from equal ranks.
    #[serde(rename = "pagerank")]
    PageRank,
    /// The rank of every vertex once ranks hardly change.
    #[serde(rename = "pagerank_converged")]
    PageRankConverged,
    /// A number per vertex, the same for two in one component.
    Wcc,
    /// One number: how many triangles there are.
    Triangles,
    /// The local clustering coefficient of every vertex.
    Lcc,
    /// The distance of every vertex, infinity if it is not reached.
    Sssp,
    /// Two numbers per vertex: its degree, and the sum of its neighbours' ids.
    Scan,
}

/// Ranks differ by no more than this, in sum, between two ways to the same ranks in 64 bits.
const RANKS: f64 = 1e-6;
/// As above, in 32 bits.
const RANKS_SINGLE: f64 = 1e-3;
/// Distances and coefficients differ by no more than this part of them.
const NUMBERS: f64 = 1e-9;
const NUMBERS_SINGLE: f64 = 1e-5;

impl Kernel {
    pub(crate) const UNWEIGHTED: &[Self] = &[
        Self::Bfs,
        Self::PageRank,
        Self::PageRankConverged,
        Self::Wcc,
        Self::Triangles,
        Self::Lcc,
    ];
    pub(crate) const WEIGHTED: &[Self] = &[Self::Sssp];

    /// The name of its figure.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::PageRank => "pagerank",
            Self::PageRankConverged => "pagerank_converged",
            Self::Wcc => "wcc",
            Self::Triangles => "triangles",
            Self::Lcc => "lcc",
            Self::Sssp => "sssp",
            Self::Scan => "scan",
        }
    }

    /// Reads an answer that a peer has written.
    pub(crate) fn read(self, path: &Path) -> Result<Answer> {
        let bytes = fs::read(path).map_err(on(path))?;
        let words = bytes.as_chunks::<8>().0.iter().copied();
        Ok(match self {
            Self::PageRank | Self::PageRankConverged | Self::Lcc | Self::Sssp => {
                Answer::Reals(words.map(f64::from_le_bytes).collect())
            }
            Self::Bfs | Self::Wcc | Self::Triangles | Self::Scan => {
                Answer::Numbers(words.map(i64::from_le_bytes).collect())
            }
        })
    }

    /// An error that says where a peer's answer differs from ours, if it does.
    pub(crate) fn compare(
        self,
        ours: &Answer,
        theirs: &Answer,
        is_single_precision: bool,
    ) -> Result<(), String> {
        if ours.len() != theirs.len() {
            return Err(format!("{} values, not {}", theirs.len(), ours.len()));
        }
        let tolerance = |double, single| if is_single_precision { single } else { double };
        match (ours, theirs) {
            (Answer::Numbers(ours), Answer::Numbers(theirs)) if self == Self::Wcc => {
                compare_partitions(ours, theirs)
            }
            (Answer::Numbers(ours), Answer::Numbers(theirs)) => compare_numbers(ours, theirs),
            (Answer::Reals(ours), Answer::Reals(theirs))
                if matches!(self, Self::PageRank | Self::PageRankConverged) =>
            {
                compare_ranks(ours, theirs, tolerance(RANKS, RANKS_SINGLE))
            }
            (Answer::Reals(ours), Answer::Reals(theirs)) => {
                compare_reals(ours, theirs, tolerance(NUMBERS, NUMBERS_SINGLE))
            }
            _ => Err("values of another kind".to_owned()),
        }
    }
}

/// What a kernel answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Numbers(Vec<i64>),
    Reals(Vec<f64>),
}

impl Answer {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes: Vec<u8> = match self {
            Self::Numbers(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Reals(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        fs::write(path, bytes).map_err(on(path))
    }
}

fn compare_numbers(ours: &[i64], theirs: &[i64]) -> Result<(), String> {
    match ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs) {
        Some(at) => Err(format!("{}, not {}, at {at}", theirs[at], ours[at])),
        None => Ok(()),
    }
}

/// Labels may differ; what they tell apart may not.
fn compare_partitions(ours: &[i64], theirs: &[i64]) -> Result<(), String> {
    let canonical = |labels: &[i64]| {
        let mut first = std::collections::HashMap::new();
        let number = |(v, &label): (i64, &i64)| *first.entry(label).or_insert(v);
        (0..).zip(labels).map(number).collect::<Vec<i64>>()
    };
    compare_numbers(&canonical(ours), &canonical(theirs))
        .map_err(|problem| format!("components by their first vertex: {problem}"))
}

/// Some peers leave the rank of vertices without edges out, which scales all ranks alike: they are
/// compared after both sum to 1.
fn compare_ranks(ours: &[f64], theirs: &[f64], tolerance: f64) -> Result<(), String> {
    let (our_sum, their_sum): (f64, f64) = (ours.iter().sum(), theirs.iter().sum());
    let pairs = ours.iter().zip(theirs);
    let distance: f64 =
        pairs.map(|(ours, theirs)| (ours / our_sum - theirs / their_sum).abs()).sum();
    if distance <= tolerance {
        return Ok(());
    }
    Err(format!("ranks differ by {distance:.1e} in sum, more than {tolerance:.0e}"))
}

fn compare_reals(ours: &[f64], theirs: &[f64], tolerance: f64) -> Result<(), String> {
    let is_equal = |(ours, theirs): (&f64, &f64)| {
        let is_near = (ours - theirs).abs() <= tolerance * ours.abs();
        ours.total_cmp(theirs).is_eq() || (ours.is_finite() && is_near)
    };
    match ours.iter().zip(theirs).position(|pair| !is_equal(pair)) {
        Some(at) => Err(format!("{}, not {}, at {at}", theirs[at], ours[at])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[i64]) -> Answer {
        Answer::Numbers(values.to_vec())
    }

    fn reals(values: &[f64]) -> Answer {
        Answer::Reals(values.to_vec())
    }

    #[test]
    fn levels_and_counts_are_equal_or_not() {
        let levels = numbers(&[0, 1, -1]);
        assert_eq!(Kernel::Bfs.compare(&levels, &levels, false), Ok(()));
        let found = Kernel::Bfs.compare(&levels, &numbers(&[0, 2, -1]), false);
        assert_eq!(found, Err("2, not 1, at 1".to_owned()));
        let found = Kernel::Bfs.compare(&levels, &numbers(&[0, 1]), false);
        assert_eq!(found, Err("2 values, not 3".to_owned()));
        Kernel::Bfs.compare(&levels, &reals(&[0.0; 3]), false).expect_err("another kind");
    }

    #[test]
    fn components_may_have_any_label() {
        let ours = numbers(&[0, 0, 2, 0, 2]);
        assert_eq!(Kernel::Wcc.compare(&ours, &numbers(&[9, 9, 1, 9, 1]), false), Ok(()));
        for other in [[9, 9, 1, 9, 9], [9, 9, 1, 9, 3], [5, 5, 5, 5, 5]] {
            Kernel::Wcc.compare(&ours, &numbers(&other), false).expect_err("another partition");
        }
    }

    #[test]
    fn ranks_are_compared_in_sum_after_scaling() {
        let ours = reals(&[0.5, 0.3, 0.2]);
        let compare = |theirs, single| Kernel::PageRank.compare(&ours, &reals(theirs), single);
        assert_eq!(compare(&[0.25, 0.15, 0.1], false), Ok(()));
        compare(&[0.5001, 0.2999, 0.2], false).expect_err("more than the tolerance");
        assert_eq!(compare(&[0.5001, 0.2999, 0.2], true), Ok(()));
        compare(&[f64::NAN, 0.3, 0.2], false).expect_err("no number");
    }

    #[test]
    fn distances_may_be_rounded_but_not_wrong() {
        let ours = reals(&[0.0, 1.5, f64::INFINITY]);
        let compare = |theirs: &[f64]| Kernel::Sssp.compare(&ours, &reals(theirs), false);
        assert_eq!(compare(&[0.0, 1.5 + 1e-12, f64::INFINITY]), Ok(()));
        compare(&[0.0, 1.5, 1e308]).expect_err("it is not reached");
        compare(&[0.0, f64::INFINITY, f64::INFINITY]).expect_err("it is reached");
        compare(&[1e-3, 1.5, f64::INFINITY]).expect_err("zero is exact");
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answer");
        for (kernel, answer) in
            [(Kernel::Wcc, numbers(&[3, -1])), (Kernel::Sssp, reals(&[0.5, f64::INFINITY]))]
        {
            answer.write(&path).expect("written");
            assert_eq!(kernel.read(&path).expect("read"), answer);
        }
    }
}
