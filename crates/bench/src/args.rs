//! What the command line says.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, io};

use clap::ValueEnum;
use evergraph::Isolation;
use evergraph::graph::{GraphSource, ReadOptions};

use crate::input::Input;
use crate::kernel::Kernel;
use crate::measure::WorkerSpec;
use crate::{Reporter, Result};

/// Samples per figure unless told otherwise: enough for a median that one bad sample cannot move.
const DEFAULT_REPEATS: &str = "5";
/// Long enough for the database to settle a graph of 30 million entries.
const DEFAULT_IDLE: &str = "3";

/// Measures the database on this machine: how fast it takes changes, and how fast algorithms run on
/// the live graph, beside the same algorithms on a static array of the same graph.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(value_enum, value_name = "WHAT", required_unless_present = "worker", num_args = 1..)]
    pub what: Vec<What>,
    /// A generated graph (graph500-SCALE, uniform-SCALE) or a graph file
    #[arg(long, default_value = "graph500-20")]
    pub graph: GraphSource,
    /// Edges have a direction, whatever the file says
    #[arg(long, conflicts_with = "undirected")]
    pub directed: bool,
    /// Edges have no direction, whatever the file says
    #[arg(long)]
    pub undirected: bool,
    /// Edges carry weights: those of the file, or random ones
    #[arg(long)]
    pub weighted: bool,
    /// How many threads to use; several numbers measure with each [default: all cores]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub threads: Vec<NonZeroUsize>,
    /// How often to measure each figure; the median counts
    #[arg(long, value_name = "R", default_value = DEFAULT_REPEATS)]
    pub repeats: NonZeroUsize,
    /// What the order of edges and the choice of sources follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Writes the results as JSON; `-` is standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draws charts (SVG) into this folder
    #[arg(long, value_name = "DIR")]
    pub plot: Option<PathBuf>,
    /// How transactions are isolated; other than by default makes a row beside the default's
    /// (insert)
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::Snapshot)]
    pub isolation: Level,
    /// Which kernels to measure, with commas between them [default: all]
    /// (kernels, scan, mixed, ingest)
    #[arg(long, value_enum, value_name = "KERNEL", value_delimiter = ',')]
    pub kernels: Vec<Kernel>,
    /// How long the database is left alone before it counts as settled
    #[arg(long, value_name = "SECONDS", default_value = DEFAULT_IDLE, value_parser = seconds)]
    pub idle: Duration,
    /// Insertions and deletions at constant size, per edge of the graph (update, memory)
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub updates_per_edge: u32,
    /// Edges of the hub (hub)
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub hub_edges: u32,
    /// Where databases that survive are made, in folders of their own that are removed again
    /// [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub disk: Option<PathBuf>,
    /// Serves as the process whose memory is measured
    #[arg(long, hide = true, value_name = "SPEC")]
    pub worker: Option<WorkerSpec>,
    /// How a process of its own is started to measure memory in. Without it memory is measured in
    /// this process, as the difference to what it had before.
    #[arg(skip)]
    pub relaunch: Option<Relaunch>,
}

/// How transactions are isolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Two that change the same thing conflict
    Snapshot,
    /// As if each ran alone
    Serializable,
}

impl Level {
    /// The word for it in the results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Serializable => "serializable",
        }
    }

    /// The same, for the database.
    pub(crate) fn isolation(self) -> Isolation {
        match self {
            Self::Snapshot => Isolation::Snapshot,
            Self::Serializable => Isolation::Serializable,
        }
    }
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum What {
    /// Single-edge insert transactions, with dense keys and through the vertex dictionary
    Insert,
    /// Insertions and deletions at constant size, over time
    Update,
    /// Transactions of 1000, 100,000 and a million edges
    Batch,
    /// Scans and algorithms beside the same on a static array, fresh and settled
    Kernels,
    /// One thread writes at full rate, one runs algorithms on fresh snapshots
    Mixed,
    /// Resident bytes per entry: after the load, after updates, with an old snapshot held
    Memory,
    /// How long single commits take, at worst too
    Latency,
    /// Opening a snapshot, and looking edges up in one
    Snapshot,
    /// Scans alone, and what share of the machine's read bandwidth they move
    Scan,
    /// Changes and look-ups at one vertex with millions of edges
    Hub,
    /// Commits that survive: each mode of durability, committers who wait for the disk, checkpoints
    Durable,
    /// Changes taken in unchecked: appended, archived, and kernels meanwhile
    Ingest,
    /// Opening a database again, from its log and from a checkpoint
    Recover,
    /// Standing results brought up to date after small batches, beside computing them anew
    Standing,
    /// The Python package beside `NetworkX` and igraph, in the Python of the virtual environment
    Python,
    /// All of these but python
    All,
}

impl What {
    /// Everything, in the order it is measured. The scans are among the kernels.
    const ALL: [Self; 13] = [
        Self::Insert,
        Self::Batch,
        Self::Latency,
        Self::Snapshot,
        Self::Kernels,
        Self::Mixed,
        Self::Update,
        Self::Memory,
        Self::Ingest,
        Self::Durable,
        Self::Recover,
        Self::Standing,
        Self::Hub,
    ];
}

impl Args {
    /// What is to be measured, each once.
    pub(crate) fn chosen(&self) -> Vec<What> {
        if self.what.contains(&What::All) {
            return What::ALL.to_vec();
        }
        let mut chosen = Vec::new();
        for &what in &self.what {
            if !chosen.contains(&what) {
                chosen.push(what);
            }
        }
        chosen
    }

    /// Those of `kernels` that are to be measured.
    pub(crate) fn kernels_of(&self, kernels: &[Kernel]) -> Vec<Kernel> {
        let wanted = |kernel: &Kernel| self.kernels.is_empty() || self.kernels.contains(kernel);
        kernels.iter().copied().filter(wanted).collect()
    }

    /// The graph that is asked for.
    pub(crate) fn load(&self, reporter: &dyn Reporter) -> Result<Input> {
        let directed = match (self.directed, self.undirected) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let options = ReadOptions { directed, weighted: self.weighted, ..ReadOptions::default() };
        Input::load(&self.graph, &options, self.seed, reporter)
    }

    /// With how many threads, each number once.
    pub(crate) fn thread_counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self.threads.iter().map(|count| count.get()).collect();
        if counts.is_empty() {
            counts.push(crate::machine::cores());
        }
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// How to start a process that calls [`crate::run`] with other arguments.
#[derive(Clone, Debug)]
pub struct Relaunch {
    /// The program.
    pub program: PathBuf,
    /// What stands before the arguments of the benchmark.
    pub leading: Vec<OsString>,
}

impl Relaunch {
    /// The program that is running, with these words before the arguments of the benchmark.
    pub fn this_program<S: Into<OsString>>(
        leading: impl IntoIterator<Item = S>,
    ) -> io::Result<Self> {
        let leading = leading.into_iter().map(Into::into).collect();
        Ok(Self { program: env::current_exe()?, leading })
    }
}
