//! `cargo xtask tidy`: the house rules that no other tool knows.
//!
//! A rule is a function from the [`Tree`] of tracked files to the [`Finding`]s it has; it reads
//! nothing else, so that every rule is tested on files that exist only in its test.

mod architecture;
mod changelog;
mod confined;
mod headers;
mod links;
mod manifests;
mod markdown;
mod size;
mod tokens;
mod tree;
mod unsafety;
mod words;

use std::fmt;

use crate::command::{Outcome, Workspace};
use tree::Tree;

type Rule = fn(&Tree) -> Vec<Finding>;

/// Every rule under the name that stands behind its findings.
const RULES: &[(&str, Rule)] = &[
    ("syntax", tree::check),
    ("header", headers::check),
    ("size", size::check),
    ("unsafe", unsafety::check),
    ("confined", confined::check),
    ("arrows", manifests::check_arrows),
    ("manifest", manifests::check_form),
    ("architecture", architecture::check),
    ("links", links::check),
    ("changelog", changelog::check),
    ("words", words::check),
];

/// One thing to mend, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// Counted from one.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Applies every rule and prints what it finds; `true` when that is nothing.
pub(crate) fn run(workspace: &Workspace) -> Outcome<bool> {
    let tree = Tree::read(workspace)?;
    let mut count = 0;
    for (name, rule) in RULES {
        let mut findings = rule(&tree);
        findings.sort();
        for finding in &findings {
            eprintln!("{finding} [{name}]");
        }
        count += findings.len();
    }
    match count {
        0 => println!("tidy: {} files, {} rules, nothing to mend", tree.len(), RULES.len()),
        _ => println!("tidy: {count} to mend"),
    }
    Ok(count == 0)
}

/// Tests of the rules: what a rule says about files that exist only here.
#[cfg(test)]
mod sample {
    use super::{Finding, Rule, Tree};

    /// The findings, one a line, in order.
    pub(super) fn findings(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
        let mut findings = rule(&Tree::of(files));
        findings.sort();
        findings.iter().map(Finding::to_string).collect()
    }

    /// The one finding there must be.
    pub(super) fn finding(rule: Rule, files: &[(&str, &str)]) -> String {
        let found = findings(rule, files);
        assert_eq!(found.len(), 1, "{found:#?}");
        found.concat()
    }

    /// Asserts that there is none.
    pub(super) fn passes(rule: Rule, files: &[(&str, &str)]) {
        assert_eq!(findings(rule, files), [""; 0]);
    }
}
