//! Crashes after every call of every story, and after every call of the recovery from them.

use std::hash::BuildHasher;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::disk::Point;
use super::image::{self, Image};
use super::judge::{Expected, judge};
use super::play::{Life, States, play};
use super::workload::{Workload, library};
use super::world::World;
use crate::seed;

/// How deep crashes are nested: in the story, in the recovery, in the recovery from that.
pub const DEPTH: usize = 3;

/// So many calls after a recovery are its first ones: a commit in a new file, and a few more.
const FIRST: usize = 16;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Of the calls, one in so many is crashed after: in the story, in a recovery, in the recovery
    /// from that. 1 is all.
    pub one_in: [u32; DEPTH],
    /// Of the first calls that come after the recovery from a killed process, one in so many: there
    /// new commits meet what was not synced.
    pub first: u32,
    /// Of all other calls that come after a recovery, one in so many.
    pub later: u32,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crashes {
    /// Calls after which there was a crash.
    pub points: u64,
    /// What crashes left, different from each other in one life; by depth.
    pub images: [u64; DEPTH],
}

impl AddAssign for Crashes {
    fn add_assign(&mut self, other: Self) {
        self.points += other.points;
        for (sum, images) in self.images.iter_mut().zip(other.images) {
            *sum += images;
        }
    }
}

impl Crashes {
    /// All images.
    pub fn total(&self) -> u64 {
        self.images.iter().sum()
    }
}

/// Crashes in all stories.
pub fn crashes(seed: u64, effort: Effort) -> Result<Crashes, String> {
    in_parallel(library(), |workload| crashes_of(workload, seed, effort))
}

/// Does something with every story, as many at once as the machine has processors; the first
/// problem ends it.
pub(super) fn in_parallel<T: Default + AddAssign + Send>(
    workloads: Vec<Workload>,
    work: impl Fn(&Workload) -> Result<T, String> + Sync,
) -> Result<T, String> {
    let left = Mutex::new((workloads, Ok(T::default())));
    let lock = || left.lock().unwrap_or_else(PoisonError::into_inner);
    let run = || {
        while let Some(workload) = { lock().0.pop() } {
            let done = work(&workload).map_err(|problem| format!("{}: {problem}", workload.name));
            let (workloads, sum) = &mut *lock();
            match (sum, done) {
                (Ok(sum), Ok(done)) => *sum += done,
                (sum @ Ok(_), Err(problem)) => {
                    *sum = Err(problem);
                    workloads.clear();
                }
                (Err(_), _) => {}
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
    left.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

/// Crashes in one story.
pub fn crashes_of(workload: &Workload, seed: u64, effort: Effort) -> Result<Crashes, String> {
    let mut sum = Crashes::default();
    for (number, life) in play(workload, seed)?.iter().enumerate() {
        let tried = Trials::new(life, effort, seed).run();
        sum += tried.map_err(|problem| format!("life {number}, {problem}"))?;
    }
    Ok(sum)
}

/// A disk that is to be judged.
struct Case {
    world: World,
    floor: u64,
    depth: usize,
    states: Arc<States>,
    /// After which calls the crashes came, by depth.
    path: Vec<usize>,
}

/// Everything that is tried in one life.
struct Trials<'a> {
    life: &'a Life,
    effort: Effort,
    rng: Pcg64Mcg,
    hasher: DefaultHashBuilder,
    /// By digest, where the case stands.
    seen: HashMap<u64, usize>,
    cases: Vec<Case>,
}

/// Calls after which crashes are tried, one in so many of them.
struct Calls<'a> {
    points: &'a [Point],
    one_in: u32,
    states: &'a Arc<States>,
    depth: usize,
    path: &'a [usize],
}

impl<'a> Trials<'a> {
    fn new(life: &'a Life, effort: Effort, seed: u64) -> Self {
        let (hasher, seen) = (DefaultHashBuilder::default(), HashMap::new());
        Self { life, effort, rng: seed::rng(seed), hasher, seen, cases: Vec::new() }
    }

    fn run(mut self) -> Result<Crashes, String> {
        let mut sum = Crashes { points: self.life.points.len() as u64, ..Crashes::default() };
        let (states, setting) = (Arc::new(self.life.states.clone()), self.life.setting);
        let one_in = self.effort.one_in[0];
        let points = &self.life.points;
        self.add(&Calls { points, one_in, states: &states, depth: 0, path: &[] });
        let mut at = 0;
        while at < self.cases.len() {
            let case = &mut self.cases[at];
            let (floor, depth) = (case.floor, case.depth);
            let (path, states) = (case.path.clone(), Arc::clone(&case.states));
            let world = std::mem::take(&mut case.world);
            let is_killed = world.has_pending();
            let files = image::current(&world);
            let expected = Expected { states: &states, floor, setting };
            let found = judge(world, &expected, &mut self.rng).map_err(|problem| {
                format!("crash after call {path:?}, case {at}: {problem}\n{}", describe(&files))
            })?;
            sum.images[depth] += 1;
            if depth + 1 < DEPTH {
                let states = &Arc::new(found.states);
                let (depth, path) = (depth + 1, &path[..]);
                let one_in = self.effort.one_in[depth];
                self.add(&Calls { points: &found.recovery, one_in, states, depth, path });
                let first = if is_killed { FIRST.min(found.later.len()) } else { 0 };
                let (points, later) = found.later.split_at(first);
                let one_in = self.effort.first;
                self.add(&Calls { points, one_in, states, depth, path });
                let one_in = self.effort.later;
                self.add(&Calls { points: later, one_in, states, depth, path });
            }
            at += 1;
        }
        Ok(sum)
    }

    /// Adds what crashes may leave after each of some calls, unless it was seen.
    fn add(&mut self, calls: &Calls<'_>) {
        for (call, point) in calls.points.iter().enumerate() {
            if self.rng.random_range(0..calls.one_in) > 0 {
                continue;
            }
            for image in image::all(&point.world, &mut self.rng) {
                let digest = self.hasher.hash_one(&image);
                self.put(digest, calls, call, || World::of(&image.names));
            }
            // The process alone may end as well: nothing is lost, and nothing synced.
            let files = (image::current(&point.world), image::synced(&point.world));
            self.put(self.hasher.hash_one(&files), calls, call, || point.world.clone());
        }
    }

    fn put(&mut self, digest: u64, calls: &Calls<'_>, call: usize, world: impl Fn() -> World) {
        let floor = calls.points[call].floor;
        if let Some(&known) = self.seen.get(&digest) {
            // Found again, later: what was acknowledged since counts as well.
            let case = &mut self.cases[known];
            if Arc::ptr_eq(&case.states, calls.states) {
                case.floor = case.floor.max(floor);
                return;
            }
        }
        self.seen.insert(digest, self.cases.len());
        let (depth, states) = (calls.depth, Arc::clone(calls.states));
        let path = [calls.path, &[call]].concat();
        self.cases.push(Case { world: world(), floor, depth, states, path });
    }
}

/// The files of an image, in words.
fn describe(image: &Image) -> String {
    let lines = image.names.iter().map(|(path, bytes)| match bytes {
        None => format!("  {}/", path.display()),
        Some(bytes) => format!("  {} {} bytes", path.display(), bytes.len()),
    });
    lines.collect::<Vec<_>>().join("\n")
}
