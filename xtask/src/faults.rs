//! `cargo xtask verify --only faults`: tests of the tests. Every suite runs against each fault that
//! can be planted in the store (`crates/store/src/fault.rs`), in a process of its own.
//!
//! First each suite runs without a fault: it has to pass, and its time says how long it may take with
//! one. A suite is *red* with a fault if it fails, dies or does not end. What they print lies in the
//! folder `faults` of the build folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::command::{self, Outcome, Workspace};
use crate::test::{Program, model};

/// Which build a suite belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Build {
    Usual,
    /// With every interleaving tried.
    Models,
}

/// Tests that run against the faults.
struct Suite {
    name: &'static str,
    build: Build,
    /// The program, as [`Program::name`] calls it.
    program: &'static str,
    args: &'static [&'static str],
    /// How many cases of each random test, if fewer than usual.
    cases: Option<&'static str>,
    /// It runs against faults that break one of these promises.
    promises: &'static [&'static str],
}

const TITLE: &str = crate::test::UNIT;

const fn suite(name: &'static str, program: &'static str) -> Suite {
    let promises = &[ISOLATION];
    Suite { name, build: Build::Usual, program, args: &[], cases: None, promises }
}

/// What faults break, as the store calls it.
const ISOLATION: &str = "isolation";
const DURABILITY: &str = "durability";

const SUITES: [Suite; 16] = [
    Suite { cases: Some("2"), ..suite("histories", "verify tests/recorded") },
    Suite { cases: Some("3"), ..suite("graphs", "verify tests/graphs") },
    Suite { cases: Some("800"), ..suite("scenarios", "verify tests/scenarios") },
    Suite { cases: Some("2"), ..suite("acid", "verify tests/acid") },
    suite("model", "store tests/model"),
    suite("isolation", "store tests/isolation"),
    suite("concurrent", "store tests/concurrent"),
    suite("clients", "store tests/clients"),
    suite("ingest", "store tests/ingest"),
    Suite { args: &["full_store", "keys"], ..suite("memory", "store tests/memory") },
    Suite { promises: &[ISOLATION, DURABILITY], ..suite("unit", "store (unit)") },
    Suite { build: Build::Models, args: &["loom_"], ..suite("loom", "store (unit)") },
    Suite { promises: &[DURABILITY], ..suite("durable", "store tests/durable") },
    Suite { promises: &[DURABILITY], ..suite("crashes", "verify tests/crashes") },
    Suite { promises: &[DURABILITY], ..suite("errors", "verify tests/faults") },
    Suite { promises: &[DURABILITY], ..suite("damage", "verify tests/damage") },
];

/// How often a model may switch between threads that could go on: enough for each fault that a
/// model finds, and a sixth of the time.
const PREEMPTIONS: (&str, &str) = ("LOOM_MAX_PREEMPTIONS", "2");

/// A suite may take so many times as long as without a fault, and so much more: others may use the
/// machine, and a suite that is slow is not red.
const SLOWER: u32 = 8;
const GRACE: Duration = Duration::from_mins(1);
/// How often a suite that runs is looked at.
const POLL: Duration = Duration::from_millis(5);

/// How a suite ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    /// It did not end in time.
    Hung,
}

/// A fault.
struct Fault {
    name: String,
    promise: String,
    what: String,
}

impl Fault {
    /// Reads a line of the list that the store gives.
    fn listed(line: &str) -> Option<Self> {
        let mut words = line.split('\t').map(str::to_owned);
        Some(Self { name: words.next()?, promise: words.next()?, what: words.next()? })
    }

    /// The suites that run against it.
    fn suites(&self) -> impl Iterator<Item = usize> + '_ {
        let is_meant = |at: &usize| SUITES[*at].promises.contains(&&*self.promise);
        (0..SUITES.len()).filter(is_meant)
    }
}

/// How a suite ended, and after what time.
type Ended = (End, Duration);

/// How each suite that runs against a fault ended with it.
type Row = Vec<Ended>;

/// The suites of the short version, the quickest first.
const QUICK: [&str; 11] = [
    "isolation",
    "unit",
    "concurrent",
    "clients",
    "ingest",
    "model",
    "graphs",
    "memory",
    "errors",
    "damage",
    "crashes",
];

/// Faults that only a model finds for certain: the short version builds none, and leaves them out.
const FOR_MODELS: [&str; 12] = [
    "return-early",
    "merge-invisible",
    "merge-keeps-mark",
    "cut-before-directory",
    "lease-reads-first",
    "edge-count-raced",
    "validates-first",
    "set-left-early",
    "set-not-entered",
    "batch-ends-unchecked",
    "batch-not-renewed",
    "flush-early",
];

/// What every run of the tests plants: a fault of each protocol, found by the first suites.
pub(crate) const SAMPLE: [&str; 12] = [
    "edge-conflict-unseen",
    "half-edge",
    "reads-now",
    "merge-loses-folded",
    "freed-early",
    "pins-ignored",
    "expired-slot-freed",
    "ids-given-up-early",
    "lists-not-validated",
    "set-not-validated",
    "batch-unsynced",
    "tail-uncut",
];

/// Runs the quick suites against each fault of these names, or all, until one finds it; `true` if all
/// were found.
pub(crate) fn run_quick(workspace: &Workspace, names: &[&str]) -> Outcome<bool> {
    let mut bench = Bench::new(workspace)?;
    bench.build_usual()?;
    let start = Instant::now();
    let quick: Vec<usize> = QUICK.iter().filter_map(|name| place_of(name)).collect();
    let mut tried = bench.faults(names)?;
    tried.retain(|fault| !FOR_MODELS.contains(&&*fault.name));
    let is_found = |fault: &Fault| -> Outcome<bool> {
        let meant: Vec<usize> = fault.suites().collect();
        for &suite in quick.iter().filter(|suite| meant.contains(suite)) {
            if is_red(&bench.try_one(Some(&fault.name), suite, GRACE)?) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let found = in_parallel(&tried, is_found)?;
    let missed = tried.iter().zip(&found).filter(|(_, found)| !**found);
    let missed: Vec<&str> = missed.map(|(fault, _)| &*fault.name).collect();
    let (time, count) = (start.elapsed(), tried.len() - missed.len());
    println!("test: {count} of {} planted faults found in {time:.0?}", tried.len());
    for name in &missed {
        eprintln!("test: no quick suite finds {name}");
    }
    Ok(missed.is_empty())
}

fn place_of(name: &str) -> Option<usize> {
    SUITES.iter().position(|suite| suite.name == name)
}

/// Runs every suite against the faults of these names, or all, and prints a table; `true` if each
/// fault was found.
pub(crate) fn run(workspace: &Workspace, names: &[&str]) -> Outcome<bool> {
    let mut bench = Bench::new(workspace)?;
    bench.build_usual()?;
    bench.build_models()?;
    let faults = bench.faults(names)?;
    let limits = bench.limits()?;
    let jobs = faults.iter().flat_map(|fault| fault.suites().map(|suite| (&*fault.name, suite)));
    let run = |&(fault, suite): &(&str, usize)| {
        let ended = bench.try_one(Some(fault), suite, limits[suite])?;
        eprintln!("faults: {fault:26} {:10} {:?} {:.1?}", SUITES[suite].name, ended.0, ended.1);
        Ok(ended)
    };
    let mut ends = in_parallel(&jobs.collect::<Vec<_>>(), run)?.into_iter();
    let row = |fault: Fault| {
        let row: Row = ends.by_ref().take(fault.suites().count()).collect();
        (fault, row)
    };
    let rows: Vec<(Fault, Row)> = faults.into_iter().map(row).collect();
    print_tables(&rows);
    let missed = rows.iter().filter(|(_, row)| !row.iter().any(is_red));
    let missed: Vec<&str> = missed.map(|(fault, _)| &*fault.name).collect();
    if !missed.is_empty() {
        println!("\nnobody finds: {}", missed.join(", "));
    }
    Ok(missed.is_empty())
}

fn is_red((end, _): &Ended) -> bool {
    *end != End::Passed
}

/// A table of the faults that break a promise for each.
fn print_tables(rows: &[(Fault, Row)]) {
    for of_promise in rows.chunk_by(|(fault, _), (next, _)| fault.promise == next.promise) {
        print_table(of_promise);
    }
}

fn print_table(rows: &[(Fault, Row)]) {
    let Some((first, _)) = rows.first() else { return };
    let names: Vec<&str> = first.suites().map(|suite| SUITES[suite].name).collect();
    println!("\n| fault | what is wrong | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(names.len()));
    for (Fault { name, what, .. }, row) in rows {
        let cell = |&(end, _): &Ended| match end {
            End::Passed => "",
            End::Failed => "**red**",
            End::Hung => "**hangs**",
        };
        let cells: Vec<&str> = row.iter().map(cell).collect();
        println!("| `{name}` | {what} | {} |", cells.join(" | "));
    }
    let found = |n: usize| {
        let by = |(_, row): &&(Fault, Row)| row.iter().filter(|end| is_red(end)).count() >= n;
        rows.iter().filter(by).count()
    };
    let (once, twice) = (found(1), found(2));
    println!(
        "\n{}: {} faults, {once} found, {twice} by two suites or more",
        first.promise,
        rows.len()
    );
}

/// What is built with faults that can be planted.
pub(crate) const WITH_FAULTS: [&str; 6] = [
    "--package",
    "evergraph-verify",
    "--package",
    "evergraph-store",
    "--features",
    "evergraph-verify/faults,evergraph-store/faults",
];

/// The suites, built with faults that can be planted.
struct Bench<'w> {
    workspace: &'w Workspace,
    programs: BTreeMap<(Build, String), Program>,
    /// Where the suites print to.
    folder: PathBuf,
}

impl<'w> Bench<'w> {
    fn new(workspace: &'w Workspace) -> Outcome<Self> {
        let folder = workspace.target().join("faults");
        fs::create_dir_all(&folder)?;
        Ok(Self { workspace, programs: BTreeMap::new(), folder })
    }

    fn build_usual(&mut self) -> Outcome<()> {
        let workspace = self.workspace;
        self.add(Build::Usual, |args| workspace.cargo(args.iter().copied()), &WITH_FAULTS)
    }

    fn build_models(&mut self) -> Outcome<()> {
        let package = ["--release", "--lib", "--package", "evergraph-store"];
        let features = ["--features", "evergraph-store/faults"];
        let workspace = self.workspace;
        let cargo = |args: &[&str]| model(workspace, args);
        self.add(Build::Models, cargo, &[&package[..], &features].concat())
    }

    fn add(
        &mut self,
        build: Build,
        cargo: impl Fn(&[&str]) -> Command,
        selection: &[&str],
    ) -> Outcome<()> {
        eprintln!("faults: building ...");
        let quiet = ["--quiet", "--no-run", "--message-format=json-render-diagnostics"];
        let messages = command::output(&mut cargo(&[&["test"], selection, &quiet].concat()))?;
        for program in messages.lines().filter_map(Program::built) {
            self.programs.insert((build, program.name(TITLE)), program);
        }
        Ok(())
    }

    /// The faults of these names, or all there are.
    fn faults(&self, names: &[&str]) -> Outcome<Vec<Fault>> {
        let args = ["run", "--quiet", "--package", "evergraph-verify"];
        let ask = ["--features", "evergraph-verify/faults", "--", "--list-faults"];
        let mut list = self.workspace.cargo(args.into_iter().chain(ask));
        let list = command::output(&mut list)?;
        let mut faults: Vec<Fault> = list.lines().filter_map(Fault::listed).collect();
        if let Some(unknown) = names.iter().find(|name| !faults.iter().any(|f| f.name == **name)) {
            return Err(format!("{unknown} is no fault").into());
        }
        faults.retain(|fault| names.is_empty() || names.contains(&&*fault.name));
        Ok(faults)
    }

    /// How long each suite may take. All must pass without a fault.
    fn limits(&self) -> Outcome<Vec<Duration>> {
        let mut limits = Vec::new();
        for (suite, which) in SUITES.iter().zip(0..) {
            let (end, time) = self.try_one(None, which, Duration::from_mins(10))?;
            if end != End::Passed {
                return Err(format!("{} is red without a fault", suite.name).into());
            }
            eprintln!("faults: {:10} passes without a fault in {time:.1?}", suite.name);
            limits.push(SLOWER * time + GRACE);
        }
        Ok(limits)
    }

    /// Runs a suite with a fault or without.
    fn try_one(&self, fault: Option<&str>, suite: usize, limit: Duration) -> Outcome<Ended> {
        let suite = &SUITES[suite];
        let program = self.programs.get(&(suite.build, suite.program.to_owned()));
        let program = program.ok_or_else(|| format!("cargo built no {}", suite.program))?;
        let name = format!("{}-{}.txt", fault.unwrap_or("none"), suite.name);
        let file = File::create(self.folder.join(name))?;
        let mut command = self.workspace.command(&program.file);
        command.current_dir(self.workspace.root().join("crates").join(&program.package));
        command.args(suite.args).stdout(file.try_clone()?).stderr(file).stdin(Stdio::null());
        command.env_remove("EVERGRAPH_FAULT").env_remove("EVERGRAPH_SEED");
        command.env(PREEMPTIONS.0, PREEMPTIONS.1);
        command.envs(fault.map(|fault| ("EVERGRAPH_FAULT", fault)));
        command.envs(suite.cases.map(|cases| ("EVERGRAPH_CASES", cases)));
        within(&mut command, limit)
    }
}

/// Does some work for each job, as many at once as there are cores.
fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Outcome<R> + Sync,
) -> Outcome<Vec<R>> {
    let next = Mutex::new(0..jobs.len());
    let run = || -> Result<Vec<(usize, R)>, String> {
        let mut done = Vec::new();
        loop {
            let job = next.lock().map_err(|error| error.to_string())?.next();
            let Some(at) = job else { return Ok(done) };
            done.push((at, work(&jobs[at]).map_err(|error| error.to_string())?));
        }
    };
    let cores = std::thread::available_parallelism()?.get();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut all = BTreeMap::new();
    for result in results {
        all.extend(result.map_err(|_| "a thread that runs suites panicked")??);
    }
    Ok(all.into_values().collect())
}

/// Runs a program, and ends it when its time is over.
fn within(command: &mut Command, limit: Duration) -> Outcome<Ended> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    loop {
        let time = start.elapsed();
        if let Some(status) = child.try_wait()? {
            let end = if status.success() { End::Passed } else { End::Failed };
            return Ok((end, time));
        }
        if time > limit {
            child.kill()?;
            child.wait()?;
            return Ok((End::Hung, time));
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_pass_fail_and_hang_are_told_apart() {
        let end = |script| {
            let limit = Duration::from_millis(300);
            within(Command::new("sh").args(["-c", script]), limit).expect("sh starts").0
        };
        assert_eq!(end("exit 0"), End::Passed);
        assert_eq!(end("exit 3"), End::Failed);
        assert_eq!(end("kill -9 $$"), End::Failed);
        assert_eq!(end("exec sleep 60"), End::Hung);
    }
}
