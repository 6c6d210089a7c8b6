//! A graph by one word: a file, or the name of a generated graph.

use std::path::PathBuf;
use std::str::FromStr;

use crate::edges::EdgeList;
use crate::generate::{GenerateError, GraphSpec, SpecError, Weights};
use crate::progress::Progress;
use crate::read::{self, ReadError, ReadOptions};

/// Where a graph comes from. Parsed from a word: a name such as `graph500-20` is a generated
/// graph, everything else is a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphSource {
    /// A file, or the common prefix of the files of a Graphalytics graph.
    File(PathBuf),
    /// A generated graph.
    Generated(GraphSpec),
}

/// Why a graph could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Its file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It could not be made.
    #[error(transparent)]
    Generate(#[from] GenerateError),
}

impl FromStr for GraphSource {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        if GraphSpec::is_meant_by(word) {
            return word.parse().map(Self::Generated);
        }
        Ok(Self::File(word.into()))
    }
}

impl GraphSource {
    /// Reads or makes the graph.
    ///
    /// Of the options, a generated graph heeds `directed` (both arcs of every edge) and
    /// `weighted`; it is simple and has dense keys, so that the others do not concern it.
    pub fn load(
        &self,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<EdgeList, SourceError> {
        let spec = match self {
            Self::File(path) => return Ok(read::load(path, options, progress)?),
            Self::Generated(spec) => spec,
        };
        let weights = if options.weighted { Weights::Uniform } else { Weights::None };
        let list = spec.generate(weights, progress)?;
        Ok(match options.directed {
            Some(true) => list.into_directed(),
            _ => list,
        })
    }
}
