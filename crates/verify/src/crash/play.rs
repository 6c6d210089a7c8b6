//! Plays a story on a simulated disk, and knows which state each version has.
//!
//! # Invariants
//!   - `states[v]` is what version `v` holds; a life ends where states are lost, in a crash.
//!   - The floor of the disk is the last version that must survive: what was acknowledged, and
//!     what an opened database shows.

use std::sync::Arc;

use evergraph::io::Disk;
use evergraph::{Database, Durability, StoreError, Version, keep_of_on, set_keep_on};
use rand_pcg::Pcg64Mcg;

use super::damage::Ending;
use super::disk::{Point, SimDisk};
use super::graph::{Graph, Size, Step, content, ingest, perform};
use super::image::{self, Image};
use super::workload::{Act, Setting, Workload};
use super::world::World;
use crate::seed;

/// Where the database lies; neither folder is there at first.
pub const FOLDER: &str = "/shelf/db";

/// What each version holds.
pub type States = Vec<Arc<Graph>>;

/// A part of a story in which no version is lost.
pub struct Life {
    /// The disk after every call.
    pub points: Vec<Point>,
    /// What each version holds.
    pub states: States,
    /// How the database was made.
    pub setting: Setting,
}

/// Why an act did not succeed.
#[derive(Debug)]
pub enum Trouble {
    /// The database refused it.
    Refused(StoreError),
    /// Something is wrong.
    Wrong(String),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<String> for Trouble {
    fn from(problem: String) -> Self {
        Self::Wrong(problem)
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "{error:?}"),
            Self::Wrong(problem) => f.write_str(problem),
        }
    }
}

/// Who plays.
pub struct Player {
    /// The disk.
    pub disk: SimDisk,
    /// The database, while it is open.
    pub db: Option<Database>,
    /// What each version holds.
    pub states: States,
    /// What the version after them may hold: a commit of unknown outcome.
    pub unknown: Option<Arc<Graph>>,
    /// How the database is made.
    pub setting: Setting,
    lives: Vec<Life>,
    rng: Pcg64Mcg,
}

impl Player {
    /// A player with an empty disk, and no database yet.
    pub fn new(setting: Setting, seed: u64) -> Self {
        Self {
            disk: SimDisk::new(World::default(), 0),
            db: None,
            states: vec![Arc::new(Graph::dense(setting.vertices()))],
            unknown: None,
            setting,
            lives: Vec::new(),
            rng: seed::rng(seed),
        }
    }

    /// Plays one act.
    pub fn act(&mut self, act: Act) -> Result<(), Trouble> {
        match act {
            Act::Commit(size) => self.commit(size),
            Act::Ingest(count) => self.ingest(count),
            Act::Together(threads, each) => self.together(threads, each),
            Act::Sync => {
                self.db()?.sync()?;
                self.acknowledge_all();
                Ok(())
            }
            Act::Follow => {
                let db = self.db()?;
                let (version, before) = (db.version(), Version(db.version().0.saturating_sub(1)));
                let changes = db.changes(before, version)?;
                if changes.last().map_or(Version(0), |commit| commit.version) != version {
                    return Err(Trouble::Wrong(format!("{changes:?} after {before}")));
                }
                Ok(())
            }
            Act::Checkpoint => {
                let version = self.db()?.checkpoint()?;
                self.disk.acknowledge(version.0);
                Ok(())
            }
            Act::Service => {
                while self.db()?.service() {}
                Ok(())
            }
            Act::Close => self.close().and_then(|()| self.open()),
            Act::Change(durability) => {
                self.close()?;
                self.setting.durability = durability;
                self.open()
            }
            Act::Keep => {
                self.close()?;
                self.setting = self.setting.otherwise();
                let keep = self.setting.keep;
                let disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
                set_keep_on(&disk, FOLDER, keep)?;
                match keep_of_on(&disk, FOLDER)? {
                    kept if kept == keep => self.open(),
                    kept => Err(Trouble::Wrong(format!("{keep:?} was said, {kept:?} is kept"))),
                }
            }
            Act::Kill => {
                self.kill();
                self.open()
            }
            Act::Crash => {
                self.crash();
                self.open()
            }
        }
    }

    fn db(&self) -> Result<&Database, Trouble> {
        self.db.as_ref().ok_or_else(|| Trouble::Wrong("nothing is open".into()))
    }

    fn acknowledge_all(&self) {
        self.disk.acknowledge(self.states.len() as u64 - 1);
    }

    fn commit(&mut self, size: Size) -> Result<(), Trouble> {
        let kind = self.setting.kind;
        let mut next = (**self.states.last().expect("there is a first state")).clone();
        let steps = next.draw(kind, size, &mut self.rng);
        let done = self
            .db()?
            .transaction(0, |tx| steps.iter().try_for_each(|step| perform(tx, kind, *step)));
        let next = Arc::new(next);
        match done {
            Ok(version) if version.0 != self.states.len() as u64 => {
                let last = self.states.len() - 1;
                Err(Trouble::Wrong(format!("version {version} came after {last}")))
            }
            Ok(version) => {
                self.states.push(next);
                if self.setting.durability == Durability::Sync {
                    self.disk.acknowledge(version.0);
                }
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::OutcomeUnknown { .. }) {
                    self.unknown = Some(next);
                }
                Err(error.into())
            }
        }
    }

    /// Ingests the same again if it is tried again.
    fn ingest(&mut self, count: u64) -> Result<(), Trouble> {
        let kind = self.setting.kind;
        let last = self.states.last().expect("there is a first state");
        let mut next = (**last).clone();
        let steps = next.wish(kind, count, self.states.len() as u64);
        let into = self.db()?.ingest()?;
        steps.iter().try_for_each(|step| ingest(&into, kind, *step))?;
        let done = into.flush();
        let changed = next != **last;
        let next = Arc::new(next);
        match done {
            Ok(version) => {
                if changed {
                    self.states.push(next);
                }
                if version.0 + 1 != self.states.len() as u64 {
                    return Err(Trouble::Wrong(format!("{version} came of {}", self.states.len())));
                }
                if self.setting.durability == Durability::Sync {
                    self.disk.acknowledge(version.0);
                }
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::OutcomeUnknown { .. }) {
                    self.unknown = Some(next);
                }
                Err(error.into())
            }
        }
    }

    /// Commits from many threads, each with keys of its own.
    fn together(&mut self, threads: u64, each: u64) -> Result<(), Trouble> {
        let (db, kind, disk) = (self.db()?, self.setting.kind, &self.disk);
        let work = |thread: u64| {
            let mut done = Vec::new();
            for key in (1000 * thread..).take(each as usize) {
                let first = [Step::AddVertex(key), Step::AddEdge(key, key, 1.0)];
                let more = [Step::AddVertex(key), Step::AddEdge(key - 1, key, 1.0)];
                let steps = if done.is_empty() { first } else { more };
                let version = db.transaction(0, |tx| {
                    steps.iter().try_for_each(|step| perform(tx, kind, *step))
                })?;
                disk.acknowledge(version.0);
                done.push((version.0, steps));
            }
            Ok(done)
        };
        let done: Result<Vec<_>, StoreError> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (1..=threads).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        });
        let mut done = done?.concat();
        done.sort_by_key(|commit| commit.0);
        for (version, steps) in done {
            if version != self.states.len() as u64 {
                return Err(Trouble::Wrong(format!("version {version} is not the next one")));
            }
            let mut next = (**self.states.last().expect("there is a first state")).clone();
            for step in steps {
                next.make(kind, step);
            }
            self.states.push(Arc::new(next));
        }
        Ok(())
    }

    /// Opens the database, and sees what there is of it.
    pub fn open(&mut self) -> Result<(), Trouble> {
        let db = self.setting.options().open_on(Arc::new(self.disk.clone()), FOLDER)?;
        let version = db.version().0;
        let floor = self.disk.floor();
        if version < floor {
            return Err(Trouble::Wrong(format!(
                "version {floor} was acknowledged, {version} is there"
            )));
        }
        if version == self.states.len() as u64 {
            self.states.extend(self.unknown.take());
        }
        if version + 1 < self.states.len() as u64 {
            self.end_life();
            self.states.truncate(version as usize + 1);
        }
        self.unknown = None;
        same(&db, &self.states, self.setting)?;
        self.disk.acknowledge(version);
        self.db = Some(db);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Trouble> {
        if let Some(db) = self.db.take() {
            db.close()?;
            self.acknowledge_all();
        }
        Ok(())
    }

    /// Ends the process.
    pub fn kill(&mut self) {
        self.disk = self.disk.kill();
        self.db = None;
    }

    /// Ends it by taking the power away.
    fn crash(&mut self) {
        let world = self.disk.world();
        let mut left = World::of(&image::random(&world, &mut self.rng).names);
        left.stale = world.stale;
        self.disk = self.disk.crash(left);
        self.db = None;
    }

    fn end_life(&mut self) {
        if let Some(points) = self.disk.points() {
            let (states, setting) = (self.states.clone(), self.setting);
            self.lives.push(Life { points, states, setting });
            self.disk.record();
        }
    }
}

/// Whether the newest version of a database holds what it must.
pub fn same(db: &Database, states: &States, setting: Setting) -> Result<(), String> {
    let version = db.version().0;
    let found = content(db, setting.kind)?;
    match states.get(version as usize) {
        None => Err(format!("version {version} was never committed")),
        Some(state) if **state != found => {
            Err(format!("version {version} holds {found:?}, not {state:?}"))
        }
        Some(_) => Ok(()),
    }
}

/// Plays a whole story and ends it: what is there, what each version holds, and how the database
/// was last opened.
pub fn rehearse(
    workload: &Workload,
    seed: u64,
    ending: Ending,
) -> Result<(Image, States, Setting), String> {
    let mut player = Player::new(workload.setting, seed);
    let ended = player
        .open()
        .and_then(|()| workload.acts.iter().try_for_each(|act| player.act(*act)))
        .and_then(|()| if ending == Ending::Closed { player.close() } else { Ok(()) });
    ended.map_err(|trouble| trouble.to_string())?;
    player.kill();
    Ok((image::current(&player.disk.world()), player.states.clone(), player.setting))
}

/// Plays a whole story without a fault.
pub fn play(workload: &Workload, seed: u64) -> Result<Vec<Life>, String> {
    let mut player = Player::new(workload.setting, seed);
    player.disk.record();
    let acts = std::iter::once(None).chain(workload.acts.iter().copied().map(Some));
    for act in acts {
        let done = match act {
            None => player.open(),
            Some(act) => player.act(act),
        };
        done.map_err(|trouble| format!("{act:?}: {trouble}"))?;
    }
    player.end_life();
    Ok(player.lives)
}
