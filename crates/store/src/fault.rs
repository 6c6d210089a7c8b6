//! Faults that can be planted in the store on purpose, to see that its tests find them.
//!
//! Each stands in the code where a bug of its kind would be, as one question: [`planted`]. Without
//! the feature `faults` the answer is a constant, and nothing is left of it. With the feature,
//! which no default names, the environment variable `EVERGRAPH_FAULT` plants one of [`FAULTS`] for
//! the life of the process. `cargo xtask verify --only faults` runs every test against each.
//!
//! # Invariants
//!   - A fault may make answers wrong in any way, also by looking at memory that was freed: it is
//!     for a process that runs tests and nothing else.

/// Declares the faults: the place in the code, the name, what is wrong; each under the promise that
/// it breaks.
macro_rules! faults {
    ($($promise:literal { $($fault:ident $name:literal $what:literal)* })*) => {
        /// A fault.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault {
            $($(#[doc = $what] $fault,)*)*
        }

        /// Every fault: its name, the promise that it breaks, and what is wrong with it.
        #[cfg(feature = "faults")]
        pub const FAULTS: &[(&str, &str, &str)] = &[$($(($name, $promise, $what),)*)*];

        #[cfg(feature = "faults")]
        const ALL: &[Fault] = &[$($(Fault::$fault,)*)*];
    };
}

faults! { "isolation" {
    // What a commit checks (`write.rs`).
    EdgeConflictUnseen "edge-conflict-unseen" "two changes of one edge are no conflict"
    EdgeConflictLate "edge-conflict-late" "conflicts of edges are seen one version late"
    EndsUnchecked "ends-unchecked" "an edge does not look at its ends"
    DepartureUnchecked "departure-unchecked" "a vertex that goes does not look at new edges of it"
    EdgeTwice "edge-twice" "an edge is added although it exists"
    KeyConflictUnseen "key-conflict-unseen" "a vertex that is added does not look whether another added it"
    RefusalLeavesEdge "refusal-leaves-edge" "a refused commit leaves its first edge behind"
    // When and where its rows go.
    VersionBeforeLatches "version-before-latches" "a commit takes its version before it latches its groups"
    VisibleEarly "visible-early" "a version is visible before its rows are in place"
    AheadNotRenewed "ahead-not-renewed" "a large commit overlooks what others changed before it had all latches"
    ReturnEarly "return-early" "a commit returns before its version is visible"
    HalfEdge "half-edge" "an edge stands in one list only"
    TwinLeft "twin-left" "an edge that goes stays in the list of its target"
    InListsEarly "in-lists-early" "in-lists are stamped one version early"
    DirtyBitForgotten "dirty-bit-forgotten" "a row does not say that its vertex has rows pending"
    MarkForgotten "mark-forgotten" "a row does not take its group out of its leaf"
    // What nobody checked (`absorb.rs`, `ingest/`).
    BatchFirstWins "batch-first-wins" "of the changes of one edge in a batch the first one counts"
    BatchEndsUnchecked "batch-ends-unchecked" "a batch does not look at ends that were removed meanwhile"
    BatchNotRenewed "batch-not-renewed" "a batch overlooks what others changed before it had all latches"
    BatchRecordShort "batch-record-short" "the record of a batch misses its first edge"
    BatchLostOnFailure "batch-lost-on-failure" "changes that could not be archived are forgotten"
    FlushEarly "flush-early" "a flush does not wait for the batch of another"
    // Reading.
    ReadsNow "reads-now" "lists are read as of now, not as of the beginning"
    BeginsEarly "begins-early" "a transaction begins one version early"
    OwnListsHidden "own-lists-hidden" "own changes do not show in lists"
    OwnLaterHidden "own-later-hidden" "own changes after the first read do not show"
    LeafEarly "leaf-early" "a leaf is read at versions before it"
    // Merging (`merge.rs`, `fold.rs`, `hub.rs`).
    MergeInvisible "merge-invisible" "a merge folds rows in that are not visible yet"
    MergeLosesCarried "merge-loses-carried" "a merge loses the first row that it carries over"
    MergeLosesFolded "merge-loses-folded" "a merge loses the last row that it folds in"
    MergeKeepsMark "merge-keeps-mark" "a merge does not take the group out of its leaf"
    CutBeforeDirectory "cut-before-directory" "a segment is cut before the directory knows the pieces"
    // What is kept, and for whom.
    FreedEarly "freed-early" "the newest version that a lease needs of a state is not counted"
    WriterLeaseShort "writer-lease-short" "the lease of a writer keeps its own version only"
    LeaseReadsFirst "lease-reads-first" "a lease reads its version before its slot counts"
    ExpiryIgnoresReaders "expiry-ignores-readers" "a lease that expires does not wait for its readers"
    LentForgotten "lent-forgotten" "a state that a view holds with rows pending is not kept"
    PinsIgnored "pins-ignored" "what is unlinked is freed under readers"
    IdsGivenUpEarly "ids-given-up-early" "an id is given up while a lease can see its vertex"
    ReservationLeft "reservation-left" "a transaction that rolls back keeps its keys reserved"
    ExpiredGoesOn "expired-goes-on" "a transaction that has expired goes on"
    ExpiryOfUsed "expiry-of-used" "a transaction expires while it reads"
    ExpiredSlotFreed "expired-slot-freed" "a transaction that has expired frees a slot that may be another's"
    ExpiredTurnKept "expired-turn-kept" "a slot in which a lease expired is given out in the same turn"
    ExpiredStaysCounted "expired-stays-counted" "what an expired transaction buffered stays in the account"
    BuffersForgotten "buffers-forgotten" "what a transaction buffered stays in the account when it ends"
    AccountForgets "account-forgets" "memory that is freed stays in the account"
    // What serializable transactions note and validate (`transaction.rs`, `validate.rs`).
    ReadsNotValidated "reads-not-validated" "nothing that was found is validated"
    ListsNotValidated "lists-not-validated" "lists that were read are not validated"
    VerticesNotValidated "vertices-not-validated" "vertices that were read are not validated"
    AbsentNotValidated "absent-not-validated" "keys that were found absent are not validated"
    SetNotValidated "set-not-validated" "the set of vertices that was read is not validated"
    HubsOverlooked "hubs-overlooked" "the coarse look at a group leaves its hubs out"
    HubListsNotValidated "hub-lists-not-validated" "lists of hubs are not validated"
    DegreeNotNoted "degree-not-noted" "a degree is not noted"
    AbsentEdgeEndsNotNoted "absent-edge-ends-not-noted" "the ends of an absent edge are not noted"
    AbsentReadNotNoted "absent-read-not-noted" "a read does not note that a key is absent"
    AbsentChangeNotNoted "absent-change-not-noted" "a change does not note that a key is absent"
    SetNotNoted "set-not-noted" "the set of vertices is not noted"
    RangesNotNoted "ranges-not-noted" "a range of keys is not noted"
    RangesNotValidated "ranges-not-validated" "ranges of keys that were read are not validated"
    EdgeCountNotNoted "edge-count-not-noted" "the number of edges is not noted"
    EdgeCountNotValidated "edge-count-not-validated" "the number of edges is not validated"
    EdgeCountRaced "edge-count-raced" "the number of edges is validated before the version is taken"
    SetMissesRemovals "set-misses-removals" "a vertex that goes does not change the set of vertices"
    SetMissesSnapshots "set-misses-snapshots" "only serializable commits change the set of vertices"
    AnyChangeRefuses "any-change-refuses" "any change in a group that was read refuses"
    ValidatesFirst "validates-first" "what was read is validated before it is latched for good"
    SetLeftEarly "set-left-early" "the set of vertices is left before the version is taken"
    SetNotEntered "set-not-entered" "who changes the set of vertices does not enter it"
} "durability" {
    // Names and whole files (`folder.rs`, `durable.rs`).
    FileNamedUnsynced "file-named-unsynced" "a file is renamed before its bytes are synced"
    FileNamedUnwritten "file-named-unwritten" "a file is renamed before it is written"
    RenameUnsynced "rename-unsynced" "the folder is not synced after a rename"
    FoldersAboveUnsynced "folders-above-unsynced" "the folders above a new database are not synced"
    SaltForgotten "salt-forgotten" "checksums do not tell whose file it is, and which"
    // Writing the log (`log/mod.rs`, `log/writer.rs`, `io.rs`).
    BatchUnsynced "batch-unsynced" "a batch is not synced"
    ReturnBeforeSync "return-before-sync" "a commit returns before the sync"
    SegmentNamedUnsynced "segment-named-unsynced" "a new segment gets its name before it is synced"
    LastSegmentUnsynced "last-segment-unsynced" "a new segment gets its name, and the last one is never synced"
    SegmentNameUnsynced "segment-name-unsynced" "the folder is not synced after a new segment"
    SpaceUnchecked "space-unchecked" "commits are let in without space"
    SegmentWithoutSpace "segment-without-space" "a segment is left before the next one has its space"
    HalfWrite "half-write" "half a write is taken for a whole one"
    GoesOnAfterFailure "goes-on-after-failure" "the log goes on after a failed sync"
    FailureTellsLate "failure-tells-late" "commits after a failure are checked before they are refused"
    FailedIsVisible "failed-is-visible" "a commit whose sync failed becomes visible"
    SyncAtOnce "sync-at-once" "`Database::sync` answers at once"
    CloseUntold "close-untold" "closing writes no frame"
    // Recovery (`log/recover.rs`, `log/segment.rs`).
    TailUncut "tail-uncut" "the torn tail is not cut"
    FoundUnsynced "found-unsynced" "what recovery found is not synced"
    FoundUnwritten "found-unwritten" "what recovery found is not written once more"
    FoundNamesUnsynced "found-names-unsynced" "names that recovery found are not synced"
    UnwipedSegment "unwiped-segment" "a segment that is thrown away is not wiped"
    DurableUnread "durable-unread" "nobody looks behind the tail for what was safe"
    DamagedPassedOver "damaged-passed-over" "a damaged checkpoint is passed over"
} }

/// Whether a fault is planted: never.
#[cfg(not(feature = "faults"))]
#[inline]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}

/// Whether a fault is the one that `EVERGRAPH_FAULT` names.
#[cfg(feature = "faults")]
#[inline]
pub(crate) fn planted(fault: Fault) -> bool {
    static PLANTED: std::sync::LazyLock<Option<Fault>> = std::sync::LazyLock::new(named);
    *PLANTED == Some(fault)
}

#[cfg(feature = "faults")]
fn named() -> Option<Fault> {
    let name = std::env::var("EVERGRAPH_FAULT").ok()?;
    let at = FAULTS.iter().position(|&(fault, ..)| fault == name);
    Some(ALL[at.expect("EVERGRAPH_FAULT names a fault")])
}
