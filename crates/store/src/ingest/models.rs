//! Models of the window, for loom: who appends, who archives, who flushes.

use std::time::Duration;

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::front::{Batch, Changes, Front, Named};
use super::{Full, IngestOptions};
use crate::account::Account;
use crate::engine::fat_tree::Wish;

fn front(batch: usize) -> Arc<Front> {
    let (delay, full) = (Duration::ZERO, Full::Wait);
    let options = IngestOptions { threshold: 1, delay, batch, backlog: 100, full, threads: 1 };
    Arc::new(Front::new(options, Changes::Ids(Vec::new()), Account::default()))
}

fn append(front: &Front, source: u64) {
    assert_eq!(front.append(&[Named::new(source, 0u64, Wish::Drop)]), 1);
}

fn sources(batch: &Batch) -> Vec<u32> {
    let sources = batch.chunks.iter().map(|chunk| match &chunk.changes {
        Changes::Ids(changes) => changes.iter().map(|change| change.source).collect(),
        _ => Vec::new(),
    });
    sources.collect::<Vec<Vec<u32>>>().concat()
}

/// Archives a batch; where it goes, or back if it fails.
fn archive(front: &Front, archived: &Mutex<Vec<u32>>, fails: bool) {
    let turn = front.turn();
    let Some(batch) = front.take(&turn) else { return };
    if fails {
        return front.put_back(&turn, batch);
    }
    archived.lock().expect("no panic").extend(sources(&batch));
    front.finish(&turn, batch);
}

/// One appends and flushes, one appends, one archives and fails the first time.
#[test]
fn loom_front_archives_all_in_order() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let (front, archived) = (front(1), Arc::new(Mutex::new(Vec::new())));
        let archiver = {
            let (front, archived) = (Arc::clone(&front), Arc::clone(&archived));
            thread::spawn(move || {
                archive(&front, &archived, true);
                archive(&front, &archived, false);
            })
        };
        append(&front, 1);
        append(&front, 2);
        let end = front.end();
        while !front.is_archived(end) {
            archive(&front, &archived, false);
        }
        // What was appended before the flush is archived when it is over.
        assert_eq!(*archived.lock().expect("no panic"), [1, 2]);
        archiver.join().expect("no panic");
        assert_eq!(*archived.lock().expect("no panic"), [1, 2]);
        assert_eq!(front.backlog().changes, 0);
    });
}

/// Whoever waits for work hears of it: a notice that gets lost is a deadlock.
#[test]
fn loom_front_wakes_who_waits() {
    loom::model(|| {
        let front = front(10);
        let archiver = {
            let front = Arc::clone(&front);
            thread::spawn(move || assert!(front.wait(Duration::MAX)))
        };
        append(&front, 1);
        archiver.join().expect("no panic");
    });
}
