//! Options by the words that command lines and scripts use for them.

use std::str::FromStr;
use std::time::Duration;

use crate::Error;
use crate::options::{Durability, Keep};

/// The longest that a group of commits may wait for the disk: an hour.
const GROUP_MS_MAX: u64 = 3_600_000;

/// `sync`, `group:MS`, `os` or `none`.
impl FromStr for Durability {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let group = word.strip_prefix("group:").map(|ms| ms.strip_suffix("ms").unwrap_or(ms));
        match (word, group.and_then(whole)) {
            ("sync", _) => Ok(Self::Sync),
            ("os", _) => Ok(Self::Os),
            ("none", _) => Ok(Self::None),
            (_, Some(ms)) if (1..=GROUP_MS_MAX).contains(&ms) => {
                Ok(Self::Group(Duration::from_millis(ms)))
            }
            _ => Err(Error::NoSuchChoice {
                given: word.into(),
                choices: "sync, group:MS with 1 to 3600000 milliseconds, os or none",
            }),
        }
    }
}

/// `nothing`, `versions:N`, `seconds:N`, `bytes:N` or `everything`.
impl FromStr for Keep {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let counted = word.split_once(':').map(|(unit, number)| (unit, whole(number)));
        match (word, counted) {
            ("nothing", _) => Ok(Self::Nothing),
            ("everything", _) => Ok(Self::Everything),
            (_, Some(("versions", Some(versions)))) => Ok(Self::Versions(versions)),
            (_, Some(("seconds", Some(seconds)))) => Ok(Self::Time(Duration::from_secs(seconds))),
            (_, Some(("bytes", Some(bytes)))) => Ok(Self::Bytes(bytes)),
            _ => Err(Error::NoSuchChoice {
                given: word.into(),
                choices: "nothing, versions:N, seconds:N, bytes:N or everything",
            }),
        }
    }
}

/// A number of digits alone.
fn whole(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn modes_of_durability_have_names() {
        let group = |ms| Durability::Group(Duration::from_millis(ms));
        for (word, is) in [
            ("sync", Durability::Sync),
            ("group:1", group(1)),
            ("group:250ms", group(250)),
            ("os", Durability::Os),
            ("none", Durability::None),
        ] {
            assert_eq!(word.parse(), Ok(is));
        }
        for word in ["", "group", "group:", "group:0", "group:3600001", "group:+1", "Sync"] {
            assert!(word.parse::<Durability>().is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_kept_has_names() {
        for (word, is) in [
            ("nothing", Keep::Nothing),
            ("versions:10", Keep::Versions(10)),
            ("seconds:3600", Keep::Time(Duration::from_hours(1))),
            ("bytes:0", Keep::Bytes(0)),
            ("everything", Keep::Everything),
        ] {
            assert_eq!(word.parse(), Ok(is));
        }
        for word in ["", "all", "versions", "versions:", "versions:-1", "seconds:0.5", "days:1"] {
            assert!(word.parse::<Keep>().is_err(), "{word}");
        }
    }
}
