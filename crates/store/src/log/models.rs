//! Loom models of the log: committers who share a write, and one that fails.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use evergraph_graph::KeyKind;
use loom::thread;

use super::{Log, Stopped};
use crate::engine::fat_tree::Directed;
use crate::epoch::Versions;
use crate::folder::{Folder, Schema};
use crate::io::{Disk, File, Locking};
use crate::options::{Durability, LogSizes, SelfLoops, Weights};

/// A disk with one file: how long it is, how much of that is synced, and whether syncs fail.
#[derive(Clone, Debug, Default)]
struct Model(Arc<Mutex<(Content, bool)>>);

#[derive(Debug, Default)]
struct Content {
    written: Vec<u8>,
    synced: Vec<u8>,
}

impl Model {
    fn with<R>(&self, f: impl FnOnce(&mut (Content, bool)) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether these bytes are synced.
    fn holds(&self, record: &[u8]) -> bool {
        self.with(|(content, _)| content.synced.windows(record.len()).any(|part| part == record))
    }
}

impl Disk for Model {
    fn create(&self, _: &Path) -> IoResult<Box<dyn File>> {
        Ok(Box::new(self.clone()))
    }

    fn open(&self, _: &Path, _: bool) -> IoResult<Box<dyn File>> {
        Ok(Box::new(self.clone()))
    }

    fn rename(&self, _: &Path, _: &Path) -> IoResult<()> {
        Ok(())
    }

    fn remove(&self, _: &Path) -> IoResult<()> {
        Ok(())
    }

    fn list(&self, _: &Path) -> IoResult<Vec<String>> {
        Ok(Vec::new())
    }

    fn make_folder(&self, _: &Path) -> IoResult<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> IoResult<()> {
        Ok(())
    }

    fn lock(&self, _: &Path, _: bool) -> IoResult<Locking> {
        Ok(Locking::Busy(None))
    }
}

impl File for Model {
    fn read_at(&self, _: &mut [u8], _: u64) -> IoResult<usize> {
        Ok(0)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> IoResult<usize> {
        self.with(|(content, _)| {
            let end = offset as usize + bytes.len();
            if content.written.len() < end {
                content.written.resize(end, 0);
            }
            content.written[offset as usize..end].copy_from_slice(bytes);
        });
        Ok(bytes.len())
    }

    fn size(&self) -> IoResult<u64> {
        Ok(self.with(|(content, _)| content.written.len() as u64))
    }

    fn set_size(&self, size: u64) -> IoResult<()> {
        self.with(|(content, _)| content.written.resize(size as usize, 0));
        Ok(())
    }

    fn sync(&self) -> IoResult<()> {
        self.with(|(content, fails)| {
            if *fails {
                return Err(IoError::from(ErrorKind::Other));
            }
            content.synced = content.written.clone();
            Ok(())
        })
    }
}

const SIZES: LogSizes =
    LogSizes { segment: 1 << 20, buffer: 1000, record: 100, growth: 100, checkpoint: 1 << 20 };

/// A database whose segment is open.
fn versions(disk: &Model) -> Arc<Versions> {
    let schema = Schema {
        directed: Directed::Yes,
        weights: Weights::None,
        keys: KeyKind::Dense,
        self_loops: SelfLoops::Allowed,
        dense: 0,
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let folder = Folder::unnamed(&shared, Path::new("model"), schema);
    let log = Log::new(folder, 0, Durability::Sync, SIZES);
    log.admit(10).expect("there is space");
    Arc::new(Versions::logged(0, Some(Arc::new(log))))
}

/// Commits a record: its version, unless it was stopped.
fn commit(versions: &Versions, record: &[u8]) -> Result<u64, Stopped> {
    let ticket = versions.take(record)?;
    let version = ticket.version();
    versions.finish(ticket).map(|()| version)
}

#[test]
fn loom_log_shares_a_write_and_acknowledges_what_is_on_the_disk() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let disk = Model::default();
        let versions = versions(&disk);
        let run = |record: &'static [u8]| {
            let (versions, disk) = (Arc::clone(&versions), disk.clone());
            move || {
                let version = commit(&versions, record).expect("the disk is good");
                assert!(disk.holds(record), "acknowledged before it was on the disk");
                assert!(versions.clock.visible() >= version);
            }
        };
        let other = thread::spawn(run(b"first one"));
        run(b"other one")();
        other.join().expect("it commits");
        assert_eq!(versions.clock.visible(), 2);
    });
}

#[test]
fn loom_log_that_fails_tells_every_committer() {
    loom::model(|| {
        let disk = Model::default();
        let versions = versions(&disk);
        disk.with(|(_, fails)| *fails = true);
        let run = |record: &'static [u8]| {
            let versions = Arc::clone(&versions);
            move || assert!(commit(&versions, record).is_err())
        };
        let other = thread::spawn(run(b"first one"));
        run(b"other one")();
        other.join().expect("it is told");
        assert_eq!(versions.clock.visible(), 0, "what may be lost is never seen");
        assert_eq!(commit(&versions, b"later"), Err(Stopped::Before));
    });
}
