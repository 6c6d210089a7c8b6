//! What a caller may say about a file, and how the format follows from its name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::error::ReadError;
use super::input::{ARCHIVES, extension, strip_compression};

/// The format of a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// LDBC Graphalytics: `NAME.v`, `NAME.e`, perhaps `NAME.properties`.
    Graphalytics,
    /// A line per edge: two ends, perhaps a weight, perhaps a time.
    EdgeList,
    /// Matrix Market coordinate.
    MatrixMarket,
    /// METIS: a line per vertex with its neighbours.
    Metis,
    /// DIMACS `.gr`: shortest-path challenge (`p sp`) or PACE (`p tw`).
    Dimacs,
}

impl Format {
    /// Every format, with the name it is asked for by.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("graphalytics", Self::Graphalytics),
        ("edge-list", Self::EdgeList),
        ("matrix-market", Self::MatrixMarket),
        ("metis", Self::Metis),
        ("dimacs", Self::Dimacs),
    ];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::NAMES
            .into_iter()
            .find(|(_, format)| format == self)
            .expect("NAMES holds every format");
        f.write_str(name)
    }
}

/// A name that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no graph format; choose graphalytics, edge-list, matrix-market, metis or dimacs")]
pub struct NoSuchFormat(pub String);

impl FromStr for Format {
    type Err = NoSuchFormat;

    fn from_str(name: &str) -> Result<Self, NoSuchFormat> {
        Self::NAMES
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, format)| format)
            .ok_or_else(|| NoSuchFormat(name.to_owned()))
    }
}

/// Which kind of key vertices have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyChoice {
    /// Numbers if both ends of the first record are numbers, else texts.
    #[default]
    Auto,
    /// Numbers of 64 bits.
    Number,
    /// Texts, even where they look like numbers.
    Text,
}

/// What happens to an edge or a listed vertex that was there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Reading fails.
    #[default]
    Error,
    /// The first one stays, with its weight.
    Ignore,
}

/// What happens to an edge from a vertex to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// It is an edge.
    #[default]
    Allow,
    /// Reading fails.
    Forbid,
    /// It is left out.
    Drop,
}

/// What a caller says about a graph file.
///
/// # Direction
///   Where `directed` is `None`, the file decides. Graphalytics says it in its properties;
///   Matrix Market is directed if `general` or `skew-symmetric`, DIMACS `p sp` is directed, METIS
///   and PACE are undirected. An edge list is undirected, unless a comment before its first
///   record says otherwise as SNAP (`# Directed graph`) and KONECT (`% asym`) files do.
///
///   Read against its nature, an undirected Matrix Market, METIS or PACE file gives both arcs of
///   each edge (a self loop once); in a DIMACS `p sp` file an arc and its reverse become one edge
///   if their weights are equal or not asked for. In every other case each record stays one edge.
///
/// # Weights
///   Only `weighted` decides whether edges get one. Without it the weights of a file are checked
///   to be numbers and left out; with it an edge without a weight is an error.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None` to tell it from the name.
    pub format: Option<Format>,
    /// Whether edges have a direction; `None` for what the file says.
    pub directed: Option<bool>,
    /// Whether edges get the weight that stands in the file.
    pub weighted: bool,
    /// Which kind of key vertices have.
    pub keys: KeyChoice,
    /// What happens to edges and vertices that stand twice.
    pub duplicates: Duplicates,
    /// What happens to self loops.
    pub self_loops: SelfLoops,
    /// The file that lists all vertices of an edge list, one a line.
    pub vertices: Option<PathBuf>,
}

/// The format that a name tells. `.e` is an edge list until its vertex file is found.
pub(crate) fn format_of(path: &Path) -> Result<Format, ReadError> {
    let (inner, _) = strip_compression(path);
    let name = extension(&inner);
    match name.as_deref() {
        Some("e" | "el" | "edgelist" | "edges" | "txt" | "csv" | "tsv" | "wel") => {
            Ok(Format::EdgeList)
        }
        Some("mtx" | "matrixmarket") => Ok(Format::MatrixMarket),
        Some("graph" | "metis") => Ok(Format::Metis),
        Some("gr") => Ok(Format::Dimacs),
        Some("properties" | "v") => Ok(Format::Graphalytics),
        Some(other) if ARCHIVES.contains(&other) => Err(ReadError::UnknownCompression {
            path: path.to_owned(),
            extension: format!(".{other}"),
        }),
        // KONECT names its edge lists `out.NAME`.
        _ if file_name(&inner).starts_with("out.") => Ok(Format::EdgeList),
        _ => Err(ReadError::UnknownFormat { path: path.to_owned() }),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
