//! The other end of the pipe: starts the process whose memory is measured, feeds it, and looks.

use std::io::{BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use super::worker::{
    HEAD_BYTES, Tag, UPDATE_BYTES, UPDATES_MAX, Update, WorkerSpec, head, push_update, serve,
};
use crate::args::Relaunch;
use crate::machine::Process;
use crate::{Args, Error, Result};

/// A worker at work.
pub(super) struct Subject {
    worker: Worker,
    /// Closed to end the worker.
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    /// Updates not sent yet.
    frame: Vec<u8>,
}

enum Worker {
    Process(Child),
    /// A thread of this process, which had so many bytes resident before.
    Thread {
        thread: Option<JoinHandle<Result<()>>>,
        before: u64,
    },
}

impl Subject {
    /// Starts a worker: in a process of its own if there is a way to start one.
    pub(super) fn start(args: &Args, spec: WorkerSpec) -> Result<Self> {
        let (mut their_input, to) = pipe()?;
        let (from, mut their_output) = pipe()?;
        let worker = match &args.relaunch {
            Some(relaunch) => {
                let mut command = command(relaunch, &spec);
                Worker::Process(command.stdin(their_input).stdout(their_output).spawn()?)
            }
            None => Worker::Thread {
                before: Process::Own.resident()?,
                thread: Some(thread::spawn(move || {
                    serve(&spec, &mut their_input, &mut their_output)
                })),
            },
        };
        Ok(Self { worker, to: Some(to), from: BufReader::new(from), frame: Vec::new() })
    }

    pub(super) fn is_own_process(&self) -> bool {
        matches!(self.worker, Worker::Process(_))
    }

    /// Bytes that are resident for the worker's sake.
    pub(super) fn resident(&self) -> Result<u64> {
        match &self.worker {
            Worker::Process(child) => Process::Other(child.id()).resident(),
            Worker::Thread { before, .. } => Ok(Process::Own.resident()?.saturating_sub(*before)),
        }
    }

    /// Has an update committed; whether a frame was sent just now.
    pub(super) fn send(&mut self, update: Update) -> Result<bool> {
        push_update(&mut self.frame, update);
        let full = self.frame.len() == UPDATES_MAX * UPDATE_BYTES;
        if full {
            self.send_updates()?;
        }
        Ok(full)
    }

    /// Waits until everything that was sent is committed.
    pub(super) fn wait_committed(&mut self) -> Result<()> {
        self.send_updates()?;
        self.ask(Tag::Wait)
    }

    /// Has the worker hold a snapshot of the newest version.
    pub(super) fn hold_snapshot(&mut self) -> Result<()> {
        self.ask(Tag::Hold)
    }

    /// Has the worker release the snapshot.
    pub(super) fn release_snapshot(&mut self) -> Result<()> {
        self.ask(Tag::Release)
    }

    fn send_updates(&mut self) -> Result<()> {
        let head = head(Tag::Updates, self.frame.len() / UPDATE_BYTES);
        let frame = std::mem::take(&mut self.frame);
        self.write(head)?;
        let sent = self.to.as_mut().map_or(Ok(()), |to| to.write_all(&frame));
        self.frame = frame;
        self.frame.clear();
        sent.map_err(|_| self.why_it_ended())
    }

    fn ask(&mut self, tag: Tag) -> Result<()> {
        self.write(head(tag, 0))?;
        let mut answer = [0];
        self.from.read_exact(&mut answer).map_err(|_| self.why_it_ended())
    }

    fn write(&mut self, head: [u8; HEAD_BYTES]) -> Result<()> {
        let sent = self.to.as_mut().map_or(Ok(()), |to| to.write_all(&head));
        sent.map_err(|_| self.why_it_ended())
    }

    /// Ends the worker and tells what it died of. A process tells it on standard error itself.
    fn why_it_ended(&mut self) -> Error {
        let said = match self.end() {
            Some(Err(error)) => return error,
            Some(Ok(())) | None => "it stopped listening",
        };
        Error::Worker(said.into())
    }

    /// Closes the pipe and waits for the worker; `None` if that was done before.
    fn end(&mut self) -> Option<Result<()>> {
        drop(self.to.take()?);
        match &mut self.worker {
            Worker::Process(child) => Some(match child.wait() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(Error::Worker(format!("it ended with {status}"))),
                Err(error) => Err(Error::Worker(error.to_string())),
            }),
            Worker::Thread { thread, .. } => thread.take().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::Worker("it panicked".into())))
            }),
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // What it fails with now changes no figure.
        drop(self.end());
    }
}

/// The words before `--worker` are whatever the parser wants to see.
fn command(relaunch: &Relaunch, spec: &WorkerSpec) -> Command {
    let mut command = Command::new(&relaunch.program);
    command.args(&relaunch.leading).arg("memory").arg("--worker").arg(spec.to_string());
    command.stderr(Stdio::inherit());
    command
}
