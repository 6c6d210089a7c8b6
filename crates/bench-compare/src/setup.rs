//! Fetches what peers need, once, and says how they are started.
//!
//! # Where
//!   Everything lies in one folder: `python/` is a virtual environment with the versions of
//!   `peers/python/requirements.txt`, `java/` has the archives of `peers/java/pom.xml`. A file `NAME.done` holds
//!   what was asked for; when that changes, it is fetched again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child::{Trouble, run};
use crate::peer::{Peer, Runtime};

/// Fetching takes a minute or two on a usual line.
const LIMIT: Duration = Duration::from_mins(15);

const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");
const REQUIREMENTS: &str = include_str!("../peers/python/requirements.txt");
const POM: &str = include_str!("../peers/java/pom.xml");
const JAVA_SOURCE: &str = include_str!("../peers/java/Neo4jPeer.java");
const JAVA_CLASS: &str = "Neo4jPeer";
/// Copies the archives that a `pom.xml` names.
const MAVEN_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
/// A file system in memory: writing a log there through to the disk costs nothing.
const MEMORY: &str = "/dev/shm";

/// Makes sure that a peer can run; the command that starts it with so many threads.
pub(crate) fn prepare(peer: Peer, folder: &Path, threads: usize) -> Result<Command, Trouble> {
    let mut command = match peer.runtime() {
        Runtime::Own => {
            let program = env::current_exe().map_err(|error| error.to_string())?;
            let mut command = Command::new(program);
            command.args(["--serve", peer.name(), "--threads", &threads.to_string()]);
            command
        }
        Runtime::Python(packages) => {
            let mut command = Command::new(python(peer, packages, folder)?);
            command.arg(format!("{PEERS}/python/serve.py")).arg(peer.name());
            // Nothing is written into the folder of sources.
            command.arg(threads.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        }
        Runtime::Java => java(folder, threads)?,
    };
    for name in ["OMP_NUM_THREADS", "RAYON_NUM_THREADS"] {
        command.env(name, threads.to_string());
    }
    Ok(command)
}

/// A Python that has the packages.
fn python(peer: Peer, packages: &[&str], folder: &Path) -> Result<PathBuf, Trouble> {
    let folder = folder.join("python");
    let (program, log) = (folder.join("bin/python"), folder.join("setup.log"));
    once(&folder, peer.name(), REQUIREMENTS, || {
        if !program.exists() {
            let mut make = Command::new("python3");
            make.args(["-m", "venv"]).arg(&folder);
            run(make, &log, LIMIT).map_err(|trouble| {
                format!("{trouble}; install Python 3.11 or later with its module venv")
            })?;
        }
        let mut install = Command::new(&program);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install.arg("--constraint").arg(format!("{PEERS}/python/requirements.txt"));
        install.args(packages);
        run(install, &log, LIMIT).map_err(|trouble| {
            format!("{trouble}; its packages could not be installed: is there a network?")
        })
    })?;
    Ok(program)
}

/// A Java that serves Neo4j.
fn java(folder: &Path, threads: usize) -> Result<Command, Trouble> {
    let folder = folder.join("java");
    let (archives, log) = (folder.join("lib"), folder.join("setup.log"));
    let classes = format!("{}:{}/*", folder.display(), archives.display());
    once(&folder, "archives", POM, || {
        let mut fetch = Command::new("mvn");
        fetch.args(["--quiet", "--batch-mode", "--file"]).arg(format!("{PEERS}/java/pom.xml"));
        fetch.arg(MAVEN_GOAL).arg(format!("-DoutputDirectory={}", archives.display()));
        run(fetch, &log, LIMIT).map_err(|trouble| {
            format!("{trouble}; it takes Maven (`mvn`) and a network to fetch its archives")
        })
    })?;
    once(&folder, "classes", JAVA_SOURCE, || {
        let mut compile = Command::new("javac");
        compile.args(["-cp", &classes, "-d"]).arg(&folder);
        compile.arg(format!("{PEERS}/java/{JAVA_CLASS}.java"));
        run(compile, &log, LIMIT)
            .map_err(|trouble| format!("{trouble}; it takes a JDK, 17 or 21 (`javac`, `java`)"))
    })?;
    let memory = Path::new(MEMORY);
    let store = if memory.is_dir() { memory } else { &folder };
    let mut command = Command::new("java");
    command.args(["-cp", &classes, &format!("-XX:ActiveProcessorCount={threads}"), JAVA_CLASS]);
    command.arg(store.join("evergraph-compare"));
    Ok(command)
}

/// Does something unless it was done before for the same text.
fn once(
    folder: &Path,
    name: &str,
    text: &str,
    work: impl FnOnce() -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let done = folder.join(format!("{name}.done"));
    if fs::read_to_string(&done).is_ok_and(|before| before == text) {
        return Ok(());
    }
    let trouble = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(trouble)?;
    work()?;
    fs::write(&done, text).map_err(trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_done_again_only_for_another_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = std::cell::Cell::new(0);
        let work = || {
            count.set(count.get() + 1);
            Ok(())
        };
        let fails = once(folder.path(), "a", "1", || Err("no network".to_owned()));
        assert_eq!(fails, Err("no network".to_owned()));
        for (text, times) in [("1", 1), ("1", 1), ("2", 2)] {
            once(folder.path(), "a", text, work).expect("works");
            assert_eq!(count.get(), times);
        }
    }

    #[test]
    fn every_package_of_a_peer_is_pinned() {
        for peer in Peer::KERNELS.iter().chain(Peer::UPDATES) {
            let Runtime::Python(packages) = peer.runtime() else { continue };
            for package in packages {
                let pin = format!("\n{package}==");
                assert!(REQUIREMENTS.contains(&pin), "{package} of {}", peer.name());
            }
        }
    }
}
