//! Words that no tracked file holds: marks of unfinished work, and paths of one machine.
//!
//! The words are put together here from halves, or this file would find itself.

use super::Finding;
use super::tree::{Tree, has_extension};

const BANNED: &[&str] = &[
    concat!("to", "do!"),
    concat!("unimpl", "emented!"),
    concat!("db", "g!"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// Folders at the root of a machine that differ from one to the next.
const MACHINE: &[&str] = &["farm", "home", "root", "tmp", "work"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !has_extension(path, "lock")) {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(word) = BANNED.iter().find(|word| has_word(line, word)) {
                let message = format!("`{word}` marks unfinished work: finish it or take it out");
                findings.push(Finding::new(path, number, message));
            }
            if let Some(folder) = MACHINE.iter().find(|folder| has_path(line, folder)) {
                let message = format!("a path under /{folder} is of one machine only");
                findings.push(Finding::new(path, number, message));
            }
        }
    }
    findings
}

/// Whether the word stands there alone, not as a part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let ends_open = word.ends_with('!');
        !before.is_some_and(is_word) && (ends_open || !after.is_some_and(is_word))
    })
}

/// Whether something inside this folder of the root is named.
fn has_path(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + path.len()..].chars().next();
        !before.is_some_and(is_word) && after.is_some_and(|c| c.is_ascii_alphabetic())
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    #[test]
    fn unfinished_work_is_found_in_any_text() {
        for word in BANNED {
            let found = finding(check, &[("a.py", &format!("one\n# {word} later\n"))]);
            assert!(found.starts_with("a.py:2: `"), "{found}");
        }
        let call = format!("{}(x)", BANNED[0]);
        finding(check, &[("a.rs", &call)]);
    }

    #[test]
    fn a_longer_word_is_another_word() {
        let longer = format!("{0}X A{0} auto_{1}", BANNED[4], BANNED[2]);
        passes(check, &[("a.md", &longer)]);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for folder in MACHINE {
            let found = finding(check, &[("a.sh", &format!("cd \"/{folder}/me\"\n"))]);
            assert!(found.starts_with("a.sh:1: a path under"), "{found}");
        }
    }

    #[test]
    fn other_paths_pass() {
        let folder = MACHINE[3];
        let text = format!("target/{folder}/a /{folder}/ a_/{folder}/b /dev/null /{folder}/$x\n");
        passes(check, &[("a.sh", &text), ("a.lock", &format!("/{folder}/a"))]);
    }
}
