//! A batch from the window becomes a version of the graph.
//!
//! # Steps
//!   1. Keys become ids. Those of edges that are put in get ids now if they have none, reserved
//!      until the batch is done; `releases` is held, so no id changes its key meanwhile.
//!   2. The engine takes the changes in (`engine/fat_tree/absorb.rs`).
//!   3. Reservations are taken back. If the batch failed it goes back to the window, and the new ids are
//!      given up.

use evergraph_graph::{Key, KeyKind, KeyRef, MAX_VERTICES};

use super::front::{Batch, Changes, Chunk, Front, Named};
use crate::database::Inner;
use crate::durable::Durable;
use crate::engine::fat_tree::{self, Refusal, Scribe, Unchecked, VertexChange, Wish};
use crate::error::Error;
use crate::log::Stopped;
use crate::log::record::Record;
use crate::options::{Options, SelfLoops};
use crate::service::Rest;
use crate::time::PERIOD;
use crate::txn::refused;
use crate::{Result, Version};

/// Changes that are appended at once, so that others get their turn.
const APPENDED: usize = 1 << 10;

impl Front {
    /// The window of a database.
    pub(crate) fn of(options: &Options, account: &crate::account::Account) -> Self {
        let empty = match options.keys {
            KeyKind::Dense => Changes::Ids(Vec::new()),
            KeyKind::Number => Changes::Numbers(Vec::new()),
            KeyKind::Text => Changes::Texts(Vec::new()),
        };
        Self::new(options.ingest, empty, account.clone())
    }
}

/// A batch whose keys became ids.
struct Resolved {
    changes: Vec<Unchecked>,
    /// The keys that got ids, or would have.
    reserved: Vec<Key>,
}

/// The part of a chunk.
#[derive(Default)]
struct Part {
    changes: Vec<Unchecked>,
    /// Changes that put nothing in, of keys that had no id yet: where they stand.
    unknown: Vec<usize>,
    reserved: Vec<Key>,
    error: Option<Error>,
}

impl Inner {
    /// Appends changes to the window.
    pub(crate) fn ingest<'k>(&self, changes: impl IntoIterator<Item = Named<'k>>) -> Result<()> {
        let mut changes = changes.into_iter();
        let first = changes.next();
        let second = changes.next();
        if let (Some(only), None) = (first, second) {
            self.check_change(&only)?;
            return self.append(&[only]);
        }
        let mut left = first.into_iter().chain(second).chain(changes);
        let mut some = Vec::with_capacity(APPENDED);
        loop {
            some.clear();
            let mut wrong = None;
            some.extend(left.by_ref().take(APPENDED).map_while(|change| {
                wrong = self.check_change(&change).err();
                wrong.is_none().then_some(change)
            }));
            self.append(&some)?;
            match wrong {
                Some(error) => return Err(error),
                None if some.len() < APPENDED => return Ok(()),
                None => {}
            }
        }
    }

    fn append(&self, mut changes: &[Named<'_>]) -> Result<()> {
        loop {
            changes = &changes[self.front.append(changes)..];
            if changes.is_empty() {
                return Ok(());
            }
            self.front.refuse()?;
            self.archive()?;
        }
    }

    /// What can never be right.
    #[inline]
    fn check_change(&self, change: &Named<'_>) -> Result<()> {
        let Named { source, target, wish, weighted } = *change;
        self.check_key(source)?;
        self.check_key(target)?;
        let puts = matches!(wish, Wish::Put(_));
        if puts && self.options.self_loops == SelfLoops::Forbidden && source == target {
            return Err(Error::SelfLoop { key: source.to_owned() });
        }
        match wish {
            Wish::Put(weight) | Wish::Set(weight) if weighted => {
                self.check_weight(source, target, weight)
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        match (self.options.keys, key) {
            (KeyKind::Number, KeyRef::Number(_)) | (KeyKind::Text, KeyRef::Text(_)) => Ok(()),
            (KeyKind::Dense, KeyRef::Number(number)) if number < u64::from(MAX_VERTICES) => Ok(()),
            (KeyKind::Dense, KeyRef::Number(_)) => {
                Err(Error::TooManyVertices { key: key.to_owned() })
            }
            _ => self.id(key).map(drop),
        }
    }

    /// Archives everything that was appended before the call.
    pub(crate) fn flush(&self) -> Result<Version> {
        let end = self.front.end();
        while !self.front.is_archived(end) {
            self.archive()?;
        }
        Ok(Version(self.versions.clock.visible()))
    }

    /// Archives a batch, once nobody else is about it.
    fn archive(&self) -> Result<()> {
        let turn = self.front.turn();
        let Some(batch) = self.front.take(&turn) else { return Ok(()) };
        let done = self.absorb(&batch);
        match done {
            Ok(()) => self.front.finish(&turn, batch),
            Err(_) => self.front.put_back(&turn, batch),
        }
        done
    }

    /// Runs `read` while nothing is archived; what it gets is what waits.
    pub(crate) fn with_window<R>(&self, read: impl FnOnce() -> R) -> (R, Window) {
        let turn = self.front.turn();
        (read(), Window(self.front.copy(&turn)))
    }

    /// Makes the changes of a window at once.
    pub(crate) fn take_in(&self, window: &Window) -> Result<()> {
        if window.0.chunks.is_empty() { Ok(()) } else { self.absorb(&window.0) }
    }

    /// Archives what waits long enough, until the thread is to end.
    pub(crate) fn keep_archiving(&self, rest: &Rest) {
        while !rest.is_over() {
            // Whoever flushes, or finds no room, hears about errors; until then it is tried again.
            if self.front.wait(PERIOD) && self.archive().is_err() {
                rest.pause(PERIOD);
            }
        }
    }

    fn absorb(&self, batch: &Batch) -> Result<()> {
        if self.durable.as_ref().is_some_and(Durable::is_read_only) {
            return Err(Error::ReadOnly);
        }
        let _alone = self.releases.lock();
        let Resolved { changes, reserved } = self.resolve(batch)?;
        let done = self.absorb_resolved(&changes);
        self.give_back(&reserved, done.is_err());
        done.map_err(|refusal| refused(self, refusal))
    }

    fn absorb_resolved(&self, changes: &[Unchecked]) -> Result<(), Refusal> {
        let puts = |change: &&Unchecked| matches!(change.wish, Wish::Put(_));
        self.admit_changes(changes.iter().filter(puts).count())?;
        let scribe = self.durable.as_ref().filter(|durable| durable.log.is_some());
        let scribe = scribe.map(|durable| Writes { db: self, durable });
        let scribe = scribe.as_ref().map(|scribe| scribe as &dyn Scribe);
        self.engine.absorb(changes, &self.front.pool(), scribe).map(drop)
    }

    /// Step 3.
    fn give_back(&self, reserved: &[Key], failed: bool) {
        for key in reserved {
            self.dictionary.unreserve(key.as_ref());
        }
        if failed {
            let ids = reserved.iter().filter_map(|key| self.dictionary.id(key.as_ref()).ok()?);
            self.retire_ids(ids, 0);
        }
    }

    /// Step 1.
    fn resolve(&self, batch: &Batch) -> Result<Resolved> {
        let mut parts: Vec<(&Chunk, Part)> =
            batch.chunks.iter().map(|chunk| (chunk, Part::default())).collect();
        self.front.pool().for_each(&mut parts, |(chunk, part)| self.resolve_chunk(chunk, part));
        let mut resolved =
            Resolved { changes: Vec::with_capacity(batch.len()), reserved: Vec::new() };
        let mut error = None;
        for (chunk, part) in parts {
            error = error.or(part.error);
            resolved.reserved.extend(part.reserved);
            resolved.changes.extend(self.known(chunk, part.changes, part.unknown));
        }
        match error {
            Some(error) => {
                self.give_back(&resolved.reserved, true);
                Err(error)
            }
            None => Ok(resolved),
        }
    }

    fn resolve_chunk(&self, chunk: &Chunk, part: &mut Part) {
        match &chunk.changes {
            Changes::Ids(changes) => {
                let last = |change: &Unchecked| change.source.max(change.target);
                let puts = changes.iter().filter(|change| matches!(change.wish, Wish::Put(_)));
                let most = puts.map(last).max();
                part.error = most.and_then(|most| self.reserve(KeyRef::from(most)).err());
                // Beyond the bound there is nothing to take out.
                let bound = self.dictionary.bound();
                part.changes.extend(changes.iter().filter(|change| last(change) < bound));
            }
            Changes::Numbers(changes) => {
                let named =
                    changes.iter().map(|&(source, target, wish)| Named::new(source, target, wish));
                self.resolve_named(named, part);
            }
            Changes::Texts(changes) => {
                let named = changes
                    .iter()
                    .map(|(source, target, wish)| Named::new(&**source, &**target, *wish));
                self.resolve_named(named, part);
            }
        }
    }

    fn resolve_named<'k>(&self, changes: impl Iterator<Item = Named<'k>>, part: &mut Part) {
        for (at, Named { source, target, wish, .. }) in changes.enumerate() {
            let mut id = |key| match (self.dictionary.id(key), wish) {
                (Ok(Some(id)), _) => Ok(id),
                (_, Wish::Put(_)) => {
                    let id = self.reserve(key)?;
                    part.reserved.push(key.to_owned());
                    Ok(id)
                }
                _ => {
                    part.unknown.push(at);
                    Ok(0)
                }
            };
            match id(source).and_then(|source| Ok((source, id(target)?))) {
                Ok((source, target)) => part.changes.push(Unchecked { source, target, wish }),
                Err(error) => {
                    part.error = Some(error);
                    return;
                }
            }
        }
    }

    /// The changes of a part without those whose ends nobody knows: one that came before may have
    /// given them ids in the meantime.
    fn known(
        &self,
        chunk: &Chunk,
        mut changes: Vec<Unchecked>,
        unknown: Vec<usize>,
    ) -> Vec<Unchecked> {
        let mut nowhere = Vec::new();
        for at in unknown {
            let id = |key| self.dictionary.id(key).ok().flatten();
            let ids = match &chunk.changes {
                Changes::Ids(_) => None,
                Changes::Numbers(named) => {
                    let (source, target, _) = named[at];
                    id(source.into()).zip(id(target.into()))
                }
                Changes::Texts(named) => {
                    let (source, target, _) = &named[at];
                    id((&**source).into()).zip(id((&**target).into()))
                }
            };
            match (ids, changes.get_mut(at)) {
                (Some((source, target)), Some(change)) => {
                    (change.source, change.target) = (source, target);
                }
                _ => nowhere.push(at),
            }
        }
        if nowhere.is_empty() {
            return changes;
        }
        let mut nowhere = nowhere.into_iter().peekable();
        let mut at = 0;
        changes.retain(|_| {
            let gone = nowhere.peek() == Some(&at);
            while nowhere.next_if_eq(&at).is_some() {}
            at += 1;
            !gone
        });
        changes
    }
}

/// A copy of what waited.
pub(crate) struct Window(Batch);

/// Writes batches into the log.
struct Writes<'a> {
    db: &'a Inner,
    durable: &'a Durable,
}

impl Scribe for Writes<'_> {
    fn admit(&self, vertices: &[VertexChange], edges: usize) -> Result<(), Stopped> {
        self.durable.admit(self.db, vertices, edges)
    }

    fn record(&self, changes: fat_tree::Changes<'_>) -> Record {
        let mut record = Record::new();
        self.durable.encode(self.db, changes, &mut record);
        record
    }
}
