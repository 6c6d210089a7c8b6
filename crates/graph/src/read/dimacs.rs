//! DIMACS `.gr` files, in the form of the shortest-path challenge and in that of PACE.
//!
//! # Format
//!   Lines that begin with `c` are comments. A line `p sp VERTICES ARCS` is followed by lines
//!   `a FROM TO WEIGHT`, an arc each; a line `p tw VERTICES EDGES` by lines `FROM TO`, an
//!   undirected edge each. Vertices are numbered from 1.

use super::error::ReadError;
use super::feed::Feed;
use super::fields::{Fields, Separator, shown, two_numbers};
use super::lines::{At, Lines};
use super::numbered;
use super::options::ReadOptions;
use super::sink::{Counts, Edge, Header, Repeats, Sink};
use crate::key::{KeyKind, KeyRef};

/// What a file describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// Shortest paths: weighted arcs.
    ShortestPath,
    /// Treewidth, as in PACE: edges without weights.
    Treewidth,
}

/// What the problem line says, and what is asked for.
#[derive(Clone, Copy)]
struct Shape {
    problem: Problem,
    vertices: u64,
    weighted: bool,
    directed: bool,
}

/// Reads a DIMACS file.
pub(crate) fn read<S: Sink>(
    lines: &mut Lines<'_>,
    options: &ReadOptions,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    numbered::check_options(lines.at(), options)?;
    let (problem, vertices, declared) = problem(lines)?;
    let problem_line = lines.at().line;
    if options.weighted && problem == Problem::Treewidth {
        return Err(ReadError::NoWeights { at: lines.at().place(), what: "a PACE graph" });
    }
    let shape = Shape {
        problem,
        vertices,
        weighted: options.weighted,
        directed: options.directed.unwrap_or(problem == Problem::ShortestPath),
    };
    let edges = match problem {
        Problem::Treewidth if shape.directed => declared.saturating_mul(2),
        _ => declared,
    };
    let mut feed = Feed::new(sink, options);
    let header = Header {
        directed: shape.directed,
        weighted: options.weighted,
        keys: KeyKind::Number,
        vertices_listed: true,
        vertices: Some(vertices),
        edges: Some(edges),
        repeats: match (problem, shape.directed) {
            (Problem::ShortestPath, false) => Repeats::Same,
            _ => Repeats::Duplicate,
        },
    };
    feed.begin(lines.at(), &header)?;
    feed.vertices(lines.at(), 1..=vertices)?;
    let mut found = 0;
    while lines.advance()? {
        let (at, line) = (lines.at(), lines.line());
        found += u64::from(shape.record(at, line, &mut feed)?);
    }
    let what = match problem {
        Problem::ShortestPath => "arcs",
        Problem::Treewidth => "edges",
    };
    numbered::compare(lines.at_line(problem_line), what, declared, found)?;
    feed.finish(lines)
}

/// Goes to the problem line; gives the problem, the number of vertices and of edges.
fn problem(lines: &mut Lines<'_>) -> Result<(Problem, u64, u64), ReadError> {
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if !line.is_empty() && !is_comment(line) {
            break;
        }
    }
    let (at, line) = (lines.at(), lines.line());
    let mut fields = Fields::new(line, Separator::Blank);
    let first = fields.next(at)?;
    if first.map(|field| field.bytes) != Some(b"p") {
        let problem = "a DIMACS file begins with a line `p sp VERTICES ARCS` or \
                       `p tw VERTICES EDGES`";
        return Err(at.malformed(problem));
    }
    let kind = fields.need(4, at)?;
    let (problem, record_bytes_min) = match kind.bytes {
        b"sp" => (Problem::ShortestPath, b"a 1 1 1\n".len()),
        b"tw" => (Problem::Treewidth, b"1 1\n".len()),
        other => {
            let problem = format!("the problem `{}` is neither `sp` nor `tw`", shown(other));
            return Err(at.malformed(problem));
        }
    };
    let vertices = numbered::count(at, fields.need(4, at)?)?;
    let edges = numbered::count(at, fields.need(4, at)?)?;
    fields.end(at)?;
    numbered::check_room(lines, "edges", edges, record_bytes_min as u64)?;
    Ok((problem, vertices, edges))
}

/// Whether the line begins with the word `c`.
fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'c'] | [b'c', b' ' | b'\t', ..])
}

impl Shape {
    /// Passes the edge of a line; false if there is none on it.
    #[inline]
    fn record<S: Sink>(
        &self,
        at: At<'_>,
        line: &[u8],
        feed: &mut Feed<'_, S>,
    ) -> Result<bool, ReadError> {
        let line = line.trim_ascii_start();
        if line.is_empty() || is_comment(line) {
            return Ok(false);
        }
        let (before, ends) = match (self.problem, line) {
            (Problem::Treewidth, _) => (0, line),
            (Problem::ShortestPath, [b'a', b' ' | b'\t', ends @ ..]) => {
                (1, ends.trim_ascii_start())
            }
            (Problem::ShortestPath, _) => {
                let problem = "an arc is a line `a FROM TO WEIGHT`";
                return Err(at.malformed(problem));
            }
        };
        let mut fields = Fields::after(ends, Separator::Blank, before);
        let (from, to) = if let Some((from, to, rest)) = two_numbers(ends, Separator::Blank) {
            fields = Fields::after(rest, Separator::Blank, before + 2);
            (from, to)
        } else {
            let mut end = || fields.need(self.columns(), at)?.number(at);
            (end()?, end()?)
        };
        numbered::check_vertex(at, before + 1, from, self.vertices)?;
        numbered::check_vertex(at, before + 2, to, self.vertices)?;
        let edge = Edge {
            from: KeyRef::Number(from),
            to: KeyRef::Number(to),
            weight: self.weight(at, &mut fields)?,
        };
        fields.end(at)?;
        if self.directed && self.problem == Problem::Treewidth {
            feed.both_arcs(at, edge)?;
        } else {
            feed.edge(at, edge)?;
        }
        Ok(true)
    }

    fn columns(&self) -> usize {
        match self.problem {
            Problem::ShortestPath => 4,
            Problem::Treewidth => 2,
        }
    }

    /// The weight of an arc, checked; `None` if weights are not asked for.
    fn weight(&self, at: At<'_>, fields: &mut Fields<'_>) -> Result<Option<f64>, ReadError> {
        if self.problem == Problem::Treewidth {
            return Ok(None);
        }
        let field = fields.need(self.columns(), at)?;
        if self.weighted {
            return field.weight(at).map(Some);
        }
        numbered::check_number(at, field)?;
        Ok(None)
    }
}
