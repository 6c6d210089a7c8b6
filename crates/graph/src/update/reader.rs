//! Reading an update log as a stream.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use super::Update;
use crate::key::{KeyKind, KeyRef};
use crate::progress::Progress;
use crate::read::fields::{Field, Fields, Separator, is_integer};
use crate::read::input::Meter;
use crate::read::lines::{At, Lines};
use crate::read::{KeyChoice, Place, ReadError};

const COMMENTS: &[u8] = b"#";

/// Reads the updates of a log, one after the other.
///
/// ```
/// use std::path::Path;
/// use evergraph_graph::read::KeyChoice;
/// use evergraph_graph::update::{Update, UpdateReader};
///
/// let log = &b"av 7\na 7 8 0.5\n"[..];
/// let mut reader = UpdateReader::from_stream(log, Path::new("log"), KeyChoice::Auto, &())?;
/// while let Some((line, update)) = reader.read()? {
///     match update {
///         Update::AddVertex(key) => assert_eq!((line, key), (1, 7u64.into())),
///         other => assert_eq!((line, matches!(other, Update::AddEdge { .. })), (2, true)),
///     }
/// }
/// # Ok::<(), evergraph_graph::ReadError>(())
/// ```
pub struct UpdateReader<'p> {
    lines: Lines<'p>,
    choice: KeyChoice,
    /// Decided by the first update.
    kind: Option<KeyKind>,
    /// Keys that do not stand in the file as they are, because of doubled quotes.
    unquoted: [String; 2],
}

impl<'p> UpdateReader<'p> {
    /// Opens a log. Its name says how it is compressed.
    pub fn open(
        path: &Path,
        keys: KeyChoice,
        progress: &'p dyn Progress,
    ) -> Result<Self, ReadError> {
        let meter = Meter::new(progress, [path]);
        Ok(Self::new(Lines::open(path, &meter)?, keys))
    }

    /// Reads a log that is no file and is not compressed. `name` stands for it in messages.
    pub fn from_stream(
        stream: impl Read + Send + 'p,
        name: &Path,
        keys: KeyChoice,
        progress: &'p dyn Progress,
    ) -> Result<Self, ReadError> {
        let meter = Meter::new(progress, [name]);
        Ok(Self::new(Lines::stream(stream, name, &meter)?, keys))
    }

    fn new(lines: Lines<'p>, choice: KeyChoice) -> Self {
        Self { lines, choice, kind: None, unquoted: Default::default() }
    }

    /// The next update and the number of its line; `None` at the end of the log.
    ///
    /// After an error the reader is at the line of the error, and goes on behind it.
    pub fn read(&mut self) -> Result<Option<(u64, Update<KeyRef<'_>>)>, ReadError> {
        if !self.lines.advance_past(COMMENTS)? {
            return Ok(None);
        }
        let Self { lines, choice, kind, unquoted } = self;
        let (at, line) = (lines.at(), lines.line());
        let mut fields = Fields::new(line, Separator::Blank);
        let verb = fields.need(2, at)?;
        let ends = match verb.bytes {
            b"a" | b"d" | b"u" => 2,
            b"av" | b"dv" => 1,
            _ => {
                let problem = format!(
                    "`{}` is no update; a line begins with a, d, u, av or dv",
                    verb.shown()
                );
                return Err(at.malformed(problem));
            }
        };
        let from = fields.need(1 + ends, at)?;
        let to = if ends == 2 { fields.need(1 + ends, at)? } else { from };
        let chosen = *kind.get_or_insert_with(|| choose(*choice, from, to));
        let [first, second] = unquoted;
        let (from, to) = (key(from, chosen, at, first)?, key(to, chosen, at, second)?);
        let update = match verb.bytes {
            b"a" => {
                let weight = fields.next(at)?.map(|field| field.weight(at)).transpose()?;
                Update::AddEdge { from, to, weight }
            }
            b"d" => Update::DeleteEdge { from, to },
            b"u" => {
                let Some(weight) = fields.next(at)? else {
                    return Err(ReadError::MissingWeight {
                        at: at.place(),
                        from: from.to_string(),
                        to: to.to_string(),
                    });
                };
                Update::SetWeight { from, to, weight: weight.weight(at)? }
            }
            b"av" => Update::AddVertex(from),
            _ => Update::DeleteVertex(from),
        };
        fields.end(at)?;
        Ok(Some((at.line, update)))
    }

    /// The line of the last update, for messages about it.
    pub fn place(&self) -> Place {
        self.lines.at().place()
    }
}

fn choose(choice: KeyChoice, from: Field<'_>, to: Field<'_>) -> KeyKind {
    match choice {
        KeyChoice::Number => KeyKind::Number,
        KeyChoice::Auto if is_integer(from.bytes) && is_integer(to.bytes) => KeyKind::Number,
        KeyChoice::Auto | KeyChoice::Text => KeyKind::Text,
    }
}

fn key<'a>(
    field: Field<'a>,
    kind: KeyKind,
    at: At<'_>,
    unquoted: &'a mut String,
) -> Result<KeyRef<'a>, ReadError> {
    if kind != KeyKind::Text {
        return field.number(at).map(KeyRef::Number);
    }
    Ok(KeyRef::Text(match field.text(at)? {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => {
            *unquoted = text;
            unquoted
        }
    }))
}
