//! Proofs of the isolation and durability of the store, through its public API.
//!
//! - [`checker`] says which isolation a recorded [`history`] of lists shows;
//! - [`scenario`] runs small transactions in every interleaving, and judges them by an oracle;
//! - [`graphs`] records what threads do to one graph, and runs it again in the order of the versions;
//! - [`acid`] runs the tests of the LDBC ACID suite;
//! - [`crash`] takes the power away after every call, and has calls fail;
//! - [`campaign`] runs all of them for some time;
//! - [`brute`] says the same of small ones by trying every order.
#![forbid(unsafe_code)]
#![expect(clippy::float_cmp, reason = "all weights are small whole numbers, which are exact")]

pub mod acid;
pub mod brute;
pub mod campaign;
pub mod checker;
pub mod crash;
pub mod graphs;
pub mod history;
pub mod level;
pub mod lists;
pub mod scenario;
pub mod seed;
pub mod tally;
