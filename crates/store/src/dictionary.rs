//! From keys to dense ids and back.
//!
//! A key gets an id when a transaction first asks to add it, and keeps it; whether the vertex
//! exists at a version is said by the group of the id, which is versioned. So the dictionary
//! itself needs no versions.
//!
//! # Invariants
//!   - K1 `ids` and `keys` say the same, seen under the lock of the key's shard.
//!   - K2 A transaction that is to add a key reserves it until it ends ([`Dictionary::reserve`],
//!     [`Dictionary::unreserve`]).
//!   - K3 An id is given up ([`Dictionary::release`]) only under the latch of its group, when the
//!     vertex does not exist, no lease is open at which it did, and nobody has reserved it. It
//!     may then get another key.

use std::hash::{BuildHasher, Hash};

use evergraph_graph::{Key, KeyKind, KeyRef, MAX_VERTICES, VertexId};
use hashbrown::{DefaultHashBuilder, Equivalent, HashMap};

use crate::account::Account;
use crate::sync::{AtomicU32, Mutex, Ordering, RwLock};

/// Parts of a dictionary, each with a lock; a power of two.
const SHARDS: usize = if cfg!(torture) { 2 } else { 64 };

/// The keys of a database.
pub(crate) struct Dictionary {
    names: Names,
    /// Ids `>= bound` were never given out. Raised before the id is used; readers need no more
    /// than a bound that covers the vertices of their version.
    bound: AtomicU32,
}

enum Names {
    /// The key is the id.
    Dense,
    Number(Table<u64>),
    Text(Table<Box<str>>),
}

/// Why a key has no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoId {
    WrongKind,
    Full,
}

impl Dictionary {
    /// A dictionary in which the first `dense` ids are given out, if it is dense.
    pub(crate) fn new(kind: KeyKind, dense: u32, account: &Account) -> Self {
        let names = match kind {
            KeyKind::Dense => Names::Dense,
            KeyKind::Number => Names::Number(Table::new(account)),
            KeyKind::Text => Names::Text(Table::new(account)),
        };
        Self { names, bound: AtomicU32::new(dense) }
    }

    pub(crate) fn kind(&self) -> KeyKind {
        match self.names {
            Names::Dense => KeyKind::Dense,
            Names::Number(_) => KeyKind::Number,
            Names::Text(_) => KeyKind::Text,
        }
    }

    /// Every id is less than this.
    #[inline]
    pub(crate) fn bound(&self) -> u32 {
        self.bound.load(Ordering::Acquire)
    }

    /// The id of a key, if it has one.
    #[inline]
    pub(crate) fn id(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, NoId> {
        match (&self.names, key) {
            (Names::Dense, KeyRef::Number(number)) => {
                Ok((number < u64::from(self.bound())).then_some(number as VertexId))
            }
            (Names::Number(table), KeyRef::Number(number)) => Ok(table.id(&number)),
            (Names::Text(table), KeyRef::Text(text)) => Ok(table.id(text)),
            _ => Err(NoId::WrongKind),
        }
    }

    /// The id of a key, given now if it had none, and not given up before it is unreserved.
    pub(crate) fn reserve(&self, key: KeyRef<'_>) -> Result<VertexId, NoId> {
        match (&self.names, key) {
            (Names::Dense, KeyRef::Number(number)) => {
                if number >= u64::from(MAX_VERTICES) {
                    return Err(NoId::Full);
                }
                self.bound.fetch_max(number as u32 + 1, Ordering::AcqRel);
                Ok(number as VertexId)
            }
            (Names::Number(table), KeyRef::Number(number)) => {
                table.reserve(&number, || number, || self.new_id())
            }
            (Names::Text(table), KeyRef::Text(text)) => {
                table.reserve(text, || text.into(), || self.new_id())
            }
            _ => Err(NoId::WrongKind),
        }
    }

    /// Gives keys the ids they had, and takes all other ids below `bound` as free. Where two ids have
    /// the same key, `is_live` says whose it is. The dictionary is new.
    pub(crate) fn load(
        &self,
        bound: u32,
        keys: &[Option<Key>],
        is_live: impl Fn(VertexId) -> bool,
    ) {
        self.bound.fetch_max(bound, Ordering::AcqRel);
        let ids = || (0..bound).map(|id| (id, keys.get(id as usize).and_then(Option::as_ref)));
        for live in [true, false] {
            for (id, key) in ids().filter(|&(id, _)| is_live(id) == live) {
                match (&self.names, key) {
                    (Names::Number(table), Some(Key::Number(number))) => table.place(number, id),
                    (Names::Text(table), Some(Key::Text(text))) => table.place(text, id),
                    (Names::Number(table), _) => table.give_back(id),
                    (Names::Text(table), _) => table.give_back(id),
                    (Names::Dense, _) => {}
                }
            }
        }
    }

    /// Takes one reservation of a key back.
    pub(crate) fn unreserve(&self, key: KeyRef<'_>) {
        match (&self.names, key) {
            (Names::Number(table), KeyRef::Number(number)) => table.unreserve(&number),
            (Names::Text(table), KeyRef::Text(text)) => table.unreserve(text),
            _ => {}
        }
    }

    fn new_id(&self) -> Option<VertexId> {
        let next = self.bound.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bound| {
            (bound < MAX_VERTICES).then_some(bound + 1)
        });
        next.ok()
    }

    /// The key of an id, if it has one.
    pub(crate) fn key(&self, id: VertexId) -> Option<Key> {
        match &self.names {
            Names::Dense => Some(Key::Number(u64::from(id))),
            Names::Number(table) => table.key(id).map(Key::Number),
            Names::Text(table) => table.key(id).map(Key::Text),
        }
    }

    /// Whether ids are given up at all.
    pub(crate) fn recycles(&self) -> bool {
        !matches!(self.names, Names::Dense)
    }

    /// Gives an id up, unless it is reserved (K3).
    pub(crate) fn release(&self, id: VertexId) {
        match &self.names {
            Names::Dense => {}
            Names::Number(table) => table.release(id),
            Names::Text(table) => table.release(id),
        }
    }
}

/// What a key of the dictionary takes beside its place in the tables.
trait Name: Clone + Eq + Hash {
    fn heap_bytes(&self) -> usize;
}

impl Name for u64 {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Name for Box<str> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

/// A shard whose table has room for so many times the keys it holds is made smaller.
const SPARSE_SHARE: usize = 4;
/// Smaller shards are left as they are.
const SHRINK_MIN: usize = 64;

/// Keys of one type and their ids.
struct Table<K> {
    hasher: DefaultHashBuilder,
    ids: Box<[RwLock<HashMap<K, Entry>>]>,
    /// The key of `id` is `keys[id % SHARDS][id / SHARDS]`. Locked after a shard of `ids`.
    keys: Box<[RwLock<Vec<Option<K>>>]>,
    free: Mutex<Vec<VertexId>>,
    /// Counts the tables and the texts.
    account: Account,
}

#[derive(Clone, Copy)]
struct Entry {
    id: VertexId,
    /// Open transactions that are to add the key.
    reserved: u32,
}

/// Bytes of the allocation of a vector.
fn vec_bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}

impl<K: Name> Table<K> {
    fn new(account: &Account) -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            ids: (0..SHARDS).map(|_| RwLock::new(HashMap::default())).collect(),
            keys: (0..SHARDS).map(|_| RwLock::new(Vec::new())).collect(),
            free: Mutex::new(Vec::new()),
            account: account.clone(),
        }
    }

    #[inline]
    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> &RwLock<HashMap<K, Entry>> {
        &self.ids[(self.hasher.hash_one(key) >> 32) as usize & (SHARDS - 1)]
    }

    #[inline]
    fn id<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) -> Option<VertexId> {
        self.shard(key).read().get(key).map(|entry| entry.id)
    }

    fn reserve<Q: Equivalent<K> + Hash + ?Sized>(
        &self,
        key: &Q,
        own: impl FnOnce() -> K,
        new_id: impl FnOnce() -> Option<VertexId>,
    ) -> Result<VertexId, NoId> {
        let mut ids = self.shard(key).write();
        if let Some(entry) = ids.get_mut(key) {
            entry.reserved += 1;
            return Ok(entry.id);
        }
        let freed = self.free.lock().pop();
        let id = freed.or_else(new_id).ok_or(NoId::Full)?;
        self.enter(&mut ids, own(), Entry { id, reserved: 1 });
        Ok(id)
    }

    /// Gives a key an id, unless it has one: then the id is free.
    fn place(&self, key: &K, id: VertexId) {
        let mut ids = self.shard(key).write();
        if ids.contains_key(key) {
            drop(ids);
            return self.give_back(id);
        }
        self.enter(&mut ids, key.clone(), Entry { id, reserved: 0 });
    }

    fn enter(&self, ids: &mut HashMap<K, Entry>, key: K, entry: Entry) {
        let id = entry.id;
        let (shard, at) = (id as usize % SHARDS, id as usize / SHARDS);
        let mut keys = self.keys[shard].write();
        let before = ids.allocation_size() + vec_bytes(&keys);
        if keys.len() <= at {
            keys.resize(at + 1, None);
        }
        let texts = 2 * key.heap_bytes();
        keys[at] = Some(key.clone());
        ids.insert(key, entry);
        self.account.add(ids.allocation_size() + vec_bytes(&keys) - before + texts);
    }

    fn unreserve<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) {
        if let Some(entry) = self.shard(key).write().get_mut(key) {
            entry.reserved -= 1;
        }
    }

    fn key(&self, id: VertexId) -> Option<K> {
        self.keys[id as usize % SHARDS].read().get(id as usize / SHARDS).cloned().flatten()
    }

    fn release(&self, id: VertexId) {
        let Some(key) = self.key(id) else { return };
        let mut ids = self.shard(&key).write();
        if ids.get(&key).is_some_and(|entry| entry.id == id && entry.reserved == 0) {
            let before = ids.allocation_size();
            ids.remove(&key);
            if ids.capacity() > SHRINK_MIN.max(SPARSE_SHARE * ids.len()) {
                let room = 2 * ids.len();
                ids.shrink_to(room);
            }
            self.account.sub(before - ids.allocation_size() + 2 * key.heap_bytes());
            self.keys[id as usize % SHARDS].write()[id as usize / SHARDS] = None;
            self.give_back(id);
        }
    }

    fn give_back(&self, id: VertexId) {
        let mut free = self.free.lock();
        let before = vec_bytes(&free);
        free.push(id);
        self.account.add(vec_bytes(&free) - before);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_id_until_it_is_released() {
        let dictionary = Dictionary::new(KeyKind::Text, 0, &Account::default());
        let reserve = |key: &'static str| dictionary.reserve(key.into());
        assert_eq!((reserve("a"), reserve("b"), reserve("a")), (Ok(0), Ok(1), Ok(0)));
        assert_eq!(dictionary.key(1), Some(Key::Text("b".into())));
        dictionary.unreserve("a".into());
        dictionary.release(0);
        assert_eq!(dictionary.id("a".into()), Ok(Some(0)), "somebody else has reserved it");
        dictionary.unreserve("a".into());
        dictionary.release(0);
        assert_eq!((dictionary.id("a".into()), dictionary.key(0)), (Ok(None), None));
        assert_eq!((reserve("c"), reserve("a"), dictionary.bound()), (Ok(0), Ok(2), 3));
    }

    #[test]
    fn the_table_of_keys_shrinks_with_what_is_released() {
        let account = Account::default();
        let dictionary = Dictionary::new(KeyKind::Number, 0, &account);
        let empty = account.bytes();
        for key in 0..10_000u64 {
            dictionary.reserve(key.into()).expect("there is room");
        }
        let full = account.bytes() - empty;
        for id in 0..10_000 {
            dictionary.unreserve(u64::from(id).into());
            dictionary.release(id);
        }
        let left = account.bytes() - empty;
        assert!(left < full * 3 / 4, "{left} of {full} bytes are left");
    }

    #[test]
    fn a_dense_key_is_its_id() {
        let dictionary = Dictionary::new(KeyKind::Dense, 10, &Account::default());
        assert_eq!(dictionary.id(9u64.into()), Ok(Some(9)));
        assert_eq!(dictionary.id(10u64.into()), Ok(None));
        assert_eq!(dictionary.reserve(12u64.into()), Ok(12));
        assert_eq!(dictionary.bound(), 13);
        assert_eq!(dictionary.reserve(u64::MAX.into()), Err(NoId::Full));
        assert_eq!(dictionary.id("a".into()), Err(NoId::WrongKind));
    }
}
