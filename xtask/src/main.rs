//! The developers' commands.
#![forbid(unsafe_code)]
fn main() {}
