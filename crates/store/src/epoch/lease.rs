//! Leases: which versions somebody may still read.
//!
//! # Protocol
//!   To open: claim a free slot as BUSY; fence; read `visible`; publish it in the slot.
//!   To ask whether versions `[from, to)` are needed, where `to <= visible`: read `visible`
//!   (the caller did); fence; read all slots. A BUSY slot counts as needed.
//!   A slot that was free when it was read belongs to a lease whose fence comes later, so that
//!   lease reads a `visible >= to` and does not need them.
//!   A lease that is opened on the version of another one reads no `visible`. It could be missed
//!   together with the other: its slot read before it was claimed, that of the other after it was
//!   freed. So it is counted in `moves` before the other can be closed, and who finds `moves`
//!   changed after it read all slots knows nothing.
//!   To expire the lease of a transaction: compare-exchange its slot from HELD to BUSY, take over what
//!   it holds, and free the slot, one turn further on. If leases may expire at all, the owner moves
//!   its slot from HELD to HELD and USED while it reads, and from either to BUSY to close it, likewise:
//!   one of the two wins. The owner knows the word it was given, so it touches no other's slot.
//! # Invariants
//!   - A slot in HELD keeps its version until its owner frees it, or it expires.
//!   - A slot that is USED does not expire.
//!   - No slot holds the word of a writer again after it has expired: the turn is another one, and
//!     where turns begin anew, the version is. Until then such a slot is EXPIRED, and nobody's.
//!   - A lease of kind [`LeaseKind::Writer`] needs every version after its own too: its commit
//!     looks for conflicting changes made since.
//! # Checked by
//!   loom: `models::loom_lease_*`.

use crate::epoch::Clock;
use crate::fault::{Fault, planted};

use crate::sync::{AtomicU64, AtomicUsize, NEAR_A_WRAP, Ordering, fence, thread_index};

/// Most leases at once. A slot is 24 bytes.
pub(crate) const LEASES_MAX: usize = if cfg!(loom) {
    2
} else if cfg!(shuttle) {
    32
} else {
    4096
};

/// Threads start to look this many slots apart: a line holds eight slots.
const STRIDE: usize = 8;

/// The state of a slot, in the lowest bits of its word.
const STATE: u64 = 7;
const FREE: u64 = 0;
const BUSY: u64 = 1;
const EXPIRED: u64 = 4;
/// In the word of a lease that is held, beside its kind: it is one; and somebody reads through it.
const HELD: u64 = 2;
const USED: u64 = 4;
/// How many leases have expired in the slot, modulo 1024, lies above the state.
const ONE_TURN: u64 = 8;
const TURNS: u64 = 1023 * ONE_TURN;
/// The version lies above that: 51 bits, so 70 years of a million commits per second.
const VERSION: u32 = 13;

/// The first tick of the coarse clock.
const FIRST_TICK: u64 = NEAR_A_WRAP;

/// What a lease is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseKind {
    /// Reading one version.
    Snapshot,
    /// A transaction: it reads one version and its commit is compared with all later ones.
    Writer,
}

/// All leases of a database.
#[derive(Debug)]
pub(crate) struct Leases {
    /// FREE, BUSY, EXPIRED, or a version and a kind (see [`held`]), and a turn. Claimed and expired by
    /// compare-exchange, published and freed with Release.
    slots: Box<[AtomicU64]>,
    /// What the transaction of each lease that may expire has in the account. Written by its owner
    /// while it uses the lease, and reset by whoever ends it; ordered by the slot.
    counted: Box<[AtomicU64]>,
    /// When each lease was opened, in ticks of [`Leases::now`]. Written by the owner of the slot.
    opened: Box<[AtomicU64]>,
    /// Slots from here on were never used. Grows only.
    used: AtomicUsize,
    /// Leases that were opened on the version of another one. Raised with Release after such a
    /// lease is published; read with Acquire before and after all slots are.
    moves: AtomicU64,
    /// A coarse clock, set by the service thread: reading the real one would show in every
    /// transaction.
    now: AtomicU64,
}

/// The slot of an open lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseSlot {
    at: usize,
    /// What the slot holds as long as the lease is open, but for [`USED`].
    word: u64,
}

/// What expiry ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expired {
    pub(crate) leases: u64,
    /// What their transactions had in the account.
    pub(crate) bytes: u64,
}

/// A lease as its user may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseInfo {
    pub(crate) version: u64,
    pub(crate) kind: LeaseKind,
    pub(crate) opened: u64,
}

/// All [`LEASES_MAX`] slots are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoFreeLease;

#[inline]
fn held(version: u64, turn: u64, kind: LeaseKind) -> u64 {
    version << VERSION | turn | HELD | u64::from(kind == LeaseKind::Writer)
}

#[inline]
fn unpack(word: u64) -> (u64, LeaseKind) {
    (word >> VERSION, if word & 1 == 1 { LeaseKind::Writer } else { LeaseKind::Snapshot })
}

/// What the slot of a lease that has expired holds then.
fn after_expiry(word: u64) -> u64 {
    match word & TURNS {
        TURNS => word & !STATE | EXPIRED,
        turn if planted(Fault::ExpiredTurnKept) => turn | FREE,
        turn => (turn + ONE_TURN) | FREE,
    }
}

impl Leases {
    pub(crate) fn new() -> Self {
        let words = || (0..LEASES_MAX).map(|_| AtomicU64::new(FREE)).collect();
        Self {
            slots: words(),
            counted: words(),
            opened: words(),
            used: AtomicUsize::new(0),
            moves: AtomicU64::new(0),
            now: AtomicU64::new(FIRST_TICK),
        }
    }

    /// Opens a lease on the newest visible version.
    #[inline]
    pub(crate) fn open(
        &self,
        clock: &Clock,
        kind: LeaseKind,
    ) -> Result<(LeaseSlot, u64), NoFreeLease> {
        let early = planted(Fault::LeaseReadsFirst).then(|| clock.visible());
        let claimed = self.claim()?;
        fence(Ordering::SeqCst);
        let version = early.unwrap_or_else(|| clock.visible());
        let version = version.saturating_sub(u64::from(planted(Fault::BeginsEarly)));
        Ok((self.publish(claimed, version, kind), version))
    }

    /// Opens a second lease on a version that is kept by an open one, which stays open until this
    /// returns.
    pub(crate) fn reopen(&self, version: u64) -> Result<LeaseSlot, NoFreeLease> {
        let claimed = self.claim()?;
        let slot = self.publish(claimed, version, LeaseKind::Snapshot);
        self.moves.fetch_add(1, Ordering::Release);
        Ok(slot)
    }

    #[inline]
    fn publish(&self, (at, turn): (usize, u64), version: u64, kind: LeaseKind) -> LeaseSlot {
        let word = held(version, turn, kind);
        self.opened[at].store(self.now.load(Ordering::Relaxed), Ordering::Relaxed);
        self.slots[at].store(word, Ordering::Release);
        LeaseSlot { at, word }
    }

    /// Gives a lease back that cannot have expired.
    #[inline]
    pub(crate) fn close(&self, LeaseSlot { at, word }: LeaseSlot) {
        self.slots[at].store(word & TURNS | FREE, Ordering::Release);
    }

    /// Gives a lease back, unless it has expired: then false, and the slot may be another's.
    pub(crate) fn close_unless_expired(&self, LeaseSlot { at, word }: LeaseSlot) -> bool {
        let now = self.slots[at].load(Ordering::Relaxed);
        let is_own = now & !USED == word && self.swap(at, now, word & TURNS | BUSY);
        if is_own || planted(Fault::ExpiredSlotFreed) {
            self.counted[at].store(0, Ordering::Relaxed);
            self.slots[at].store(word & TURNS | FREE, Ordering::Release);
        }
        is_own
    }

    /// Changes a slot, if it still is as it was.
    fn swap(&self, at: usize, from: u64, to: u64) -> bool {
        self.slots[at].compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Keeps a lease from expiring until [`Leases::leave`]; false if it has expired. For its owner.
    pub(crate) fn enter(&self, LeaseSlot { at, word }: LeaseSlot) -> bool {
        self.swap(at, word, word | USED) || planted(Fault::ExpiredGoesOn)
    }

    /// Lets a lease expire again. For its owner, who entered.
    pub(crate) fn leave(&self, LeaseSlot { at, .. }: LeaseSlot) {
        self.slots[at].fetch_and(!USED, Ordering::Release);
    }

    /// Notes what a transaction has in the account. For the owner of its lease, who entered.
    pub(crate) fn count(&self, LeaseSlot { at, .. }: LeaseSlot, bytes: usize) {
        self.counted[at].store(bytes as u64, Ordering::Relaxed);
    }

    /// Ends the leases of writers that were opened at `until` or before, and that nobody is using, and
    /// frees their slots. `visible` is what the caller has read.
    ///
    /// One that is closed meanwhile, and opened again in its place on the same version, ends too: its
    /// owner is told, as every owner is.
    pub(crate) fn expire_writers(&self, until: u64, visible: u64) -> Expired {
        let mut expired = Expired::default();
        let used = self.used.load(Ordering::SeqCst);
        for (at, slot) in self.slots[..used].iter().enumerate() {
            let word = slot.load(Ordering::Acquire);
            let version = unpack(word).0;
            let is_used = word & USED != 0 && !planted(Fault::ExpiryOfUsed);
            if word & STATE == EXPIRED && version < visible {
                // Its turns begin anew, with another version. If it fails, another one did it.
                self.swap(at, word, FREE);
            } else if word & HELD != 0
                && unpack(word).1 == LeaseKind::Writer
                && !is_used
                && self.opened[at].load(Ordering::Relaxed) <= until
                // If it fails, the owner came first.
                && self.swap(at, word, BUSY)
            {
                expired.leases += 1;
                expired.bytes += self.counted[at].swap(0, Ordering::Relaxed);
                slot.store(after_expiry(word), Ordering::Release);
            }
        }
        expired
    }

    /// Claims a free slot as BUSY, and tells its turn.
    #[inline]
    fn claim(&self) -> Result<(usize, u64), NoFreeLease> {
        let start = thread_index() * STRIDE % LEASES_MAX;
        for step in 0..LEASES_MAX {
            let at = (start + step) % LEASES_MAX;
            let slot = &self.slots[at];
            // The slot must count before it is claimed, or a scan could end short of it.
            if self.used.load(Ordering::Relaxed) <= at {
                self.used.fetch_max(at + 1, Ordering::SeqCst);
            }
            let word = slot.load(Ordering::Relaxed);
            if word & STATE == FREE && self.swap(at, word, word | BUSY) {
                return Ok((at, word));
            }
        }
        Err(NoFreeLease)
    }

    fn words(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let used = self.used.load(Ordering::SeqCst);
        let words = self.slots[..used].iter().map(|slot| slot.load(Ordering::Acquire));
        words.enumerate().filter(|&(_, word)| !matches!(word & STATE, FREE | EXPIRED))
    }

    /// Whether some lease may read a state in `[from, to)`, or may look for changes before `to`.
    /// `to` must not be above a `visible` that the caller has read.
    #[inline]
    pub(crate) fn need(&self, from: u64, to: u64) -> bool {
        fence(Ordering::SeqCst);
        let moves = self.moves.load(Ordering::Acquire);
        let to = to.saturating_sub(u64::from(planted(Fault::FreedEarly)));
        let keeps_later = |kind| kind == LeaseKind::Writer && !planted(Fault::WriterLeaseShort);
        let needed = self.words().any(|(_, word)| {
            let (version, kind) = unpack(word);
            word & STATE == BUSY || (version < to && (version >= from || keeps_later(kind)))
        });
        needed || self.moves.load(Ordering::Acquire) != moves
    }

    /// The versions of all leases, but for those that will be opened on a `visible` not below the
    /// one that the caller has read. `None` while one is being opened: ask again later.
    pub(crate) fn versions(&self) -> Option<Vec<u64>> {
        fence(Ordering::SeqCst);
        let moves = self.moves.load(Ordering::Acquire);
        let version = |(_, word)| (word & STATE != BUSY).then(|| unpack(word).0);
        let versions = self.words().map(version).collect::<Option<_>>();
        versions.filter(|_| self.moves.load(Ordering::Acquire) == moves)
    }

    /// The leases open now, in no order. One that is just being opened is left out.
    pub(crate) fn list(&self) -> Vec<(LeaseSlot, LeaseInfo)> {
        let held = self.words().filter(|&(_, word)| word & STATE != BUSY);
        held.map(|(at, word)| {
            let (version, kind) = unpack(word);
            let opened = self.opened[at].load(Ordering::Relaxed);
            (LeaseSlot { at, word: word & !USED }, LeaseInfo { version, kind, opened })
        })
        .collect()
    }

    /// Sets the coarse clock to so many ticks after the start.
    pub(crate) fn set_now(&self, ticks: u64) {
        self.now.store(FIRST_TICK + ticks, Ordering::Relaxed);
    }

    /// The coarse clock.
    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_needs_its_own_version_only() {
        let (clock, leases) = (Clock::new(10), Leases::new());
        let (slot, version) = leases.open(&clock, LeaseKind::Snapshot).expect("a free slot");
        assert_eq!(version, 10);
        assert!(leases.need(10, 11) && leases.need(3, 20));
        assert!(!leases.need(0, 10) && !leases.need(11, 20));
        leases.close(slot);
        assert!(!leases.need(0, 20));
    }

    #[test]
    fn a_writer_needs_every_later_version_too() {
        let (clock, leases) = (Clock::new(10), Leases::new());
        let (_slot, _) = leases.open(&clock, LeaseKind::Writer).expect("a free slot");
        assert!(leases.need(15, 20));
        assert!(!leases.need(3, 10));
    }

    #[test]
    fn the_lease_of_a_writer_expires_unless_it_is_used() {
        let (clock, leases) = (Clock::new(10), Leases::new());
        let open = |kind| leases.open(&clock, kind).expect("a free slot").0;
        let (reader, idle, used) =
            (open(LeaseKind::Snapshot), open(LeaseKind::Writer), open(LeaseKind::Writer));
        assert!(leases.enter(used));
        leases.set_now(5);
        let young = open(LeaseKind::Writer);
        let ended = leases.expire_writers(4, 10);
        assert_eq!(ended, Expired { leases: 1, bytes: 0 });
        let left: Vec<LeaseSlot> = leases.list().into_iter().map(|(slot, _)| slot).collect();
        assert_eq!(left, [reader, used, young]);
        assert!(!leases.enter(idle) && leases.enter(young));
        leases.count(used, 7);
        leases.leave(used);
        assert_eq!(leases.expire_writers(4, 10), Expired { leases: 1, bytes: 7 });
        assert!(!leases.enter(used));
        leases.close(reader);
        assert!(leases.close_unless_expired(young));
        assert!(!leases.need(0, 20));
    }

    #[test]
    fn a_slot_that_is_being_opened_or_closed_does_not_expire() {
        let leases = Leases::new();
        let (at, turn) = leases.claim().expect("a free slot");
        assert_eq!(leases.expire_writers(leases.now(), 10), Expired::default());
        assert_eq!(leases.slots[at].load(Ordering::Relaxed), turn | BUSY);
        assert!(leases.need(0, 1) && leases.list().is_empty());
    }

    #[test]
    fn the_slot_of_a_lease_that_expired_is_the_next_owners() {
        let (clock, leases) = (Clock::new(10), Leases::new());
        let open = || leases.open(&clock, LeaseKind::Writer).expect("a free slot").0;
        let old = open();
        leases.expire_writers(leases.now(), 10);
        let next = open();
        assert_eq!((old.at, old.word & !TURNS), (next.at, next.word & !TURNS), "one place");
        assert!(!leases.enter(old) && !leases.close_unless_expired(old));
        assert!(leases.enter(next) && leases.close_unless_expired(next), "also while it is used");
        // Whoever has the slot in between hands the turn on.
        let (reader, _) = leases.open(&clock, LeaseKind::Snapshot).expect("a free slot");
        leases.close(reader);
        assert_eq!(open(), next);
        assert!(!leases.enter(old));
    }

    #[test]
    fn no_slot_holds_a_word_again_when_its_turns_begin_anew() {
        let (clock, leases) = (Clock::new(10), Leases::new());
        let open = || leases.open(&clock, LeaseKind::Writer).expect("a free slot").0;
        let first = open();
        let expire = |visible| leases.expire_writers(leases.now(), visible).leases;
        assert_eq!(expire(10), 1);
        for _ in 0..TURNS / ONE_TURN {
            let slot = open();
            assert!(slot.at == first.at && slot.word != first.word);
            assert_eq!(expire(10), 1);
        }
        let elsewhere = open();
        assert_ne!(elsewhere.at, first.at, "a word of this version could come twice");
        assert!(leases.close_unless_expired(elsewhere));
        assert!(!leases.need(0, 20) && leases.list().is_empty());
        drop(clock.take());
        assert_eq!((expire(clock.visible()), clock.visible()), (0, 11));
        let again = open();
        assert_eq!((again.at, again.word & TURNS), (first.at, 0));
        assert!(!leases.enter(first) && leases.enter(again));
    }

    #[test]
    fn slots_run_out_with_an_error_and_come_back() {
        let (clock, leases) = (Clock::new(0), Leases::new());
        let open = || leases.open(&clock, LeaseKind::Snapshot);
        let slots: Vec<_> = (0..LEASES_MAX).map(|_| open().expect("a free slot").0).collect();
        assert_eq!(open(), Err(NoFreeLease));
        leases.close(slots[5]);
        assert_eq!(open().map(|(slot, _)| slot), Ok(slots[5]));
    }
}
