//! Every source file says in its first line what it is for.

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts()
        .filter(|(path, _)| is_source(path))
        .filter(|(_, text)| !says_something(text))
        .map(|(path, _)| Finding::new(path, 1, "open the file with `//!` and what it is for"))
        .collect()
}

/// `crates/*/src/**.rs` and `xtask/src/**.rs`.
fn is_source(path: &str) -> bool {
    let in_crate = path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
    let inside = in_crate.map(|(_, inside)| inside).or_else(|| path.strip_prefix("xtask/"));
    inside.is_some_and(|inside| inside.starts_with("src/"))
        && super::tree::has_extension(path, "rs")
}

fn says_something(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|purpose| !purpose.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    #[test]
    fn a_file_opens_with_its_purpose() {
        passes(check, &[("crates/a/src/b/c.rs", "//! One thing.\n"), ("xtask/src/a.rs", "//! X.")]);
        passes(check, &[("crates/a/tests/b.rs", ""), ("crates/a/src/b.txt", "")]);
    }

    #[test]
    fn a_file_without_one_is_found() {
        for text in ["", "// A comment.\n", "//!\n//! Late.\n", "\n//! Late.\n"] {
            let found = finding(check, &[("crates/a/src/b.rs", text)]);
            assert!(found.starts_with("crates/a/src/b.rs:1: open the file"), "{found}");
        }
        finding(check, &[("xtask/src/a.rs", "fn a() {}")]);
    }
}
