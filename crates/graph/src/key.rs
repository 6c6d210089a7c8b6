//! External names of vertices, and the table from dense ids back to them.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use hashbrown::hash_map as map;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable, hash_table};

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

impl From<u64> for Key {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
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
///   - A dense table stores nothing: the key of `v` is the number `v`. Other consecutive numbers
///     take no memory either, and ascending ones only themselves.
#[derive(Clone, Debug)]
pub struct KeyTable {
    columns: Columns,
}

#[derive(Clone, Debug)]
enum Columns {
    Dense(u32),
    /// The keys `first .. first + len`. The last one is a `u64`.
    Consecutive {
        first: u64,
        len: u32,
    },
    /// Strictly ascending; looked up by bisection.
    Ascending(Vec<u64>),
    Number(Numbers),
    Text(Texts),
}

/// Numbers in any order.
#[derive(Clone, Debug, Default)]
struct Numbers {
    keys: Vec<u64>,
    ids: HashMap<u64, VertexId>,
}

/// Texts in any order, each stored once: `ids` hashes through `keys`.
#[derive(Clone, Debug, Default)]
struct Texts {
    keys: Vec<Box<str>>,
    ids: HashTable<VertexId>,
    hasher: DefaultHashBuilder,
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
        Self { columns: Columns::Dense(vertices) }
    }

    /// An empty table of the given kind.
    pub fn empty(kind: KeyKind) -> Self {
        let columns = match kind {
            KeyKind::Dense => Columns::Dense(0),
            KeyKind::Number => Columns::Number(Numbers::default()),
            KeyKind::Text => Columns::Text(Texts::default()),
        };
        Self { columns }
    }

    /// The table of these numbers, each greater than the one before it; without a hash table.
    /// Numbers that start at 0 and leave no gap make a dense table.
    ///
    /// `None` if a number is not greater than the one before it, or if there are more than
    /// [`MAX_VERTICES`].
    pub fn ascending(keys: Vec<u64>) -> Option<Self> {
        let ascends = keys.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || keys.len() > MAX_VERTICES as usize {
            return None;
        }
        let len = keys.len() as u32;
        let columns = match (keys.first(), keys.last()) {
            (Some(&first), Some(&last)) if last - first < u64::from(len) => {
                return Self::consecutive(first, len);
            }
            (None, _) => Columns::Dense(0),
            _ => Columns::Ascending(keys),
        };
        Some(Self { columns })
    }

    /// The table of the numbers `first .. first + len`, which takes no memory; dense if `first`
    /// is 0. `None` if the last number is no `u64` or if there are more than [`MAX_VERTICES`].
    pub fn consecutive(first: u64, len: u32) -> Option<Self> {
        let fits =
            first.checked_add(u64::from(len.saturating_sub(1))).is_some() && len <= MAX_VERTICES;
        let columns = match first {
            0 => Columns::Dense(len),
            _ => Columns::Consecutive { first, len },
        };
        fits.then_some(Self { columns })
    }

    /// Which kind of key the table holds.
    pub fn kind(&self) -> KeyKind {
        match &self.columns {
            Columns::Dense(_) => KeyKind::Dense,
            Columns::Consecutive { .. } | Columns::Ascending(_) | Columns::Number(_) => {
                KeyKind::Number
            }
            Columns::Text(_) => KeyKind::Text,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> u32 {
        match &self.columns {
            Columns::Dense(len) | Columns::Consecutive { len, .. } => *len,
            Columns::Ascending(keys) => keys.len() as u32,
            Columns::Number(numbers) => numbers.keys.len() as u32,
            Columns::Text(texts) => texts.keys.len() as u32,
        }
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of vertex `v`, if there is such a vertex.
    pub fn key(&self, v: VertexId) -> Option<KeyRef<'_>> {
        let place = v as usize;
        match &self.columns {
            Columns::Dense(len) => (v < *len).then(|| KeyRef::from(v)),
            Columns::Consecutive { first, len } => {
                (v < *len).then(|| KeyRef::Number(first + u64::from(v)))
            }
            Columns::Ascending(keys) => keys.get(place).map(|&key| KeyRef::Number(key)),
            Columns::Number(numbers) => numbers.keys.get(place).map(|&key| KeyRef::Number(key)),
            Columns::Text(texts) => texts.keys.get(place).map(|key| KeyRef::Text(key)),
        }
    }

    /// The keys, in id order.
    pub fn iter(&self) -> impl Iterator<Item = KeyRef<'_>> {
        (0..self.len()).map_while(|v| self.key(v))
    }

    /// The vertex with this key, if there is one.
    #[inline]
    pub fn id<'k>(&self, key: impl Into<KeyRef<'k>>) -> Option<VertexId> {
        match (&self.columns, key.into()) {
            (Columns::Dense(len), KeyRef::Number(number)) => {
                (number < u64::from(*len)).then_some(number as VertexId)
            }
            (Columns::Consecutive { first, len }, KeyRef::Number(number)) => {
                let v = number.checked_sub(*first)?;
                (v < u64::from(*len)).then_some(v as VertexId)
            }
            (Columns::Ascending(keys), KeyRef::Number(number)) => {
                keys.binary_search(&number).ok().map(|v| v as VertexId)
            }
            (Columns::Number(numbers), KeyRef::Number(number)) => numbers.ids.get(&number).copied(),
            (Columns::Text(texts), KeyRef::Text(text)) => texts.id(text),
            _ => None,
        }
    }

    /// Gives `key` the next id, or says why not.
    ///
    /// A dense table takes only the number that is next in line; any other number is refused as
    /// of the wrong kind.
    pub fn push<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<VertexId, KeyRefusal> {
        if matches!(self.columns, Columns::Consecutive { .. } | Columns::Ascending(_)) {
            let numbers = self.iter().filter_map(|key| match key {
                KeyRef::Number(number) => Some(number),
                KeyRef::Text(_) => None,
            });
            self.columns = Columns::Number(numbers.collect());
        }
        let next = self.len();
        match (&mut self.columns, key.into()) {
            (Columns::Dense(len), KeyRef::Number(number)) => {
                if number < u64::from(*len) {
                    return Err(KeyRefusal::Duplicate(number as VertexId));
                }
                if next >= MAX_VERTICES {
                    return Err(KeyRefusal::Full);
                }
                if number > u64::from(*len) {
                    return Err(KeyRefusal::WrongKind);
                }
                *len += 1;
                Ok(next)
            }
            (Columns::Number(numbers), KeyRef::Number(number)) => numbers.push(number),
            (Columns::Text(texts), KeyRef::Text(text)) => texts.push(text),
            _ => Err(KeyRefusal::WrongKind),
        }
    }

    /// The id of `key`, given now if it had none.
    pub fn get_or_push<'k>(&mut self, key: impl Into<KeyRef<'k>>) -> Result<VertexId, KeyRefusal> {
        match self.push(key) {
            Ok(id) | Err(KeyRefusal::Duplicate(id)) => Ok(id),
            Err(refusal) => Err(refusal),
        }
    }
}

impl Numbers {
    fn push(&mut self, number: u64) -> Result<VertexId, KeyRefusal> {
        let next = self.keys.len() as u32;
        match self.ids.entry(number) {
            map::Entry::Occupied(entry) => Err(KeyRefusal::Duplicate(*entry.get())),
            map::Entry::Vacant(_) if next >= MAX_VERTICES => Err(KeyRefusal::Full),
            map::Entry::Vacant(entry) => {
                entry.insert(next);
                self.keys.push(number);
                Ok(next)
            }
        }
    }
}

/// Numbers that are all different.
impl FromIterator<u64> for Numbers {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let keys: Vec<u64> = numbers.into_iter().collect();
        let ids = keys.iter().copied().zip(0..).collect();
        Self { keys, ids }
    }
}

impl Texts {
    fn id(&self, text: &str) -> Option<VertexId> {
        let same = |&id: &VertexId| &*self.keys[id as usize] == text;
        self.ids.find(self.hasher.hash_one(text), same).copied()
    }

    fn push(&mut self, text: &str) -> Result<VertexId, KeyRefusal> {
        let Self { keys, ids, hasher } = self;
        let next = keys.len() as u32;
        let entry = ids.entry(
            hasher.hash_one(text),
            |&id| &*keys[id as usize] == text,
            |&id| hasher.hash_one(&*keys[id as usize]),
        );
        match entry {
            hash_table::Entry::Occupied(entry) => Err(KeyRefusal::Duplicate(*entry.get())),
            hash_table::Entry::Vacant(_) if next >= MAX_VERTICES => Err(KeyRefusal::Full),
            hash_table::Entry::Vacant(entry) => {
                entry.insert(next);
                keys.push(text.into());
                Ok(next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(table: &KeyTable) -> Vec<KeyRef<'_>> {
        table.iter().collect()
    }

    #[test]
    fn consecutive_numbers_from_zero_are_dense() {
        let table = KeyTable::ascending(vec![0, 1, 2]).expect("ascends");
        assert_eq!((table.kind(), table.len()), (KeyKind::Dense, 3));
        assert_eq!(table.id(3u64), None);
    }

    #[test]
    fn every_form_finds_its_keys_and_takes_new_ones() {
        for keys in [vec![5, 6, 7], vec![5, 9, 11], vec![u64::MAX - 1, u64::MAX]] {
            let mut table = KeyTable::ascending(keys.clone()).expect("ascends");
            assert_eq!(table.kind(), KeyKind::Number);
            let after = keys[2 % keys.len()].saturating_add(1);
            let beside = [4, 8, after].into_iter().filter(|key| !keys.contains(key));
            assert!(beside.into_iter().all(|key| table.id(key).is_none()), "{keys:?}");
            assert_eq!(table.id("5"), None);
            for (v, &key) in keys.iter().enumerate() {
                assert_eq!(table.id(key), Some(v as u32), "{keys:?}");
            }
            for (v, &key) in keys.iter().enumerate() {
                assert_eq!(table.push(key), Err(KeyRefusal::Duplicate(v as u32)));
                assert_eq!(table.id(key), Some(v as u32), "{keys:?}");
            }
            assert_eq!(table.push(3u64), Ok(keys.len() as u32));
            assert_eq!(table.id(3u64), Some(keys.len() as u32));
            assert_eq!(numbers(&table).len(), keys.len() + 1);
        }
    }

    #[test]
    fn numbers_that_do_not_ascend_or_leave_u64_are_refused() {
        assert!(KeyTable::ascending(vec![1, 1]).is_none());
        assert!(KeyTable::ascending(vec![2, 1]).is_none());
        assert!(KeyTable::consecutive(u64::MAX, 2).is_none());
        assert!(KeyTable::consecutive(1, u32::MAX).is_none());
    }

    #[test]
    fn a_text_is_stored_once_and_found() {
        let mut table = KeyTable::empty(KeyKind::Text);
        for text in ["b", "a", "", "b"] {
            let known = table.id(text);
            let pushed = table.push(text);
            assert_eq!(known.map(KeyRefusal::Duplicate), pushed.err());
        }
        let keys: Vec<String> = table.iter().map(|key| key.to_string()).collect();
        assert_eq!(keys, ["b", "a", ""]);
        assert_eq!(table.push(1u64), Err(KeyRefusal::WrongKind));
        assert_eq!(table.id("a"), Some(1));
    }

    #[test]
    fn a_dense_table_takes_only_the_next_number() {
        let mut table = KeyTable::dense(2);
        assert_eq!(table.push(1u64), Err(KeyRefusal::Duplicate(1)));
        assert_eq!(table.push(3u64), Err(KeyRefusal::WrongKind));
        assert_eq!(table.push(2u64), Ok(2));
        assert_eq!(table.get_or_push(2u64), Ok(2));
    }
}
