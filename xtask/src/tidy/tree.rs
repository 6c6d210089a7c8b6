//! The tracked files, read once, with what every rule about Rust files needs worked out.
//!
//! Files that git does not ignore count as tracked before they are added, so that a change can be
//! tidied before it is committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::RangeInclusive;

use proc_macro2::{LineColumn, TokenStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Finding;
use crate::command::{self, Outcome, Workspace};

/// Files by path from the root, with `/` between folders.
pub(super) struct Tree {
    files: BTreeMap<String, File>,
    folders: BTreeSet<String>,
    unreadable: Vec<Finding>,
}

/// What a file holds.
struct File {
    /// Absent when it is not text.
    text: Option<String>,
    rust: Option<Rust>,
}

/// A Rust file that was understood.
pub(super) struct Rust {
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
    tests: Tests,
}

/// Which part of a file is test code: a test may be as long as its story, and may do what the code
/// it tests may not.
enum Tests {
    Whole,
    /// Items behind a configuration that only tests set.
    Lines(Vec<RangeInclusive<usize>>),
}

impl Rust {
    pub(super) fn is_test(&self, line: usize) -> bool {
        match &self.tests {
            Tests::Whole => true,
            Tests::Lines(ranges) => ranges.iter().any(|range| range.contains(&line)),
        }
    }
}

/// A Rust file as a rule sees it.
pub(super) struct RustFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) rust: &'a Rust,
}

impl Tree {
    pub(super) fn read(workspace: &Workspace) -> Outcome<Self> {
        let mut list = workspace.command("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let mut files = BTreeMap::new();
        for path in command::output(&mut list)?.split_terminator('\0') {
            match fs::read(workspace.root().join(path)) {
                Ok(bytes) => files.insert(path.to_owned(), String::from_utf8(bytes).ok()),
                // Deleted, and git not yet told.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(format!("{path}: {error}").into()),
            };
        }
        Ok(Self::new(files))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let entry = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Self::new(files.iter().map(entry).collect())
    }

    fn new(files: BTreeMap<String, Option<String>>) -> Self {
        let mut tree = Self {
            files: BTreeMap::new(),
            folders: files.keys().flat_map(|path| ancestors(path)).map(str::to_owned).collect(),
            unreadable: Vec::new(),
        };
        for (path, text) in files {
            let rust = text.as_deref().filter(|_| has_extension(&path, "rs"));
            let rust = rust.and_then(|text| tree.parse(&path, text));
            tree.files.insert(path, File { text, rust });
        }
        tree.mark_test_modules();
        tree
    }

    fn parse(&mut self, path: &str, text: &str) -> Option<Rust> {
        let parsed = text.parse::<TokenStream>().map_err(syn::Error::from);
        match parsed.and_then(|tokens| Ok((syn::parse2::<syn::File>(tokens.clone())?, tokens))) {
            Ok((syntax, tokens)) => {
                let tests = if in_test_folder(path) {
                    Tests::Whole
                } else {
                    Tests::Lines(test_items(&syntax).lines)
                };
                Some(Rust { tokens, syntax, tests })
            }
            Err(error) => {
                let line = error.span().start().line;
                self.unreadable.push(Finding::new(path, line, error.to_string()));
                None
            }
        }
    }

    /// A file that is a test module of another file is test code from the first line to the last.
    fn mark_test_modules(&mut self) {
        let mut modules = Vec::new();
        for (path, file) in &self.files {
            let Some(rust) = &file.rust else { continue };
            let folder = module_folder(path);
            for name in test_items(&rust.syntax).modules {
                modules.push(format!("{folder}/{name}"));
            }
        }
        for (path, file) in &mut self.files {
            let is_test = |module: &String| {
                let rest = path.strip_prefix(module.as_str());
                rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if let Some(rust) = &mut file.rust
                && modules.iter().any(is_test)
            {
                rust.tests = Tests::Whole;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// The text of a file, if it is there and is text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    /// Whether this is a file or a folder.
    pub(super) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty() || self.files.contains_key(path) || self.folders.contains(path)
    }

    /// Every file that is text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.text.as_deref()?)))
    }

    /// Every Rust file that could be parsed.
    pub(super) fn rust_files(&self) -> impl Iterator<Item = RustFile<'_>> {
        self.files.iter().filter_map(|(path, file)| {
            let (text, rust) = (file.text.as_deref()?, file.rust.as_ref()?);
            Some(RustFile { path, text, rust })
        })
    }

    /// The folders directly inside this one, by name.
    pub(super) fn folders_in(&self, parent: &str) -> impl Iterator<Item = &str> {
        self.folders.iter().filter_map(move |folder| {
            let name = folder.strip_prefix(parent)?.strip_prefix('/')?;
            (!name.contains('/')).then_some(name)
        })
    }
}

/// Rust files that could not be parsed.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let again = |f: &Finding| Finding::new(&f.path, f.line, f.message.clone());
    tree.unreadable.iter().map(again).collect()
}

/// Whether the path ends in a dot and this.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

/// The line on which this byte stands.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

fn in_test_folder(path: &str) -> bool {
    ancestors(path)
        .any(|folder| ["tests", "benches", "examples"].iter().any(|name| is_last(folder, name)))
}

fn is_last(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

/// Where the modules that this file declares lie.
fn module_folder(path: &str) -> &str {
    let stem = path.trim_end_matches(".rs");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    match name {
        "lib" | "main" | "mod" => folder,
        _ => stem,
    }
}

/// The items of a file that only tests are built with.
#[derive(Default)]
struct TestItems {
    lines: Vec<RangeInclusive<usize>>,
    /// Modules in files of their own, by name.
    modules: Vec<String>,
}

fn test_items(syntax: &syn::File) -> TestItems {
    let mut items = TestItems::default();
    items.visit_file(syntax);
    items
}

impl TestItems {
    fn note(&mut self, attributes: &[syn::Attribute], item: &impl Spanned) -> bool {
        let is_test = attributes.iter().any(is_test_attribute);
        if is_test {
            let LineColumn { line, .. } = item.span().start();
            self.lines.push(line..=item.span().end().line);
        }
        is_test
    }
}

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if self.note(&item.attrs, item) {
            if item.content.is_none() {
                self.modules.push(item.ident.to_string());
            }
        } else {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.note(&item.attrs, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !self.note(&item.attrs, item) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(&item.attrs, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note(&item.attrs, item);
    }
}

/// `#[test]`, or a `#[cfg(...)]` that cannot hold outside tests.
fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => ["test", "loom", "torture"].iter().any(|name| path.is_ident(name)),
        syn::Meta::NameValue(_) => false,
        syn::Meta::List(list) => {
            type Conditions = syn::punctuated::Punctuated<syn::Meta, syn::Token![,]>;
            let parsed = list.parse_args_with(Conditions::parse_terminated);
            let Ok(conditions) = parsed else { return false };
            match list.path.get_ident().map(ToString::to_string).as_deref() {
                Some("all") => conditions.iter().any(needs_test),
                Some("any") => !conditions.is_empty() && conditions.iter().all(needs_test),
                _ => false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which lines of the file are test code, as the file's only marks.
    fn test_lines(files: &[(&str, &str)], path: &str) -> Vec<usize> {
        let tree = Tree::of(files);
        let file = tree.rust_files().find(|file| file.path == path).expect("the file is there");
        (1..=file.text.lines().count()).filter(|&line| file.rust.is_test(line)).collect()
    }

    #[test]
    fn only_what_needs_a_test_build_is_test_code() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n#[cfg(not(test))]\nfn b() {}\n";
        assert_eq!(test_lines(&[("src/a.rs", text)], "src/a.rs"), [2, 3, 4]);
        let text = "#[cfg(any(test, unix))]\nfn a() {}\n#[cfg(all(unix, loom))]\nfn b() {}\n";
        assert_eq!(test_lines(&[("src/a.rs", text)], "src/a.rs"), [3, 4]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_test_code() {
        let parent = ("src/a.rs", "#[cfg(test)]\nmod cases;\n");
        let child = ("src/a/cases.rs", "mod deep;\n");
        let grandchild = ("src/a/cases/deep.rs", "fn a() {}\n");
        let files = [parent, child, grandchild, ("src/cases.rs", "fn a() {}\n")];
        assert_eq!(test_lines(&files, "src/a/cases.rs"), [1]);
        assert_eq!(test_lines(&files, "src/a/cases/deep.rs"), [1]);
        assert_eq!(test_lines(&files, "src/cases.rs"), [0; 0]);
        assert_eq!(test_lines(&[("a/tests/b/c.rs", "fn a() {}\n")], "a/tests/b/c.rs"), [1]);
    }

    #[test]
    fn what_does_not_parse_is_a_finding() {
        let found = super::super::sample::finding(check, &[("src/a.rs", "fn a() {}\nfn {}\n")]);
        assert!(found.starts_with("src/a.rs:2: expected identifier"), "{found}");
        super::super::sample::passes(check, &[("src/a.rs", "fn a() {}\n")]);
    }
}
