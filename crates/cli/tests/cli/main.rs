//! The real binary, as its users run it.

mod bench;
mod demo;
mod durable;
mod errors;
mod generate;
mod help;
mod interrupt;
mod load;
mod references;
mod results;
mod support;
mod updates;
mod usage;
mod watch;
