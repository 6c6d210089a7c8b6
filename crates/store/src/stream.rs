//! Streams: the newest snapshot with what led to it, and commits in windows.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use evergraph_graph::GraphChanges;

use crate::history::{Change, Commit, Follower, IdCommit, Tail, net, net_ids};
use crate::time::{at, now};
use crate::view::Snapshot;
use crate::{Database, Result, Version};

/// A stream with state: snapshots, each with what changed since the one before. A program that keeps
/// a result up to date looks at the changes alone, and asks the snapshot about what lies around them.
///
/// ```
/// use evergraph_store::{Change, Database};
/// # let folder = tempfile::tempdir()?;
/// let db = Database::open(folder.path())?;
/// let mut stream = db.stream(db.version())?;
/// db.transaction(0, |tx| tx.add_vertex(7u64))?;
/// let step = stream.next_step()?;
/// assert_eq!(step.changes, [Change::AddVertex(7u64.into())]);
/// assert_eq!(step.snapshot.version(), stream.position());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream {
    db: Database,
    follower: Follower,
}

/// A step of a [`Stream`].
pub struct Step {
    /// The version before it.
    pub from: Version,
    /// The state after it.
    pub snapshot: Snapshot,
    /// What differs, each vertex and edge once, in the order of their keys.
    pub changes: Vec<Change>,
}

impl Stream {
    pub(crate) fn new(db: Database, follower: Follower) -> Self {
        Self { db, follower }
    }

    /// The version up to which changes were handed out.
    pub fn position(&self) -> Version {
        self.follower.position()
    }

    /// The newest snapshot, and what changed since the step before; nothing if there was no commit.
    pub fn next_step(&mut self) -> Result<Step> {
        let snapshot = self.db.snapshot()?;
        let from = self.position();
        let commits = self.follower.poll_to(snapshot.version())?;
        let changes = net(commits, self.db.is_directed());
        Ok(Step { from, snapshot, changes })
    }
}

/// As a [`Stream`], by the ids of the snapshots: for algorithms, which know no keys.
///
/// ```
/// use evergraph_store::Database;
/// # let folder = tempfile::tempdir()?;
/// let db = Database::options().dense_keys(9).open(folder.path())?;
/// let mut stream = db.stream_ids(db.version())?;
/// db.transaction(0, |tx| tx.add_edge(7u64, 8u64))?;
/// let step = stream.next_step()?;
/// assert_eq!(step.changes.added_edges, [(7, 8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IdStream {
    db: Database,
    tail: Tail<IdCommit>,
}

/// A step of an [`IdStream`].
pub struct IdStep {
    /// The version before it.
    pub from: Version,
    /// The state after it.
    pub snapshot: Snapshot,
    /// What differs by the ids of the snapshots before and after it, in the order of ids.
    pub changes: GraphChanges,
}

impl IdStream {
    pub(crate) fn new(db: Database, tail: Tail<IdCommit>) -> Self {
        Self { db, tail }
    }

    /// The version up to which changes were handed out.
    pub fn position(&self) -> Version {
        self.tail.position()
    }

    /// The newest snapshot, and what changed since the step before; nothing if there was no commit.
    pub fn next_step(&mut self) -> Result<IdStep> {
        let snapshot = self.db.snapshot()?;
        let from = self.position();
        let changes = net_ids(self.tail.take_to(snapshot.version())?, self.db.is_directed());
        Ok(IdStep { from, snapshot, changes })
    }
}

/// How commits are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many commits; the next window begins so many later: as many for windows that tumble, fewer
    /// for windows that slide. At least one each.
    Commits {
        /// Commits of a window.
        size: usize,
        /// Commits from the beginning of a window to that of the next.
        step: usize,
    },
    /// The commits of so long, by the time they were written; the next window begins so much later.
    /// Windows in which nothing was committed are passed over. At least a microsecond each.
    Time {
        /// How long a window is.
        size: Duration,
        /// From the beginning of a window to that of the next.
        step: Duration,
    },
}

/// The commits of a [`Follower`] in windows. Pulled like it: [`Windows::poll`] answers a window when
/// it is complete.
pub struct Windows {
    follower: Follower,
    window: Window,
    /// Commits of this window and later ones.
    waiting: VecDeque<Commit>,
    /// Commits to be left out before the next window.
    gap: usize,
    /// When a window of time begins.
    begin: Option<SystemTime>,
}

/// Commits that are read at once.
const READ: usize = 1024;

impl Windows {
    /// The commits of a follower in windows.
    pub fn new(follower: Follower, window: Window) -> Self {
        let least = Duration::from_micros(1);
        let window = match window {
            Window::Commits { size, step } => {
                Window::Commits { size: size.max(1), step: step.max(1) }
            }
            Window::Time { size, step } => {
                Window::Time { size: size.max(least), step: step.max(least) }
            }
        };
        Self { follower, window, waiting: VecDeque::new(), gap: 0, begin: None }
    }

    /// The version before the first commit of the window that comes next: a follower made with it
    /// finds the same window again. None if the window begins with a commit that is still to come.
    pub fn position(&self) -> Option<Version> {
        let first = self.waiting.get(self.gap).map(|commit| Version(commit.version.0 - 1));
        let here = self.gap == self.waiting.len();
        first.or_else(|| here.then(|| self.follower.position()))
    }

    /// The next window, if it is complete.
    pub fn poll(&mut self) -> Result<Option<Vec<Commit>>> {
        match self.window {
            Window::Commits { size, step } => self.poll_commits(size, step),
            Window::Time { size, step } => self.poll_time(size, step),
        }
    }

    fn poll_commits(&mut self, size: usize, step: usize) -> Result<Option<Vec<Commit>>> {
        loop {
            let gap = self.gap.min(self.waiting.len());
            self.waiting.drain(..gap);
            self.gap -= gap;
            let missing = self.gap + size.saturating_sub(self.waiting.len());
            if missing == 0 {
                break;
            }
            let commits = self.follower.poll(missing)?;
            if commits.is_empty() {
                return Ok(None);
            }
            self.waiting.extend(commits);
        }
        self.gap = step;
        Ok(Some(self.waiting.iter().take(size).cloned().collect()))
    }

    fn poll_time(&mut self, size: Duration, step: Duration) -> Result<Option<Vec<Commit>>> {
        loop {
            let commits = self.follower.poll(READ)?;
            let read = commits.len();
            self.waiting.extend(commits);
            let Some(first) = self.waiting.front() else { return Ok(None) };
            let mut begin = *self.begin.get_or_insert(first.time);
            while begin + step <= first.time && begin + size <= first.time {
                begin += step;
            }
            self.begin = Some(begin);
            let end = begin + size;
            let is_over = self.waiting.back().is_some_and(|last| last.time >= end)
                || (read == 0 && at(now()) >= end);
            if is_over {
                let of_window = self.waiting.iter().take_while(|commit| commit.time < end);
                let window: Vec<Commit> = of_window.cloned().collect();
                let next = begin + step;
                self.begin = Some(next);
                while self.waiting.pop_front_if(|commit| commit.time < next).is_some() {}
                return Ok(Some(window));
            }
            if read == 0 {
                return Ok(None);
            }
        }
    }
}
