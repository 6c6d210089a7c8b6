//! Matrix Market coordinate files: a square matrix whose entries are edges.
//!
//! # Format
//!   `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, comments that begin with `%`, a line
//!   `rows columns entries`, and a line `row column [value]` per entry. Vertices are numbered
//!   from 1. FIELD is `pattern`, `real` or `integer`. SYMMETRY is `general`, `symmetric` (one of
//!   the two triangles) or `skew-symmetric` (one triangle without the diagonal, the other has the
//!   opposite values). Every entry is an edge, a stored zero too.
//!
//!   A comment `%%GraphBLAS type TYPE` names the type of the values, which must be in its range.

use super::error::ReadError;
use super::feed::Feed;
use super::fields::{Field, Fields, Separator, is_integer, leading_number, shown, two_numbers};
use super::lines::{At, Lines};
use super::numbered;
use super::options::ReadOptions;
use super::sink::{Counts, Edge, Header, Repeats, Sink};
use crate::key::{KeyKind, KeyRef};

/// Bytes of the shortest entry: two digits, the blank between them, and the end of the line.
const ENTRY_BYTES_MIN: u64 = 4;

/// What the first line says of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Pattern,
    Real,
    Integer,
}

/// What the first line says of the two triangles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// What one entry becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emit {
    One,
    BothArcs,
    OppositeArcs,
}

struct Matrix {
    values: Values,
    symmetry: Symmetry,
    range: Option<Range>,
    vertices: u64,
    weighted: bool,
    emit: Emit,
}

/// Reads a matrix as a graph.
pub(crate) fn read<S: Sink>(
    lines: &mut Lines<'_>,
    options: &ReadOptions,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    numbered::check_options(lines.at(), options)?;
    let (values, symmetry) = banner(lines)?;
    let range = comments(lines, symmetry)?;
    // A floating-point type holds every number, whatever the first line says.
    let fractions = range.is_some_and(|range| range.holds_fractions());
    let values = if fractions && values == Values::Integer { Values::Real } else { values };
    let range = range.filter(|_| !fractions);
    let (vertices, declared) = size(lines)?;
    let size_line = lines.at().line;
    if options.weighted && values == Values::Pattern {
        return Err(ReadError::NoWeights {
            at: lines.at_line(1).place(),
            what: "a pattern matrix",
        });
    }
    let directed = options.directed.unwrap_or(symmetry != Symmetry::Symmetric);
    let emit = match (directed, symmetry) {
        (_, Symmetry::General) | (false, Symmetry::Symmetric) => Emit::One,
        (true, Symmetry::Symmetric) => Emit::BothArcs,
        (true, Symmetry::Skew) => Emit::OppositeArcs,
        (false, Symmetry::Skew) if !options.weighted => Emit::One,
        (false, Symmetry::Skew) => {
            return Err(ReadError::OptionRefused {
                path: lines.at().place().path.to_path_buf(),
                option: "undirected",
                reason: "the two directions of a skew-symmetric matrix have opposite weights",
            });
        }
    };
    let edges = match emit {
        Emit::One => declared,
        Emit::BothArcs | Emit::OppositeArcs => declared.saturating_mul(2),
    };
    let mut feed = Feed::new(sink, options);
    let header = Header {
        directed,
        weighted: options.weighted,
        keys: KeyKind::Number,
        vertices_listed: true,
        vertices: Some(vertices),
        edges: Some(edges),
        repeats: Repeats::Duplicate,
    };
    feed.begin(lines.at(), &header)?;
    feed.vertices(lines.at(), 1..=vertices)?;
    let matrix = Matrix { values, symmetry, range, vertices, weighted: options.weighted, emit };
    let mut found = 0;
    while lines.advance()? {
        let (at, line) = (lines.at(), lines.line());
        found += u64::from(matrix.entry(at, line, &mut feed)?);
    }
    numbered::compare(lines.at_line(size_line), "entries", declared, found)?;
    feed.finish(lines)
}

/// The first line.
fn banner(lines: &mut Lines<'_>) -> Result<(Values, Symmetry), ReadError> {
    let has_line = lines.advance()?;
    let at = lines.at();
    let text = String::from_utf8_lossy(lines.line()).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if !has_line || words.first() != Some(&"%%matrixmarket") {
        let problem = "a Matrix Market file begins with the line \
                       `%%MatrixMarket matrix coordinate FIELD SYMMETRY`";
        return Err(at.malformed(problem));
    }
    let [_, object, format, field, symmetry] = words[..] else {
        return Err(at.malformed("four words must follow `%%MatrixMarket`"));
    };
    let unknown = |what: &str, word: &str, known: &str| {
        at.malformed(format!("the {what} `{}` is not one of {known}", shown(word.as_bytes())))
    };
    if object != "matrix" {
        return Err(unknown("object", object, "matrix"));
    }
    if format == "array" {
        let problem = "a dense matrix (`array`) has no edges; write it as `coordinate`";
        return Err(at.malformed(problem));
    }
    if format != "coordinate" {
        return Err(unknown("format", format, "coordinate"));
    }
    let values = match field {
        "pattern" => Values::Pattern,
        "real" | "double" => Values::Real,
        "integer" => Values::Integer,
        "complex" => return Err(at.malformed("complex values cannot be weights of edges")),
        _ => return Err(unknown("field", field, "pattern, real, integer")),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if values != Values::Pattern => Symmetry::Skew,
        "skew-symmetric" => {
            return Err(at.malformed("a skew-symmetric matrix needs values; `pattern` has none"));
        }
        "hermitian" => return Err(at.malformed("a hermitian matrix has complex values")),
        _ => {
            return Err(unknown("symmetry", symmetry, "general, symmetric, skew-symmetric"));
        }
    };
    Ok((values, symmetry))
}

/// The comments after the first line; goes to the line with the size.
fn comments(lines: &mut Lines<'_>, symmetry: Symmetry) -> Result<Option<Range>, ReadError> {
    let mut range = None;
    while lines.advance()? {
        let at = lines.at();
        let line = lines.line().trim_ascii();
        match line {
            [] => {}
            [b'%', ..] => {
                if let Some(name) = graphblas_type(line) {
                    range = Some(Range::of(&name, at)?);
                }
            }
            _ => break,
        }
    }
    if let Some(range) = range.filter(|range| symmetry == Symmetry::Skew && range.least == 0) {
        let problem = format!("a skew-symmetric matrix cannot have the type {}", range.name);
        return Err(lines.at_line(1).malformed(problem));
    }
    Ok(range)
}

fn graphblas_type(comment: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(comment).into_owned();
    let mut words = text.split_ascii_whitespace();
    let named = words.next()?.eq_ignore_ascii_case("%%graphblas") && words.next()? == "type";
    named.then(|| words.collect::<Vec<_>>().join(" "))
}

/// The line with the size; gives the number of vertices and of entries.
fn size(lines: &Lines<'_>) -> Result<(u64, u64), ReadError> {
    let (at, line) = (lines.at(), lines.line());
    let mut fields = Fields::new(line, Separator::Blank);
    let mut count = || {
        let field = fields.need(3, at)?;
        numbered::count(at, field)
    };
    let (rows, columns, entries) = (count()?, count()?, count()?);
    fields.end(at)?;
    if rows != columns {
        let problem =
            format!("a matrix of {rows} rows and {columns} columns is no graph; it must be square");
        return Err(at.malformed(problem));
    }
    numbered::check_room(lines, "entries", entries, ENTRY_BYTES_MIN)?;
    Ok((rows, entries))
}

impl Matrix {
    /// Passes the entry of a line; false if there is none on it.
    #[inline]
    fn entry<S: Sink>(
        &self,
        at: At<'_>,
        line: &[u8],
        feed: &mut Feed<'_, S>,
    ) -> Result<bool, ReadError> {
        let (row, column, mut fields) = match two_numbers(line, Separator::Blank) {
            Some((row, column, rest)) => (row, column, Fields::after(rest, Separator::Blank, 2)),
            None => match line.trim_ascii_start().first() {
                None | Some(b'%') => return Ok(false),
                Some(_) => {
                    let mut fields = Fields::new(line, Separator::Blank);
                    let row = fields.need(self.columns(), at)?.number(at)?;
                    let column = fields.need(self.columns(), at)?.number(at)?;
                    (row, column, fields)
                }
            },
        };
        numbered::check_vertex(at, 1, row, self.vertices)?;
        numbered::check_vertex(at, 2, column, self.vertices)?;
        if self.symmetry == Symmetry::Skew && row == column {
            let problem = "a skew-symmetric matrix has no entries on its diagonal";
            return Err(at.malformed(problem));
        }
        let weight = self.value(at, &mut fields)?;
        fields.end(at)?;
        let edge = Edge { from: KeyRef::Number(row), to: KeyRef::Number(column), weight };
        match self.emit {
            Emit::One => feed.edge(at, edge)?,
            Emit::BothArcs => feed.both_arcs(at, edge)?,
            Emit::OppositeArcs => {
                feed.edge(at, edge)?;
                let opposite =
                    Edge { from: edge.to, to: edge.from, weight: weight.map(|weight| -weight) };
                feed.edge(at, opposite)?;
            }
        }
        Ok(true)
    }

    fn columns(&self) -> usize {
        if self.values == Values::Pattern { 2 } else { 3 }
    }

    /// The value of an entry, checked; `None` if weights are not asked for.
    fn value(&self, at: At<'_>, fields: &mut Fields<'_>) -> Result<Option<f64>, ReadError> {
        if self.values == Values::Pattern {
            return Ok(None);
        }
        let field = fields.need(self.columns(), at)?;
        if self.values == Values::Integer && !is_integer(field.bytes) {
            let problem = format!("column 3 is `{}`, not a whole number", field.shown());
            return Err(at.malformed(problem));
        }
        if let Some(range) = &self.range {
            range.check(at, field)?;
        }
        if self.weighted {
            return field.weight(at).map(Some);
        }
        numbered::check_number(at, field)?;
        Ok(None)
    }
}

/// The values that a GraphBLAS type can hold.
#[derive(Clone, Copy)]
struct Range {
    name: &'static str,
    least: i128,
    /// No greater than `least` for types that hold fractions.
    greatest: i128,
}

impl Range {
    fn of(name: &str, at: At<'_>) -> Result<Self, ReadError> {
        const RANGES: [Range; 11] = [
            range("bool", 0, 1),
            range("int8_t", i8::MIN as i128, i8::MAX as i128),
            range("int16_t", i16::MIN as i128, i16::MAX as i128),
            range("int32_t", i32::MIN as i128, i32::MAX as i128),
            range("int64_t", i64::MIN as i128, i64::MAX as i128),
            range("uint8_t", 0, u8::MAX as i128),
            range("uint16_t", 0, u16::MAX as i128),
            range("uint32_t", 0, u32::MAX as i128),
            range("uint64_t", 0, u64::MAX as i128),
            range("float", -1, -1),
            range("double", -1, -1),
        ];
        RANGES.into_iter().find(|range| range.name == name).ok_or_else(|| {
            let name = shown(name.as_bytes());
            at.malformed(format!("the GraphBLAS type `{name}` cannot be a weight"))
        })
    }

    fn holds_fractions(&self) -> bool {
        self.least >= self.greatest
    }

    /// Whole numbers are compared exactly, others as floating-point numbers.
    fn check(&self, at: At<'_>, field: Field<'_>) -> Result<(), ReadError> {
        let text = String::from_utf8_lossy(field.bytes);
        let inside = match (leading_number(field.bytes), text.parse::<i128>()) {
            (Some((number, [])), _) => i128::from(number) <= self.greatest,
            (_, Ok(number)) => (self.least..=self.greatest).contains(&number),
            _ => {
                let range = self.least as f64..=self.greatest as f64;
                text.parse::<f64>().is_ok_and(|number| range.contains(&number))
            }
        };
        if inside {
            return Ok(());
        }
        let problem =
            format!("column 3 is `{}`, which the type {} cannot hold", field.shown(), self.name);
        Err(at.malformed(problem))
    }
}

const fn range(name: &'static str, least: i128, greatest: i128) -> Range {
    Range { name, least, greatest }
}
