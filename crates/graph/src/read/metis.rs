//! METIS graph files: a line per vertex with its neighbours.
//!
//! # Format
//!   `vertices edges [format [constraints]]`, then a line per vertex, numbered from 1: `[size]
//!   [weight ..] neighbour [edge-weight] ..`. The digits of the format say whether there are
//!   vertex sizes, vertex weights (as many as constraints) and edge weights. Lines that begin
//!   with `%` are comments; a blank line is a vertex without neighbours.
//!
//!   Each edge stands in the rows of both its ends, with one weight; a self loop once in its row.
//!   Sizes and weights of vertices are checked and left out. The DIMACS-10 challenge uses the
//!   first digit of the format for "may have parallel edges" instead of sizes: the number of
//!   columns tells which is meant.
//!
//! # Both rows
//!   An edge is passed on from the row of its lesser end. Each such entry adds a random-looking
//!   number to a sum, and the entry in the other row takes it away: sums that are not zero in the
//!   end betray an edge that stands in one row only, without remembering any. A second look at the
//!   file then finds it.

use std::path::Path;
use std::sync::Arc;

use super::error::ReadError;
use super::feed::Feed;
use super::fields::{Fields, Separator, is_integer};
use super::input::Meter;
use super::lines::{At, Lines};
use super::numbered;
use super::options::ReadOptions;
use super::sink::{Counts, Edge, Header, Repeats, Sink};
use crate::key::{KeyKind, KeyRef};
use crate::mix::mix;

const COMMENTS: &[u8] = b"%";
/// Bytes of the shortest neighbour: a digit, and a blank or the end of the line.
const NEIGHBOUR_BYTES_MIN: u64 = 2;
/// Most weights a vertex may have; METIS itself works with a handful.
const CONSTRAINTS_MAX: u64 = 1000;
/// Sums that edges are spread over, so that the second look keeps few of them in memory.
const SUMS: usize = 1024;

/// What the first line says.
#[derive(Clone, Copy)]
struct Shape {
    vertices: u64,
    edges: u64,
    /// Whether the first digit of the format is set.
    sizes: bool,
    vertex_weights: u64,
    edge_weights: bool,
    /// Whether edges are passed on with their weights.
    weighted: bool,
}

/// How many neighbours the rows have.
#[derive(Default)]
struct Tally {
    entries: u64,
    self_loops: u64,
}

/// One neighbour in a row.
#[derive(Clone, Copy)]
struct Entry {
    row: u64,
    neighbour: u64,
    weight: Option<f64>,
}

/// Reads a METIS file.
pub(crate) fn read<S: Sink>(
    path: &Path,
    options: &ReadOptions,
    meter: &Arc<Meter<'_>>,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    let mut lines = Lines::open(path, meter)?;
    numbered::check_options(lines.at(), options)?;
    let mut shape = header(&mut lines, options)?;
    let first_line = lines.at().line;
    if shape.sizes {
        shape.sizes = sizes_are_there(path, meter, shape)?;
    }
    let directed = options.directed.unwrap_or(false);
    let mut feed = Feed::new(sink, options);
    let header = Header {
        directed,
        weighted: options.weighted,
        keys: KeyKind::Number,
        vertices_listed: true,
        vertices: Some(shape.vertices),
        edges: Some(shape.edges),
        repeats: Repeats::Duplicate,
    };
    feed.begin(lines.at(), &header)?;
    feed.vertices(lines.at(), 1..=shape.vertices)?;
    let mut tally = Tally::default();
    let mut mirror = Mirror::default();
    rows(&mut lines, shape, |at, entry| {
        tally.entries += 1;
        tally.self_loops += u64::from(entry.row == entry.neighbour);
        if !directed {
            mirror.add(entry);
        }
        if directed || entry.neighbour >= entry.row {
            feed.edge(at, entry.edge())?;
        }
        Ok(())
    })?;
    if let Some(sum) = mirror.uneven() {
        return Err(one_sided(path, meter, shape, sum)?);
    }
    tally.compare(lines.at_line(first_line), shape.edges, directed)?;
    feed.finish(&lines)
}

/// Goes to the first line and reads it.
fn header(lines: &mut Lines<'_>, options: &ReadOptions) -> Result<Shape, ReadError> {
    lines.advance_past(COMMENTS)?;
    let (at, line) = (lines.at(), lines.line());
    let mut fields = Fields::new(line, Separator::Blank);
    let vertices = numbered::count(at, fields.need(2, at)?)?;
    let edges = numbered::count(at, fields.need(2, at)?)?;
    let format = fields.next(at)?;
    let constraints = fields.next(at)?;
    fields.end(at)?;
    let digits = format.map_or(&b"0"[..], |field| field.bytes);
    let known = digits.len() <= 3 && digits.iter().all(|digit| matches!(digit, b'0' | b'1'));
    if !known {
        let shown = format.map(|field| field.shown()).unwrap_or_default();
        let problem = format!("the format `{shown}` is not three digits that are 0 or 1");
        return Err(at.malformed(problem));
    }
    let digit = |place: usize| {
        let digit = digits.len().checked_sub(place).map(|i| digits[i]);
        digit == Some(b'1')
    };
    let constraints = constraints.map_or(Ok(1), |field| numbered::count(at, field))?;
    if constraints > CONSTRAINTS_MAX {
        let problem = format!("{constraints} weights per vertex are more than {CONSTRAINTS_MAX}");
        return Err(at.malformed(problem));
    }
    let shape = Shape {
        vertices,
        edges,
        sizes: digit(3),
        vertex_weights: if digit(2) { constraints } else { 0 },
        edge_weights: digit(1),
        weighted: options.weighted,
    };
    if options.weighted && !shape.edge_weights {
        return Err(ReadError::NoWeights { at: at.place(), what: "a METIS file of this format" });
    }
    numbered::check_room(lines, "vertices", vertices, 1)?;
    numbered::check_room(lines, "edges", edges, NEIGHBOUR_BYTES_MIN)?;
    Ok(shape)
}

/// Passes every neighbour of every row to `visit`, from the line after the current one on.
fn rows(
    lines: &mut Lines<'_>,
    shape: Shape,
    mut visit: impl FnMut(At<'_>, Entry) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let header = lines.at().line;
    let mut row = 0;
    while lines.advance()? {
        let (at, line) = (lines.at(), lines.line());
        let start = line.trim_ascii_start();
        if start.first() == Some(&b'%') {
            continue;
        }
        if row == shape.vertices {
            if start.is_empty() {
                continue;
            }
            let problem = format!("this is row {} of {} vertices", row + 1, shape.vertices);
            return Err(at.malformed(problem));
        }
        row += 1;
        let mut fields = Fields::new(line, Separator::Blank);
        shape.pass_vertex(at, &mut fields)?;
        while let Some(neighbour) = fields.next_number(at)? {
            numbered::check_vertex(at, fields.taken(), neighbour, shape.vertices)?;
            let weight = shape.edge_weight(at, &mut fields)?;
            let entry = Entry { row, neighbour, weight };
            visit(at, entry)?;
        }
    }
    numbered::compare(lines.at_line(header), "vertices", shape.vertices, row)
}

impl Shape {
    /// Passes over the size and the weights of a vertex.
    fn pass_vertex(&self, at: At<'_>, fields: &mut Fields<'_>) -> Result<(), ReadError> {
        for _ in 0..u64::from(self.sizes) + self.vertex_weights {
            let Some(field) = fields.next(at)? else {
                let problem = "the size or a weight of the vertex is missing";
                return Err(at.malformed(problem));
            };
            if !is_integer(field.bytes) {
                let problem = format!(
                    "column {} is `{}`, not the size or a weight of the vertex",
                    field.column,
                    field.shown()
                );
                return Err(at.malformed(problem));
            }
        }
        Ok(())
    }

    fn edge_weight(&self, at: At<'_>, fields: &mut Fields<'_>) -> Result<Option<f64>, ReadError> {
        if !self.edge_weights {
            return Ok(None);
        }
        let Some(field) = fields.next(at)? else {
            return Err(at.malformed("the last neighbour has no weight"));
        };
        if self.weighted {
            return field.weight(at).map(Some);
        }
        numbered::check_number(at, field)?;
        Ok(None)
    }

    /// Columns of all rows together.
    fn columns(&self, sizes: u64, entries: u128) -> u128 {
        let per_vertex = u128::from(self.vertex_weights + sizes);
        let per_entry = 1 + u128::from(self.edge_weights);
        u128::from(self.vertices) * per_vertex + entries * per_entry
    }
}

/// Whether vertices have sizes, where the format says so: only if that many columns are there, or
/// if the number of columns fits no meaning at all.
fn sizes_are_there(path: &Path, meter: &Arc<Meter<'_>>, shape: Shape) -> Result<bool, ReadError> {
    let mut lines = Lines::open_again(path, meter)?;
    lines.advance_past(COMMENTS)?;
    let mut columns = 0;
    while lines.advance_past(COMMENTS)? {
        let (at, line) = (lines.at(), lines.line());
        let mut fields = Fields::new(line, Separator::Blank);
        while fields.next(at)?.is_some() {
            columns += 1;
        }
    }
    let edges = u128::from(shape.edges);
    // A file of arcs says how many arcs it has.
    let without = [edges, 2 * edges].map(|entries| shape.columns(0, entries)).contains(&columns);
    Ok(columns == shape.columns(1, 2 * edges) || !without)
}

impl Tally {
    /// Compares the number of edges that the file says it has with its rows. Files that are read
    /// as directed may count arcs, and some writers count a self loop as half an edge.
    fn compare(&self, at: At<'_>, declared: u64, directed: bool) -> Result<(), ReadError> {
        let twice = declared.saturating_mul(2);
        let counts_arcs = directed && declared == self.entries;
        if twice == self.entries + self.self_loops || twice == self.entries || counts_arcs {
            return Ok(());
        }
        let found =
            if directed { self.entries } else { u64::midpoint(self.entries, self.self_loops) };
        numbered::compare(at, "edges", declared, found)
    }
}

impl Entry {
    fn edge(self) -> Edge<'static> {
        Edge {
            from: KeyRef::Number(self.row),
            to: KeyRef::Number(self.neighbour),
            weight: self.weight,
        }
    }

    /// The edge without its direction; ids fit 32 bits.
    fn pair(self) -> u64 {
        self.row.min(self.neighbour) << 32 | self.row.max(self.neighbour)
    }

    fn weight_bits(self) -> u64 {
        self.weight.map_or(0, f64::to_bits)
    }
}

/// Sums of numbers that stand for edges; zero if each edge stands in the rows of both its ends.
struct Mirror {
    sums: Box<[u64; SUMS]>,
}

impl Default for Mirror {
    fn default() -> Self {
        Self { sums: Box::new([0; SUMS]) }
    }
}

impl Mirror {
    fn add(&mut self, entry: Entry) {
        let hash = mix(entry.pair());
        let number = mix(hash ^ entry.weight_bits());
        let sum = &mut self.sums[hash as usize % SUMS];
        if entry.neighbour > entry.row {
            *sum = sum.wrapping_add(number);
        } else if entry.neighbour < entry.row {
            *sum = sum.wrapping_sub(number);
        }
    }

    /// A sum that betrays an edge in one row only.
    fn uneven(&self) -> Option<usize> {
        self.sums.iter().position(|&sum| sum != 0)
    }
}

/// Finds the first entry that has no twin in the row of its neighbour, among the edges of a sum.
fn one_sided(
    path: &Path,
    meter: &Arc<Meter<'_>>,
    shape: Shape,
    sum: usize,
) -> Result<ReadError, ReadError> {
    let mut lines = Lines::open_again(path, meter)?;
    lines.advance_past(COMMENTS)?;
    let mut entries = Vec::new();
    rows(&mut lines, shape, |at, entry| {
        if entry.row != entry.neighbour && mix(entry.pair()) as usize % SUMS == sum {
            entries.push((entry.pair(), entry.weight_bits(), at.line, entry));
        }
        Ok(())
    })?;
    entries.sort_by_key(|&(pair, weight, line, _)| (pair, weight, line));
    let lonely = entries
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter_map(|twins| {
            let ups = twins.iter().filter(|(.., entry)| entry.neighbour > entry.row);
            let ups = ups.count();
            let more = ups.cmp(&(twins.len() - ups));
            // Of the direction that stands more often, the last one is without a twin.
            twins.iter().rev().find(|(.., entry)| match more {
                std::cmp::Ordering::Greater => entry.neighbour > entry.row,
                std::cmp::Ordering::Less => entry.neighbour < entry.row,
                std::cmp::Ordering::Equal => false,
            })
        })
        .min_by_key(|(_, _, line, _)| *line);
    Ok(match lonely {
        Some(&(.., line, entry)) => ReadError::OneSided {
            at: lines.at_line(line).place(),
            from: entry.row,
            to: entry.neighbour,
        },
        None => lines.at_line(0).malformed("the file changed while it was read"),
    })
}
