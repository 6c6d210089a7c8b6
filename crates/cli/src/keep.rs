//! How far back the past is kept, as words: read from the command line, and told.

use std::time::Duration;

use evergraph::Keep;
use indicatif::HumanBytes;
use jiff::{Span, SpanRelativeTo};
use serde_json::json;

use crate::numbers::counted;

/// What it may be, for messages.
pub(crate) const CHOICES: &str = "a time such as 24h or 7d, `1000 versions`, a size such as 2GiB, \
                                  everything or nothing";

/// Bytes of a unit, as it is written.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Seconds of a unit, the longest first.
const TIMES: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// What the words mean; none if they mean nothing.
pub(crate) fn parse(words: &str) -> Option<Keep> {
    let words = words.trim();
    match words {
        "nothing" => return Some(Keep::Nothing),
        "everything" => return Some(Keep::Everything),
        _ => {}
    }
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = (words[..digits].parse::<u64>().ok(), words[digits..].trim_start());
    if let (Some(versions), "version" | "versions") = (number, unit) {
        return Some(Keep::Versions(versions));
    }
    if let Some((_, bytes)) = UNITS.into_iter().find(|(name, _)| *name == unit) {
        return number?.checked_mul(bytes).map(Keep::Bytes);
    }
    let span: Span = words.parse().ok()?;
    let age = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(age).ok().map(Keep::Time)
}

/// The words for it.
pub(crate) fn words(keep: Keep) -> String {
    match keep {
        Keep::Nothing => "nothing".to_owned(),
        Keep::Everything => "everything".to_owned(),
        Keep::Versions(versions) => counted(versions, "version", "versions"),
        Keep::Bytes(bytes) => HumanBytes(bytes).to_string(),
        Keep::Time(age) if age.subsec_nanos() == 0 => {
            let seconds = age.as_secs();
            let (unit, length) = TIMES
                .into_iter()
                .find(|(_, length)| seconds.is_multiple_of(*length))
                .unwrap_or(("s", 1));
            format!("{}{unit}", seconds / length)
        }
        Keep::Time(age) => format!("{}s", age.as_secs_f64()),
    }
}

/// The same for programs.
pub(crate) fn object(keep: Keep) -> serde_json::Value {
    match keep {
        Keep::Nothing => json!("nothing"),
        Keep::Everything => json!("everything"),
        Keep::Versions(versions) => json!({ "versions": versions }),
        Keep::Bytes(bytes) => json!({ "bytes": bytes }),
        Keep::Time(age) => json!({ "seconds": age.as_secs_f64() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_and_told() {
        let hours = Keep::Time(Duration::from_hours(24));
        for (said, meant, told) in [
            ("nothing", Keep::Nothing, "nothing"),
            (" everything", Keep::Everything, "everything"),
            ("24h", hours, "1d"),
            ("1d", hours, "1d"),
            ("90m", Keep::Time(Duration::from_mins(90)), "90m"),
            ("1500ms", Keep::Time(Duration::from_millis(1500)), "1.5s"),
            ("1000 versions", Keep::Versions(1000), "1,000 versions"),
            ("1 version", Keep::Versions(1), "1 version"),
            ("2GiB", Keep::Bytes(2 << 30), "2.00 GiB"),
            ("500 MB", Keep::Bytes(500_000_000), "476.84 MiB"),
        ] {
            assert_eq!(parse(said), Some(meant), "{said}");
            assert_eq!(words(meant), told);
        }
        for wrong in ["", "1000", "versions", "2 gib", "-1h", "99999999999 TiB", "all"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
