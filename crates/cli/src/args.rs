//! What the user said, word for word. What it means is found out in `resolve`.
//!
//! The comments on fields are the help of the options.
#![expect(clippy::doc_markdown, reason = "the comments are shown to users as they are")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::topics;

/// A graph store for graphs that never stop changing, and for the analytics that need them fresh.
#[derive(Debug, Parser)]
#[command(name = "evergraph", version, disable_help_subcommand = true)]
#[command(after_help = topics::START)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Generate(GenerateArgs),
    Load(LoadArgs),
    #[command(after_long_help = topics::KEEP_EXAMPLES)]
    Keep(KeepArgs),
    Watch(WatchArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
    Salvage(SalvageArgs),
    #[command(after_long_help = topics::BENCH_EXAMPLES)]
    Bench(evergraph_bench::Args),
    Help(HelpArgs),
}

impl Command {
    /// The name it is called by.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Demo(_) => "demo",
            Self::Run(_) => "run",
            Self::Generate(_) => "generate",
            Self::Load(_) => "load",
            Self::Keep(_) => "keep",
            Self::Watch(_) => "watch",
            Self::Stats(_) => "stats",
            Self::Check(_) => "check",
            Self::Salvage(_) => "salvage",
            Self::Bench(_) => "bench",
            Self::Help(_) => "help",
        }
    }
}

/// Show the main job live: analyse a graph while it changes
///
/// Loads a graph into the live store, by one transaction per edge. Then writers commit
/// transactions at full rate while PageRank, BFS and WCC run over and over, each on a consistent
/// snapshot of its own; after each run the same algorithm runs on a static copy of that snapshot,
/// so that you see what a store that never stands still costs. In the end the live graph is
/// compared, edge by edge, with an independent model of everything that was committed.
///
/// With --durable the store is a database in a new folder. At the end it is closed, opened again
/// from its files and compared once more.
///
/// Ends with `verified: N edges, M commits` and exit code 0, or with the differences and exit
/// code 1. Ctrl-C ends the live part early; the comparison still takes place.
#[derive(Debug, clap::Args)]
#[command(after_long_help = topics::DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// For how many seconds the writers write
    #[arg(long, value_name = "S", default_value = "15", help_heading = "Demo")]
    pub(crate) seconds: f64,
    /// How many threads commit transactions
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Demo")]
    pub(crate) writers: usize,
    /// What the random numbers follow from: of the changes, and of a generated graph
    #[arg(long, value_name = "N", help_heading = "Demo")]
    pub(crate) seed: Option<u64>,
    /// Write everything down, as a database in this folder, which must be new
    #[arg(long, value_name = "PATH", help_heading = "Durability")]
    pub(crate) durable: Option<PathBuf>,
    /// When a commit is on the disk: sync, group:MS, os or none; group:10 if not said. `evergraph
    /// help durability` explains them
    #[arg(long, value_name = "MODE", help_heading = "Durability")]
    pub(crate) durability: Option<String>,
}

/// Load a graph into the live store, change it if asked to, and run an algorithm on a snapshot
///
/// The graph is read or made, loaded by transactions, changed by the updates of a log, and then
/// the algorithm runs on a snapshot of the newest version. With --db it runs on a database in a
/// folder instead, which is only read, as it is or as it was. Results go to standard output or to
/// the file of --output; everything else goes to standard error.
#[derive(Debug, clap::Args)]
#[command(after_long_help = topics::RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// What to compute; `evergraph help algorithms` explains them
    #[arg(value_name = "ALGORITHM")]
    pub(crate) algorithm: AlgorithmName,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// A database in a folder, instead of a graph: made by `evergraph load` or by a program
    #[arg(long, value_name = "PATH", help_heading = "Database")]
    pub(crate) db: Option<PathBuf>,
    /// The database as it was: at a version, at a time such as 2026-05-01T12:00:00Z, or so long
    /// ago, as 10m or 2h30m
    #[arg(long, value_name = "VERSION|TIME", help_heading = "Database")]
    pub(crate) at: Option<String>,
    /// Where bfs and sssp start: the key of a vertex
    #[arg(long, value_name = "KEY", help_heading = "Algorithm")]
    pub(crate) source: Option<String>,
    /// How often pagerank (20 times, if not said) and cdlp (10 times) iterate
    #[arg(long, value_name = "N", help_heading = "Algorithm")]
    pub(crate) iterations: Option<u32>,
    /// The share of steps that follow an edge, for pagerank; 0.85 if not said
    #[arg(long, value_name = "D", help_heading = "Algorithm")]
    pub(crate) damping: Option<f64>,
    /// How many threads work; one per core if not said
    #[arg(long, value_name = "N", help_heading = "Algorithm")]
    pub(crate) threads: Option<usize>,
    /// Check the answer with a slow, independent, serial computation
    #[arg(long, help_heading = "Algorithm")]
    pub(crate) verify: bool,
    /// An update log to replay on the loaded graph; see `evergraph help updates`
    ///
    /// Without --graph the log starts from an empty graph.
    #[arg(long, value_name = "FILE", help_heading = "Updates")]
    pub(crate) updates: Option<PathBuf>,
    /// How many lines of the log make a transaction; 1 if not said
    #[arg(long, value_name = "N", help_heading = "Updates")]
    pub(crate) batch: Option<usize>,
    /// Where the result goes; an existing file is replaced once the new one is complete
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// What the result looks like; if not said, csv or json by the name of the output file, else
    /// table
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output_format: Option<OutputFormat>,
    /// What a generated graph follows from
    #[arg(long, value_name = "N", help_heading = "Graph")]
    pub(crate) seed: Option<u64>,
}

/// Make a graph, or a log of updates, and write it to a file
///
/// The extension of the file says the format (.el, .txt, .csv, .tsv, .mtx) and, after that, the
/// compression (.gz, .zst, .xz). The file appears under its name once it is complete.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_long_help = topics::GENERATE_EXAMPLES)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) what: Option<GenerateCommand>,
    /// The graph: graph500-SCALE or uniform-SCALE, with 2^SCALE vertices
    #[arg(value_name = "SPEC", required = true)]
    pub(crate) spec: Option<String>,
    /// The file to write
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) output: Option<PathBuf>,
    /// Write both arcs of every edge
    #[arg(long)]
    pub(crate) directed: bool,
    /// Give every edge a random weight in (0, 1]
    #[arg(long)]
    pub(crate) weighted: bool,
    /// What the random numbers follow from
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    Updates(GenerateUpdatesArgs),
}

/// Make a log of updates over a graph
///
/// The log adds all vertices, then all edges in random order; then, K times per edge, it adds or
/// deletes temporary edges whose ends are drawn in proportion to the degrees of the graph. In the
/// end the graph is the given one. Replay it with `evergraph run ALGORITHM --updates FILE`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = topics::GENERATE_UPDATES_EXAMPLES)]
pub(crate) struct GenerateUpdatesArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// The file to write; .gz, .zst or .xz compresses it
    #[arg(long, value_name = "FILE", help_heading = "Log")]
    pub(crate) output: PathBuf,
    /// Temporary edges added and deleted, per edge of the graph
    #[arg(long, value_name = "K", default_value = "9", help_heading = "Log")]
    pub(crate) updates_per_edge: u32,
    /// What the random numbers follow from: of the log, and of a generated graph
    #[arg(long, value_name = "N", help_heading = "Log")]
    pub(crate) seed: Option<u64>,
}

/// Load a graph into a database in a folder, or go on with a load that was interrupted
///
/// The graph is read or made, then its vertices and edges go in, in their order, by large
/// transactions. The folder is made if need be; the database gets the direction, the weights and
/// the keys of the graph.
///
/// A load that was interrupted, by Ctrl-C or otherwise, goes on when the same line is run again:
/// what is there already is counted, and looked up edge by edge; only the beginning of the same
/// graph is gone on with, anything else is refused. --batch and --durability may differ. Nobody
/// else may have written to the database meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_long_help = topics::LOAD_EXAMPLES)]
pub(crate) struct LoadArgs {
    /// A graph file, or the name of a generated graph: graph500-SCALE, uniform-SCALE
    #[arg(value_name = "FILE|SPEC")]
    pub(crate) graph: OsString,
    /// The folder of the database
    #[arg(long, value_name = "PATH", help_heading = "Database")]
    pub(crate) into: PathBuf,
    /// When a transaction is on the disk: sync, group:MS, os or none; sync if not said.
    /// `evergraph help durability` explains them
    #[arg(long, value_name = "MODE", help_heading = "Database")]
    pub(crate) durability: Option<String>,
    /// How far back the past is kept from now on: a time such as 24h, `1000 versions`, a size such
    /// as 2GiB, everything or nothing; if not said, as the database was told before
    #[arg(long, value_name = "HOW", help_heading = "Database")]
    pub(crate) keep: Option<String>,
    /// How many vertices or edges make a transaction; 65536 if not said
    #[arg(long, value_name = "N", help_heading = "Database")]
    pub(crate) batch: Option<usize>,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
    /// What a generated graph follows from
    #[arg(long, value_name = "N", help_heading = "Graph")]
    pub(crate) seed: Option<u64>,
}

/// Show or change how far back a database in a folder keeps the past
///
/// The folder remembers it, and whoever opens the database goes by it. A database that was told
/// nothing keeps no more than it needs to be opened. What a smaller choice gives up is removed with
/// the next checkpoint; what is gone does not come back. Nobody may have the database open while it
/// is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct KeepArgs {
    /// The folder of the database
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// How far back: a time such as 24h or 7d, `1000 versions`, a size of the log such as 2GiB,
    /// everything or nothing; if not said, what it is is shown
    #[arg(value_name = "HOW", num_args = 0..=2)]
    pub(crate) how: Vec<String>,
    /// What the result looks like
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output_format: ReportFormat,
}

/// Print the commits of a database in a folder, a line of JSON each
///
/// Reads the files and takes no lock: another process may be writing meanwhile. A line has the
/// `version`, the `time` at which the commit was written, and the `changes`; `evergraph help
/// durability` shows them. Ends with the newest commit, or, with --follow, waits for more.
#[derive(Debug, clap::Args)]
#[command(after_long_help = topics::WATCH_EXAMPLES)]
pub(crate) struct WatchArgs {
    /// The folder of the database
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Begin with the commit after this version; if not said, with the oldest that the files tell
    /// about, or, with --follow, with the next one
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: Option<u64>,
    /// Go on with what is committed from now on, until Ctrl-C
    #[arg(long)]
    pub(crate) follow: bool,
    /// End after so many commits
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<u64>,
}

/// Show what a database in a folder holds, in which files, and how far back they tell
///
/// The database is opened to be read, so that nobody may have it open to write.
#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// The folder of the database
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// What the result looks like
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output_format: ReportFormat,
}

/// Read every file of a database in a folder and check everything that must hold
///
/// Changes nothing. Ends with exit code 1 if anything is wrong, and says what and where.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The folder of the database
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// What the result looks like
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output_format: ReportFormat,
}

/// Make a new database of what can still be read of a damaged one
///
/// The damaged one is left as it is. What can be read is the newest good checkpoint and every good
/// commit after it, also behind damaged ones; edges with an end that was lost are left out. The
/// new database holds one version; its past is gone.
///
/// Ends with exit code 0 if the new database was made and nothing is known to be lost, and with 1 if
/// it was made of damaged files: the result says what was lost.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The folder of the damaged database
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The folder of the new one
    #[arg(long, value_name = "NEW")]
    pub(crate) into: PathBuf,
    /// What the result looks like
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output_format: ReportFormat,
}

/// Explain a command or a topic
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A command, or one of: algorithms, formats, updates, durability
    #[arg(value_name = "COMMAND|TOPIC", num_args = 0..)]
    pub(crate) words: Vec<String>,
}

/// Which graph, and how to read it.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Graph")]
pub(crate) struct GraphArgs {
    /// A graph file, or the name of a generated graph: graph500-SCALE, uniform-SCALE
    #[arg(long, value_name = "FILE|SPEC")]
    pub(crate) graph: Option<OsString>,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
}

/// How to read a graph.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Graph")]
pub(crate) struct ReadArgs {
    /// Edges have a direction, whatever the file says
    #[arg(long, conflicts_with = "undirected")]
    pub(crate) directed: bool,
    /// Edges have no direction, whatever the file says
    #[arg(long)]
    pub(crate) undirected: bool,
    /// Edges have weights: those in the file, or random ones in a generated graph
    #[arg(long)]
    pub(crate) weighted: bool,
    /// The file that lists all vertices of an edge list, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) vertices: Option<PathBuf>,
    /// The format of the file, if its name does not tell; see `evergraph help formats`
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// What the names of vertices are; auto looks at the first edge
    #[arg(long, value_name = "KIND")]
    pub(crate) keys: Option<KeysName>,
    /// What happens to an edge or vertex that stands twice; error if not said
    #[arg(long, value_name = "WHAT")]
    pub(crate) duplicates: Option<DuplicatesName>,
    /// What happens to an edge from a vertex to itself; allow if not said
    #[arg(long, value_name = "WHAT")]
    pub(crate) self_loops: Option<SelfLoopsName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlgorithmName {
    /// Breadth-first search: hops from a source to every vertex
    Bfs,
    /// PageRank: the share of time a random surfer spends at every vertex
    #[value(name = "pagerank")]
    PageRank,
    /// Weakly connected components
    Wcc,
    /// Communities by label propagation
    Cdlp,
    /// Local clustering coefficients
    Lcc,
    /// Shortest paths by weight from a source to every vertex
    Sssp,
    /// How many triangles there are
    Triangles,
    /// Strongly connected components
    Scc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A summary for people
    Table,
    /// A line `key value` per vertex, as in the reference files of LDBC Graphalytics
    Graphalytics,
    /// A header and a line `vertex,value` per vertex
    Csv,
    /// One object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A summary for people
    Table,
    /// One object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    Graphalytics,
    EdgeList,
    MatrixMarket,
    Metis,
    Dimacs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysName {
    /// Numbers if both ends of the first edge are numbers, else texts
    Auto,
    /// 64-bit numbers
    Number,
    /// Texts
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DuplicatesName {
    /// Reading fails
    Error,
    /// The first one stays
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SelfLoopsName {
    /// They are edges
    Allow,
    /// Reading fails
    Forbid,
    /// They are left out
    Drop,
}
