//! `Cargo.toml` files: which crate may use which, and what a manifest may say for itself.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Finding;
use super::tree::{Tree, line_of};

const ROOT: &str = "Cargo.toml";

/// The crates each crate may use, all named by folder. The flow runs one way: whoever reads these
/// lines knows what a crate cannot know.
const ARROWS: &[(&str, &[&str])] = &[
    ("graph", &[]),
    ("store", &["graph"]),
    ("algo", &["graph"]),
    ("relational", &["graph", "store"]),
    ("query", &["graph", "algo"]),
    ("evergraph", &["graph", "store", "algo", "relational", "query"]),
    ("bench", &["evergraph"]),
    ("bench-compare", &["evergraph", "bench"]),
    ("cli", &["evergraph", "bench"]),
    ("python", &["evergraph", "bench"]),
    ("fuzz", &["evergraph"]),
    ("verify", &["evergraph"]),
    ("xtask", &[]),
];

/// The crate whose tests may use any other: they try the whole system.
const WHOLE: &str = "evergraph";

/// What a crate takes from the workspace, so that it is said once.
const SHARED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

/// Checks the arrows between our crates.
pub(super) fn check_arrows(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    let ours = manifests.iter().find(|m| m.path == ROOT).map(our_crates).unwrap_or_default();
    for manifest in manifests.iter().filter(|manifest| manifest.path != ROOT) {
        let name = manifest.crate_name();
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            let message = format!("{name} has no row in the table of arrows ({})", file!());
            findings.push(Finding::new(manifest.path, 1, message));
            continue;
        };
        for dependency in manifest.dependencies() {
            let Some(to) = ours.get(dependency.name) else {
                continue;
            };
            let is_free = dependency.is_dev && name == WHOLE;
            if !is_free && !allowed.contains(&to.as_str()) {
                let allowed = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
                let message =
                    format!("{name} may not use {to}; of our crates it may use: {allowed}");
                findings.push(Finding::new(manifest.path, dependency.line, message));
            }
        }
    }
    findings
}

/// Checks that versions, lints and package data are said once, at the root.
pub(super) fn check_form(tree: &Tree) -> Vec<Finding> {
    let (manifests, _) = manifests(tree);
    let mut findings = Vec::new();
    for manifest in &manifests {
        let problems = match manifest.path {
            ROOT => manifest.unpinned(),
            _ => [manifest.own_versions(), manifest.own_settings()].concat(),
        };
        let new = |(line, message)| Finding::new(manifest.path, line, message);
        findings.extend(problems.into_iter().map(new));
    }
    findings
}

struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    table: DeTable<'a>,
}

struct Dependency<'a> {
    name: &'a str,
    value: &'a DeValue<'a>,
    line: usize,
    is_dev: bool,
}

/// A line, and what is wrong there.
type Problem = (usize, String);

/// The manifests of the workspace, and those that are not TOML.
fn manifests(tree: &Tree) -> (Vec<Manifest<'_>>, Vec<Finding>) {
    let (mut manifests, mut findings) = (Vec::new(), Vec::new());
    for (path, text) in tree.texts().filter(|(path, _)| is_manifest(path)) {
        match DeTable::parse(text) {
            Ok(table) => manifests.push(Manifest { path, text, table: table.into_inner() }),
            Err(error) => {
                let line = line_of(text, error.span().map_or(0, |span| span.start));
                findings.push(Finding::new(path, line, error.message()));
            }
        }
    }
    (manifests, findings)
}

/// The root's, `xtask`'s, and those directly under `crates`.
fn is_manifest(path: &str) -> bool {
    let Some(folder) = path.strip_suffix("Cargo.toml") else {
        return false;
    };
    let crate_folder = folder.strip_prefix("crates/").unwrap_or_default();
    matches!(folder, "" | "xtask/") || crate_folder.matches('/').count() == 1
}

/// The workspace's own crates: dependency names to folder names.
fn our_crates(root: &Manifest<'_>) -> BTreeMap<String, String> {
    let table = root.table.get("workspace").and_then(|workspace| table(workspace));
    let table = table.and_then(|workspace| self::table(workspace.get("dependencies")?));
    let folder = |value: &DeValue<'_>| {
        let path = value.get("path")?.get_ref().as_str()?;
        path.rsplit('/').next().map(str::to_owned)
    };
    let entries = table.into_iter().flatten();
    entries
        .filter_map(|(name, value)| Some((name.get_ref().to_string(), folder(value.get_ref())?)))
        .collect()
}

fn table<'a>(value: &'a Spanned<DeValue<'a>>) -> Option<&'a DeTable<'a>> {
    value.get_ref().as_table()
}

impl Manifest<'_> {
    fn crate_name(&self) -> &str {
        self.path.trim_end_matches("/Cargo.toml").trim_start_matches("crates/")
    }

    /// The dependencies of every kind and every target.
    fn dependencies(&self) -> Vec<Dependency<'_>> {
        let targets = self.table.get("target").and_then(|targets| table(targets));
        let targets = targets.into_iter().flatten().filter_map(|(_, target)| table(target));
        let mut all = Vec::new();
        for owner in std::iter::once(&self.table).chain(targets) {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let section = owner.get(kind).and_then(|section| table(section));
                all.extend(section.into_iter().flatten().map(|(name, value)| Dependency {
                    name: name.get_ref().as_ref(),
                    value: value.get_ref(),
                    line: line_of(self.text, name.span().start),
                    is_dev: kind == "dev-dependencies",
                }));
            }
        }
        all
    }

    /// Dependencies of a crate that do not come from the root's table.
    fn own_versions(&self) -> Vec<Problem> {
        let mut dependencies = self.dependencies();
        dependencies.retain(|dependency| !is_inherited(dependency.value));
        let problem = |Dependency { name, line, .. }: &Dependency<'_>| {
            (*line, format!("name {name} in the root's table, and say `{name}.workspace = true`"))
        };
        dependencies.iter().map(problem).collect()
    }

    /// Package data and lints that do not come from the root.
    fn own_settings(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let package = self.table.get("package").and_then(|package| table(package));
        for key in SHARED {
            let value = package.and_then(|package| package.get(*key));
            if !value.is_some_and(|value| is_inherited(value.get_ref())) {
                let line = value.map_or(1, |value| line_of(self.text, value.span().start));
                problems.push((line, format!("say `{key}.workspace = true` under [package]")));
            }
        }
        let lints = self.table.get("lints");
        if !lints.is_some_and(|lints| is_inherited(lints.get_ref())) {
            problems.push((1, "say `workspace = true` under [lints]".to_owned()));
        }
        problems
    }

    /// Entries of the root's table that are neither a folder nor a full version.
    fn unpinned(&self) -> Vec<Problem> {
        let workspace = self.table.get("workspace").and_then(|workspace| table(workspace));
        let section = workspace.and_then(|workspace| table(workspace.get("dependencies")?));
        let mut problems = Vec::new();
        for (name, value) in section.into_iter().flatten() {
            let value = value.get_ref();
            let version = value.as_str().or_else(|| value.get("version")?.get_ref().as_str());
            if value.get("path").is_none() && !version.is_some_and(is_full_version) {
                let line = line_of(self.text, name.span().start);
                let message = format!("pin {} to a full version, x.y.z", name.get_ref());
                problems.push((line, message));
            }
        }
        problems
    }
}

fn is_inherited(value: &DeValue<'_>) -> bool {
    value.get("workspace").and_then(|value| value.get_ref().as_bool()) == Some(true)
}

/// `1.2.3`, with `=` before it or something like `-rc.1` behind it.
fn is_full_version(version: &str) -> bool {
    let numbers = version.trim_start_matches('=').split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<&str> = numbers.split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, findings, passes};
    use super::*;

    const WORKSPACE: &str = "[workspace.dependencies]\n\
        evergraph = { path = \"crates/evergraph\" }\n\
        evergraph-graph = { path = \"crates/graph\" }\n\
        evergraph-store = { path = \"crates/store\" }\n\
        rayon = \"1.2.3\"\n";

    fn arrows(path: &str, manifest: &str) -> Vec<String> {
        findings(check_arrows, &[(ROOT, WORKSPACE), (path, manifest)])
    }

    fn form(path: &str, manifest: &str) -> Vec<String> {
        findings(check_form, &[(path, manifest)])
    }

    #[test]
    fn an_arrow_of_the_table_passes() {
        let text = "[dependencies]\nevergraph-graph.workspace = true\nrayon.workspace = true\n";
        assert_eq!(arrows("crates/store/Cargo.toml", text), [""; 0]);
    }

    #[test]
    fn any_other_arrow_is_found_in_every_section() {
        for section in
            ["dependencies", "dev-dependencies", "build-dependencies", "target.unix.dependencies"]
        {
            let text = format!("[{section}]\nevergraph-store = {{ workspace = true }}\n");
            let found = arrows("crates/algo/Cargo.toml", &text).concat();
            let start = "crates/algo/Cargo.toml:2: algo may not use store; of our crates it may";
            assert!(found.starts_with(start), "{found}");
        }
    }

    #[test]
    fn only_the_tests_of_the_whole_are_free() {
        let root = format!("{WORKSPACE}evergraph-bench = {{ path = \"crates/bench\" }}\n");
        let path = "crates/evergraph/Cargo.toml";
        let uses = |section| format!("[{section}]\nevergraph-bench.workspace = true\n");
        passes(check_arrows, &[(ROOT, &root), (path, &uses("dev-dependencies"))]);
        finding(check_arrows, &[(ROOT, &root), (path, &uses("dependencies"))]);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let found = arrows("crates/new/Cargo.toml", "").concat();
        assert!(found.starts_with("crates/new/Cargo.toml:1: new has no row"), "{found}");
    }

    const PACKAGE: &str = "[package]\nname = \"a\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
        publish.workspace = true\n[lints]\nworkspace = true\n[dependencies]\n";

    #[test]
    fn versions_are_said_at_the_root() {
        let path = "crates/a/Cargo.toml";
        let inherited = format!("{PACKAGE}rayon = {{ workspace = true, features = [\"b\"] }}\n");
        assert_eq!(form(path, &inherited), [""; 0]);
        for own in ["rayon = \"1.2.3\"", "rayon = { path = \"../rayon\" }"] {
            let found = form(path, &format!("{PACKAGE}{own}\n")).concat();
            assert!(found.starts_with("crates/a/Cargo.toml:11: name rayon in"), "{found}");
        }
    }

    #[test]
    fn package_data_and_lints_are_said_at_the_root() {
        let own = PACKAGE.replace("edition.workspace = true", "edition = \"2021\"");
        let found = form("crates/a/Cargo.toml", &own).concat();
        assert!(found.starts_with("crates/a/Cargo.toml:4: say `edition.workspace"), "{found}");
        let found = form("xtask/Cargo.toml", &PACKAGE.replace("[lints]\nworkspace = true\n", ""));
        assert_eq!(found, ["xtask/Cargo.toml:1: say `workspace = true` under [lints]"]);
    }

    #[test]
    fn the_root_pins_full_versions() {
        assert_eq!(form(ROOT, WORKSPACE), [""; 0]);
        for version in ["\"1\"", "\"1.2\"", "\"*\"", "{ version = \"1.2\" }", "{ git = \"a\" }"] {
            let found = form(ROOT, &WORKSPACE.replace("\"1.2.3\"", version)).concat();
            assert!(found.starts_with("Cargo.toml:5: pin rayon"), "{version}: {found}");
        }
    }

    #[test]
    fn a_manifest_that_is_not_toml_is_found() {
        assert!(arrows("crates/store/Cargo.toml", "[package\n")[0].contains("Cargo.toml:1:"));
    }
}
