//! Says whether a database may be what is found on a disk after a crash.
//!
//! # Oracle
//!   It says how far back it keeps the past, as it was told last or is being told. It opens; it is what some version was, and that is none before the last acknowledged one; it
//!   is sound; it takes twenty more transactions; and it is the same when it is opened again.

use std::sync::Arc;

use evergraph::io::Disk;
use evergraph::{Database, Durability, StoreError, keep_of_on};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::disk::{Point, SimDisk};
use super::graph::{Size, perform};
use super::play::{FOLDER, States, same};
use super::workload::Setting;
use super::world::World;

/// Transactions that are tried on what was found.
const MORE: usize = 20;

/// What must be found.
pub struct Expected<'a> {
    /// What each version holds.
    pub states: &'a States,
    /// The last version that must not be lost.
    pub floor: u64,
    /// How the database was made.
    pub setting: Setting,
}

/// What was found, and what came of it.
pub struct Found {
    /// The disk after every call of the recovery.
    pub recovery: Vec<Point>,
    /// The disk after every call since.
    pub later: Vec<Point>,
    /// What each version holds now.
    pub states: States,
}

/// Opens what a crash left, looks, and goes on.
pub fn judge(world: World, expected: &Expected<'_>, rng: &mut Pcg64Mcg) -> Result<Found, String> {
    let disk = SimDisk::new(world, expected.floor);
    match keep_of_on(&(Arc::new(disk.clone()) as Arc<dyn Disk>), FOLDER) {
        Ok(kept) if expected.setting.may_keep(kept) => {}
        Err(StoreError::NotFound { .. }) => {}
        other => return Err(format!("what is kept is {other:?}")),
    }
    disk.record();
    let db = open(&disk, expected.setting)?;
    let recovery = disk.points().unwrap_or_default();
    let version = db.version().0;
    if version < expected.floor {
        return Err(format!("version {} was acknowledged, {version} is there", expected.floor));
    }
    disk.acknowledge(version);
    same(&db, expected.states, expected.setting)?;
    db.check()?;
    disk.record();
    let states = go_on(db, &disk, expected, rng)?;
    Ok(Found { recovery, later: disk.points().unwrap_or_default(), states })
}

fn open(disk: &SimDisk, setting: Setting) -> Result<Database, String> {
    let opened = setting.options().open_on(Arc::new(disk.clone()), FOLDER);
    opened.map_err(|error| format!("it does not open: {error:?}"))
}

/// Commits more, and opens the database once more.
fn go_on(
    db: Database,
    disk: &SimDisk,
    expected: &Expected<'_>,
    rng: &mut Pcg64Mcg,
) -> Result<States, String> {
    let Expected { states, setting, .. } = *expected;
    let (first, kind) = (db.version().0 as usize, setting.kind);
    let mut states = states[..=first].to_vec();
    for _ in 0..MORE {
        let size = if rng.random() { Size::Small } else { Size::Empty };
        let mut next = (**states.last().expect("there is a first state")).clone();
        let steps = next.draw(kind, size, rng);
        let version = db
            .transaction(0, |tx| steps.iter().try_for_each(|step| perform(tx, kind, *step)))
            .map_err(|error| format!("{steps:?} after recovery: {error:?}"))?;
        states.push(Arc::new(next));
        if setting.durability == Durability::Sync {
            disk.acknowledge(version.0);
        }
    }
    same(&db, &states, setting)?;
    let before = db.version();
    db.close().map_err(|error| format!("it does not close after recovery: {error:?}"))?;
    disk.acknowledge(before.0);
    let db = open(disk, setting)?;
    if db.version() != before {
        return Err(format!("version {before} was closed, {} was opened", db.version()));
    }
    same(&db, &states, setting)?;
    db.check()?;
    Ok(states)
}
