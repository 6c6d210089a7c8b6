//! A run: what is asked for, where files lie, how peers are started, what came out.

use std::fs;
use std::path::{Path, PathBuf};

use evergraph_bench::{Input, Report, Reporter, Row};

use crate::args::Args;
use crate::child::{Child, Trouble};
use crate::error::on;
use crate::peer::Peer;
use crate::protocol::{Reply, Request};
use crate::work::GraphFiles;
use crate::{Error, Result, setup};

/// A step that takes longer than this is not repeated.
pub(crate) const SLOW_SECONDS: f64 = 20.0;

/// What all measurements of a run share.
pub(crate) struct Session<'a> {
    pub(crate) args: &'a Args,
    pub(crate) reporter: &'a dyn Reporter,
    pub(crate) report: Report,
    pub(crate) input: Input,
    pub(crate) files: GraphFiles,
    folder: PathBuf,
    /// Peers that could not be set up.
    missing: Vec<&'static str>,
}

impl<'a> Session<'a> {
    /// Reads or makes the graph, and writes it for the peers.
    pub(crate) fn prepare(args: &'a Args, reporter: &'a dyn Reporter) -> Result<Self> {
        let folder = args.folder();
        fs::create_dir_all(&folder).map_err(on(&folder))?;
        let folder = folder.canonicalize().map_err(on(&folder))?;
        let input = Input::load(&args.graph(), &args.read_options(), args.seed, reporter)?;
        let files = GraphFiles::write(&input, &folder)?;
        let report = Report::new(args.seed);
        Ok(Self { args, reporter, report, input, files, folder, missing: Vec::new() })
    }

    /// A file through which something is handed over.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Sets a peer up and starts it.
    pub(crate) fn start(&mut self, peer: Peer) -> Result<Child, Trouble> {
        self.reporter.begin(&format!("{}: starting", peer.name()));
        let prepared = setup::prepare(peer, &self.folder, self.args.thread_count());
        let command = prepared.inspect_err(|_| self.missing.push(peer.name()))?;
        let log = self.file(&format!("{}.log", peer.name()));
        Child::start(command, &log, self.args.timeout)
    }

    /// Evergraph itself, which everybody is compared with.
    pub(crate) fn start_baseline(&mut self) -> Result<Child> {
        self.start(Peer::Evergraph).map_err(Error::Baseline)
    }

    /// An error if there is a peer that could not be set up.
    pub(crate) fn check_complete(&self) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        Err(Error::NotSetUp(self.missing.join(", ")))
    }

    /// Seconds that Evergraph takes.
    pub(crate) fn ask_baseline(&self, base: &mut Child, request: &Request) -> Result<f64> {
        match base.ask(request, self.args.timeout).map_err(Error::Baseline)? {
            Reply::Seconds(seconds) => Ok(seconds),
            other => Err(Error::Baseline(format!("{other:?}"))),
        }
    }

    /// Seconds that a peer takes; `None` if it has no such thing.
    pub(crate) fn ask(&self, child: &mut Child, request: &Request) -> Result<Option<f64>, Trouble> {
        match child.ask(request, self.args.timeout)? {
            Reply::Seconds(seconds) => Ok(Some(seconds)),
            Reply::Absent(_) => Ok(None),
            Reply::Error(error) => Err(error),
            Reply::Version(version) => Err(format!("it said its version, {version}, again")),
        }
    }

    /// Adds a row of a peer; its own fields come from `row`.
    pub(crate) fn add(&mut self, peer: Peer, version: Option<&str>, row: Row) {
        let threads = if row.threads == 0 { self.args.thread_count() } else { row.threads };
        self.report.add(Row {
            graph: self.input.name.clone(),
            weighted: self.input.list.weights.is_some(),
            peer: Some(peer.name()),
            peer_version: version.map(str::to_owned),
            threads,
            ..row
        });
    }

    /// Tells that a figure could not be had, now and in the results.
    pub(crate) fn add_trouble(
        &mut self,
        peer: Peer,
        (metric, unit): (&'static str, &'static str),
        trouble: &str,
    ) {
        self.reporter.note(&format!("{}, {metric}: {trouble}", peer.name()));
        let row = Row { metric, unit, remark: Some(trouble.to_owned()), ..Row::default() };
        self.add(peer, None, row);
    }
}

/// A path that is handed over.
pub(crate) fn answer_file(session: &Session<'_>, peer: Peer) -> PathBuf {
    session.file(&format!("answer-{}", peer.name()))
}

/// What is said about samples that are fewer than was asked for.
pub(crate) fn remark(samples: usize, wanted: usize) -> Option<String> {
    (samples < wanted).then(|| format!("{samples} of {wanted} repeats: slow"))
}

/// Removes what an earlier peer answered, so that it is not taken for the answer of the next one.
pub(crate) fn forget(path: &Path) {
    // It may not be there.
    drop(fs::remove_file(path));
}
