//! One file or folder per command.

mod bench;
mod demo;
mod generate;
mod help;
mod run;

pub(crate) use bench::bench;
pub(crate) use demo::demo;
pub(crate) use generate::generate;
pub(crate) use help::help;
pub(crate) use run::run;
