//! The window of changes that wait in front of the graph.
//!
//! # Layout
//!   ```text
//!   oldest  [ chunk | chunk | .. | chunk being filled ]  newest
//!   ```
//!   A batch is some chunks from the left. Buffers of archived chunks are filled again.
//! # Invariants
//!   - F1 `turn` is held from the moment a batch is taken until it is archived or put back, so
//!     batches are archived in their order.
//!   - F2 `archived + taken + waiting` is how many changes were ever appended.
//!   - F3 `window` is held for moments only; never while a batch is archived.
//!   - F4 Options that are changed hold for what is appended and archived later; a chunk stays as long
//!     as it was begun.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evergraph_graph::KeyRef;

use super::{Backlog, Full, IngestOptions};
use crate::Error;
use crate::account::Account;
use crate::engine::fat_tree::{Unchecked, Wish};
use crate::fault::{Fault, planted};
use crate::pool::Pool;
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::time::{Limit, moment};

/// Changes of a chunk, unless a batch has fewer.
const CHUNK: usize = 1 << 16;

/// A change, by the keys of its ends.
#[derive(Clone, Copy)]
pub(crate) struct Named<'k> {
    pub(super) source: KeyRef<'k>,
    pub(super) target: KeyRef<'k>,
    pub(super) wish: Wish,
    /// Whether it gives a weight.
    pub(super) weighted: bool,
}

impl<'k> Named<'k> {
    #[inline]
    pub(super) fn new(
        source: impl Into<KeyRef<'k>>,
        target: impl Into<KeyRef<'k>>,
        wish: Wish,
    ) -> Self {
        Self { source: source.into(), target: target.into(), wish, weighted: false }
    }

    /// The same, as one that gives a weight.
    #[inline]
    pub(super) fn weighted(self) -> Self {
        Self { weighted: true, ..self }
    }
}

/// Changes, by what the database calls its vertices.
#[derive(Clone)]
pub(super) enum Changes {
    Ids(Vec<Unchecked>),
    Numbers(Vec<(u64, u64, Wish)>),
    Texts(Vec<(Box<str>, Box<str>, Wish)>),
}

/// Some changes in a row.
#[derive(Clone)]
pub(super) struct Chunk {
    pub(super) changes: Changes,
    /// When the first was appended.
    begun: Instant,
    /// Bytes in the account.
    bytes: usize,
    /// So many changes it takes.
    room: usize,
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.len() >= self.room
    }

    pub(super) fn len(&self) -> usize {
        match &self.changes {
            Changes::Ids(changes) => changes.len(),
            Changes::Numbers(changes) => changes.len(),
            Changes::Texts(changes) => changes.len(),
        }
    }
}

/// Chunks that are archived together.
pub(super) struct Batch {
    pub(super) chunks: Vec<Chunk>,
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }
}

struct Window {
    options: IngestOptions,
    chunks: VecDeque<Chunk>,
    spares: Vec<Chunk>,
    waiting: usize,
    taken: usize,
    archived: u64,
}

impl Window {
    /// So many changes a chunk takes that is begun now.
    fn room(&self) -> usize {
        CHUNK.min(self.options.batch)
    }
}

/// The window of a database.
pub(crate) struct Front {
    empty: Changes,
    account: Account,
    window: Mutex<Window>,
    /// Somebody appended to an empty window, or filled it up to the threshold.
    begun: Condvar,
    turn: Mutex<()>,
    /// The threads that work on a batch, and how many there were to be.
    pool: Mutex<Option<(usize, Arc<Pool>)>>,
}

/// The right to archive.
pub(super) type Turn<'f> = MutexGuard<'f, ()>;

impl Front {
    /// The window of a database whose changes look like `empty`.
    pub(super) fn new(options: IngestOptions, empty: Changes, account: Account) -> Self {
        let (chunks, spares) = (VecDeque::new(), Vec::new());
        let window = Window { options, chunks, spares, waiting: 0, taken: 0, archived: 0 };
        Self {
            empty,
            account,
            window: Mutex::new(window),
            begun: Condvar::new(),
            turn: Mutex::default(),
            pool: Mutex::default(),
        }
    }

    /// When changes are archived.
    pub(super) fn options(&self) -> IngestOptions {
        self.window.lock().options
    }

    /// Changes when they are archived (F4).
    pub(super) fn set_options(&self, options: IngestOptions) {
        let mut window = self.window.lock();
        window.options = options;
        // Who waits for changes to be old or many enough may have waited long enough.
        self.begun.notify_all();
    }

    /// The threads that work on a batch.
    pub(super) fn pool(&self) -> Arc<Pool> {
        let wanted = self.options().threads;
        let mut pool = self.pool.lock();
        match &*pool {
            Some((threads, pool)) if *threads == wanted => Arc::clone(pool),
            _ => {
                let made = Arc::new(Pool::new(wanted));
                *pool = Some((wanted, Arc::clone(&made)));
                made
            }
        }
    }

    /// Appends changes that are known to be right, as many as there is room for; how many.
    #[inline]
    pub(super) fn append(&self, changes: &[Named<'_>]) -> usize {
        let mut window = self.window.lock();
        let room = window.options.backlog.saturating_sub(window.waiting + window.taken);
        let before = window.waiting;
        for change in &changes[..changes.len().min(room)] {
            self.push(&mut window, change);
        }
        let threshold = window.options.threshold;
        if window.waiting > before
            && (before == 0 || (before < threshold && window.waiting >= threshold))
        {
            self.begun.notify_all();
        }
        window.waiting - before
    }

    #[inline]
    fn push(&self, window: &mut Window, change: &Named<'_>) {
        if window.chunks.back().is_none_or(Chunk::is_full) {
            self.begin_chunk(window);
        }
        let chunk = window.chunks.back_mut().expect("there is one now");
        let &Named { source, target, wish, .. } = change;
        match (&mut chunk.changes, source, target) {
            (Changes::Ids(changes), KeyRef::Number(source), KeyRef::Number(target)) => {
                let (source, target) = (source as u32, target as u32);
                changes.push(Unchecked { source, target, wish });
            }
            (Changes::Numbers(changes), KeyRef::Number(source), KeyRef::Number(target)) => {
                changes.push((source, target, wish));
            }
            (Changes::Texts(changes), KeyRef::Text(source), KeyRef::Text(target)) => {
                let bytes = source.len() + target.len();
                chunk.bytes += bytes;
                self.account.add(bytes);
                changes.push((source.into(), target.into(), wish));
            }
            _ => unreachable!("keys were checked before"),
        }
        window.waiting += 1;
    }

    #[cold]
    fn begin_chunk(&self, window: &mut Window) {
        let (begun, room) = (moment(), window.room());
        let spare = window.spares.pop().unwrap_or_else(|| {
            let changes = self.empty.clone();
            Chunk { changes, begun, bytes: 0, room }
        });
        let mut chunk = Chunk { begun, room, ..spare };
        // A spare of a longer chunk has more room than it uses.
        let bytes = chunk.changes.reserve(room);
        self.account.add(bytes - chunk.bytes);
        chunk.bytes = bytes;
        window.chunks.push_back(chunk);
    }

    /// An error if changes that find no room are refused.
    pub(super) fn refuse(&self) -> Result<(), Error> {
        let options = self.options();
        match options.full {
            Full::Wait => Ok(()),
            Full::Refuse => Err(Error::BacklogFull { max: options.backlog }),
        }
    }

    /// Waits until there is something to archive, for so long at most; true if there is.
    pub(super) fn wait(&self, limit: Duration) -> bool {
        let mut window = self.window.lock();
        let limit = Limit::new(limit);
        loop {
            let age = window.chunks.front().map(|oldest| oldest.begun.elapsed());
            let IngestOptions { delay, threshold, .. } = window.options;
            if age.is_some_and(|age| age >= delay) || window.waiting >= threshold {
                return true;
            }
            let left = limit.left();
            if left.is_zero() {
                return false;
            }
            let pause = age.map_or(left, |age| left.min(delay.saturating_sub(age)));
            self.begun.wait_for(&mut window, pause);
        }
    }

    /// The place behind everything that was appended so far (F2).
    pub(super) fn end(&self) -> u64 {
        let window = self.window.lock();
        window.archived + (window.taken + window.waiting) as u64
    }

    /// Whether everything before a place is archived.
    pub(super) fn is_archived(&self, end: u64) -> bool {
        let window = self.window.lock();
        window.archived >= end || (window.waiting == 0 && planted(Fault::FlushEarly))
    }

    /// The right to archive, once nobody else is about it.
    pub(super) fn turn(&self) -> Turn<'_> {
        self.turn.lock()
    }

    /// The next batch, if anything waits.
    pub(super) fn take(&self, _turn: &Turn<'_>) -> Option<Batch> {
        let mut window = self.window.lock();
        let mut batch = Batch { chunks: Vec::new() };
        let mut taken = 0;
        while let Some(next) = window.chunks.front()
            && (taken == 0 || taken + next.len() <= window.options.batch)
        {
            taken += next.len();
            batch.chunks.extend(window.chunks.pop_front());
        }
        window.taken = taken;
        window.waiting -= taken;
        (taken > 0).then_some(batch)
    }

    /// What waits, as it is now.
    pub(super) fn copy(&self, _turn: &Turn<'_>) -> Batch {
        let window = self.window.lock();
        Batch { chunks: window.chunks.iter().cloned().collect() }
    }

    /// The batch was archived.
    pub(super) fn finish(&self, _turn: &Turn<'_>, batch: Batch) {
        let len = batch.len();
        let mut chunks = batch.chunks;
        for chunk in &mut chunks {
            let texts = chunk.clear();
            self.account.sub(texts);
        }
        let mut window = self.window.lock();
        window.taken = 0;
        window.archived += len as u64;
        let spares = window.options.threshold.div_ceil(window.room()) + 1;
        while window.spares.len() < spares
            && let Some(chunk) = chunks.pop()
        {
            window.spares.push(chunk);
        }
        drop(window);
        for chunk in chunks {
            self.account.sub(chunk.bytes);
        }
    }

    /// The batch could not be archived: it is the next one again.
    pub(super) fn put_back(&self, turn: &Turn<'_>, batch: Batch) {
        if planted(Fault::BatchLostOnFailure) {
            return self.finish(turn, batch);
        }
        let len = batch.len();
        let mut window = self.window.lock();
        window.taken = 0;
        window.waiting += len;
        batch.chunks.into_iter().rev().for_each(|chunk| window.chunks.push_front(chunk));
    }

    /// What waits or is being archived.
    pub(crate) fn backlog(&self) -> Backlog {
        let window = self.window.lock();
        let age = window.chunks.front().map_or(Duration::ZERO, |chunk| chunk.begun.elapsed());
        Backlog { changes: window.waiting + window.taken, age }
    }
}

impl Changes {
    /// Makes room; how many bytes it takes.
    fn reserve(&mut self, changes: usize) -> usize {
        fn reserve<T>(vec: &mut Vec<T>, len: usize) -> usize {
            vec.reserve_exact(len);
            vec.capacity() * size_of::<T>()
        }
        match self {
            Self::Ids(vec) => reserve(vec, changes),
            Self::Numbers(vec) => reserve(vec, changes),
            Self::Texts(vec) => reserve(vec, changes),
        }
    }
}

impl Chunk {
    /// Forgets the changes, but keeps their room; how many bytes of texts went.
    fn clear(&mut self) -> usize {
        match &mut self.changes {
            Changes::Ids(vec) => vec.clear(),
            Changes::Numbers(vec) => vec.clear(),
            Changes::Texts(vec) => vec.clear(),
        }
        let bytes = self.changes.reserve(self.room);
        std::mem::replace(&mut self.bytes, bytes) - bytes
    }
}
