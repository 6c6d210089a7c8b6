//! How a graph gets in: read or made, and loaded into a live database.

use std::io::{self, Write};
use std::time::Duration;

use evergraph::graph::EdgeList;
use evergraph::graph::read::{KeyChoice, SelfLoops};
use evergraph::graph::{KeyKind, KeyTable};
use evergraph::{Database, LoadOptions, Options, SelfLoops as StoreSelfLoops};
use indicatif::HumanBytes;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::numbers::{Seconds, counted};
use crate::output::line;
use crate::progress::Bar;
use crate::resolve::{GraphInput, Origin};

/// A graph that was read or made.
pub(crate) struct Input {
    pub(crate) list: EdgeList,
    pub(crate) time: Duration,
    /// How many bytes were read for it.
    pub(crate) bytes: u64,
}

impl Input {
    /// How the graph came to be, and how long that took, as a line of a summary.
    pub(crate) fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        tell_reading(out, self.time, self.bytes)
    }
}

/// How long it took to read so many bytes, or to make a graph of none, as a line of a summary.
pub(crate) fn tell_reading(out: &mut dyn Write, time: Duration, bytes: u64) -> io::Result<()> {
    let time = Seconds(time);
    match bytes {
        0 => line(out, "generated", &format!("in {time}")),
        bytes => line(out, "read", &format!("in {time}, {}", HumanBytes(bytes))),
    }
}

/// Reads or makes a graph.
pub(crate) fn read(input: &GraphInput, interrupt: &Interrupt) -> Result<Input, Failure> {
    let bar = Bar::new(interrupt);
    let list = match &input.origin {
        Origin::Source(source) => source.load(&input.options, &bar)?,
        Origin::Empty => empty(input),
    };
    interrupt.check()?;
    Ok(Input { list, time: bar.elapsed(), bytes: bar.bytes() })
}

fn empty(input: &GraphInput) -> EdgeList {
    EdgeList {
        directed: input.options.directed == Some(true),
        keys: KeyTable::empty(match input.options.keys {
            KeyChoice::Text => KeyKind::Text,
            KeyChoice::Auto | KeyChoice::Number => KeyKind::Number,
        }),
        edges: Vec::new(),
        weights: input.options.weighted.then(Vec::new),
    }
}

/// The options of a database for a graph: what the user said about loops holds for changes, too.
pub(crate) fn database_options(input: &GraphInput, list: &EdgeList) -> Options {
    evergraph::options_for(list).self_loops(match input.options.self_loops {
        SelfLoops::Allow => StoreSelfLoops::Allowed,
        SelfLoops::Forbid | SelfLoops::Drop => StoreSelfLoops::Forbidden,
    })
}

/// Loads a graph into a database by transactions, and says how long it took.
pub(crate) fn load(
    db: &Database,
    list: &EdgeList,
    options: LoadOptions,
    interrupt: &Interrupt,
) -> Result<Duration, Failure> {
    let bar = Bar::new(interrupt);
    evergraph::load_into(db, list, &options, &bar)?;
    Ok(bar.elapsed())
}

/// What a graph is, in a line.
pub(crate) fn describe(vertices: u64, edges: u64, kind: (bool, bool)) -> String {
    let (directed, weighted) = kind;
    format!(
        "{}, {}, {}{}",
        counted(vertices, "vertex", "vertices"),
        counted(edges, "edge", "edges"),
        if directed { "directed" } else { "undirected" },
        if weighted { ", weighted" } else { "" },
    )
}
