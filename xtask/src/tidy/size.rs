//! How long a file or a function may be, and how many parameters it may take.
//!
//! Only code that ships is measured. What was over a limit when the limit came, or has a reason to
//! be, stands in [`RATCHET`] with its size of today; the number may only fall.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Finding;
use super::tree::{RustFile, Tree};

/// What is measured: `Parameters` leave out `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    FileLines,
    FunctionLines,
    Parameters,
}

impl Measure {
    const fn limit(self) -> usize {
        match self {
            Self::FileLines => 800,
            Self::FunctionLines => 70,
            Self::Parameters => 5,
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::FileLines => "split it by purpose",
            Self::FunctionLines => "split it by step",
            Self::Parameters => "pass what belongs together as one",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::FileLines | Self::FunctionLines => "lines",
            Self::Parameters => "parameters",
        }
    }
}

/// A file `path`, or a function `path::Type::function`, and the size it has.
struct Exception {
    name: &'static str,
    measure: Measure,
    size: usize,
}

const RATCHET: &[Exception] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    judge(&measured(tree), RATCHET)
}

/// How large a thing is and where it stands.
struct Size {
    count: usize,
    path: String,
    line: usize,
}

/// Sizes by name and kind; of two things with one name the larger counts.
type Sizes = BTreeMap<(String, Measure), Size>;

fn measured(tree: &Tree) -> Sizes {
    let mut sizes = Sizes::new();
    for file in tree.rust_files() {
        let lines = 1..=file.text.lines().count();
        let mut functions = Functions { file: &file, scope: Vec::new(), sizes: &mut sizes };
        let count = lines.filter(|&line| !file.rust.is_test(line)).count();
        functions.add(file.path.to_owned(), Measure::FileLines, count, 1);
        functions.visit_file(&file.rust.syntax);
    }
    sizes
}

fn judge(sizes: &Sizes, ratchet: &[Exception]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((name, measure), Size { count, path, line }) in sizes {
        let exception = ratchet.iter().find(|e| e.name == name && e.measure == *measure);
        let (limit, unit, advice) = (measure.limit(), measure.unit(), measure.advice());
        let mut found = |message| findings.push(Finding::new(path, *line, message));
        match exception.map(|exception| exception.size) {
            None if *count > limit => {
                found(format!("{name} has {count} {unit}, more than {limit}: {advice}"));
            }
            Some(known) if *count > known => {
                found(format!("{name} has grown from {known} to {count} {unit}"));
            }
            Some(_) if *count <= limit => {
                found(format!("{name} has {count} {unit} now: take it out of the ratchet"));
            }
            Some(known) if *count < known => {
                found(format!("{name} has {count} {unit} now: lower it in the ratchet"));
            }
            _ => {}
        }
    }
    for Exception { name, measure, .. } in ratchet {
        if !sizes.contains_key(&((*name).to_owned(), *measure)) {
            let message = format!("{name} is gone: take it out of the ratchet");
            findings.push(Finding::new(file!(), 1, message));
        }
    }
    findings
}

/// Walks over the functions of a file.
struct Functions<'a> {
    file: &'a RustFile<'a>,
    /// The modules, types and functions around the current place.
    scope: Vec<String>,
    sizes: &'a mut Sizes,
}

impl Functions<'_> {
    fn add(&mut self, name: String, measure: Measure, count: usize, line: usize) {
        let path = self.file.path.to_owned();
        let known = self.sizes.entry((name, measure)).or_insert_with(|| Size { count, path, line });
        if count > known.count {
            (known.count, known.line) = (count, line);
        }
    }

    fn function(&mut self, signature: &syn::Signature, body: Option<&syn::Block>) {
        let line = signature.fn_token.span.start().line;
        if self.file.rust.is_test(line) {
            return;
        }
        let name = format!("{}::{}", self.file.path, self.scope.join("::"));
        let takes = |input: &&syn::FnArg| matches!(input, syn::FnArg::Typed(_));
        let parameters = signature.inputs.iter().filter(takes).count();
        self.add(name.clone(), Measure::Parameters, parameters, line);
        if let Some(body) = body {
            let last = body.brace_token.span.close().end().line;
            self.add(name, Measure::FunctionLines, last - line + 1, line);
        }
    }

    fn within(&mut self, name: String, walk: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        walk(self);
        self.scope.pop();
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.within(item.ident.to_string(), |walk| {
            visit::visit_item_mod(walk, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let name = name.unwrap_or_else(|| "_".to_owned());
        self.within(name, |walk| visit::visit_item_impl(walk, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(item.ident.to_string(), |walk| {
            visit::visit_item_trait(walk, item);
        });
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(item.sig.ident.to_string(), |walk| {
            walk.function(&item.sig, Some(&item.block));
            visit::visit_item_fn(walk, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.within(item.sig.ident.to_string(), |walk| {
            walk.function(&item.sig, Some(&item.block));
            visit::visit_impl_item_fn(walk, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.within(item.sig.ident.to_string(), |walk| {
            walk.function(&item.sig, item.default.as_ref());
            visit::visit_trait_item_fn(walk, item);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{finding, passes};
    use super::*;

    /// A function of this many lines, its braces included.
    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn judged(text: &str, ratchet: &[Exception]) -> Vec<String> {
        let sizes = measured(&Tree::of(&[("a.rs", text)]));
        judge(&sizes, ratchet).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_function_has_70_lines_at_most() {
        passes(check, &[("a.rs", &function(70))]);
        let found = finding(check, &[("a.rs", &format!("//! A.\n{}", function(71)))]);
        assert!(found.starts_with("a.rs:2: a.rs::long has 71 lines, more than 70"), "{found}");
        let method = format!("impl<T> B<T> {{\n{}}}\n", function(71));
        let found = finding(check, &[("a.rs", &method)]);
        assert!(found.starts_with("a.rs:2: a.rs::B::long has 71 lines"), "{found}");
    }

    #[test]
    fn a_file_has_800_lines_at_most() {
        passes(check, &[("a.rs", &"const A: u8 = 0;\n".repeat(800))]);
        finding(check, &[("a.rs", &"const A: u8 = 0;\n".repeat(801))]);
    }

    #[test]
    fn a_function_takes_5_parameters_at_most() {
        let five = "a: u8, b: u8, c: u8, d: u8, e: u8";
        passes(check, &[("a.rs", &format!("impl A {{ fn f(&self, {five}) {{}} }}"))]);
        let found = finding(check, &[("a.rs", &format!("trait A {{ fn f(g: u8, {five}); }}"))]);
        assert!(found.starts_with("a.rs:1: a.rs::A::f has 6 parameters"), "{found}");
    }

    #[test]
    fn tests_are_not_measured() {
        let rows = "    const A: u8 = 0;\n".repeat(800);
        let module = format!("#[cfg(test)]\nmod tests {{\n{}{rows}}}\n", function(71));
        passes(check, &[("a.rs", &module), ("tests/b.rs", &function(71))]);
    }

    #[test]
    fn an_exception_may_only_shrink() {
        let known = |size| Exception { name: "a.rs::long", measure: Measure::FunctionLines, size };
        assert_eq!(judged(&function(80), &[known(80)]), [""; 0]);
        assert!(judged(&function(81), &[known(80)])[0].contains("grown from 80 to 81"));
        assert!(judged(&function(79), &[known(80)])[0].contains("lower it"));
        assert!(judged(&function(70), &[known(80)])[0].contains("take it out"));
        assert!(judged("fn other() {}", &[known(80)])[0].contains("is gone"));
    }
}
