//! Unsafe code has one home; every crate without a home in it forbids unsafe code to its compiler.

use super::Finding;
use super::tokens::names;
use super::tree::Tree;

/// Where it may stand.
const HOME: &str = "crates/store/src/raw/";

/// The crate that holds the home, and so cannot forbid it as a whole.
const HOME_CRATE: &str = "crates/store/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        if !file.path.starts_with(HOME) {
            for name in names(&file.rust.tokens) {
                if name.parts.first().is_some_and(|part| part == "unsafe") {
                    let message = format!("unsafe code is written under {HOME} only");
                    findings.push(Finding::new(file.path, name.line, message));
                }
            }
        }
        if is_root(file.path) && !forbids(&file.rust.syntax) {
            let message = "the root of this crate says `#![forbid(unsafe_code)]`";
            findings.push(Finding::new(file.path, 1, message));
        }
    }
    findings
}

fn is_root(path: &str) -> bool {
    let Some((package, file)) = path.split_once("/src/") else {
        return false;
    };
    matches!(file, "lib.rs" | "main.rs")
        && (package == "xtask" || package.starts_with("crates/"))
        && !path.starts_with(HOME_CRATE)
}

fn forbids(syntax: &syn::File) -> bool {
    syntax.attrs.iter().any(|attribute| {
        attribute.path().is_ident("forbid")
            && attribute.parse_args::<syn::Path>().is_ok_and(|lint| lint.is_ident("unsafe_code"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    const CODE: &str = "//! A.\nfn a() {\n    unsafe { b() }\n}\n";

    #[test]
    fn it_may_stand_at_home_only() {
        passes(check, &[("crates/store/src/raw/a.rs", CODE)]);
        let found = finding(check, &[("crates/store/src/a.rs", CODE)]);
        assert!(found.starts_with("crates/store/src/a.rs:3: unsafe code"), "{found}");
        finding(check, &[("crates/algo/src/a.rs", "unsafe impl Send for A {}")]);
        finding(check, &[("crates/algo/src/a.rs", "fn a() { vec![unsafe { b() }]; }")]);
    }

    #[test]
    fn talk_about_it_is_not_unsafe() {
        passes(check, &[("crates/algo/src/a.rs", "//! Nothing unsafe.\nfn a() { b(\"unsafe\") }")]);
    }

    #[test]
    fn the_root_of_a_crate_forbids_it() {
        passes(check, &[("crates/a/src/lib.rs", "#![forbid(unsafe_code)]")]);
        passes(check, &[("crates/store/src/lib.rs", "//! A.")]);
        for path in ["crates/a/src/lib.rs", "crates/a/src/main.rs", "xtask/src/main.rs"] {
            finding(check, &[(path, "#![deny(unsafe_code)]")]);
        }
    }
}
