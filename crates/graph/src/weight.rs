//! What an edge carries: nothing, or one number.

use std::fmt::Debug;

/// The payload of an edge: `()` for none, or one number.
///
/// Runs of `()` take no memory, so unweighted graphs pay nothing for the type parameter.
pub trait Weight: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Whether edges carry a number at all.
    const WEIGHTED: bool;

    /// The weight as a number; an edge without one counts 1.
    fn to_f64(self) -> f64;

    /// The nearest weight to `value`.
    fn from_f64(value: f64) -> Self;
}

impl Weight for () {
    const WEIGHTED: bool = false;

    #[inline]
    fn to_f64(self) -> f64 {
        1.0
    }

    #[inline]
    fn from_f64(_: f64) {}
}

impl Weight for f32 {
    const WEIGHTED: bool = true;

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Weight for f64 {
    const WEIGHTED: bool = true;

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }
}
