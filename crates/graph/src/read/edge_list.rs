//! Edge lists: a line per edge with its two ends, perhaps a weight, perhaps a time.
//!
//! # Format
//!   `from to [weight [time]]`, separated by spaces, tabs or a comma; in `.csv` and `.tsv` files
//!   whose first record has a comma or a tab, by that alone. A text may stand in double quotes.
//!   Lines that begin with `#` or `%` are comments. Columns 3 and 4 must be numbers; only column
//!   3 is ever used, and only as a weight.
//!
//!   Line 1 is a row of column names if neither of its first two columns is a number and they
//!   are well-known names, or keys are numbers, or the next record begins with two numbers.

use std::path::Path;
use std::sync::Arc;

use super::error::ReadError;
use super::feed::Feed;
use super::fields::{Fields, Separator, is_integer, two_numbers};
use super::input::{Meter, extension, strip_compression};
use super::lines::{At, Lines};
use super::numbered::check_number;
use super::options::{KeyChoice, ReadOptions};
use super::sink::{Counts, Edge, Header, Repeats, Sink};
use crate::key::{KeyKind, KeyRef};

const COMMENTS: &[u8] = b"#%";

/// Names of columns that hold the ends of edges, in lower case.
const END_NAMES: [&str; 26] = [
    "source",
    "target",
    "src",
    "dst",
    "dest",
    "destination",
    "from",
    "to",
    "u",
    "v",
    "head",
    "tail",
    "node1",
    "node2",
    "node_1",
    "node_2",
    "id1",
    "id2",
    "id_1",
    "id_2",
    "fromnodeid",
    "tonodeid",
    "start",
    "end",
    ":start_id",
    ":end_id",
];
/// Names of the first column of a vertex file, in lower case.
const VERTEX_NAMES: [&str; 7] = ["id", "vertex", "node", "key", "name", "label", ":id"];

/// The files of an edge list, and what is known of it beforehand.
pub(crate) struct Listing<'a> {
    /// The file with an edge a line.
    pub(crate) edges: &'a Path,
    /// The file with a vertex a line, if all are listed.
    pub(crate) vertices: Option<&'a Path>,
    /// Whether edges have a direction, if it was said outside of the files.
    pub(crate) directed: Option<bool>,
}

/// Reads an edge list, and before it the file of its vertices if there is one.
pub(crate) fn read<S: Sink>(
    listing: &Listing<'_>,
    options: &ReadOptions,
    meter: &Arc<Meter<'_>>,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    let mut feed = Feed::new(sink, options);
    let mut lines = Lines::open(listing.edges, meter)?;
    let said = opening_comments(&mut lines)?;
    let directed = options.directed.or(listing.directed).or(said.directed);
    let header = |keys| Header {
        directed: directed.unwrap_or(false),
        weighted: options.weighted,
        keys,
        vertices_listed: listing.vertices.is_some(),
        vertices: None,
        edges: None,
        repeats: Repeats::Duplicate,
    };
    let mut keys = options.keys;
    if let Some(path) = listing.vertices {
        let mut lines = Lines::open(path, meter)?;
        let kind = vertex_kind(&mut lines, keys)?;
        feed.begin(lines.at_line(0), &header(kind))?;
        vertices(&mut lines, kind, &mut feed)?;
        keys = match kind {
            KeyKind::Text => KeyChoice::Text,
            _ => KeyChoice::Number,
        };
    }
    if !said.has_record {
        return without_edges(&lines, listing, feed);
    }
    let separator = separator(listing.edges, lines.line());
    let start = start(&mut lines, separator, keys)?;
    if !start.has_record && start.held.is_none() {
        return without_edges(&lines, listing, feed);
    }
    if listing.vertices.is_none() {
        feed.begin(lines.at_line(0), &header(start.keys))?;
    }
    let mut records = Records { keys: start.keys, weighted: options.weighted, separator, feed };
    if let Some((number, line)) = &start.held {
        records.record(lines.at_line(*number), line)?;
    }
    if start.has_record {
        records.rest(&mut lines)?;
    }
    records.feed.finish(&lines)
}

fn without_edges<S: Sink>(
    lines: &Lines<'_>,
    listing: &Listing<'_>,
    feed: Feed<'_, S>,
) -> Result<Counts, ReadError> {
    if listing.vertices.is_none() {
        return Err(ReadError::Empty {
            path: listing.edges.to_owned(),
            what: "there is no edge in this file",
        });
    }
    feed.finish(lines)
}

/// What stands before the first record.
struct Opened {
    directed: Option<bool>,
    has_record: bool,
}

/// Goes to the first record, past comments that may say whether edges have a direction.
fn opening_comments(lines: &mut Lines<'_>) -> Result<Opened, ReadError> {
    let mut directed = None;
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        match line {
            [] => {}
            [b'#' | b'%', comment @ ..] => {
                if is_bipartite(line) {
                    let problem = "the two ends of an edge are vertices of two kinds with the same \
                                   numbers (KONECT `bip`); renumber one kind";
                    return Err(lines.at().malformed(problem));
                }
                directed = directed.or_else(|| said_direction(comment));
            }
            _ => {
                return Ok(Opened { directed, has_record: true });
            }
        }
    }
    Ok(Opened { directed, has_record: false })
}

fn is_bipartite(line: &[u8]) -> bool {
    line.strip_prefix(b"%").is_some_and(|comment| comment.trim_ascii().starts_with(b"bip "))
}

/// What a comment says about direction, in the words of SNAP and KONECT.
fn said_direction(comment: &[u8]) -> Option<bool> {
    let comment = comment.trim_ascii().to_ascii_lowercase();
    let says = |start: &[u8]| comment.starts_with(start);
    if says(b"directed graph") || says(b"asym ") {
        Some(true)
    } else if says(b"undirected graph") || says(b"sym ") {
        Some(false)
    } else {
        None
    }
}

/// What separates columns, from the name of the file and its first record.
fn separator(path: &Path, line: &[u8]) -> Separator {
    match extension(&strip_compression(path).0).as_deref() {
        Some("csv") if line.contains(&b',') => Separator::Comma,
        Some("tsv") if line.contains(&b'\t') => Separator::Tab,
        _ => Separator::Any,
    }
}

/// How the records begin.
struct Start {
    keys: KeyKind,
    /// A record that was read before its key kind was known, with the number of its line.
    held: Option<(u64, Vec<u8>)>,
    /// Whether the current line is a record.
    has_record: bool,
}

/// Passes over a row of column names and decides the kind of keys. Needs the first record to be
/// the current line.
fn start(lines: &mut Lines<'_>, separator: Separator, keys: KeyChoice) -> Result<Start, ReadError> {
    let numeric = |lines: &Lines<'_>| begins_with_numbers(lines.line(), separator);
    let chosen = |numeric: bool| match keys {
        KeyChoice::Text => KeyKind::Text,
        KeyChoice::Auto if !numeric => KeyKind::Text,
        KeyChoice::Auto | KeyChoice::Number => KeyKind::Number,
    };
    let mut start =
        Start { keys: chosen(numeric(lines) == [true, true]), held: None, has_record: true };
    if lines.at().line != 1 || numeric(lines) != [false, false] {
        return Ok(start);
    }
    if keys == KeyChoice::Number || has_end_names(lines.line(), separator) {
        start.has_record = lines.advance_past(COMMENTS)?;
        start.keys = chosen(numeric(lines) == [true, true]);
    } else if keys == KeyChoice::Auto {
        let first = (lines.at().line, lines.line().to_vec());
        start.has_record = lines.advance_past(COMMENTS)?;
        if start.has_record && numeric(lines) == [true, true] {
            start.keys = KeyKind::Number;
        } else {
            start.held = Some(first);
        }
    }
    Ok(start)
}

/// Whether each of the first two columns is a number. A line that cannot be cut has none.
fn begins_with_numbers(line: &[u8], separator: Separator) -> [bool; 2] {
    first_two(line, separator).map(|column| column.is_some_and(is_integer))
}

fn has_end_names(line: &[u8], separator: Separator) -> bool {
    first_two(line, separator).into_iter().all(|column| is_one_of(column, &END_NAMES))
}

fn is_one_of(column: Option<&[u8]>, names: &[&str]) -> bool {
    column
        .is_some_and(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name.as_bytes())))
}

fn first_two(line: &[u8], separator: Separator) -> [Option<&[u8]>; 2] {
    let mut fields = Fields::new(line, separator);
    let nowhere = Path::new("").into();
    let mut next = || {
        let at = At { path: &nowhere, line: 0 };
        fields.next(at).ok().flatten().map(|field| field.bytes)
    };
    [next(), next()]
}

/// Passes records to the feed.
struct Records<'s, S> {
    keys: KeyKind,
    weighted: bool,
    separator: Separator,
    feed: Feed<'s, S>,
}

impl<S: Sink> Records<'_, S> {
    /// The current line and all after it.
    fn rest(&mut self, lines: &mut Lines<'_>) -> Result<(), ReadError> {
        loop {
            let (at, line) = (lines.at(), lines.line());
            match two_numbers(line, self.separator) {
                Some((from, to, rest)) if self.keys == KeyKind::Number => {
                    let ends = (KeyRef::Number(from), KeyRef::Number(to));
                    if rest.is_empty() && !self.weighted {
                        self.feed.edge(at, plain(ends))?;
                    } else {
                        self.tail(at, ends, Fields::after(rest, self.separator, 2))?;
                    }
                }
                _ => match line.trim_ascii_start().first() {
                    None | Some(b'#' | b'%') => {}
                    Some(_) => self.record(at, line)?,
                },
            }
            if !lines.advance()? {
                return Ok(());
            }
        }
    }

    /// One record, cut into columns.
    fn record(&mut self, at: At<'_>, line: &[u8]) -> Result<(), ReadError> {
        const ENDS: usize = 2;
        let mut fields = Fields::new(line, self.separator);
        let (from, to) = (fields.need(ENDS, at)?, fields.need(ENDS, at)?);
        if self.keys == KeyKind::Text {
            let (from, to) = (from.text(at)?, to.text(at)?);
            self.tail(at, (KeyRef::Text(&from), KeyRef::Text(&to)), fields)
        } else {
            let (from, to) = (from.number(at)?, to.number(at)?);
            self.tail(at, (KeyRef::Number(from), KeyRef::Number(to)), fields)
        }
    }

    /// What follows the ends of an edge: perhaps a weight, perhaps a time.
    fn tail(
        &mut self,
        at: At<'_>,
        ends: (KeyRef<'_>, KeyRef<'_>),
        mut fields: Fields<'_>,
    ) -> Result<(), ReadError> {
        let mut edge = plain(ends);
        let third = fields.next(at)?;
        if self.weighted {
            let Some(weight) = third else {
                return Err(ReadError::MissingWeight {
                    at: at.place(),
                    from: edge.from.to_string(),
                    to: edge.to.to_string(),
                });
            };
            edge.weight = Some(weight.weight(at)?);
        } else if let Some(field) = third {
            check_number(at, field)?;
        }
        if let Some(field) = third.and(fields.next(at)?) {
            check_number(at, field)?;
        }
        fields.end(at)?;
        self.feed.edge(at, edge)
    }
}

fn plain<'k>((from, to): (KeyRef<'k>, KeyRef<'k>)) -> Edge<'k> {
    Edge { from, to, weight: None }
}

/// Goes to the first vertex of a vertex file, past a row of column names, and tells its kind.
fn vertex_kind(lines: &mut Lines<'_>, keys: KeyChoice) -> Result<KeyKind, ReadError> {
    if !lines.advance_past(COMMENTS)? {
        return Err(ReadError::Empty {
            path: lines.at().place().path.to_path_buf(),
            what: "there is no vertex in this file",
        });
    }
    let [first, _] = first_two(lines.line(), Separator::Any);
    let names = lines.at().line == 1
        && match keys {
            KeyChoice::Number => !first.is_some_and(is_integer),
            KeyChoice::Auto | KeyChoice::Text => is_one_of(first, &VERTEX_NAMES),
        };
    if names && !lines.advance_past(COMMENTS)? {
        return Ok(KeyKind::Number);
    }
    let [first, _] = first_two(lines.line(), Separator::Any);
    Ok(match keys {
        KeyChoice::Text => KeyKind::Text,
        KeyChoice::Auto if !first.is_some_and(is_integer) => KeyKind::Text,
        KeyChoice::Auto | KeyChoice::Number => KeyKind::Number,
    })
}

/// Passes the vertices from the current line on: the first column of each line. What follows it
/// are values of the vertex, which no graph here holds.
fn vertices<S: Sink>(
    lines: &mut Lines<'_>,
    kind: KeyKind,
    feed: &mut Feed<'_, S>,
) -> Result<(), ReadError> {
    let separator = Separator::Any;
    loop {
        let (at, line) = (lines.at(), lines.line());
        if !matches!(line.trim_ascii_start().first(), None | Some(b'#' | b'%')) {
            let key = Fields::new(line, separator).need(1, at)?;
            if kind == KeyKind::Text {
                feed.vertex(at, KeyRef::Text(&key.text(at)?))?;
            } else {
                feed.vertex(at, KeyRef::Number(key.number(at)?))?;
            }
        }
        if !lines.advance()? {
            return Ok(());
        }
    }
}
