//! Calls of the disk that fail, once or for ever, at every place of every story.
//!
//! # Oracle
//!   Nothing acknowledged is lost, now or after a crash; what was refused is not to be seen; readers
//!   go on. A full disk is told as such, and commits work again when there is space. A write that does
//!   a part, or is interrupted, is not told at all.

use std::sync::Arc;

use evergraph::StoreError;
use rand::RngExt;

use super::campaign::in_parallel;
use super::disk::{Failure, Fault, Lasting};
use super::graph::Size;
use super::image;
use super::judge::{Expected, judge};
use super::play::{Player, Trouble, same};
use super::workload::{Act, Workload, library};
use super::world::World;
use crate::seed;

/// Failures that are tried.
const FAILURES: [(Failure, Lasting); 11] = [
    (Failure::Device, Lasting::Once),
    (Failure::Device, Lasting::Forever),
    (Failure::Full, Lasting::Once),
    (Failure::Full, Lasting::Forever),
    (Failure::Short, Lasting::Once),
    (Failure::Short, Lasting::Forever),
    (Failure::Nothing, Lasting::Once),
    (Failure::Interrupted, Lasting::Once),
    (Failure::Forgotten, Lasting::Once),
    (Failure::Dropped, Lasting::Once),
    (Failure::Dropped, Lasting::Forever),
];

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Stories with a fault.
    pub stories: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Acts that were refused.
    pub refused: u64,
}

impl std::ops::AddAssign for Faults {
    fn add_assign(&mut self, other: Self) {
        self.stories += other.stories;
        self.failed += other.failed;
        self.refused += other.refused;
    }
}

/// Has one in so many calls of every story fail in every way.
pub fn faults(seed: u64, one_in: u64) -> Result<Faults, String> {
    let one_by_one = |act: &Act| !matches!(act, Act::Together(..));
    let alone = |workload: &Workload| workload.acts.iter().all(one_by_one);
    let workloads = library().into_iter().filter(alone).collect();
    in_parallel(workloads, |workload| faults_of(workload, seed, one_in))
}

/// Has one in so many calls of one story fail in every way.
pub fn faults_of(workload: &Workload, seed: u64, one_in: u64) -> Result<Faults, String> {
    let mut player = Player::new(workload.setting, seed);
    story(workload).try_for_each(|act| perform(&mut player, act)).map_err(|t| t.to_string())?;
    let mut rng = seed::rng(seed);
    let mut sum = Faults::default();
    for call in 0..player.disk.calls().0 {
        for (failure, lasting) in FAILURES {
            if rng.random_range(0..one_in) == 0 {
                let fault = Fault { call, failure, lasting };
                let suffered = suffer(workload, seed, fault);
                sum += suffered.map_err(|problem| format!("{fault:?}: {problem}"))?;
            }
        }
    }
    Ok(sum)
}

/// The opening, then the acts.
fn story(workload: &Workload) -> impl Iterator<Item = Option<Act>> + '_ {
    std::iter::once(None).chain(workload.acts.iter().copied().map(Some))
}

fn perform(player: &mut Player, act: Option<Act>) -> Result<(), Trouble> {
    act.map_or(Ok(()), |_| if player.db.is_none() { player.open() } else { Ok(()) })?;
    match act {
        None => player.open(),
        Some(act) => player.act(act),
    }
}

/// Plays a story in which calls fail.
pub fn suffer(workload: &Workload, seed: u64, fault: Fault) -> Result<Faults, String> {
    let mut player = Player::new(workload.setting, seed);
    player.disk.set_fault(Some(fault));
    let mut sum = Faults { stories: 1, ..Faults::default() };
    for act in story(workload) {
        match perform(&mut player, act) {
            Ok(()) => {}
            Err(Trouble::Wrong(problem)) => return Err(format!("{act:?}: {problem}")),
            Err(Trouble::Refused(error)) => {
                let recovered = refused(&mut player, fault, act, &error);
                recovered
                    .map_err(|problem| format!("{act:?} refused with {error:?}: {problem}"))?;
                sum.refused += 1;
            }
        }
        if player.disk.was_waited_for() {
            return Err(format!("{act:?} waited for a full disk"));
        }
    }
    sum.failed = player.disk.calls().1;
    player.disk.set_fault(None);
    player.kill();
    player.open().map_err(|trouble| format!("at the end: {trouble}"))?;
    Ok(sum)
}

/// Plays every story on disks of many sizes.
pub fn full_disks(seed: u64) -> Result<Faults, String> {
    in_parallel(library(), |workload| {
        let mut sum = Faults::default();
        for capacity in (200..4000).step_by(150) {
            let filled = fill(workload, seed, capacity);
            sum += filled.map_err(|problem| format!("{capacity} bytes: {problem}"))?;
        }
        Ok(sum)
    })
}

/// Plays a story on a disk of so many bytes, which grows as much again whenever it is full.
fn fill(workload: &Workload, seed: u64, capacity: u64) -> Result<Faults, String> {
    let mut player = Player::new(workload.setting, seed);
    player.disk.set_capacity(Some(capacity));
    let mut sum = Faults { stories: 1, ..Faults::default() };
    for act in story(workload).filter(|act| !matches!(act, Some(Act::Together(..)))) {
        let tell = |problem: String| format!("{act:?}: {problem}");
        match perform(&mut player, act) {
            Ok(()) => continue,
            Err(Trouble::Refused(StoreError::DiskFull { .. })) => sum.refused += 1,
            Err(trouble) => return Err(tell(trouble.to_string())),
        }
        crash(&player).map_err(tell)?;
        if let Some(db) = &player.db {
            same(db, &player.states, player.setting).map_err(tell)?;
        }
        player.disk.set_capacity(None);
        perform(&mut player, act).map_err(|trouble| tell(format!("with space: {trouble}")))?;
        player.disk.set_capacity(Some(player.disk.used() + capacity));
        if player.disk.was_waited_for() {
            return Err(tell("it waited for a full disk".into()));
        }
    }
    sum.failed = player.disk.calls().1;
    Ok(sum)
}

/// Looks at a database after an act was refused, and has it go on.
fn refused(
    player: &mut Player,
    fault: Fault,
    act: Option<Act>,
    error: &StoreError,
) -> Result<(), String> {
    let is_full = match error {
        StoreError::DiskFull { .. } if fault.failure == Failure::Full => true,
        StoreError::Disk { .. }
        | StoreError::LogFailed { .. }
        | StoreError::OutcomeUnknown { .. } => false,
        _ => return Err("that is not what happened".into()),
    };
    if matches!(fault.failure, Failure::Short | Failure::Interrupted) {
        return Err("the call was to be tried again".into());
    }
    crash(player)?;
    if let Some(db) = &player.db {
        let last = player.states.len() as u64 - 1;
        if db.version().0 != last {
            return Err(format!("version {last} was the last one, {} is seen", db.version()));
        }
        same(db, &player.states, player.setting)?;
        db.check()?;
    }
    if fault.lasting == Lasting::Forever {
        player.disk.set_fault(None);
    }
    // What could not be archived waits, and would come with whatever is archived next.
    let ingest = act.filter(|act| matches!(act, Act::Ingest(_)));
    let commit = ingest.unwrap_or(Act::Commit(Size::Small));
    if is_full && player.db.is_some() && matches!(act, Some(Act::Commit(_) | Act::Ingest(_))) {
        return player.act(commit).map_err(|trouble| format!("there is space again: {trouble}"));
    }
    if player.db.is_some() {
        match player.act(commit) {
            Ok(()) => return Ok(()),
            Err(Trouble::Refused(StoreError::LogFailed { .. })) => {}
            Err(trouble) => return Err(format!("the next commit: {trouble}")),
        }
    }
    player.kill();
    player.open().map_err(|trouble| format!("opening it again: {trouble}"))
}

/// Looks at what a crash would leave now.
fn crash(player: &Player) -> Result<(), String> {
    let world = player.disk.world();
    let mut states = player.states.clone();
    states.extend(player.unknown.as_ref().map(Arc::clone));
    let (floor, setting) = (player.disk.floor(), player.setting);
    let mut rng = seed::rng(floor);
    let mut worlds = vec![World::of(&image::synced(&world).names)];
    worlds.push(World::of(&image::random(&world, &mut rng).names));
    worlds.push(world);
    for world in worlds {
        judge(world, &Expected { states: &states, floor, setting }, &mut rng)
            .map_err(|problem| format!("a crash now: {problem}"))?;
    }
    Ok(())
}
