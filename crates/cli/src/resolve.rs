//! What the user meant: arguments checked against each other, defaults filled in.
//!
//! Nothing is opened here. What does not go together is wrong usage, with a sentence that says so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use evergraph::graph::generate::{DEFAULT_SEED, GraphSpec};
use evergraph::graph::read::{Duplicates, Format, KeyChoice, ReadOptions, SelfLoops};
use evergraph::graph::source::GraphSource;
use evergraph::graph::update::WorkloadOptions;
use evergraph::kernels::{cdlp, pagerank};
use evergraph::{Durability, Keep, LoadOptions, ReplayOptions, Start, Version, When};
use jiff::{SpanRelativeTo, Timestamp};

use crate::args::{
    AlgorithmName, DemoArgs, DuplicatesName, FormatName, GenerateArgs, GenerateCommand,
    GenerateUpdatesArgs, GraphArgs, KeepArgs, KeysName, LoadArgs, OutputFormat, ReadArgs,
    ReportFormat, RunArgs, SelfLoopsName, WatchArgs,
};
use crate::failure::Failure;
use crate::keep;
use crate::output::Destination;

type Result<T> = std::result::Result<T, Failure>;

/// More threads than any machine has; a typing error makes more.
const THREADS_MAX: usize = 4096;
/// More writers than can be told apart in a demo; each is a thread.
const WRITERS_MAX: usize = 256;
/// A day.
const SECONDS_MAX: f64 = 86_400.0;
/// Edges that fit a transaction in any case, whatever they carry.
const BATCH_MAX: usize = 1 << 24;
/// When the commits of a demo are on the disk: soon, and no commit waits for it.
const DEMO_DURABILITY: Durability = Durability::Group(Duration::from_millis(10));

/// A graph, and how to get it.
#[derive(Clone, Debug)]
pub(crate) struct GraphInput {
    /// What the user called it.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) options: ReadOptions,
}

/// Where a graph comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Source(GraphSource),
    /// Nowhere: no vertices and no edges.
    Empty,
}

/// `evergraph run`.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    pub(crate) input: RunInput,
    pub(crate) algorithm: Algorithm,
    pub(crate) verify: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) destination: Destination,
    pub(crate) format: OutputFormat,
}

/// What an algorithm runs on.
#[derive(Clone, Debug)]
pub(crate) enum RunInput {
    /// A graph that is loaded for it, and changed by a log.
    Graph { graph: GraphInput, updates: Option<Updates> },
    /// A database in a folder, as it is or as it was.
    Folder { path: PathBuf, at: Option<When> },
}

/// A log to replay.
#[derive(Clone, Debug)]
pub(crate) struct Updates {
    pub(crate) path: PathBuf,
    pub(crate) options: ReplayOptions,
}

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Algorithm {
    Bfs { source: String },
    PageRank { iterations: u32, damping: f64 },
    Wcc,
    Cdlp { iterations: u32 },
    Lcc,
    Sssp { source: String },
    Triangles,
    Scc,
}

/// `evergraph demo`.
#[derive(Clone, Debug)]
pub(crate) struct DemoPlan {
    pub(crate) graph: GraphInput,
    pub(crate) time: Duration,
    pub(crate) writers: usize,
    pub(crate) seed: u64,
    pub(crate) durable: Option<DurablePlace>,
}

/// The folder of a new database, and when its commits are on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DurablePlace {
    pub(crate) path: PathBuf,
    pub(crate) durability: Durability,
}

/// `evergraph load`.
#[derive(Clone, Debug)]
pub(crate) struct LoadPlan {
    pub(crate) graph: GraphInput,
    pub(crate) place: DurablePlace,
    /// None leaves it as it is.
    pub(crate) keep: Option<Keep>,
    pub(crate) options: LoadOptions,
}

/// `evergraph keep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeepPlan {
    pub(crate) path: PathBuf,
    /// None only tells.
    pub(crate) keep: Option<Keep>,
    pub(crate) format: ReportFormat,
}

/// `evergraph watch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchPlan {
    pub(crate) path: PathBuf,
    pub(crate) start: Start,
    pub(crate) follow: bool,
    /// Commits to print, at most.
    pub(crate) max: u64,
}

/// `evergraph generate`.
#[derive(Clone, Debug)]
pub(crate) enum GeneratePlan {
    Graph { graph: GraphInput, path: PathBuf },
    Updates { graph: GraphInput, path: PathBuf, options: WorkloadOptions },
}

fn usage<T>(sentence: impl Into<String>) -> Result<T> {
    Err(Failure::Usage(sentence.into()))
}

impl Algorithm {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bfs { .. } => "bfs",
            Self::PageRank { .. } => "pagerank",
            Self::Wcc => "wcc",
            Self::Cdlp { .. } => "cdlp",
            Self::Lcc => "lcc",
            Self::Sssp { .. } => "sssp",
            Self::Triangles => "triangles",
            Self::Scc => "scc",
        }
    }
}

impl RunPlan {
    pub(crate) fn resolve(args: RunArgs) -> Result<Self> {
        let algorithm = algorithm(&args)?;
        let input = match &args.db {
            Some(path) => folder(path, &args)?,
            None => run_graph(&args)?,
        };
        let format = args
            .output_format
            .or_else(|| args.output.as_deref().and_then(format_of))
            .unwrap_or(OutputFormat::Table);
        if algorithm == Algorithm::Triangles && format == OutputFormat::Graphalytics {
            return usage(
                "triangles is one number, and the graphalytics format has one per vertex; \
                 choose table, csv or json",
            );
        }
        if args.threads.is_some_and(|threads| !(1..=THREADS_MAX).contains(&threads)) {
            return usage(format!("--threads: from 1 to {THREADS_MAX}"));
        }
        Ok(Self {
            input,
            algorithm,
            verify: args.verify,
            threads: args.threads,
            destination: args.output.map_or(Destination::Stdout, Destination::File),
            format,
        })
    }
}

impl RunInput {
    /// Whether it is a database.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// What the user called it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Graph { graph, .. } => graph.name.clone(),
            Self::Folder { path, .. } => path.display().to_string(),
        }
    }
}

/// The graph that is loaded to run on it.
fn run_graph(args: &RunArgs) -> Result<RunInput> {
    if args.at.is_some() {
        return usage("--at is for a database in a folder; say which with --db PATH");
    }
    let updates = match (&args.updates, args.batch) {
        (Some(_), Some(0)) => return usage("--batch: a transaction has at least 1 line"),
        (None, Some(_)) => return usage("--batch says how --updates is replayed; there is none"),
        (None, None) => None,
        (Some(path), batch) => {
            let options =
                batch.map_or_else(ReplayOptions::default, |batch| ReplayOptions { batch });
            Some(Updates { path: path.clone(), options })
        }
    };
    let graph = match (&args.graph.graph, &updates) {
        (None, Some(_)) => empty_graph(&args.graph.reading, args.seed)?,
        _ => GraphInput::resolve(&args.graph, Seed::OfGraph(args.seed))?,
    };
    Ok(RunInput::Graph { graph, updates })
}

/// The database to run on, which says itself what it is.
fn folder(path: &Path, args: &RunArgs) -> Result<RunInput> {
    let reading = &args.graph.reading;
    let given = [
        ("--graph", args.graph.graph.is_some()),
        ("--directed", reading.directed),
        ("--undirected", reading.undirected),
        ("--weighted", reading.weighted),
        ("--updates", args.updates.is_some()),
        ("--batch", args.batch.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return usage(format!("{option} does not go with --db, a database that is there"));
    }
    refuse_file_options(reading, "--db is a database")?;
    let at = args.at.as_deref().map(when).transpose()?;
    Ok(RunInput::Folder { path: path.to_path_buf(), at })
}

/// A version, a time, or how long ago.
fn when(word: &str) -> Result<When> {
    if let Ok(version) = word.parse() {
        return Ok(When::Version(Version(version)));
    }
    if let Ok(time) = word.parse::<Timestamp>() {
        return Ok(When::Time(time.into()));
    }
    let ago = word.parse::<jiff::Span>().ok().and_then(|span| {
        let time = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        std::time::SystemTime::now().checked_sub(Duration::try_from(time).ok()?)
    });
    ago.map(When::Time).ok_or_else(|| {
        Failure::Usage(format!(
            "--at: `{word}` is no version, no time such as 2026-05-01T12:00:00Z and not how long \
             ago, as 10m"
        ))
    })
}

/// When a commit is on the disk, by its name.
fn durability(word: &str) -> Result<Durability> {
    word.parse().or_else(|error| usage(format!("--durability: {error}")))
}

impl LoadPlan {
    pub(crate) fn resolve(args: LoadArgs) -> Result<Self> {
        if args.batch.is_some_and(|batch| !(1..=BATCH_MAX).contains(&batch)) {
            return usage(format!("--batch: from 1 to {BATCH_MAX}"));
        }
        let graph = GraphArgs { graph: Some(args.graph), reading: args.reading };
        Ok(Self {
            graph: GraphInput::resolve(&graph, Seed::OfGraph(args.seed))?,
            place: DurablePlace {
                path: args.into,
                durability: args
                    .durability
                    .map_or(Ok(Durability::Sync), |word| durability(&word))?,
            },
            keep: args.keep.map(|words| how_far_back("--keep", &words)).transpose()?,
            options: args.batch.map_or_else(LoadOptions::default, |batch| LoadOptions { batch }),
        })
    }
}

impl KeepPlan {
    pub(crate) fn resolve(args: KeepArgs) -> Result<Self> {
        let words = (!args.how.is_empty()).then(|| args.how.join(" "));
        let keep = words.map(|words| how_far_back("HOW", &words)).transpose()?;
        Ok(Self { path: args.path, keep, format: args.output_format })
    }
}

/// How far back the past is kept, in words.
fn how_far_back(argument: &str, words: &str) -> Result<Keep> {
    keep::parse(words)
        .ok_or_else(|| Failure::Usage(format!("{argument}: `{words}` is not {}", keep::CHOICES)))
}

impl WatchPlan {
    pub(crate) fn resolve(args: WatchArgs) -> Result<Self> {
        let start = match (args.from, args.follow) {
            (Some(version), _) => Start::After(Version(version)),
            (None, true) => Start::Newest,
            (None, false) => Start::Oldest,
        };
        match args.max {
            Some(0) => usage("--max: at least 1"),
            max => {
                let max = max.unwrap_or(u64::MAX);
                Ok(Self { path: args.path, start, follow: args.follow, max })
            }
        }
    }
}

/// The algorithm with its options; refuses those of others.
fn algorithm(args: &RunArgs) -> Result<Algorithm> {
    use AlgorithmName as Name;
    let name = args.algorithm;
    let given = [
        ("--source", args.source.is_some(), matches!(name, Name::Bfs | Name::Sssp)),
        ("--iterations", args.iterations.is_some(), matches!(name, Name::PageRank | Name::Cdlp)),
        ("--damping", args.damping.is_some(), matches!(name, Name::PageRank)),
    ];
    let source = || match &args.source {
        Some(source) => Ok(source.clone()),
        None => usage("the algorithm starts at a vertex; say which with --source KEY"),
    };
    let iterations = |default| match args.iterations {
        Some(0) => usage("--iterations: at least 1"),
        given => Ok(given.unwrap_or(default)),
    };
    let damping = args.damping.unwrap_or(pagerank::DEFAULT_DAMPING);
    let algorithm = match name {
        Name::Bfs => Algorithm::Bfs { source: source()? },
        Name::Sssp => Algorithm::Sssp { source: source()? },
        Name::PageRank if !(0.0..=1.0).contains(&damping) => {
            return usage(format!("--damping: {damping} is not between 0 and 1"));
        }
        Name::PageRank => {
            let iterations = iterations(pagerank::DEFAULT_ITERATIONS)?;
            Algorithm::PageRank { iterations, damping }
        }
        Name::Cdlp => Algorithm::Cdlp { iterations: iterations(cdlp::DEFAULT_ITERATIONS)? },
        Name::Wcc => Algorithm::Wcc,
        Name::Lcc => Algorithm::Lcc,
        Name::Triangles => Algorithm::Triangles,
        Name::Scc => Algorithm::Scc,
    };
    match given.iter().find(|(_, given, applies)| *given && !applies) {
        Some((option, _, _)) => usage(format!("{option} does not apply to {}", algorithm.name())),
        None => Ok(algorithm),
    }
}

/// The format that the name of an output file asks for.
fn format_of(path: &Path) -> Option<OutputFormat> {
    match path.extension()?.to_str()? {
        "csv" => Some(OutputFormat::Csv),
        "json" => Some(OutputFormat::Json),
        _ => None,
    }
}

impl DemoPlan {
    pub(crate) fn resolve(args: DemoArgs) -> Result<Self> {
        let graph =
            GraphArgs { graph: args.graph.graph.or_else(|| Some(DEMO_GRAPH.into())), ..args.graph };
        if !(args.seconds > 0.0 && args.seconds <= SECONDS_MAX) {
            return usage(format!("--seconds: more than 0, at most {SECONDS_MAX}"));
        }
        if !(1..=WRITERS_MAX).contains(&args.writers) {
            return usage(format!("--writers: from 1 to {WRITERS_MAX}"));
        }
        let durable = match (args.durable, args.durability) {
            (None, None) => None,
            (None, Some(_)) => {
                return usage(
                    "--durability is for a demo in a folder; say which with --durable PATH",
                );
            }
            (Some(path), word) => {
                let durability = word.map_or(Ok(DEMO_DURABILITY), |word| durability(&word))?;
                Some(DurablePlace { path, durability })
            }
        };
        Ok(Self {
            durable,
            graph: GraphInput::resolve(&graph, Seed::OfMore(args.seed))?,
            time: Duration::from_secs_f64(args.seconds),
            writers: args.writers,
            seed: args.seed.unwrap_or(DEFAULT_SEED),
        })
    }
}

/// What the demo shows if no graph is named: some four million edges, so that the whole of it
/// takes about half a minute on two cores.
const DEMO_GRAPH: &str = "graph500-18";

impl GeneratePlan {
    pub(crate) fn resolve(args: GenerateArgs) -> Result<Self> {
        if let Some(GenerateCommand::Updates(args)) = args.what {
            return Self::updates(args);
        }
        let (Some(spec), Some(path)) = (args.spec, args.output) else {
            return usage("name the graph to make and the --output FILE");
        };
        if !GraphSpec::is_meant_by(&spec) {
            return usage(format!(
                "`{spec}` is not a generated graph; write graph500-SCALE or uniform-SCALE"
            ));
        }
        let graph = GraphArgs {
            graph: Some(spec.into()),
            reading: ReadArgs {
                directed: args.directed,
                weighted: args.weighted,
                ..ReadArgs::default()
            },
        };
        Ok(Self::Graph { graph: GraphInput::resolve(&graph, Seed::OfGraph(args.seed))?, path })
    }

    fn updates(args: GenerateUpdatesArgs) -> Result<Self> {
        let graph = GraphInput::resolve(&args.graph, Seed::OfMore(args.seed))?;
        let options = WorkloadOptions {
            updates_per_edge: args.updates_per_edge,
            seed: args.seed.unwrap_or(DEFAULT_SEED),
            ..WorkloadOptions::default()
        };
        Ok(Self::Updates { graph, path: args.output, options })
    }
}

/// What `--seed` is for.
#[derive(Clone, Copy)]
enum Seed {
    /// A generated graph, and nothing else.
    OfGraph(Option<u64>),
    /// A generated graph, and more: it may stand beside a file.
    OfMore(Option<u64>),
}

impl GraphInput {
    fn resolve(args: &GraphArgs, seed: Seed) -> Result<Self> {
        let Some(word) = &args.graph else {
            return usage("--graph is needed: a file, or a generated graph such as graph500-16");
        };
        let source = match word.to_str().map(str::parse::<GraphSource>) {
            Some(Ok(source)) => source,
            Some(Err(error)) => return usage(error.to_string()),
            None => GraphSource::File(word.into()),
        };
        let source = match source {
            GraphSource::Generated(spec) => {
                refuse_file_options(&args.reading, &format!("{spec} is generated"))?;
                GraphSource::Generated(seeded(spec, seed)?)
            }
            file @ GraphSource::File(_) => {
                if matches!(seed, Seed::OfGraph(Some(_))) {
                    return usage("--seed is for generated graphs; this one is a file");
                }
                file
            }
        };
        let name = match &source {
            GraphSource::Generated(spec) => spec.to_string(),
            GraphSource::File(path) => path.display().to_string(),
        };
        Ok(Self { name, origin: Origin::Source(source), options: read_options(&args.reading) })
    }
}

/// The graph before any update, where none is named.
fn empty_graph(args: &ReadArgs, seed: Option<u64>) -> Result<GraphInput> {
    let options = [("--vertices", args.vertices.is_some()), ("--format", args.format.is_some())];
    let others = [("--duplicates", args.duplicates.is_some()), ("--seed", seed.is_some())];
    match options.iter().chain(&others).find(|(_, given)| *given) {
        Some((option, _)) => usage(format!("{option} is for a --graph, and there is none")),
        None => Ok(GraphInput {
            name: "the empty graph".to_owned(),
            origin: Origin::Empty,
            options: read_options(args),
        }),
    }
}

fn refuse_file_options(args: &ReadArgs, why: &str) -> Result<()> {
    let given = [
        ("--vertices", args.vertices.is_some()),
        ("--format", args.format.is_some()),
        ("--keys", args.keys.is_some()),
        ("--duplicates", args.duplicates.is_some()),
        ("--self-loops", args.self_loops.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => usage(format!("{option} is for graph files, and {why}")),
        None => Ok(()),
    }
}

fn seeded(spec: GraphSpec, seed: Seed) -> Result<GraphSpec> {
    match seed {
        Seed::OfGraph(Some(_)) if spec.seed != DEFAULT_SEED => {
            usage(format!("{spec} says its seed already; leave out --seed"))
        }
        Seed::OfGraph(Some(seed)) => Ok(GraphSpec { seed, ..spec }),
        Seed::OfMore(Some(seed)) if spec.seed == DEFAULT_SEED => Ok(GraphSpec { seed, ..spec }),
        _ => Ok(spec),
    }
}

fn read_options(args: &ReadArgs) -> ReadOptions {
    let directed = match (args.directed, args.undirected) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    ReadOptions {
        format: args.format.map(|format| match format {
            FormatName::Graphalytics => Format::Graphalytics,
            FormatName::EdgeList => Format::EdgeList,
            FormatName::MatrixMarket => Format::MatrixMarket,
            FormatName::Metis => Format::Metis,
            FormatName::Dimacs => Format::Dimacs,
        }),
        directed,
        weighted: args.weighted,
        keys: match args.keys {
            None | Some(KeysName::Auto) => KeyChoice::Auto,
            Some(KeysName::Number) => KeyChoice::Number,
            Some(KeysName::Text) => KeyChoice::Text,
        },
        duplicates: match args.duplicates {
            None | Some(DuplicatesName::Error) => Duplicates::Error,
            Some(DuplicatesName::Ignore) => Duplicates::Ignore,
        },
        self_loops: match args.self_loops {
            None | Some(SelfLoopsName::Allow) => SelfLoops::Allow,
            Some(SelfLoopsName::Forbid) => SelfLoops::Forbid,
            Some(SelfLoopsName::Drop) => SelfLoops::Drop,
        },
        vertices: args.vertices.clone(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command};

    fn run(line: &str) -> Result<RunPlan> {
        let words = ["evergraph", "run"].into_iter().chain(line.split_whitespace());
        match Args::try_parse_from(words).expect("clap takes it").command {
            Command::Run(args) => RunPlan::resolve(args),
            other => panic!("{other:?}"),
        }
    }

    fn graph_of(input: RunInput) -> (GraphInput, Option<Updates>) {
        match input {
            RunInput::Graph { graph, updates } => (graph, updates),
            other @ RunInput::Folder { .. } => panic!("{other:?}"),
        }
    }

    fn refusal(line: &str) -> String {
        match run(line) {
            Err(Failure::Usage(sentence)) => sentence,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_those_of_the_library() {
        let plan = run("pagerank --graph g.el").expect("right");
        assert_eq!(plan.algorithm, Algorithm::PageRank { iterations: 20, damping: 0.85 });
        assert_eq!((plan.format, plan.destination), (OutputFormat::Table, Destination::Stdout));
        let (graph, _) = graph_of(plan.input);
        assert_eq!((graph.options.directed, graph.options.weighted), (None, false));
        let plan = run("cdlp --graph g.el --updates u.log --output a/b.json").expect("right");
        assert_eq!(plan.algorithm, Algorithm::Cdlp { iterations: 10 });
        assert_eq!(plan.format, OutputFormat::Json);
        assert_eq!(graph_of(plan.input).1.map(|updates| updates.options.batch), Some(1));
    }

    #[test]
    fn a_past_is_a_version_or_a_time() {
        use std::time::SystemTime;
        let at = |word: &str| match run(&format!("wcc --db d.evg --at {word}")).map(|p| p.input) {
            Ok(RunInput::Folder { path, at: Some(at) }) if path == Path::new("d.evg") => at,
            other => panic!("{other:?}"),
        };
        assert_eq!(at("17"), When::Version(Version(17)));
        let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(493_788);
        assert_eq!(at("2026-05-01T12:00:00Z"), When::Time(noon));
        assert_eq!(
            at("2026-05-01T14:00:00.5+02:00"),
            When::Time(noon + Duration::from_millis(500))
        );
        for (word, seconds) in [("10m", 600), ("1h30m", 5400), ("2d", 172_800), ("90s", 90)] {
            let When::Time(time) = at(word) else { panic!("{word}") };
            let ago = SystemTime::now().duration_since(time).expect("before now");
            assert!((seconds..seconds + 60).contains(&ago.as_secs()), "{word}: {ago:?}");
        }
        for word in ["yesterday", "-5", "2026-05-01", "0x11", "-10m"] {
            let line = format!("wcc --db d.evg --at={word}");
            assert!(refusal(&line).contains(&format!("`{word}` is no version")), "{word}");
        }
    }

    #[test]
    fn a_mode_of_durability_that_is_none_is_refused() {
        assert_eq!(durability("os").ok(), Some(Durability::Os));
        let refused = durability("often");
        assert!(
            matches!(refused, Err(Failure::Usage(why)) if why.contains("--durability: `often`"))
        );
    }

    #[test]
    fn a_seed_belongs_to_a_generated_graph() {
        let plan = run("wcc --graph graph500-4 --seed 9").expect("right");
        assert_eq!(graph_of(plan.input).0.name, "graph500-4-s9");
        assert!(refusal("wcc --graph graph500-4-s3 --seed 9").contains("says its seed already"));
        assert!(refusal("wcc --graph g.el --seed 9").contains("--seed is for generated graphs"));
    }

    #[test]
    fn what_does_not_apply_is_refused_by_name() {
        for (line, option) in [
            ("bfs --graph g.el --source 1 --damping 0.5", "--damping does not apply to bfs"),
            ("lcc --graph g.el --iterations 3", "--iterations does not apply to lcc"),
            ("wcc --graph g.el --source 1", "--source does not apply to wcc"),
            ("wcc --graph g.el --batch 3", "--batch says how --updates is replayed"),
            ("wcc --graph graph500-4 --vertices g.v", "--vertices is for graph files"),
            ("wcc --graph graph500-4 --keys text", "--keys is for graph files"),
            ("wcc --updates u.log --format metis", "--format is for a --graph"),
            ("bfs --graph g.el", "--source KEY"),
            ("wcc", "--graph is needed"),
            ("triangles --graph g.el --output-format graphalytics", "one number"),
            ("pagerank --graph g.el --damping 1.5", "1.5 is not between 0 and 1"),
            ("pagerank --graph g.el --iterations 0", "--iterations: at least 1"),
            ("wcc --graph g.el --threads 0", "--threads: from 1"),
            ("wcc --graph g.el --updates u.log --batch 0", "at least 1 line"),
            ("wcc --graph graph500-4x", "graph500-SCALE"),
            ("wcc --graph g.el --at 5", "--at is for a database in a folder"),
            ("wcc --db d --graph g.el", "--graph does not go with --db"),
            ("wcc --db d --updates u.log", "--updates does not go with --db"),
            ("wcc --db d --weighted", "--weighted does not go with --db"),
            ("wcc --db d --keys text", "--keys is for graph files, and --db is a database"),
            ("wcc --db d --seed 3", "--seed does not go with --db"),
        ] {
            let sentence = refusal(line);
            assert!(sentence.contains(option), "{line}: {sentence}");
        }
    }
}
