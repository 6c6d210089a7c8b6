//! The dependency policy: which licences, sources and crates may enter.
//!
//! The policy is `deny.toml`, a file that `cargo deny` reads as well. It is enforced here because
//! `cargo deny` takes minutes to build on a fresh machine; for the same reason every key of the
//! file is either enforced here or refused, so that none is there for show.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::command::{self, Outcome, Workspace};

const POLICY: &str = "deny.toml";

/// Reads the policy and the packages of the lock file, prints what does not fit.
pub(crate) fn run(workspace: &Workspace) -> Outcome<bool> {
    let path = workspace.root().join(POLICY);
    let text = fs::read_to_string(path).map_err(|error| format!("{POLICY}: {error}"))?;
    let policy = Policy::parse(&text)?;
    let args = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let metadata = command::output(&mut workspace.cargo(args))?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    let verdict = policy.judge(&metadata.packages);
    for warning in &verdict.warnings {
        println!("warning: {warning}");
    }
    for error in &verdict.errors {
        eprintln!("error: {error}");
    }
    Ok(verdict.errors.is_empty())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Absent for the packages of this workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Allow,
    Warn,
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Policy {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Graph {
    all_features: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Licenses {
    allow: Vec<String>,
    /// Whether `cargo deny` is quiet about an allowed licence that nothing uses; so is this.
    #[serde(rename = "unused-allowed-license")]
    _unused: Level,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bans {
    multiple_versions: Level,
    wildcards: Level,
    allow_wildcard_paths: bool,
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: Level,
    unknown_git: Level,
    allow_registry: Vec<String>,
}

/// What was found, ready to print.
#[derive(Debug, Default)]
struct Verdict {
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl Verdict {
    fn add(&mut self, level: Level, message: String) {
        match level {
            Level::Allow => {}
            Level::Warn => self.warnings.push(message),
            Level::Deny => self.errors.push(message),
        }
    }
}

impl Policy {
    fn parse(text: &str) -> Outcome<Self> {
        let policy: Self = toml::from_str(text).map_err(|error| format!("{POLICY}: {error}"))?;
        if !policy.graph.all_features {
            return Err(
                format!("{POLICY}: every feature is judged: say all-features = true").into()
            );
        }
        Ok(policy)
    }

    fn judge(&self, packages: &[Package]) -> Verdict {
        let mut verdict = Verdict::default();
        self.licences(packages, &mut verdict);
        self.sources(packages, &mut verdict);
        self.bans(packages, &mut verdict);
        self.wildcards(packages, &mut verdict);
        self.versions(packages, &mut verdict);
        verdict
    }

    fn licences(&self, packages: &[Package], verdict: &mut Verdict) {
        let mut allowed = Vec::new();
        for name in &self.licenses.allow {
            match Licensee::parse(name) {
                Ok(licensee) => allowed.push(licensee),
                Err(error) => verdict.add(Level::Deny, format!("{POLICY}: {name}: {error}")),
            }
        }
        for Package { name, version, license, .. } in packages {
            let Some(license) = license else {
                verdict.add(Level::Deny, format!("{name} {version} names no licence"));
                continue;
            };
            match Expression::parse_mode(license, ParseMode::LAX) {
                Ok(terms) if terms.evaluate(|term| allowed.iter().any(|l| l.satisfies(term))) => {}
                Ok(_) => verdict.add(
                    Level::Deny,
                    format!("{name} {version}: the licence `{license}` is not allowed"),
                ),
                Err(error) => verdict.add(Level::Deny, format!("{name} {version}: {error}")),
            }
        }
    }

    fn sources(&self, packages: &[Package], verdict: &mut Verdict) {
        for Package { name, version, source, .. } in packages {
            let Some(source) = source else { continue };
            let (kind, url) = source.split_once('+').unwrap_or(("unknown", source));
            let level = match kind {
                "registry" | "sparse" if self.sources.allow_registry.iter().any(|r| r == url) => {
                    Level::Allow
                }
                "git" => self.sources.unknown_git,
                _ => self.sources.unknown_registry,
            };
            verdict.add(level, format!("{name} {version} comes from {source}"));
        }
    }

    fn bans(&self, packages: &[Package], verdict: &mut Verdict) {
        for ban in &self.bans.deny {
            for package in packages.iter().filter(|package| package.name == ban.name) {
                let users: Vec<&str> = packages
                    .iter()
                    .filter(|user| user.dependencies.iter().any(|d| d.name == package.name))
                    .map(|user| user.name.as_str())
                    .collect();
                let users = users.join(", ");
                let Package { name, version, .. } = package;
                let reason = &ban.reason;
                let message = format!("{name} {version} is banned ({reason}), named by {users}");
                verdict.add(Level::Deny, message);
            }
        }
    }

    /// Only our own manifests are judged: nobody here can mend another's.
    fn wildcards(&self, packages: &[Package], verdict: &mut Verdict) {
        for package in packages.iter().filter(|package| package.source.is_none()) {
            for dependency in package.dependencies.iter().filter(|d| d.req == "*") {
                let Dependency { name, path, .. } = dependency;
                if path.is_none() || !self.bans.allow_wildcard_paths {
                    let message = format!("{} asks for any version of {name}", package.name);
                    verdict.add(self.bans.wildcards, message);
                }
            }
        }
    }

    fn versions(&self, packages: &[Package], verdict: &mut Verdict) {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for Package { name, version, .. } in packages {
            versions.entry(name).or_default().push(version);
        }
        for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
            let message = format!("{name} is built more than once: {}", versions.join(", "));
            verdict.add(self.bans.multiple_versions, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [graph]
        all-features = true
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        unused-allowed-license = "allow"
        [bans]
        multiple-versions = "warn"
        wildcards = "deny"
        allow-wildcard-paths = true
        deny = [{ crate = "bincode", reason = "unmaintained" }]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
        allow-registry = ["https://registry.example"]
    "#;

    fn package(name: &str, license: &str, source: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: (!license.is_empty()).then(|| license.to_owned()),
            source: source.map(str::to_owned),
            dependencies: Vec::new(),
        }
    }

    fn needs(name: &str, req: &str, path: Option<&str>) -> Package {
        let path = path.map(str::to_owned);
        let dependency = Dependency { name: name.to_owned(), req: req.to_owned(), path };
        Package { dependencies: vec![dependency], ..package("ours", "MIT", None) }
    }

    fn judge(packages: &[Package]) -> Verdict {
        Policy::parse(TEXT).expect("the policy is well formed").judge(packages)
    }

    fn registry(name: &str, license: &str) -> Package {
        package(name, license, Some("registry+https://registry.example"))
    }

    #[test]
    fn a_licence_passes_when_the_allowed_ones_suffice() {
        for license in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "MIT AND Apache-2.0"] {
            assert!(judge(&[registry("a", license)]).errors.is_empty(), "{license}");
        }
        for license in ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "see the file"] {
            assert_eq!(judge(&[registry("a", license)]).errors.len(), 1, "{license}");
        }
    }

    #[test]
    fn only_the_named_registry_is_a_source() {
        assert!(judge(&[registry("a", "MIT")]).errors.is_empty());
        for source in ["registry+https://other.example", "git+https://host.example/a#1"] {
            assert_eq!(judge(&[package("a", "MIT", Some(source))]).errors.len(), 1, "{source}");
        }
    }

    #[test]
    fn a_banned_crate_is_refused_and_its_user_named() {
        let packages = [needs("bincode", "^1", None), registry("bincode", "MIT")];
        let errors = judge(&packages).errors;
        assert_eq!(errors.len(), 1);
        assert!(errors[0].ends_with("(unmaintained), named by ours"), "{errors:?}");
    }

    #[test]
    fn any_version_will_do_only_for_our_own_folders() {
        assert_eq!(judge(&[needs("a", "*", None)]).errors.len(), 1);
        assert!(judge(&[needs("a", "*", Some("a/b"))]).errors.is_empty());
        assert!(judge(&[needs("a", "^1.2.3", None)]).errors.is_empty());
    }

    #[test]
    fn two_versions_of_a_crate_are_a_warning() {
        let verdict = judge(&[registry("a", "MIT"), registry("a", "MIT")]);
        assert_eq!((verdict.warnings.len(), verdict.errors.len()), (1, 0));
    }

    #[test]
    fn a_key_that_is_not_enforced_is_refused() {
        assert!(Policy::parse(&TEXT.replace("wildcards", "skip-tree")).is_err());
        assert!(Policy::parse(&TEXT.replace("features = true", "features = false")).is_err());
    }
}
