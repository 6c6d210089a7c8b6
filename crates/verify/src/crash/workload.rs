//! What is done to a database while the disk remembers: small stories, each with its options.

use std::time::Duration;

use evergraph::graph::KeyKind;
use evergraph::{Database, Durability, Keep, LogSizes, Options, Service, Weights};

use super::graph::{Kind, Size};

/// Sizes at which everything happens all the time.
const TINY: LogSizes =
    LogSizes { segment: 700, buffer: 400, record: 16, growth: 128, checkpoint: u64::MAX };
/// Sizes at which one file of the log holds all.
const ROOMY: LogSizes = LogSizes { segment: 1 << 20, ..TINY };
/// Vertices that a database with dense keys has from the start.
const DENSE: u32 = 4;

/// One act of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A transaction.
    Commit(Size),
    /// So many edges are put in and taken out unchecked, and flushed.
    Ingest(u64),
    /// So many threads commit so many transactions each.
    Together(u64, u64),
    /// `Database::sync`.
    Sync,
    /// `Database::changes` of the last commit, which is handed to the system for it.
    Follow,
    /// `Database::checkpoint`.
    Checkpoint,
    /// `Database::service`, until there is nothing to do.
    Service,
    /// The database is closed, and opened again.
    Close,
    /// It is closed, and opened again in another mode.
    Change(Durability),
    /// It is closed, told to keep the past as the setting says it otherwise, and opened again.
    Keep,
    /// The process ends; what the system holds stays. The database is opened again.
    Kill,
    /// The power goes, and something that was not synced with it. The database is opened again.
    Crash,
}

/// How a database is made.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// What changes can be.
    pub kind: Kind,
    /// When commits are on the disk.
    pub durability: Durability,
    weights: Weights,
    /// How far back the past is kept.
    pub keep: Keep,
    /// The same at another time of the story.
    kept_otherwise: Keep,
    sizes: LogSizes,
}

/// A story.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What it is called.
    pub name: &'static str,
    /// How the database is made.
    pub setting: Setting,
    /// What happens.
    pub acts: Vec<Act>,
}

impl Setting {
    /// The options of such a database.
    pub fn options(&self) -> Options {
        let options = Database::options()
            .service(Service::Manual)
            .durability(self.durability)
            .weights(self.weights)
            .keep(self.keep)
            .log_sizes(self.sizes);
        let options = if self.kind.directed { options.directed() } else { options.undirected() };
        match self.kind.keys {
            KeyKind::Dense => options.dense_keys(DENSE),
            KeyKind::Number => options.number_keys(),
            KeyKind::Text => options.text_keys(),
        }
    }

    /// How many vertices it has from the start.
    pub fn vertices(&self) -> u64 {
        if self.kind.keys == KeyKind::Dense { u64::from(DENSE) } else { 0 }
    }

    fn keys(self, keys: KeyKind) -> Self {
        Self { kind: Kind { keys, ..self.kind }, ..self }
    }

    fn weights(self, weights: Weights) -> Self {
        let weighted = weights != Weights::None;
        Self { weights, kind: Kind { weighted, ..self.kind }, ..self }
    }

    fn undirected(self) -> Self {
        Self { kind: Kind { directed: false, ..self.kind }, ..self }
    }

    fn keep(self, keep: Keep) -> Self {
        Self { keep, kept_otherwise: keep, ..self }
    }

    /// Whether the folder may say so, at some time of the story.
    pub fn may_keep(&self, keep: Keep) -> bool {
        keep == self.keep || keep == self.kept_otherwise
    }

    /// Keeps the past otherwise.
    #[must_use]
    pub fn otherwise(self) -> Self {
        Self { keep: self.kept_otherwise, kept_otherwise: self.keep, ..self }
    }

    fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    fn roomy(self) -> Self {
        Self { sizes: ROOMY, ..self }
    }
}

const SMALL: Act = Act::Commit(Size::Small);
const EMPTY: Act = Act::Commit(Size::Empty);

/// Acts, so many times.
fn times(count: usize, acts: &[Act]) -> Vec<Act> {
    acts.repeat(count)
}

/// So many small commits, then something else.
fn after(count: usize, acts: &[Act]) -> Vec<Act> {
    [times(count, &[SMALL]), acts.to_vec()].concat()
}

fn workload(name: &'static str, setting: Setting, acts: Vec<Act>) -> Workload {
    Workload { name, setting, acts }
}

/// All stories.
pub fn library() -> Vec<Workload> {
    let kind = Kind { keys: KeyKind::Number, directed: true, weighted: false };
    let (durability, keep) = (Durability::Sync, Keep::Nothing);
    let plain = Setting {
        kind,
        durability,
        weights: Weights::None,
        keep,
        kept_otherwise: keep,
        sizes: TINY,
    };
    [of_commits(plain), of_files(plain), of_modes(plain), of_crashes(plain)].concat()
}

/// What is committed.
fn of_commits(plain: Setting) -> Vec<Workload> {
    use Act::{Close, Commit, Ingest, Service, Together};
    let text = plain.keys(KeyKind::Text).weights(Weights::F64);
    vec![
        workload("nothing", plain, vec![Close]),
        workload("one commit", plain, vec![SMALL]),
        workload("two commits", plain, after(2, &[Close])),
        workload("commits at the same time", plain, vec![Together(3, 5)]),
        workload("commits at the same time in one file", plain.roomy(), vec![Together(4, 4)]),
        workload("a record longer than a file", plain, vec![SMALL, Commit(Size::Many(60)), SMALL]),
        workload(
            "the shortest records",
            plain,
            [after(1, &[]), times(12, &[EMPTY]), vec![Close]].concat(),
        ),
        workload("texts", text, [after(4, &[Commit(Size::Long(900))]), after(4, &[])].concat()),
        workload(
            "edges ingested",
            plain,
            vec![Ingest(2), SMALL, Ingest(9), SMALL, Ingest(3), Close],
        ),
        workload("texts ingested", text, vec![SMALL, Ingest(5), Act::Checkpoint, Ingest(5)]),
        workload("weights", plain.weights(Weights::F32).undirected(), after(14, &[])),
        workload("dense keys", plain.keys(KeyKind::Dense), after(10, &[Close])),
        workload(
            "keys used again",
            plain,
            [
                times(5, &[SMALL, SMALL, SMALL, SMALL, Service]),
                vec![Act::Checkpoint],
                after(4, &[]),
            ]
            .concat(),
        ),
    ]
}

/// Which files there are.
fn of_files(plain: Setting) -> Vec<Workload> {
    use Act::{Checkpoint, Close};
    let checkpoints = |count| [times(count, &after(7, &[Checkpoint])), after(2, &[])].concat();
    vec![
        workload("many files", plain, after(30, &[])),
        workload("a checkpoint", plain, after(5, &[Checkpoint])),
        workload("a checkpoint of nothing", plain, vec![Checkpoint, SMALL, Checkpoint, Checkpoint]),
        workload(
            "a checkpoint, then commits",
            plain.roomy(),
            after(5, &[Checkpoint, SMALL, SMALL]),
        ),
        workload("old files go", plain, checkpoints(4)),
        workload("versions are kept", plain.keep(Keep::Versions(9)), checkpoints(4)),
        workload("bytes are kept", plain.keep(Keep::Bytes(1500)), checkpoints(4)),
        workload(
            "a time is kept",
            plain.keep(Keep::Time(Duration::from_micros(300))),
            checkpoints(4),
        ),
        workload("everything is kept", plain.keep(Keep::Everything), checkpoints(2)),
        workload(
            "the past is kept otherwise",
            Setting { kept_otherwise: Keep::Everything, ..plain.keep(Keep::Versions(9)) },
            after(4, &[Act::Keep, SMALL, Checkpoint, SMALL]),
        ),
        workload(
            "the past is given up",
            Setting { kept_otherwise: Keep::Nothing, ..plain.keep(Keep::Everything) },
            after(4, &[Checkpoint, SMALL, Act::Keep, SMALL, Checkpoint]),
        ),
        workload("closed again and again", plain, times(4, &[SMALL, Close, Close])),
    ]
}

/// When commits are on the disk.
fn of_modes(plain: Setting) -> Vec<Workload> {
    use Act::{Change, Checkpoint, Close, Follow, Sync};
    let group = Durability::Group(Duration::from_millis(1));
    let synced = after(6, &[Sync, SMALL, SMALL, Checkpoint, SMALL, Close, SMALL, SMALL]);
    let long = after(25, &[Sync, SMALL]);
    let handed = [times(24, &[SMALL, Follow]), vec![Sync], times(6, &[SMALL, Follow])].concat();
    vec![
        workload("group", plain.durability(group), synced.clone()),
        workload("group, many files", plain.durability(group), long.clone()),
        workload("group, handed over at once", plain.durability(group), handed.clone()),
        workload("os", plain.durability(Durability::Os), synced.clone()),
        workload("os, handed over at once", plain.durability(Durability::Os), handed),
        workload("os, many files", plain.durability(Durability::Os), long),
        workload("none", plain.durability(Durability::None), synced),
        workload(
            "from sync to none",
            plain.roomy(),
            after(3, &[Change(Durability::None), SMALL, SMALL]),
        ),
        workload(
            "modes by turns",
            plain,
            [
                after(3, &[Change(Durability::None)]),
                after(2, &[Change(Durability::Sync)]),
                after(3, &[Change(Durability::Os)]),
                after(8, &[Change(Durability::None)]),
                after(2, &[Sync]),
            ]
            .concat(),
        ),
    ]
}

/// What is done after crashes.
fn of_crashes(plain: Setting) -> Vec<Workload> {
    use Act::{Change, Checkpoint, Crash, Follow, Kill, Sync};
    let group = Durability::Group(Duration::from_millis(1));
    let again = |act| [times(3, &after(4, &[act])), after(2, &[])].concat();
    vec![
        workload("crashes", plain.roomy(), again(Crash)),
        workload("crashes, many files", plain, times(4, &after(9, &[Crash]))),
        workload(
            "crashes of group",
            plain.roomy().durability(group),
            times(3, &after(4, &[Sync, SMALL, Crash])),
        ),
        workload(
            "crashes of none",
            plain.durability(Durability::None),
            times(3, &after(3, &[Checkpoint, SMALL, Crash])),
        ),
        workload("killed", plain.roomy(), again(Kill)),
        workload("killed, many files", plain, times(4, &after(9, &[Kill]))),
        workload(
            "killed under os, then synced",
            plain.durability(Durability::Os),
            times(
                4,
                &[
                    after(15, &[Kill, Change(Durability::Sync)]),
                    after(2, &[Change(Durability::Os)]),
                ]
                .concat(),
            ),
        ),
        workload(
            "killed under os, handed over at once",
            plain.durability(Durability::Os),
            times(3, &[times(9, &[SMALL, Follow]), vec![Kill]].concat()),
        ),
        workload(
            "crashes of os, records of one length",
            plain.roomy().durability(Durability::Os),
            times(3, &[times(22, &[EMPTY, Follow]), vec![Crash]].concat()),
        ),
        workload(
            "checkpoints and crashes",
            plain,
            times(3, &after(6, &[Checkpoint, SMALL, Crash])),
        ),
    ]
}
