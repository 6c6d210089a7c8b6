//! A graph by one word: a file, or the name of a generated graph.

use std::path::PathBuf;
use std::str::FromStr;

use crate::edges::EdgeList;
use crate::generate::{GenerateError, GraphSpec, SpecError, Weights};
use crate::progress::Progress;
use crate::read::{self, KeyChoice, ReadError, ReadOptions};

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
    /// An option goes with files only.
    #[error("{spec} is a generated graph: a {option} goes with files only")]
    OptionRefused {
        /// The graph.
        spec: GraphSpec,
        /// The option.
        option: &'static str,
    },
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
    /// A generated graph is undirected and simple and has dense keys. Of the options it heeds
    /// `directed` (both arcs of every edge) and `weighted`; what is said about duplicates and self
    /// loops is true of it anyway; a format, a vertex file and text keys are refused.
    ///
    /// ```
    /// use evergraph_graph::{GraphSource, ReadOptions};
    ///
    /// let source: GraphSource = "uniform-10".parse()?;
    /// let list = source.load(&ReadOptions::default(), &())?;
    /// assert_eq!(list.keys.len(), 1024);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(
        &self,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<EdgeList, SourceError> {
        let spec = match self {
            Self::File(path) => return Ok(read::load(path, options, progress)?),
            Self::Generated(spec) => spec,
        };
        let refused = [
            (options.format.is_some(), "format"),
            (options.vertices.is_some(), "vertex file"),
            (options.keys == KeyChoice::Text, "choice of text keys"),
        ];
        if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
            return Err(SourceError::OptionRefused { spec: *spec, option });
        }
        let weights = if options.weighted { Weights::Uniform } else { Weights::None };
        let list = spec.generate(weights, progress)?;
        Ok(match options.directed {
            Some(true) => list.into_directed(),
            _ => list,
        })
    }
}
