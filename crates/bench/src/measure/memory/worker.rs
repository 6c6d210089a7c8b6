//! The process whose memory is measured: takes updates from a pipe and commits them.
//!
//! # Format
//!   ```text
//!   frame    tag: u8   count: u32   count x update
//!   update   action: u8   from: u32   to: u32            numbers little-endian
//!   ```
//!
//!   | tag | meaning |
//!   |---|---|
//!   | `u` | commit the updates, each in a transaction of its own |
//!   | `q` | answer once all updates so far are committed |
//!   | `h` | as `q`, and hold a snapshot from now on |
//!   | `r` | release the snapshot, and answer |
//!
//!   An answer is one byte. The process ends when the pipe does.
//! # Threads
//!   The reader deals updates out to the threads that commit them, all of one edge to the same,
//!   through channels that hold a few frames; a thread that is asked answers after all it was
//!   dealt before. A thread that fails closes its channel, which ends the reader.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use evergraph::graph::VertexId;
use evergraph::{Database, Snapshot, Weights};

use super::super::update::owner;
use crate::input::Edge;
use crate::live::{Action, Live};
use crate::{Error, Result};

/// Frames that wait in a channel.
const FRAMES_WAITING: usize = 2;
/// Updates in a frame at most.
pub(super) const UPDATES_MAX: usize = 1 << 13;
/// The bytes of an update.
pub(super) const UPDATE_BYTES: usize = 9;
/// The bytes before the updates.
pub(super) const HEAD_BYTES: usize = 5;
/// What is sent back.
const ANSWER: [u8; 1] = *b"k";

/// What kind of database a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSpec {
    /// Its vertices.
    pub vertices: u32,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether they carry a weight.
    pub weighted: bool,
    /// Threads that commit.
    pub threads: usize,
}

impl fmt::Display for WorkerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directed = if self.directed { "directed" } else { "undirected" };
        let weighted = if self.weighted { "weighted" } else { "plain" };
        write!(f, "{}:{directed}:{weighted}:{}", self.vertices, self.threads)
    }
}

impl FromStr for WorkerSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let mut words = text.split(':');
            let spec = Self {
                vertices: words.next()?.parse().ok()?,
                directed: choose(words.next()?, ["undirected", "directed"])?,
                weighted: choose(words.next()?, ["plain", "weighted"])?,
                threads: words.next()?.parse().ok().filter(|&threads| threads > 0)?,
            };
            words.next().is_none().then_some(spec)
        };
        parse().ok_or_else(|| format!("`{text}` is no worker"))
    }
}

/// Whether the word is the second of the two.
fn choose(word: &str, [no, yes]: [&str; 2]) -> Option<bool> {
    if word == yes { Some(true) } else { (word == no).then_some(false) }
}

/// What one frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    Updates = b'u',
    Wait = b'q',
    Hold = b'h',
    Release = b'r',
}

impl Tag {
    fn of(byte: u8) -> Option<Self> {
        let tags = [Self::Updates, Self::Wait, Self::Hold, Self::Release];
        tags.into_iter().find(|&tag| tag as u8 == byte)
    }
}

/// Writes the head of a frame.
pub(super) fn head(tag: Tag, updates: usize) -> [u8; HEAD_BYTES] {
    let mut head = [tag as u8; HEAD_BYTES];
    head[1..].copy_from_slice(&(updates as u32).to_le_bytes());
    head
}

/// Writes an update behind others.
pub(super) fn push_update(frame: &mut Vec<u8>, (action, from, to): Update) {
    frame.push(u8::from(action == Action::Add));
    frame.extend(from.to_le_bytes());
    frame.extend(to.to_le_bytes());
}

/// An update of an edge.
pub(super) type Update = (Action, VertexId, VertexId);

fn read_update(bytes: &[u8; UPDATE_BYTES]) -> Update {
    let [add, a, b, c, d, e, f, g, h] = *bytes;
    let action = if add == 1 { Action::Add } else { Action::Remove };
    (action, u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

/// What a committing thread gets.
enum Order {
    Commit(Vec<Update>),
    Answer(std::sync::mpsc::Sender<()>),
}

/// Does what the pipe says until it ends.
pub(crate) fn serve(spec: &WorkerSpec, input: &mut dyn Read, out: &mut dyn Write) -> Result<()> {
    let weights = if spec.weighted { Weights::F64 } else { Weights::None };
    let options = Database::options().weights(weights);
    let options = if spec.directed { options.directed() } else { options.undirected() };
    let db = options.dense_keys(spec.vertices).in_memory();
    let live = Live::dense(&db);
    thread::scope(|scope| {
        let (orders, threads): (Vec<_>, Vec<_>) = (0..spec.threads)
            .map(|_| {
                let (order, orders) = sync_channel(FRAMES_WAITING);
                (order, scope.spawn(move || obey(live, &orders)))
            })
            .unzip();
        // The channels close here, which ends the threads.
        let served = Server { db: &db, orders, snapshot: None }.serve(input, out);
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        served
    })
}

fn obey(live: Live<'_>, orders: &Receiver<Order>) -> Result<()> {
    for order in orders {
        match order {
            Order::Commit(updates) => {
                for (action, from, to) in updates {
                    live.commit(action, Edge { from, to, weight: 1.0 })?;
                }
            }
            // If nobody waits any more, the reader has failed and says so itself.
            Order::Answer(answer) => drop(answer.send(())),
        }
    }
    Ok(())
}

struct Server<'d> {
    db: &'d Database,
    orders: Vec<SyncSender<Order>>,
    snapshot: Option<Snapshot>,
}

impl Server<'_> {
    fn serve(mut self, input: &mut dyn Read, out: &mut dyn Write) -> Result<()> {
        let mut frame = Vec::new();
        while let Some(tag) = read_frame(input, &mut frame)? {
            match tag {
                Tag::Updates => {
                    self.deal(&frame)?;
                    continue;
                }
                Tag::Wait => self.wait()?,
                Tag::Hold => {
                    self.wait()?;
                    self.snapshot = Some(self.db.snapshot()?);
                }
                Tag::Release => self.snapshot = None,
            }
            out.write_all(&ANSWER)?;
            out.flush()?;
        }
        Ok(())
    }

    fn deal(&self, frame: &[u8]) -> Result<()> {
        let threads = self.orders.len();
        let mut shares: Vec<Vec<Update>> = vec![Vec::new(); threads];
        let (updates, _) = frame.as_chunks();
        for update in updates.iter().map(read_update) {
            shares[owner(update.1, update.2, threads)].push(update);
        }
        for (orders, share) in self.orders.iter().zip(shares) {
            orders.send(Order::Commit(share)).map_err(|_| stopped())?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        let (answer, answers) = channel();
        for orders in &self.orders {
            orders.send(Order::Answer(answer.clone())).map_err(|_| stopped())?;
        }
        drop(answer);
        let count = answers.into_iter().count();
        if count == self.orders.len() { Ok(()) } else { Err(stopped()) }
    }
}

/// What the reader says when a thread has failed; the thread's own error is the one that is told.
fn stopped() -> Error {
    Error::Worker("a thread has stopped".into())
}

/// Reads a frame; `None` at the end of the pipe.
fn read_frame(input: &mut dyn Read, frame: &mut Vec<u8>) -> Result<Option<Tag>> {
    let mut head = [0; HEAD_BYTES];
    match input.read_exact(&mut head) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let [tag, a, b, c, d] = head;
    let count = u32::from_le_bytes([a, b, c, d]) as usize;
    let tag = Tag::of(tag).filter(|_| count <= UPDATES_MAX);
    let tag = tag.ok_or_else(|| Error::Worker("what it was sent makes no sense".into()))?;
    frame.resize(count * UPDATE_BYTES, 0);
    input.read_exact(frame)?;
    Ok(Some(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_as_it_is_written() {
        let spec = WorkerSpec { vertices: 7, directed: true, weighted: false, threads: 2 };
        assert_eq!(spec.to_string().parse(), Ok(spec));
        for wrong in ["", "7", "7:directed:plain:0", "7:directed:plain:2:1", "7:up:plain:2"] {
            assert!(wrong.parse::<WorkerSpec>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn frames_are_obeyed_and_answered() {
        let spec = WorkerSpec { vertices: 9, directed: false, weighted: true, threads: 2 };
        let mut sent = Vec::new();
        for (tag, updates) in [
            (Tag::Updates, vec![(Action::Add, 1, 2), (Action::Add, 2, 3)]),
            (Tag::Hold, vec![]),
            (Tag::Updates, vec![(Action::Remove, 2, 1)]),
            (Tag::Wait, vec![]),
            (Tag::Release, vec![]),
        ] {
            sent.extend(head(tag, updates.len()));
            for update in updates {
                push_update(&mut sent, update);
            }
        }
        let mut answers = Vec::new();
        serve(&spec, &mut &sent[..], &mut answers).expect("all edges are as they should be");
        assert_eq!(answers, b"kkk");
    }

    #[test]
    fn what_is_refused_is_told() {
        let spec = WorkerSpec { vertices: 9, directed: false, weighted: false, threads: 1 };
        let mut sent = head(Tag::Updates, 1).to_vec();
        push_update(&mut sent, (Action::Remove, 1, 2));
        sent.extend(head(Tag::Wait, 0));
        let error = serve(&spec, &mut &sent[..], &mut Vec::new()).expect_err("no such edge");
        assert!(error.to_string().contains("there is no edge 1 2"), "{error}");
        let error = serve(&spec, &mut &b"x\0\0\0\0"[..], &mut Vec::new()).expect_err("no tag");
        assert!(error.to_string().contains("makes no sense"), "{error}");
    }
}
