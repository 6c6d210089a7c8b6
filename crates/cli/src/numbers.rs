//! Numbers as people like to read them.

use std::fmt;
use std::time::Duration;

use indicatif::HumanCount;

/// A whole number with a comma between thousands.
pub(crate) fn count(number: impl Into<u64>) -> HumanCount {
    HumanCount(number.into())
}

/// A thing and how many there are of it.
pub(crate) fn counted(number: impl Into<u64>, one: &str, many: &str) -> String {
    match number.into() {
        1 => format!("1 {one}"),
        number => format!("{} {many}", count(number)),
    }
}

/// A time with three digits.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        let text = match seconds {
            s if s < 0.001 => format!("{:.0} µs", s * 1e6),
            s if s < 0.01 => format!("{:.2} ms", s * 1e3),
            s if s < 0.1 => format!("{:.1} ms", s * 1e3),
            s if s < 1.0 => format!("{:.0} ms", s * 1e3),
            s if s < 10.0 => format!("{s:.2} s"),
            s => format!("{s:.1} s"),
        };
        f.pad(&text)
    }
}

/// How many there were per second, in whole numbers.
#[expect(clippy::cast_sign_loss, reason = "a count over a time is not negative")]
pub(crate) fn per_second(number: u64, time: Duration) -> HumanCount {
    HumanCount((number as f64 / time.as_secs_f64().max(1e-9)).round() as u64)
}

/// A measured number with five digits.
pub(crate) fn measured(number: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-3..1e6;
    if number == 0.0 {
        "0".to_owned()
    } else if PLAIN.contains(&number.abs()) {
        let digits = (4.0 - number.abs().log10().floor()).max(0.0);
        #[expect(clippy::cast_sign_loss, reason = "it was just made no less than 0")]
        let digits = digits as usize;
        format!("{number:.digits$}")
    } else {
        format!("{number:.4e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let text = |seconds| Seconds(Duration::from_secs_f64(seconds)).to_string();
        assert_eq!(text(0.000_012), "12 µs");
        assert_eq!(text(0.001_234), "1.23 ms");
        assert_eq!(text(0.012_34), "12.3 ms");
        assert_eq!(text(0.123_4), "123 ms");
        assert_eq!(text(1.234), "1.23 s");
        assert_eq!(text(83.21), "83.2 s");
    }

    #[test]
    fn numbers_are_cut_to_what_matters() {
        assert_eq!(measured(0.0), "0");
        assert_eq!(measured(0.012_345_67), "0.012346");
        assert_eq!(measured(12.345_67), "12.346");
        assert_eq!(measured(1.5e-7), "1.5000e-7");
        assert_eq!(counted(1u64, "edge", "edges"), "1 edge");
        assert_eq!(counted(12_345u64, "edge", "edges"), "12,345 edges");
        assert_eq!(per_second(3, Duration::from_secs(2)).to_string(), "2");
    }
}
