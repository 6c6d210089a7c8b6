//! Files that were changed by something else than the database: bits, sectors, lengths, owners.
//!
//! # Oracle
//!   Either the database does not open and says which file is damaged, and where; or it opens and
//!   holds what some version held. It may hold less than the last version only if the end of the
//!   last file of the log was hit, and looks as a crash could have left it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evergraph::{Durability, StoreError};
use rand::RngExt;

use super::campaign::in_parallel;
use super::disk::SimDisk;
use super::image::{Image, SECTOR};
use super::play::{FOLDER, States, rehearse, same};
use super::workload::{Act, Setting, Workload, library};
use super::world::World;
use crate::seed;

/// Stories whose ends are damaged: between them all kinds of files and modes.
const STORIES: [&str; 6] = [
    "texts",
    "from sync to none",
    "modes by turns",
    "everything is kept",
    "none",
    "a checkpoint, then commits",
];

/// How a story ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The database was closed.
    Closed,
    /// The process was killed.
    Killed,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    /// Changes that were made.
    pub made: u64,
    /// Of these, how many kept the database from being opened.
    pub refused: u64,
    /// Of these, how many cost commits at the end.
    pub shorter: u64,
}

impl std::ops::AddAssign for Damages {
    fn add_assign(&mut self, other: Self) {
        self.made += other.made;
        self.refused += other.refused;
        self.shorter += other.shorter;
    }
}

/// How much may be missing at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    None,
    LastCommit,
    AnyEnd,
}

/// Damages the ends of stories: one in so many bits, and everything else.
pub fn damages(seed: u64, one_in: u32) -> Result<Damages, String> {
    let chosen = |workload: &Workload| STORIES.contains(&workload.name);
    let workloads = library().into_iter().filter(chosen).collect();
    in_parallel(workloads, |workload| {
        let mut sum = damages_of(workload, seed, one_in, Ending::Closed)?;
        if workload.acts.iter().all(|act| !matches!(act, Act::Change(_)))
            && workload.setting.durability == Durability::Sync
        {
            sum += damages_of(workload, seed, one_in, Ending::Killed)?;
        }
        Ok(sum)
    })
}

/// Damages the end of one story.
pub fn damages_of(
    workload: &Workload,
    seed: u64,
    one_in: u32,
    ending: Ending,
) -> Result<Damages, String> {
    let (image, states, setting) = rehearse(workload, seed, ending)?;
    let (other, ..) = rehearse(workload, seed + 1, ending)?;
    let mut damaged = Damaged { image, states, setting, ending, sum: Damages::default() };
    let files: Vec<PathBuf> = damaged.image.files().map(|(path, _)| path.clone()).collect();
    let mut rng = seed::rng(seed);
    for path in &files {
        let bytes = damaged.image.names[path].clone().expect("a file");
        for bit in (0..8 * bytes.len()).filter(|_| rng.random_range(0..one_in) == 0) {
            let mut turned = bytes.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            let loss = damaged.loss_by_bit(path);
            damaged.look(path, turned, loss).map_err(|problem| format!("bit {bit}: {problem}"))?;
        }
        for end in 0..bytes.len() {
            let loss = damaged.loss(path);
            let cut = damaged.look(path, bytes[..end].to_vec(), loss);
            cut.map_err(|problem| format!("cut to {end}: {problem}"))?;
        }
        damaged.sectors(path, &bytes)?;
        for (from, foreign) in other.files() {
            let loss = Loss::None;
            let put = damaged.look(path, foreign.clone(), loss);
            put.map_err(|problem| format!("holds {} of another: {problem}", from.display()))?;
        }
    }
    Ok(damaged.sum)
}

/// The end of a story.
struct Damaged {
    image: Image,
    states: States,
    setting: Setting,
    ending: Ending,
    sum: Damages,
}

impl Damaged {
    fn is_end_of_log(&self, path: &Path) -> bool {
        let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "evl");
        self.image.names.keys().rfind(|path| is_log(path)).is_some_and(|last| last == path)
    }

    fn loss(&self, path: &Path) -> Loss {
        if self.is_end_of_log(path) { Loss::AnyEnd } else { Loss::None }
    }

    /// That a database was closed says that all commits were whole; in the mode `Sync`, every batch
    /// says so of the one before.
    fn loss_by_bit(&self, path: &Path) -> Loss {
        match self.ending {
            Ending::Killed if self.is_end_of_log(path) => Loss::LastCommit,
            _ => Loss::None,
        }
    }

    /// Zeroes each sector, and puts each in the place of another.
    fn sectors(&mut self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        let starts: Vec<usize> = (0..bytes.len()).step_by(SECTOR).collect();
        let loss = self.loss(path);
        for &at in &starts {
            let end = bytes.len().min(at + SECTOR);
            let mut zeroed = bytes.to_vec();
            zeroed[at..end].fill(0);
            self.look(path, zeroed, loss).map_err(|problem| format!("{at} zeroed: {problem}"))?;
            for &other in starts.iter().filter(|&&other| other != at) {
                let len = (end - at).min(bytes.len() - other);
                let mut doubled = bytes.to_vec();
                doubled.copy_within(at..at + len, other);
                let mut swapped = doubled.clone();
                swapped[at..at + len].copy_from_slice(&bytes[other..other + len]);
                for changed in [doubled, swapped] {
                    let seen = self.look(path, changed, loss);
                    seen.map_err(|problem| format!("{at} at {other}: {problem}"))?;
                }
            }
        }
        Ok(())
    }

    /// Opens the database with other bytes in one file.
    fn look(&mut self, path: &Path, bytes: Vec<u8>, loss: Loss) -> Result<(), String> {
        self.sum.made += 1;
        let mut names = self.image.names.clone();
        let len = bytes.len() as u64;
        names.insert(path.to_path_buf(), Some(bytes));
        let disk = SimDisk::new(World::of(&names), 0);
        let complain = |problem: String| format!("{} {:?}: {problem}", path.display(), self.ending);
        let db = match self.setting.options().open_on(Arc::new(disk), FOLDER) {
            Ok(db) => db,
            Err(StoreError::Corrupt { path: told, offset, .. }) => {
                self.sum.refused += 1;
                if told == path && offset > len || !names.contains_key(&told) {
                    return Err(complain(format!("told {} at {offset}", told.display())));
                }
                return Ok(());
            }
            Err(error) => return Err(complain(format!("told {error:?}"))),
        };
        same(&db, &self.states, self.setting).and_then(|()| db.check()).map_err(complain)?;
        let (version, last) = (db.version().0, self.states.len() as u64 - 1);
        let least = match loss {
            Loss::None => last,
            Loss::LastCommit => last.saturating_sub(1),
            Loss::AnyEnd => 0,
        };
        self.sum.shorter += u64::from(version < last);
        if version < least {
            return Err(complain(format!("version {last} was lost, {version} is there")));
        }
        Ok(())
    }
}
