//! `CHANGELOG.md` keeps the form of <https://keepachangelog.com>.
//!
//! ```text
//! # Changelog
//! ## [Unreleased]
//! ### Added            one of KINDS, with something under it
//! ## [1.2.3] - 2026-01-31     newest first
//! ```

use super::Finding;
use super::tree::Tree;

const PAGE: &str = "CHANGELOG.md";
const KINDS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else {
        return vec![Finding::new(PAGE, 1, "there is no such file; users look there for news")];
    };
    let headings: Vec<(usize, &str)> =
        (1..).zip(text.lines()).filter(|(_, line)| line.starts_with('#')).collect();
    let mut problems = Vec::new();
    for (expected, index) in [("# Changelog", 0), ("## [Unreleased]", 1)] {
        let (line, found) = headings.get(index).copied().unwrap_or((1, ""));
        if found != expected {
            problems.push((line, format!("heading {} is `{expected}`", index + 1)));
        }
    }
    problems.extend(releases(headings.get(2..).unwrap_or_default()));
    problems.extend(empty_kinds(text));
    problems.into_iter().map(|(line, message)| Finding::new(PAGE, line, message)).collect()
}

/// The headings below `Unreleased`: kinds by name, releases by version and day, newest first.
fn releases(headings: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    let mut newest = None;
    for &(line, heading) in headings {
        if let Some(kind) = heading.strip_prefix("### ") {
            if !KINDS.contains(&kind) {
                problems.push((line, format!("`{kind}` is none of {}", KINDS.join(", "))));
            }
        } else if let Some(version) = release(heading) {
            if newest.is_some_and(|newest| newest <= version) {
                problems.push((line, "the newest release stands first".to_owned()));
            }
            newest = Some(version);
        } else {
            problems.push((line, "a release is `## [x.y.z] - YYYY-MM-DD`".to_owned()));
        }
    }
    problems
}

/// The version of a release's heading.
fn release(heading: &str) -> Option<[u64; 3]> {
    let (version, day) = heading.strip_prefix("## [")?.split_once("] - ")?;
    let lengths = day.split('-').map(str::len);
    if !lengths.eq([4, 2, 2]) {
        return None;
    }
    numbers(day, '-').and(numbers(version, '.'))
}

fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let parsed: Result<Vec<u64>, _> = text.split(separator).map(str::parse).collect();
    parsed.ok()?.try_into().ok()
}

/// Kinds with nothing under them.
fn empty_kinds(text: &str) -> Vec<(usize, String)> {
    let written = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let written: Vec<(usize, &str)> = written.chain([(0, "#")]).collect();
    let is_empty =
        |pair: &&[(usize, &str)]| pair[0].1.starts_with("### ") && pair[1].1.starts_with('#');
    let problem = |pair: &[(usize, &str)]| (pair[0].0, "nothing stands under this".to_owned());
    written.windows(2).filter(is_empty).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    const GOOD: &str = "# Changelog\n\nNews.\n\n## [Unreleased]\n\n### Added\n\n- This.\n\n\
                        ## [0.2.0] - 2026-02-01\n\n### Fixed\n\n- That.\n\n\
                        ## [0.1.0] - 2026-01-01\n";

    #[test]
    fn the_form_passes() {
        passes(check, &[(PAGE, GOOD)]);
        passes(check, &[(PAGE, "# Changelog\n\n## [Unreleased]\n")]);
    }

    #[test]
    fn any_other_form_is_found() {
        for (from, to, problem) in [
            ("# Changelog", "# News", "1: heading 1 is"),
            ("## [Unreleased]", "## Next", "5: heading 2 is"),
            ("### Added", "### New", "7: `New` is none of"),
            ("- This.", "", "7: nothing stands under"),
            ("[0.2.0]", "0.2.0", "11: a release is"),
            ("2026-02-01", "2026-2-1", "11: a release is"),
            ("[0.2.0]", "[0.1.0]", "17: the newest release"),
        ] {
            let found = finding(check, &[(PAGE, &GOOD.replacen(from, to, 1))]);
            assert!(found.starts_with(&format!("CHANGELOG.md:{problem}")), "{found}");
        }
    }

    #[test]
    fn the_file_exists() {
        assert!(finding(check, &[]).starts_with("CHANGELOG.md:1: there is no such file"));
    }
}
