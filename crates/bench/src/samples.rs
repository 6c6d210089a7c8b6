//! Samples of a figure, alone or in pairs with those of a baseline.

use std::time::Duration;

/// Samples of one figure, in the order they were taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// Takes another one.
    pub fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }

    /// Takes another one, in seconds.
    pub fn push_time(&mut self, time: Duration) {
        self.push(time.as_secs_f64());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The middle one, or the mean of the two in the middle; NaN if there are none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 {
            return f64::NAN;
        }
        sorted[(n - 1) / 2].midpoint(sorted[n / 2])
    }

    /// The least one; infinity if there are none.
    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The greatest one; minus infinity if there are none.
    pub fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// One sample.
impl From<f64> for Samples {
    fn from(sample: f64) -> Self {
        Self(vec![sample])
    }
}

/// Samples of a figure, each beside one of a baseline that was taken next to it.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// What is measured.
    pub ours: Samples,
    /// What it is compared with.
    pub base: Samples,
}

impl Pairs {
    /// Ours divided by the baseline's, pair by pair: what drifts between pairs cancels out.
    pub fn ratios(&self) -> Samples {
        Samples(self.ours.0.iter().zip(&self.base.0).map(|(ours, base)| ours / base).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((Samples(vec![3.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-12);
        assert!((Samples(vec![4.0, 1.0, 2.0, 3.0]).median() - 2.5).abs() < 1e-12);
        assert!((Samples::from(7.0).median() - 7.0).abs() < 1e-12);
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        // The machine became twice as slow half-way: the ratio does not see it.
        let pairs =
            Pairs { ours: Samples(vec![2.0, 4.0, 4.0]), base: Samples(vec![1.0, 2.0, 2.0]) };
        assert_eq!(pairs.ratios(), Samples(vec![2.0, 2.0, 2.0]));
    }
}
