//! What the libraries may touch only in named places: files, clocks, waiting, locks.
//!
//! Code that must be testable with a disk that fails, a clock that jumps or a scheduler that tries
//! everything cannot reach for the real one in passing. Programs and tests may.

use super::Finding;
use super::tokens::{Name, names};
use super::tree::Tree;

/// A name, where the rule holds, and where in there the name may be used; [`PROGRAMS`] and tests
/// may use it anywhere.
struct Confined {
    name: &'static [&'static str],
    within: &'static str,
    allowed: &'static [&'static str],
    instead: &'static str,
}

/// Crates that are programs, or measure: they touch the world for the libraries.
const PROGRAMS: &[&str] = &[
    "crates/bench/",
    "crates/bench-compare/",
    "crates/cli/",
    "crates/fuzz/",
    "crates/verify/",
    "xtask/",
];

/// To open a new place, add the start of its path.
const TABLE: &[Confined] = &[
    Confined {
        name: &["std", "fs"],
        within: "",
        allowed: &[
            "crates/graph/src/memory",
            "crates/graph/src/read",
            "crates/graph/src/update",
            "crates/store/src/io",
        ],
        instead: "go through the storage interface, or take a reader",
    },
    clock(&["Instant", "now"]),
    clock(&["SystemTime", "now"]),
    Confined {
        name: &["thread", "sleep"],
        within: "",
        allowed: &["crates/store/src/sync"],
        instead: "wait for the event itself",
    },
    facade(&["std", "sync", "atomic"]),
    facade(&["std", "sync", "Condvar"]),
    facade(&["std", "sync", "Mutex"]),
    facade(&["std", "sync", "OnceLock"]),
    facade(&["std", "sync", "RwLock"]),
    facade(&["parking_lot"]),
];

/// The store's service thread reads the clock and tells the rest the time; what must know the time
/// of day asks one module.
const fn clock(name: &'static [&'static str]) -> Confined {
    let instead = "take the time as an argument";
    Confined {
        name,
        within: "",
        allowed: &["crates/store/src/service", "crates/store/src/sync", "crates/store/src/time"],
        instead,
    }
}

/// What the store takes from one module, so that a model checker can take its place.
const fn facade(name: &'static [&'static str]) -> Confined {
    let instead = "import it from `crate::sync`";
    Confined { name, within: "crates/store/src/", allowed: &["crates/store/src/sync"], instead }
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !starts_with_any(file.path, PROGRAMS)) {
        let names = names(&file.rust.tokens);
        for confined in TABLE.iter().filter(|confined| confined.holds_in(file.path)) {
            let used = names.iter().filter(|name| contains(name, confined.name));
            let mut lines: Vec<usize> = used.map(|name| name.line).collect();
            lines.dedup();
            lines.retain(|&line| !file.rust.is_test(line));
            let found = |line| Finding::new(file.path, line, message(confined));
            findings.extend(lines.into_iter().map(found));
        }
    }
    findings
}

impl Confined {
    fn holds_in(&self, path: &str) -> bool {
        path.starts_with(self.within) && !starts_with_any(path, self.allowed)
    }
}

fn message(confined: &Confined) -> String {
    let Confined { name, allowed, instead, .. } = confined;
    format!("`{}` is used in {} only: {instead}", name.join("::"), allowed.join(", "))
}

fn starts_with_any(path: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| path.starts_with(start))
}

fn contains(name: &Name, wanted: &[&str]) -> bool {
    name.parts.windows(wanted.len()).any(|parts| parts == wanted)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, findings, passes};
    use super::*;

    #[test]
    fn files_are_opened_in_named_places() {
        let text = "use std::{\n    io,\n    fs::File,\n};";
        passes(check, &[("crates/graph/src/read.rs", text), ("crates/graph/src/read/a.rs", text)]);
        passes(check, &[("crates/store/src/io.rs", text), ("crates/cli/src/a.rs", text)]);
        let found = finding(check, &[("crates/store/src/log.rs", text)]);
        assert!(found.starts_with("crates/store/src/log.rs:3: `std::fs` is used in"), "{found}");
    }

    #[test]
    fn clocks_and_sleep_are_confined() {
        for call in ["Instant::now()", "std::time::SystemTime::now()", "std::thread::sleep(d)"] {
            let text = format!("fn a() {{ {call}; }}");
            finding(check, &[("crates/algo/src/a.rs", &text)]);
            finding(check, &[("crates/algo/src/a.rs", &format!("fn a() {{ b!({call}) }}"))]);
            passes(check, &[("crates/bench/src/a.rs", &text)]);
        }
    }

    #[test]
    fn the_store_takes_locks_from_its_facade() {
        for text in ["use parking_lot::Mutex;", "use std::sync::{Arc, atomic::AtomicU64};"] {
            passes(check, &[("crates/store/src/sync.rs", text), ("crates/algo/src/a.rs", text)]);
            finding(check, &[("crates/store/src/epoch/clock.rs", text)]);
        }
        passes(check, &[("crates/store/src/a.rs", "use crate::sync::Mutex; use std::sync::Arc;")]);
    }

    #[test]
    fn tests_are_free() {
        let text = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\nuse std::fs;\n";
        passes(check, &[("crates/store/tests/a.rs", "use std::fs;")]);
        let found = findings(check, &[("crates/algo/src/a.rs", text)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/algo/src/a.rs:5:"), "{found:?}");
    }
}
