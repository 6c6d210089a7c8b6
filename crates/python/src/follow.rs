//! Commits as they come: one after the other, in windows, and as steps from snapshot to snapshot.
//!
//! Nothing here waits for longer than it is told to, so that Python can look for Ctrl-C in between.

use std::path::PathBuf;

use evergraph::{
    Commit, Database, Follower as Follows, Start, StoreError, Stream as Steps, Version, Watcher,
    Window, Windows as Gathers, watch as watch_folder,
};
use pyo3::prelude::*;

use crate::changes::{Columns, Layout};
use crate::error::of_store;
use crate::lend::{Lender, Loan};
use crate::run::{duration, run};
use crate::snapshot::Snapshot;
use crate::store::no_such;

type Result<T> = std::result::Result<T, StoreError>;

/// Commits of a database, or of a folder that another process writes.
enum Source {
    Database(Follows),
    Folder(Watcher),
}

impl Source {
    fn poll(&mut self, max: usize) -> Result<Vec<Commit>> {
        match self {
            Self::Database(follower) => follower.poll(max),
            Self::Folder(watcher) => watcher.poll(max),
        }
    }

    fn position(&self) -> Version {
        match self {
            Self::Database(follower) => follower.position(),
            Self::Folder(watcher) => watcher.position(),
        }
    }
}

/// Follows commits.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Follower {
    source: Loan<Source>,
    layout: Layout,
}

impl Follower {
    pub(crate) fn of(lender: &Lender, layout: Layout, after: u64) -> PyResult<Self> {
        let source = lender.lend(|db| db.follow(Version(after)).map(Source::Database))?;
        Ok(Self { source: source.map_err(|error| of_store(&error))?, layout })
    }
}

/// Where a watcher begins: after a version, with the `"oldest"` commit, or after the `"newest"`.
#[derive(FromPyObject)]
pub(crate) enum Begin {
    After(u64),
    Word(String),
}

/// Follows the commits in a folder, whoever writes them.
#[pyfunction]
pub(crate) fn watch(py: Python<'_>, path: PathBuf, after: Begin) -> PyResult<Follower> {
    let start = match after {
        Begin::After(after) => Start::After(Version(after)),
        Begin::Word(word) if word == "oldest" => Start::Oldest,
        Begin::Word(word) if word == "newest" => Start::Newest,
        Begin::Word(word) => return Err(no_such("after", &word, "a version, oldest or newest")),
    };
    let watcher = run(py, |_| Ok(watch_folder(path, start)?))?;
    let layout = Layout { keys: watcher.key_kind(), weighted: watcher.is_weighted() };
    Ok(Follower { source: Loan::unlent(Source::Folder(watcher)), layout })
}

/// The last version of some commits, and their changes.
type Batch = (u64, Columns);

fn batch(layout: Layout, commits: &[Commit]) -> Option<Batch> {
    let last = commits.last()?;
    Some((last.version.0, layout.of_commits(commits)))
}

#[pymethods]
impl Follower {
    /// The version up to which commits were handed out.
    #[getter]
    fn position(&self) -> PyResult<u64> {
        self.source.quick(|source| source.position().0)
    }

    /// The next commits, `most` at most, if there are any.
    fn poll(&self, py: Python<'_>, most: usize) -> PyResult<Option<Batch>> {
        let layout = self.layout;
        let read = |source: &mut Source| Ok(batch(layout, &source.poll(most)?));
        told(self.source.with(py, read)?)
    }

    /// As `poll`, but waits so many seconds for the first one if it can.
    fn wait(&self, py: Python<'_>, most: usize, seconds: f64) -> PyResult<Option<Batch>> {
        let (layout, limit) = (self.layout, duration(seconds)?);
        let read = |source: &mut Source| {
            let commits = match source {
                Source::Database(follower) => follower.wait(most, limit)?,
                Source::Folder(watcher) => watcher.poll(most)?,
            };
            Ok(batch(layout, &commits))
        };
        told(self.source.with(py, read)?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.source.end(py)
    }
}

/// Commits put together.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Windows {
    gathers: Loan<Gathers>,
    layout: Layout,
}

/// How commits are put together, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Shape {
    /// Commits of a window; seconds if there are none.
    commits: Option<usize>,
    seconds: f64,
    /// Commits, or seconds, from the beginning of a window to that of the next.
    step: f64,
}

impl Shape {
    #[expect(clippy::cast_sign_loss, reason = "Python has checked that it is positive")]
    fn window(&self) -> PyResult<Window> {
        Ok(match self.commits {
            Some(size) => Window::Commits { size, step: self.step as usize },
            None => Window::Time { size: duration(self.seconds)?, step: duration(self.step)? },
        })
    }
}

impl Windows {
    pub(crate) fn of(lender: &Lender, layout: Layout, after: u64, shape: &Shape) -> PyResult<Self> {
        let window = shape.window()?;
        let gathers = lender.lend(|db| Ok(Gathers::new(db.follow(Version(after))?, window)))?;
        Ok(Self { gathers: gathers.map_err(|error| of_store(&error))?, layout })
    }
}

#[pymethods]
impl Windows {
    /// The version after which the next window begins, if it is known.
    #[getter]
    fn position(&self) -> PyResult<Option<u64>> {
        self.gathers.quick(|gathers| gathers.position().map(|version| version.0))
    }

    /// The next window, if it is complete.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let layout = self.layout;
        let read =
            |gathers: &mut Gathers| Ok(gathers.poll()?.and_then(|commits| batch(layout, &commits)));
        told(self.gathers.with(py, read)?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.gathers.end(py)
    }
}

/// Snapshots, each with what changed since the one before.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Stream {
    steps: Loan<(Database, Steps)>,
    layout: Layout,
}

impl Stream {
    pub(crate) fn of(lender: &Lender, layout: Layout, after: u64) -> PyResult<Self> {
        let steps = lender.lend(|db| Ok((db.clone(), db.stream(Version(after))?)))?;
        Ok(Self { steps: steps.map_err(|error| of_store(&error))?, layout })
    }
}

#[pymethods]
impl Stream {
    /// The version up to which changes were handed out.
    #[getter]
    fn position(&self) -> PyResult<u64> {
        self.steps.quick(|(_, steps)| steps.position().0)
    }

    /// The next step, if there was a commit: the version before it, the snapshot after it, and what
    /// differs.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<(u64, Snapshot, Columns)>> {
        let layout = self.layout;
        let step = self.steps.with(py, |(db, steps)| {
            if db.version() == steps.position() {
                return Ok(None);
            }
            let step = steps.next_step()?;
            Ok(Some((step.from.0, step.snapshot, layout.of_changes(step.changes.iter()))))
        })?;
        let step = told(step)?;
        Ok(step.map(|(from, shown, changes)| (from, Snapshot::new(shown), changes)))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.steps.end(py)
    }
}

fn told<R>(done: Result<R>) -> PyResult<R> {
    done.map_err(|error| of_store(&error))
}
