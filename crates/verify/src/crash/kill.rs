//! A real process with real files, killed while it commits; then its files are looked at.
//!
//! # Protocol
//!   The process commits from several threads and prints a line `thread count` when a commit is
//!   acknowledged. A commit of a thread depends on its count alone, so from the count of each
//!   thread follows what the database must hold; each commit makes one version.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evergraph::graph::Key;
use evergraph::{Database, Durability, LogSizes, Options, StoreError};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::seed;

/// The word that makes the program of this crate commit until it is killed.
pub const COMMAND: &str = "--commit-until-killed";

const THREADS: u64 = 3;
/// Keys of a thread begin at this times its number.
const SPAN: u64 = 1_000_000_000;
/// A thread keeps so many of its vertices, so that the graph stays small.
const KEPT: u64 = 40;
/// In the mode `Os` every so many commits are synced, and acknowledged by that.
const SYNCED: u64 = 8;
/// Acknowledged commits before a process is killed, at most.
const LINES_MAX: u64 = 300;
/// Processes that use the same files, one after the other.
const CHAIN: u64 = 20;

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    /// Processes that were killed.
    pub kills: u64,
    /// Commits that they acknowledged.
    pub acknowledged: u64,
    /// Commits that were found.
    pub found: u64,
}

impl std::ops::AddAssign for Kills {
    fn add_assign(&mut self, other: Self) {
        self.kills += other.kills;
        self.acknowledged += other.acknowledged;
        self.found += other.found;
    }
}

/// Files are small, so that all of it happens within one process.
fn options(durability: Durability) -> Options {
    let (segment, buffer, record, growth) = (1 << 15, 1 << 12, 1 << 8, 1 << 12);
    let sizes = LogSizes { segment, buffer, record, growth, checkpoint: 1 << 16 };
    Database::options().durability(durability).log_sizes(sizes)
}

fn mode(word: &str) -> Result<Durability, String> {
    match word {
        "sync" => Ok(Durability::Sync),
        "os" => Ok(Durability::Os),
        _ => Err(format!("{word} is no mode")),
    }
}

/// Commits to a database in a folder until the process is killed.
pub fn commit_until_killed(folder: &str, word: &str) -> Result<(), String> {
    let durability = mode(word)?;
    let say = |error: StoreError| format!("{folder}: {error}");
    let db = options(durability).open(folder).map_err(say)?;
    let counts = counts(&db)?;
    let work = |thread: u64, before: u64| -> Result<(), StoreError> {
        for count in before + 1.. {
            commit(&db, thread, count)?;
            let is_certain = durability == Durability::Sync || count % SYNCED == 0;
            if is_certain {
                if durability != Durability::Sync {
                    db.sync()?;
                }
                let line = format!("{thread} {count}\n");
                // Nobody listens when the one who kills is gone.
                let Ok(()) = std::io::stdout().lock().write_all(line.as_bytes()) else { break };
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (1..).zip(counts).map(|(t, c)| scope.spawn(move || work(t, c))).collect();
        let ends = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        ends.collect::<Result<(), _>>().map_err(say)
    })
}

/// What a thread does when it commits for the time `count`.
fn commit(db: &Database, thread: u64, count: u64) -> Result<(), StoreError> {
    let hub = thread * SPAN;
    let done = db.transaction(0, |tx| {
        if count == 1 {
            tx.add_vertex(hub)?;
        }
        tx.add_vertex(hub + count)?;
        tx.add_edge(hub, hub + count)?;
        if count > KEPT { tx.remove_vertex(hub + count - KEPT) } else { Ok(()) }
    });
    done.map(drop)
}

/// How often each thread has committed; wrong if the database does not hold just that.
fn counts(db: &Database) -> Result<Vec<u64>, String> {
    let say = |error: StoreError| error.to_string();
    let snapshot = db.snapshot().map_err(say)?;
    let mut keys = BTreeSet::new();
    for key in snapshot.keys().map_err(say)?.into_iter().flatten() {
        let Key::Number(key) = key else { return Err(format!("{key} is no key of ours")) };
        keys.insert(key);
    }
    let mut counts = Vec::new();
    for hub in (1..=THREADS).map(|thread| thread * SPAN) {
        let own: Vec<u64> = keys.range(hub..hub + SPAN).copied().collect();
        let count = own.last().map_or(0, |last| last - hub);
        let kept = (count.saturating_sub(KEPT) + 1..=count).map(|at| hub + at);
        let wanted: Vec<u64> = std::iter::once(hub).filter(|_| count > 0).chain(kept).collect();
        if own != wanted {
            return Err(format!("after {count} commits there are {own:?}"));
        }
        if count > 0 {
            let edges = snapshot.neighbours(hub).map_err(say)?;
            let targets: BTreeSet<Key> = edges.into_iter().map(|(key, _)| key).collect();
            if targets != wanted[1..].iter().map(|&key| Key::Number(key)).collect() {
                return Err(format!("after {count} commits the edges go to {targets:?}"));
            }
        }
        counts.push(count);
    }
    let sum: u64 = counts.iter().sum();
    if db.version().0 != sum {
        return Err(format!("version {} after {counts:?} commits", db.version()));
    }
    db.check()?;
    Ok(counts)
}

/// Starts and kills so many processes in a row, on folders that are removed afterwards.
pub fn kills(program: &Path, word: &str, times: u64, seed: u64) -> Result<Kills, String> {
    let mut sum = Kills::default();
    let mut rng = seed::rng(seed);
    let mut left = times;
    while left > 0 {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
        let path = folder.path().join("db");
        let mut before = vec![0; THREADS as usize];
        for _ in 0..left.min(CHAIN) {
            let acknowledged = kill_one(program, word, &path, &mut rng)?;
            let last = check(&path, word, &mut rng)?;
            for ((last, told), before) in last.iter().zip(&acknowledged).zip(&before) {
                if last < told || last < before {
                    let problem = "commits were lost";
                    return Err(format!("{problem}: {acknowledged:?} told, {last:?} found"));
                }
            }
            sum.acknowledged +=
                acknowledged.iter().zip(&before).map(|(a, b)| a.saturating_sub(*b)).sum::<u64>();
            sum.found += last.iter().sum::<u64>() - before.iter().sum::<u64>();
            before = last;
            sum.kills += 1;
            left -= 1;
        }
    }
    Ok(sum)
}

/// Runs one process until it has acknowledged some commits; the last one of each thread.
fn kill_one(
    program: &Path,
    word: &str,
    folder: &Path,
    rng: &mut Pcg64Mcg,
) -> Result<Vec<u64>, String> {
    let say = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut child = Command::new(program)
        .args([COMMAND.as_ref(), folder.as_os_str(), word.as_ref()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(say)?;
    let lines = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
    let wanted = rng.random_range(0..LINES_MAX);
    let heard = AtomicU64::new(0);
    let told = std::thread::scope(|scope| {
        let listener = scope.spawn(|| {
            let mut told = vec![0u64; THREADS as usize];
            for line in lines.map_while(Result::ok) {
                let numbers = line.split_once(' ').and_then(|(thread, count)| {
                    Some((thread.parse::<usize>().ok()?, count.parse().ok()?))
                });
                if let Some((thread, count)) = numbers {
                    told[thread - 1] = count;
                }
                heard.fetch_add(1, Ordering::Relaxed);
            }
            told
        });
        while heard.load(Ordering::Relaxed) < wanted && !listener.is_finished() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(rng.random_range(0..3000)));
        let killed = child.kill();
        let ended = child.wait();
        (listener.join().expect("it does not panic"), killed.and(ended))
    });
    let (told, ended) = told;
    let ended = ended.map_err(say)?;
    if ended.code().is_some() {
        return Err(format!("the process ended by itself: {ended}"));
    }
    Ok(told)
}

/// What is there after a kill: as a reader sees it, or as the next writer does.
fn check(folder: &Path, word: &str, rng: &mut Pcg64Mcg) -> Result<Vec<u64>, String> {
    let options = options(mode(word)?);
    let opened = if rng.random() && folder.join("DATABASE").exists() {
        options.open_read_only(folder)
    } else {
        options.open(folder)
    };
    counts(&opened.map_err(|error| format!("after a kill: {error:?}"))?)
}
