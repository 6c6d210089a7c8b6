//! Engines: layouts that hold the edges.
//!
//! There is one, [`fat_tree`], the live layout. What it offers is what every engine must: apply a
//! checked set of changes at one version, read at any leased version, give memory back.

mod any;
pub(crate) mod fat_tree;

pub(crate) use any::Engine;
