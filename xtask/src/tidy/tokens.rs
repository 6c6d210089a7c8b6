//! What can be read off the tokens of a Rust file, inside macro calls as well as outside.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A name with all its parts, as it is written or as an import spells it out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) parts: Vec<String>,
    pub(super) line: usize,
}

/// Every name; `use a::{b, c::d}` holds `a::b` and `a::c::d`.
pub(super) fn names(tokens: &TokenStream) -> Vec<Name> {
    let mut names = Vec::new();
    collect(tokens, &[], &mut names);
    names
}

fn collect(tokens: &TokenStream, prefix: &[String], names: &mut Vec<Name>) {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => collect(&group.stream(), prefix, names),
            TokenTree::Ident(first) => {
                let mut parts = prefix.to_vec();
                parts.push(first.to_string());
                let mut line = first.span().start().line;
                let mut is_open = false;
                while tokens.next_if(is_colon).is_some() {
                    // The first of the two colons of a path, or the one before a type.
                    if tokens.next_if(is_colon).is_none() {
                        break;
                    }
                    match tokens.peek() {
                        Some(TokenTree::Ident(next)) => {
                            parts.push(next.to_string());
                            line = next.span().start().line;
                            tokens.next();
                        }
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                            collect(&group.stream(), &parts, names);
                            is_open = true;
                            tokens.next();
                        }
                        _ => break,
                    }
                }
                if !is_open {
                    names.push(Name { parts, line });
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Vec<String> {
        let tokens = text.parse().expect("the text is made of tokens");
        names(&tokens).iter().map(|name| name.parts.join("::")).collect()
    }

    #[test]
    fn imports_are_spelled_out() {
        let names = spelled("use std::{fs, io::{self, Read}};");
        assert_eq!(names, ["use", "std::fs", "std::io::self", "std::io::Read"]);
    }

    #[test]
    fn names_inside_macro_calls_are_seen() {
        let names = spelled("vec![std::time::Instant::now(); n]");
        assert_eq!(names, ["vec", "std::time::Instant::now", "n"]);
    }

    #[test]
    fn the_colon_of_a_type_joins_nothing() {
        assert_eq!(spelled("a: b::c"), ["a", "b::c"]);
        assert_eq!(spelled("let x: u8 = y::<z>();"), ["let", "x", "u8", "y", "z"]);
    }
}
