//! Proofs that nothing acknowledged is lost, whatever happens to the machine and its disk.
//!
//! - [`disk`] is a disk that remembers, [`image`] says what a crash leaves of it;
//! - [`workload`] are the stories, [`play`] plays them, [`judge`] looks at what is left;
//! - [`campaign`] does it for every call and every image, and again in every recovery;
//! - [`inject`] has calls fail, [`damage`] changes files, [`kill`] kills real processes.

pub mod campaign;
pub mod damage;
pub mod disk;
pub mod graph;
pub mod image;
pub mod inject;
pub mod judge;
pub mod kill;
pub mod play;
pub mod workload;
pub mod world;
