//! Writing graphs: edge lists and Matrix Market, compressed as the name of the file says.
//!
//! The caller opens the file; the name only says what goes into it.

mod encoder;
pub(crate) mod text;

use std::io::{self, Write};
use std::path::Path;

pub use encoder::Encoder;

use crate::edges::EdgeList;
use crate::key::{Key, KeyKind, KeyRef};
use crate::read::input::{extension, strip_compression};
use text::Text;

/// Why a graph or an update log could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system failed while writing.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// The name does not say a format that can be written.
    #[error(
        "{name}: cannot tell what to write from the name; \
         end it in .el, .txt, .csv, .tsv or .mtx, with .gz, .zst or .xz after that to compress it"
    )]
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// A key cannot stand in a line of text.
    #[error("the key {key:?} cannot be written: it holds a line end or a NUL character")]
    Key {
        /// The key.
        key: String,
    },
    /// The format numbers vertices from 1, and the graph does not.
    #[error(
        "a Matrix Market file would lose the key {key}: it numbers vertices from 1; \
         write an edge list"
    )]
    KeyLost {
        /// The first key that is lost.
        key: Key,
    },
}

/// What a graph is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    EdgeList { separator: u8 },
    MatrixMarket,
}

/// Writes a graph to `out`, in the format and the compression that `name` says, and ends the
/// compressed stream. Returns `out`, which still has to be flushed or synced if it needs that.
///
/// An edge list begins with a comment that says whether edges have a direction, and holds no
/// vertex without edges. A Matrix Market file holds all vertices; dense keys `0 .. n` become
/// `1 ..= n`.
pub fn graph<W: Write>(list: &EdgeList, name: &Path, out: W) -> Result<W, WriteError> {
    let form = form_of(name)?;
    let mut text = Text::new(Encoder::new(out, name)?);
    match form {
        Form::EdgeList { separator } => edge_list(list, separator, &mut text)?,
        Form::MatrixMarket => matrix_market(list, &mut text)?,
    }
    Ok(text.finish()?.finish()?)
}

fn form_of(name: &Path) -> Result<Form, WriteError> {
    let (inner, _) = strip_compression(name);
    Ok(match extension(&inner).as_deref() {
        Some("e" | "el" | "wel" | "edgelist" | "edges" | "txt") => {
            Form::EdgeList { separator: b' ' }
        }
        Some("csv") => Form::EdgeList { separator: b',' },
        Some("tsv") => Form::EdgeList { separator: b'\t' },
        Some("mtx" | "matrixmarket") => Form::MatrixMarket,
        _ => {
            return Err(WriteError::UnknownFormat { name: name.display().to_string() });
        }
    })
}

fn edge_list<W: Write>(
    list: &EdgeList,
    separator: u8,
    text: &mut Text<Encoder<W>>,
) -> Result<(), WriteError> {
    let kind = if list.directed { "Directed" } else { "Undirected" };
    text.line(&format!("# {kind} graph, {} edges", list.edges.len()))?;
    for (i, &(u, v)) in list.edges.iter().enumerate() {
        text.key(key(list, u))?;
        text.byte(separator);
        text.key(key(list, v))?;
        if let Some(weights) = &list.weights {
            text.byte(separator);
            text.weight(weights[i]);
        }
        text.end_line()?;
    }
    Ok(())
}

fn matrix_market<W: Write>(list: &EdgeList, text: &mut Text<Encoder<W>>) -> Result<(), WriteError> {
    if list.keys.kind() != KeyKind::Dense
        && let Some(lost) = list.keys.iter().zip(1u64..).find(|&(k, n)| k != KeyRef::Number(n))
    {
        return Err(WriteError::KeyLost { key: lost.0.to_owned() });
    }
    let field = if list.weights.is_some() { "real" } else { "pattern" };
    let symmetry = if list.directed { "general" } else { "symmetric" };
    text.line(&format!("%%MatrixMarket matrix coordinate {field} {symmetry}"))?;
    let vertices = list.keys.len();
    text.line(&format!("{vertices} {vertices} {}", list.edges.len()))?;
    for (i, &(u, v)) in list.edges.iter().enumerate() {
        // A symmetric matrix is given by its lower triangle.
        let (row, column) = if list.directed || u >= v { (u, v) } else { (v, u) };
        text.number(u64::from(row) + 1);
        text.byte(b' ');
        text.number(u64::from(column) + 1);
        if let Some(weights) = &list.weights {
            text.byte(b' ');
            text.weight(weights[i]);
        }
        text.end_line()?;
    }
    Ok(())
}

fn key(list: &EdgeList, v: u32) -> KeyRef<'_> {
    list.keys.key(v).expect("the ends of an edge list have keys")
}
