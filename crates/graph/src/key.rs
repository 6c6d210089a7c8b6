//! External names of vertices, and the table from dense ids back to them.

use std::fmt;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::id::{MAX_VERTICES, VertexId};

/// The external name of a vertex: a 64-bit number or a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A 64-bit number.
    Number(u64),
    /// A text, any UTF-8.
    Text(Box<str>),
}

/// A borrowed [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRef<'a> {
    /// A 64-bit number.
    Number(u64),
    /// A text, any UTF-8.
    Text(&'a str),
}

impl Key {
    /// The key, borrowed.
    #[inline]
    pub fn as_ref(&self) -> KeyRef<'_> {
        match self {
            Self::Number(number) => KeyRef::Number(*number),
            Self::Text(text) => KeyRef::Text(text),
        }
    }
}

impl KeyRef<'_> {
    /// The key, owned.
    pub fn to_owned(self) -> Key {
        match self {
            Self::Number(number) => Key::Number(number),
            Self::Text(text) => Key::Text(text.into()),
        }
    }
}

impl fmt::Display for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl From<u64> for KeyRef<'_> {
    #[inline]
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for KeyRef<'_> {
    #[inline]
    fn from(number: u32) -> Self {
        Self::Number(u64::from(number))
    }
}

impl<'a> From<&'a str> for KeyRef<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Key> for KeyRef<'a> {
    #[inline]
    fn from(key: &'a Key) -> Self {
        key.as_ref()
    }
}

/// The keys of vertices `0 .. len`, in id order, with the way back.
///
/// # Invariants
///   - `id(key(v)) == Some(v)` for every `v < len`; no key occurs twice.
///   - A dense table stores nothing: the key of `v` is the number `v`.
#[derive(Clone, Debug)]
pub struct KeyTable {
    columns: Columns,
}

#[derive(Clone, Debug)]
enum Columns {
    Dense(u32),
    Number {
        keys: Vec<u64>,
        ids: HashMap<u64, VertexId>,
    },
    Text {
        keys: Vec<Box<str>>,
        ids: HashMap<Box<str>, VertexId>,
    },
}

/// Which kind of key a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Numbers `0 .. len`, equal to the ids.
    Dense,
    /// Any 64-bit numbers.
    Number,
    /// Texts.
    Text,
}

/// Why a table refused a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRefusal {
    /// The key has an id already.
    Duplicate(VertexId),
    /// The table is full ([`MAX_VERTICES`]).
    Full,
    /// A number was given to a table of texts, or the other way round.
    WrongKind,
}

impl KeyTable {
    /// The table in which vertex `v` has the key `v`.
    pub fn dense(vertices: u32) -> Self {
        Self {
            columns: Columns::Dense(vertices),
        }
    }

    /// An empty table of the given kind.
    pub fn empty(kind: KeyKind) -> Self {
        let columns = match kind {
            KeyKind::Dense => Columns::Dense(0),
            KeyKind::Number => Columns::Number {
                keys: Vec::new(),
                ids: HashMap::new(),
            },
            KeyKind::Text => Columns::Text {
                keys: Vec::new(),
                ids: HashMap::new(),
            },
        };
        Self { columns }
    }

    /// Which kind of key the table holds.
    pub fn kind(&self) -> KeyKind {
        match &self.columns {
            Columns::Dense(_) => KeyKind::Dense,
            Columns::Number { .. } => KeyKind::Number,
            Columns::Text { .. } => KeyKind::Text,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> u32 {
        match &self.columns {
            Columns::Dense(vertices) => *vertices,
            Columns::Number { keys, .. } => keys.len() as u32,
            Columns::Text { keys, .. } => keys.len() as u32,
        }
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of vertex `v`, if there is such a vertex.
    pub fn key(&self, v: VertexId) -> Option<KeyRef<'_>> {
        match &self.columns {
            Columns::Dense(vertices) => (v < *vertices).then(|| KeyRef::Number(u64::from(v))),
            Columns::Number { keys, .. } => keys.get(v as usize).map(|&key| KeyRef::Number(key)),
            Columns::Text { keys, .. } => keys.get(v as usize).map(|key| KeyRef::Text(key)),
        }
    }

    /// The vertex with this key, if there is one.
    #[inline]
    pub fn id<'k>(&self, key: impl Into<KeyRef<'k>>) -> Option<VertexId> {
        match (&self.columns, key.into()) {
            (Columns::Dense(vertices), KeyRef::Number(number)) => {
                (number < u64::from(*vertices)).then_some(number as VertexId)
            }
            (Columns::Number { ids, .. }, KeyRef::Number(number)) => ids.get(&number).copied(),
            (Columns::Text { ids, .. }, KeyRef::Text(text)) => ids.get(text).copied(),
            _ => None,
        }
    }

    /// Gives `key` the next id, or says why not.
    ///
    /// A dense table takes only the number that is next in line; any other number is refused as
    /// of the wrong kind.
    pub fn push<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<VertexId, KeyRefusal> {
        let next = self.len();
        let key = key.into();
        if let Some(id) = self.id(key) {
            return Err(KeyRefusal::Duplicate(id));
        }
        if next >= MAX_VERTICES {
            return Err(KeyRefusal::Full);
        }
        match (&mut self.columns, key) {
            (Columns::Dense(vertices), KeyRef::Number(number)) if number == u64::from(next) => {
                *vertices += 1;
            }
            (Columns::Number { keys, ids }, KeyRef::Number(number)) => {
                keys.push(number);
                ids.insert(number, next);
            }
            (Columns::Text { keys, ids }, KeyRef::Text(text)) => {
                keys.push(text.into());
                ids.insert(text.into(), next);
            }
            _ => return Err(KeyRefusal::WrongKind),
        }
        Ok(next)
    }

    /// The id of `key`, given now if it had none.
    pub fn get_or_push<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<VertexId, KeyRefusal> {
        match self.push(key) {
            Ok(id) | Err(KeyRefusal::Duplicate(id)) => Ok(id),
            Err(refusal) => Err(refusal),
        }
    }
}
