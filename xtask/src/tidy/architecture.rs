//! `ARCHITECTURE.md` tells the truth: what it names is there, and no crate is left out.

use super::Finding;
use super::markdown::Markdown;
use super::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";

/// One page, read in one go.
const LINES_MAX: usize = 300;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else {
        return vec![Finding::new(PAGE, 1, "there is no such file; it is the map of the code")];
    };
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        let message = format!("the page has {lines} lines, more than {LINES_MAX}");
        findings.push(Finding::new(PAGE, lines, message));
    }
    let markdown = Markdown::parse(text);
    for (line, code) in &markdown.code {
        if let Err(problem) = look_up(tree, code) {
            findings.push(Finding::new(PAGE, *line, problem));
        }
    }
    for name in tree.folders_in("crates") {
        let path = format!("crates/{name}");
        let names = |(_, text): &(usize, String)| {
            let rest = text.strip_prefix(&path);
            text == name || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if !markdown.code.iter().chain(&markdown.links).any(names) {
            findings.push(Finding::new(PAGE, 1, format!("the crate {path} is not on the page")));
        }
    }
    findings
}

/// Looks for the file, and for the item if one is named as `path::item`. Code that is no path from
/// the root passes: words without `/`, whole commands, addresses.
fn look_up(tree: &Tree, code: &str) -> Result<(), String> {
    let (path, item) = code.split_once("::").map_or((code, None), |(p, item)| (p, Some(item)));
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-*".contains(c);
    if !path.contains('/') || !path.chars().all(is_path) {
        return Ok(());
    }
    // Of a pattern, the folder in which it is to match.
    let folder = path.split_once('*').map(|(start, _)| start.rsplit_once('/').map_or("", |s| s.0));
    if !tree.exists(folder.unwrap_or(path)) {
        return Err(format!("`{path}` does not exist; paths are written from the root"));
    }
    let item = item.and_then(|item| item.rsplit("::").next());
    match (item, tree.text(path)) {
        (Some(item), Some(text)) if !has_word(text, item.trim_end_matches("()")) => {
            Err(format!("`{path}` has no `{item}`"))
        }
        _ => Ok(()),
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, findings, passes};
    use super::*;

    const COMMIT: (&str, &str) = ("crates/store/src/commit.rs", "fn publish() {}\n");

    #[test]
    fn a_true_page_passes() {
        let text = "`crates/store/src/commit.rs::publish()`, [it](crates/store), `crates/*/src`,\n\
                    `cargo run a/b`, `https://host.example/x`, `store::engine`\n";
        passes(check, &[(PAGE, text), COMMIT]);
        passes(check, &[(PAGE, "The crate `store`.\n"), COMMIT]);
    }

    #[test]
    fn what_is_not_there_is_found() {
        for (code, problem) in [
            ("crates/store/src/gone.rs", "`crates/store/src/gone.rs` does not exist"),
            ("store/src/commit.rs", "`store/src/commit.rs` does not exist"),
            ("gone/*/src", "`gone/*/src` does not exist"),
            ("crates/store/src/commit.rs::gone", "`crates/store/src/commit.rs` has no `gone`"),
        ] {
            let text = format!("`store`\n\n`{code}`\n");
            let found = finding(check, &[(PAGE, &text), COMMIT]);
            assert!(found.starts_with(&format!("ARCHITECTURE.md:3: {problem}")), "{found}");
        }
    }

    #[test]
    fn every_crate_is_on_the_page() {
        let found =
            finding(check, &[(PAGE, "`crates/storefront`"), COMMIT, ("crates/storefront", "")]);
        assert_eq!(found, "ARCHITECTURE.md:1: the crate crates/store is not on the page");
    }

    #[test]
    fn the_page_exists_and_is_one_page() {
        assert!(finding(check, &[]).starts_with("ARCHITECTURE.md:1: there is no such file"));
        assert_eq!(findings(check, &[(PAGE, &"\n".repeat(LINES_MAX + 1))]).len(), 1);
        passes(check, &[(PAGE, &"\n".repeat(LINES_MAX))]);
    }
}
