//! A peer that runs: it gets requests and gives replies, and does not outlive its welcome.
//!
//! # Invariants
//!   A reader thread owns the peer's standard output and ends with it. A peer that broke the order
//!   of requests and replies, or took too long, is killed: nothing it says later is taken for the
//!   reply to something else. So is a peer whose handle is dropped.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::protocol::{Reply, Request};

/// Between two looks at whether a program has ended.
const NAP: Duration = Duration::from_millis(20);

/// How long a peer may take to end once nothing more comes: Neo4j closes its store.
const FAREWELL: Duration = Duration::from_secs(20);

/// Why a peer gave no reply, in a few words for the results.
pub(crate) type Trouble = String;

/// A peer that runs.
pub(crate) struct Child {
    process: Process,
    /// Absent once it was told that nothing more comes.
    requests: Option<ChildStdin>,
    replies: Receiver<String>,
    log: PathBuf,
    /// What it says of itself.
    pub(crate) version: String,
}

impl Child {
    /// Starts a peer and waits until it is ready. What it prints to standard error goes to `log`.
    pub(crate) fn start(
        mut command: Command,
        log: &Path,
        limit: Duration,
    ) -> Result<Self, Trouble> {
        let errors = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut process = command.spawn().map_err(|error| format!("{program}: {error}"))?;
        let (requests, output) = (process.stdin.take(), process.stdout.take());
        let (sender, replies) = mpsc::channel();
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            // Whoever waits for replies may be gone.
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let version = String::new();
        let mut child = Self { process, requests, replies, log: log.to_owned(), version };
        match child.reply(limit)? {
            Reply::Version(version) => child.version = version,
            other => return Err(format!("it began with {other:?}")),
        }
        Ok(child)
    }

    /// Asks for something and waits for what became of it. After trouble the peer is gone.
    pub(crate) fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        let text = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let sent = self.requests.as_mut().map(|requests| writeln!(requests, "{text}"));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.end());
        }
        self.reply(limit)
    }

    /// The most memory it had.
    pub(crate) fn peak(&self) -> Option<u64> {
        evergraph_bench::Process::Other(self.process.id()).peak().ok()
    }

    fn reply(&mut self, limit: Duration) -> Result<Reply, Trouble> {
        match self.replies.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| {
                self.kill();
                format!("it said {line:?}, which is no reply")
            }),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(format!("timed out after {} s", limit.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.end()),
        }
    }

    /// Why it ended, as far as it said.
    fn end(&mut self) -> Trouble {
        self.kill();
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "it ended".to_owned(), |last| format!("it ended: {}", last.trim()))
    }

    /// Both fail only if it has ended by itself.
    fn kill(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Drop for Child {
    /// It hears that nothing more comes, and has a while to clear up.
    fn drop(&mut self) {
        self.requests = None;
        let start = Instant::now();
        while start.elapsed() < FAREWELL && matches!(self.process.try_wait(), Ok(None)) {
            thread::sleep(NAP);
        }
        self.kill();
    }
}

/// Runs a program to its end; its last words if it fails or takes too long.
pub(crate) fn run(mut command: Command, log: &Path, limit: Duration) -> Result<(), Trouble> {
    let program = command.get_program().to_string_lossy().into_owned();
    let file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let errors = file.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file).stderr(errors);
    let mut process = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let start = Instant::now();
    loop {
        match process.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                return Err(format!("{program}: {status}; see {}", log.display()));
            }
            Ok(None) if start.elapsed() < limit => thread::sleep(NAP),
            Ok(None) => {
                drop(process.kill());
                drop(process.wait());
                return Err(format!("{program} took more than {} s", limit.as_secs()));
            }
            Err(error) => return Err(format!("{program}: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(300);
    const LATE: Duration = Duration::from_secs(20);

    fn start(script: &str, folder: &Path) -> Result<Child, Trouble> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Child::start(command, &folder.join("log"), LATE)
    }

    fn ask(script: &str, limit: Duration) -> Result<Reply, Trouble> {
        let folder = tempfile::tempdir().expect("a folder");
        let greeting = r#"echo '{"version":"1"}'; read request; "#;
        let mut child = start(&format!("{greeting}{script}"), folder.path())?;
        child.ask(&Request::Create { vertices: 1 }, limit)
    }

    #[test]
    fn a_reply_is_heard() {
        assert_eq!(ask(r#"echo '{"seconds":2}'"#, LATE), Ok(Reply::Seconds(2.0)));
        assert_eq!(ask(r#"echo '{"absent":"no"}'"#, LATE), Ok(Reply::Absent("no".to_owned())));
    }

    #[test]
    fn a_peer_that_is_late_is_killed() {
        let start = Instant::now();
        assert_eq!(ask("sleep 60", SOON), Err("timed out after 0.3 s".to_owned()));
        assert!(start.elapsed() < LATE);
    }

    #[test]
    fn a_peer_that_ends_or_babbles_is_told() {
        let found = ask("echo it broke >&2; exit 3", LATE);
        assert_eq!(found, Err("it ended: it broke".to_owned()));
        let found = ask("echo hello", LATE).expect_err("no reply");
        assert!(found.contains("hello"), "{found}");
        let folder = tempfile::tempdir().expect("a folder");
        assert!(start("exit 0", folder.path()).is_err());
        let missing = Command::new("no-such-program");
        let found = Child::start(missing, &folder.path().join("log"), SOON).err();
        assert!(found.is_some_and(|found| found.starts_with("no-such-program: ")));
    }

    #[test]
    fn a_program_runs_to_its_end_or_to_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |script, limit| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(command, &folder.path().join("log"), limit)
        };
        assert_eq!(run("exit 0", LATE), Ok(()));
        assert!(run("exit 3", LATE).is_err_and(|error| error.contains("exit status: 3")));
        assert!(run("sleep 60", SOON).is_err_and(|error| error.contains("took more than")));
    }
}
