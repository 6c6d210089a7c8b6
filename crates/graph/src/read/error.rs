//! Why a file could not be read, in words for the person who has the file.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::input::Compression;
use super::lines::MAX_LINE_BYTES;
use crate::id::MAX_VERTICES;

/// A line of a file. Displays as `file:line`, or as `file` alone where no line is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: Arc<Path>,
    /// The line, from 1; 0 if none is known.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.path.display()),
            line => write!(f, "{}:{line}", self.path.display()),
        }
    }
}

/// What is wrong with a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightFault {
    /// It cannot be read as a number.
    NotANumber,
    /// It is the floating-point value "not a number".
    Nan,
    /// It is infinite, or too large for a 64-bit floating-point number.
    Infinite,
}

impl fmt::Display for WeightFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "is not a number",
            Self::Nan => "is NaN; an edge needs a number to be compared by",
            Self::Infinite => "is infinite; leave the edge out if it cannot be crossed",
        })
    }
}

/// Why a graph or an update log could not be read.
///
/// Every message names the file, the line where there is one, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("{}: no such file", .path.display())]
    NotFound {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("{}: this is a folder; name a file in it", .path.display())]
    IsDirectory {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The file may not be opened.
    #[error("{}: no permission to read this file", .path.display())]
    NotPermitted {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The system failed while reading.
    #[error("{}: cannot read: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds nothing: no bytes, or no record where there must be one.
    #[error("{}: {what}", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
    },
    /// A compressed file ends too early.
    #[error(
        "{at}: the {compression} data ends too early; the file was cut short, copy or download it again"
    )]
    Truncated {
        /// The last line that could be read.
        at: Place,
        /// How the file is compressed.
        compression: Compression,
    },
    /// A compressed file is damaged.
    #[error("{at}: the {compression} data is damaged; copy or download it again")]
    Corrupt {
        /// The last line that could be read.
        at: Place,
        /// How the file should be compressed.
        compression: Compression,
        /// What the decoder said.
        source: io::Error,
    },
    /// A compressed file grows without measure: an attack, or no graph.
    #[error(
        "{at}: each compressed byte has become more than {limit} bytes of text; \
         decompress the file yourself if you trust it"
    )]
    Expansion {
        /// The last line that was read.
        at: Place,
        /// How many bytes one compressed byte may become.
        limit: u64,
    },
    /// The file is compressed in a way this crate does not know.
    #[error(
        "{}: {extension} files cannot be decompressed here; use .gz, .zst or .xz, or decompress it",
        .path.display()
    )]
    UnknownCompression {
        /// The file.
        path: PathBuf,
        /// Its extension, or the compression its first bytes show.
        extension: String,
    },
    /// Nothing says which format the file has.
    #[error(
        "{}: cannot tell the format from the name; say which it is: \
         graphalytics, edge-list, matrix-market, metis or dimacs",
        .path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// An option does not go with the file.
    #[error("{}: {option}: {reason}", .path.display())]
    OptionRefused {
        /// The file.
        path: PathBuf,
        /// The option.
        option: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A line does not follow the format.
    #[error("{at}: {problem}")]
    Malformed {
        /// Where.
        at: Place,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A line has too few columns.
    #[error("{at}: found {found} of the {needed} columns that are needed")]
    TooFewColumns {
        /// Where.
        at: Place,
        /// How many columns the line has.
        found: usize,
        /// How many it needs.
        needed: usize,
    },
    /// A line has too many columns.
    #[error(
        "{at}: more than {most} columns; \
         put keys that hold spaces, tabs or commas in double quotes"
    )]
    TooManyColumns {
        /// Where.
        at: Place,
        /// How many columns a line may have.
        most: usize,
    },
    /// A number cannot be the key of a vertex.
    #[error("{at}, column {column}: vertex {key} is outside the range {least} to {greatest}")]
    KeyOutOfRange {
        /// Where.
        at: Place,
        /// The column, from 1.
        column: usize,
        /// The key as it stands in the file.
        key: String,
        /// The least key there can be.
        least: u64,
        /// The greatest key there can be.
        greatest: u64,
    },
    /// A key is not a number, in a file of number keys.
    #[error(
        "{at}, column {column}: vertex `{key}` is not a number; \
         ask for text keys if vertices have names"
    )]
    KeyNotANumber {
        /// Where.
        at: Place,
        /// The column, from 1.
        column: usize,
        /// The key as it stands in the file.
        key: String,
    },
    /// An edge names a vertex that the vertex file does not list.
    #[error(
        "{at}: the edge {from} {to} names the vertex {key}, which is not listed; \
         add it to the vertex file"
    )]
    UnknownVertex {
        /// Where.
        at: Place,
        /// The first end.
        from: String,
        /// The second end.
        to: String,
        /// The end that is not listed.
        key: String,
    },
    /// An edge stands twice.
    #[error("{at}: the edge {from} {to} stands twice{}; {hint}", first_line(*.first))]
    DuplicateEdge {
        /// The second time.
        at: Place,
        /// The first end.
        from: String,
        /// The second end.
        to: String,
        /// The line where it stood first, if known.
        first: Option<u64>,
        /// What can be done.
        hint: &'static str,
    },
    /// A vertex is listed twice.
    #[error(
        "{at}: the vertex {key} is listed twice{}; ask to ignore duplicates if that is meant",
        first_line(*.first)
    )]
    DuplicateVertex {
        /// The second time.
        at: Place,
        /// The vertex.
        key: String,
        /// The line where it stood first, if known.
        first: Option<u64>,
    },
    /// An edge leads from a vertex to itself, and that is forbidden.
    #[error("{at}: the edge {key} {key} is a self loop; allow self loops, or ask to drop them")]
    SelfLoop {
        /// Where.
        at: Place,
        /// The vertex.
        key: String,
    },
    /// Weights are asked for, and this edge has none.
    #[error("{at}: the edge {from} {to} has no weight; read the graph without weights, or add one")]
    MissingWeight {
        /// Where.
        at: Place,
        /// The first end.
        from: String,
        /// The second end.
        to: String,
    },
    /// Weights are asked for, and the file says that it has none.
    #[error("{at}: {what} has no weights; read the graph without weights")]
    NoWeights {
        /// Where the file says so.
        at: Place,
        /// What has none.
        what: &'static str,
    },
    /// A weight is not a finite number.
    #[error("{at}, column {column}: the weight `{weight}` {fault}")]
    BadWeight {
        /// Where.
        at: Place,
        /// The column, from 1.
        column: usize,
        /// The weight as it stands in the file.
        weight: String,
        /// What is wrong with it.
        fault: WeightFault,
    },
    /// An undirected edge stands in the row of one end only, or with two weights.
    #[error(
        "{at}: the edge {from} {to} does not stand in the row of {to} as well, with the same weight; \
         add it there, or read the file as directed"
    )]
    OneSided {
        /// Where.
        at: Place,
        /// The vertex whose row has the edge.
        from: u64,
        /// The vertex whose row should have it.
        to: u64,
    },
    /// The file does not hold as many records as it says.
    #[error("{at}: the file says that it has {declared} {what}, but it has {found}")]
    CountMismatch {
        /// The line that says so.
        at: Place,
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        declared: u64,
        /// How many there are.
        found: u64,
    },
    /// The file is too short for the number of records that it says it has.
    #[error("{at}: the file says that it has {declared} {what}, but it is too short for that many")]
    CountTooLarge {
        /// The line that says so.
        at: Place,
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        declared: u64,
    },
    /// A line is longer than any line of a graph file should be.
    #[error(
        "{at}: the line is longer than {} MiB; this does not look like a graph file",
        MAX_LINE_BYTES >> 20
    )]
    LineTooLong {
        /// Where.
        at: Place,
    },
    /// A text is not UTF-8.
    #[error("{at}, column {column}: the text is not valid UTF-8; convert the file to UTF-8")]
    InvalidUtf8 {
        /// Where.
        at: Place,
        /// The column, from 1.
        column: usize,
    },
    /// There are more vertices than a graph can hold.
    #[error("{at}: more than {MAX_VERTICES} vertices, the most that a graph can hold")]
    TooManyVertices {
        /// Where.
        at: Place,
    },
    /// The graph does not fit into the memory that is free.
    #[error(
        "{at}: this needs {} of memory, and {} are free; \
         close other programs or use a machine with more",
        Bytes(*.needed), Bytes(*.available)
    )]
    TooLarge {
        /// Where this became clear.
        at: Place,
        /// The least memory that would do, in bytes.
        needed: u64,
        /// The memory that is free, in bytes.
        available: u64,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Cancelled,
    /// The receiver of the graph refused a record.
    #[error("{at}: {source}")]
    Refused {
        /// Where the record stands.
        at: Place,
        /// What the receiver said.
        source: Box<dyn Error + Send + Sync>,
    },
}

fn first_line(line: Option<u64>) -> String {
    line.map(|line| format!(", first in line {line}")).unwrap_or_default()
}

/// A number of bytes for people: three digits and a unit.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let unit = (self.0.checked_ilog2().unwrap_or(0) / 10) as usize;
        if unit == 0 {
            return write!(f, "{} B", self.0);
        }
        let value = self.0 as f64 / (1u64 << (10 * unit)) as f64;
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        let text = |bytes| Bytes(bytes).to_string();
        assert_eq!(text(0), "0 B");
        assert_eq!(text(1023), "1023 B");
        assert_eq!(text(1536), "1.5 KiB");
        assert_eq!(text(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn errors_stay_small_enough_to_return() {
        assert!(size_of::<ReadError>() <= 128, "{}", size_of::<ReadError>());
    }
}
