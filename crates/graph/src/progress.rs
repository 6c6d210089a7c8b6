//! How far a long piece of work is, and the place where a caller can ask it to stop.

use std::ops::ControlFlow;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading files; counted in bytes of the files as they are, compressed or not.
    Reading,
    /// Making edges; counted in edges.
    Generating,
    /// Numbering vertices, looking for duplicates, putting edges in order; not counted.
    Arranging,
    /// Comparing what a database holds with what it is to hold; counted in edges.
    Comparing,
    /// Committing edges to a database; counted in edges.
    Committing,
    /// Reading the files of a database; counted in bytes.
    Recovering,
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done, in the unit of the stage.
    pub done: u64,
    /// How much there is, where that is known.
    pub total: Option<u64>,
    /// Lines read so far.
    pub lines: u64,
}

/// Hears how far the work is, some hundred times a second, and may ask it to stop.
///
/// Generators call it from many threads at once.
pub trait Progress: Sync {
    /// Takes the status; `Break` stops the work, which then fails as cancelled.
    fn tick(&self, status: &Status) -> ControlFlow<()>;
}

/// Nobody listens.
impl Progress for () {
    fn tick(&self, _: &Status) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
