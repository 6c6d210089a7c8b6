//! Links between Markdown files lead somewhere.

use super::Finding;
use super::markdown::Markdown;
use super::tree::{Tree, has_extension};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| has_extension(path, "md")) {
        for (line, link) in Markdown::parse(text).links {
            if let Err(problem) = follow(tree, path, &link) {
                findings.push(Finding::new(path, line, format!("the link {link} {problem}")));
            }
        }
    }
    findings
}

/// Follows a link of the file `from` within the repository.
fn follow(tree: &Tree, from: &str, link: &str) -> Result<(), &'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, a)| (path, Some(a)));
    let target = match path {
        "" => Some(from.to_owned()),
        _ => resolve(from, path),
    };
    let target = target.ok_or("leaves the repository")?;
    if !tree.exists(&target) {
        return Err("leads nowhere");
    }
    match (anchor, tree.text(&target)) {
        (Some(anchor), Some(text)) if has_extension(&target, "md") => {
            let is_there = Markdown::parse(text).anchors.iter().any(|name| name == anchor);
            is_there.then_some(()).ok_or("names no heading of that file")
        }
        _ => Ok(()),
    }
}

/// The path from the root that `path` in the file `from` means.
fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    const GUIDE: (&str, &str) = ("docs/guide.md", "# First steps\n");

    #[test]
    fn a_link_that_leads_somewhere_passes() {
        let links = "[a](docs/guide.md) [b](docs) [c](/docs/guide.md#first-steps) [d](#here)\n\n\
                     [e](https://host.example/x) [f](./LICENSE) [g](mailto:a@host.example)\n\n\
                     # Here\n";
        passes(check, &[("README.md", links), ("LICENSE", ""), GUIDE]);
        passes(check, &[("docs/a.md", "[a](guide.md) [b](../LICENSE)"), ("LICENSE", ""), GUIDE]);
    }

    #[test]
    fn any_other_link_is_found() {
        for (link, problem) in [
            ("docs/gone.md", "leads nowhere"),
            ("guide.md", "leads nowhere"),
            ("../elsewhere", "leaves the repository"),
            ("docs/guide.md#second-steps", "names no heading"),
            ("#gone", "names no heading"),
        ] {
            let found = finding(check, &[("README.md", &format!("text\n\n[a]({link})")), GUIDE]);
            let start = format!("README.md:3: the link {link} {problem}");
            assert!(found.starts_with(&start), "{found}");
        }
    }
}
