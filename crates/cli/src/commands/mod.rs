//! One file or folder per command.

mod bench;
mod check;
mod demo;
mod generate;
mod help;
mod keep;
mod load;
mod run;
mod salvage;
mod stats;
mod watch;

pub(crate) use bench::bench;
pub(crate) use check::check;
pub(crate) use demo::demo;
pub(crate) use generate::generate;
pub(crate) use help::help;
pub(crate) use keep::keep;
pub(crate) use load::load;
pub(crate) use run::run;
pub(crate) use salvage::salvage;
pub(crate) use stats::stats;
pub(crate) use watch::watch;
