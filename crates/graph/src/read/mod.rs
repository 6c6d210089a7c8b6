//! Reading graph files, as a stream or into an edge list.
//!
//! # The way of a record
//!   1. `input` opens the file, decompresses it, counts bytes; `lines` cuts it into lines.
//!   2. `edge_list`, `graphalytics`, `matrix_market`, `metis` or `dimacs` parses a line.
//!   3. `feed` drops or refuses self loops and passes the record on.
//!   4. The [`Sink`] takes it: a live store, or `collect`, which makes an [`EdgeList`].
//!
//! # Formats
//!   By the extension under `.gz`, `.zst` or `.xz`: `.e .el .edgelist .edges .txt .csv .tsv .wel`
//!   (edge list), `.mtx .matrixmarket` (Matrix Market), `.graph .metis` (METIS), `.gr` (DIMACS),
//!   `.properties .v` (Graphalytics). A `.e` file with its `.v` file beside it and the common
//!   prefix of the two are Graphalytics. Matrix Market, METIS and DIMACS number vertices from 1,
//!   and these numbers are their keys.

mod collect;
mod dimacs;
mod edge_list;
mod error;
mod feed;
pub(crate) mod fields;
mod graphalytics;
pub(crate) mod input;
pub(crate) mod lines;
mod matrix_market;
mod metis;
mod numbered;
mod options;
mod sink;

use std::path::Path;
use std::sync::Arc;

pub use error::{Place, ReadError, WeightFault};
pub use input::Compression;
pub use options::{Duplicates, Format, KeyChoice, NoSuchFormat, ReadOptions, SelfLoops};
pub use sink::{Counts, Edge, Header, Refusal, Sink};

pub(crate) use error::Bytes;

use crate::edges::EdgeList;
use crate::progress::Progress;
use edge_list::Listing;
use graphalytics::{Files, Graph};
use input::Meter;
use lines::Lines;

/// Reads a graph file into `sink`, record by record.
///
/// Records reach the sink before the rest of the file is known to be good: an error may come after
/// any of them. Duplicates are found by the sink; see [`Refusal::DuplicateEdge`].
pub fn read<S: Sink>(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    let source = Source::find(path, options, progress)?;
    let meter = Meter::new(progress, source.paths());
    source.read(options, &meter, sink)
}

/// Reads a graph file into an edge list.
///
/// # Ids
///   Vertices with number keys get ids in the order of their keys, so that keys `0 .. n` are dense;
///   vertices with text keys get ids in the order in which they are first named.
///
/// # Memory
///   8 bytes an edge while the keys fit 32 bits (else 24), 8 more with weights, and 16 for a short
///   while at the end, when duplicates are looked for. Fails with [`ReadError::TooLarge`] before
///   the machine runs out.
pub fn load(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<EdgeList, ReadError> {
    let source = Source::find(path, options, progress)?;
    let meter = Meter::new(progress, source.paths());
    collect::load(&source, options, &meter)
}

/// The files of a graph, and how to read them.
enum Source<'a> {
    Graphalytics(Graph),
    EdgeList { edges: &'a Path, vertices: Option<&'a Path> },
    MatrixMarket(&'a Path),
    Metis(&'a Path),
    Dimacs(&'a Path),
}

impl<'a> Source<'a> {
    fn find(
        path: &'a Path,
        options: &'a ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ReadError> {
        let open = |files| Graph::open(files, options, progress).map(Self::Graphalytics);
        let format = match (options.format, graphalytics::find(path)) {
            (None | Some(Format::Graphalytics), Some(files)) => {
                return open(files);
            }
            (Some(Format::Graphalytics), None) => {
                let (inner, _) = input::strip_compression(path);
                let mut files = Files::of(&inner.with_extension(""), None);
                path.clone_into(&mut files.edges);
                return open(files);
            }
            (Some(format), _) => format,
            (None, None) if !path.exists() => {
                return Err(ReadError::NotFound { path: path.to_owned() });
            }
            (None, None) if path.is_dir() => {
                return Err(ReadError::IsDirectory { path: path.to_owned() });
            }
            (None, None) => options::format_of(path)?,
        };
        Ok(match format {
            Format::EdgeList | Format::Graphalytics => {
                Self::EdgeList { edges: path, vertices: options.vertices.as_deref() }
            }
            Format::MatrixMarket => Self::MatrixMarket(path),
            Format::Metis => Self::Metis(path),
            Format::Dimacs => Self::Dimacs(path),
        })
    }

    /// The file with the edges.
    fn edges(&self) -> &Path {
        match self {
            Self::Graphalytics(graph) => &graph.edges,
            Self::EdgeList { edges: path, .. }
            | Self::MatrixMarket(path)
            | Self::Metis(path)
            | Self::Dimacs(path) => path,
        }
    }

    /// The files whose length is the work.
    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Graphalytics(graph) => vec![&graph.vertices, &graph.edges],
            Self::EdgeList { edges, vertices } => {
                vertices.iter().copied().chain([*edges]).collect()
            }
            Self::MatrixMarket(path) | Self::Metis(path) | Self::Dimacs(path) => vec![path],
        }
    }

    fn read<S: Sink>(
        &self,
        options: &ReadOptions,
        meter: &Arc<Meter<'_>>,
        sink: &mut S,
    ) -> Result<Counts, ReadError> {
        match self {
            Self::Graphalytics(graph) => graphalytics::read(graph, options, meter, sink),
            Self::EdgeList { edges, vertices } => {
                let listing = Listing { edges, vertices: *vertices, directed: None };
                edge_list::read(&listing, options, meter, sink)
            }
            Self::MatrixMarket(path) => {
                matrix_market::read(&mut Lines::open(path, meter)?, options, sink)
            }
            Self::Metis(path) => metis::read(path, options, meter, sink),
            Self::Dimacs(path) => dimacs::read(&mut Lines::open(path, meter)?, options, sink),
        }
    }
}
