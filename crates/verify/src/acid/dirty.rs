//! G0, G1a, G1b and G1c: nobody builds on what is not committed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rand::RngExt;

use super::{Arena, Config, LISTS, Outcome, anomaly, pause, property};
use crate::lists;

/// Two persons, the vertex that stands for the edge between them, and the property `version`.
const P1: u64 = 1;
const P2: u64 = 2;
const EDGE: u64 = 3;
const VERSION: u64 = 4;
/// Vertices that stand for transactions.
const TRANSACTIONS: u64 = 10;

/// G0: each transaction appends itself to three lists, which must end in the same order.
pub(super) fn write_cycles(config: &Config) -> Outcome {
    let commits = u64::from(config.threads * config.rounds);
    let vertices = (P1..=EDGE).chain(TRANSACTIONS..TRANSACTIONS + commits);
    let arena = Arena::new(config, vertices, &[])?;
    let tally = arena.run(|hand| {
        for round in 0..config.rounds {
            let own = TRANSACTIONS + hand.ticket(round);
            hand.commit(|tx, rng| {
                for list in [P1, P2, EDGE] {
                    lists::append(tx, LISTS, (list, own))?;
                    pause(rng);
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    let histories: Vec<Vec<u64>> = arena.look(|tx| {
        [P1, P2, EDGE].iter().map(|&list| Ok(lists::read(tx, LISTS, list)?)).collect()
    })?;
    let is_complete = histories.iter().all(|history| history.len() as u64 == commits);
    if !is_complete || histories.iter().any(|history| *history != histories[0]) {
        return anomaly(format!("{commits} commits left the histories {histories:?}"));
    }
    Ok(tally)
}

/// G1a: what is rolled back is never read.
pub(super) fn aborted_reads(config: &Config) -> Outcome {
    let arena = Arena::new(config, [P1, VERSION], &[(P1, VERSION, 1.0)])?;
    arena.run_both(
        |hand, _| {
            hand.roll_back(|tx, rng| {
                tx.set_weight(P1, VERSION, 2.0)?;
                pause(rng);
                Ok(())
            })
        },
        |hand| match hand.commit(|tx, _| property(tx, P1, VERSION))? {
            1.0 => Ok(()),
            version => anomaly(format!("version {version} was read, and rolled back")),
        },
    )
}

/// G1b: what its own writer overwrote is never read.
pub(super) fn intermediate_reads(config: &Config) -> Outcome {
    let arena = Arena::new(config, [P1, VERSION], &[(P1, VERSION, 99.0)])?;
    arena.run_both(
        |hand, _| {
            hand.commit(|tx, rng| {
                tx.set_weight(P1, VERSION, 0.0)?;
                pause(rng);
                Ok(tx.set_weight(P1, VERSION, 1.0)?)
            })
        },
        |hand| match hand.commit(|tx, _| property(tx, P1, VERSION))? {
            99.0 | 1.0 => Ok(()),
            version => anomaly(format!("version {version} was read, and is not the last one")),
        },
    )
}

/// G1c: no two transactions read each other's writes.
pub(super) fn circular_flow(config: &Config) -> Outcome {
    let start = [(P1, VERSION, 0.0), (P2, VERSION, 0.0)];
    let arena = Arena::new(config, [P1, P2, VERSION], &start)?;
    let read = Mutex::new(Vec::new());
    let tally = arena.run(|hand| {
        for round in 0..config.rounds {
            let own = (hand.ticket(round) + 1) as f64;
            let (mine, other) = if hand.rng.random() { (P1, P2) } else { (P2, P1) };
            let seen = hand.commit(|tx, rng| {
                tx.set_weight(mine, VERSION, own)?;
                pause(rng);
                property(tx, other, VERSION)
            })?;
            read.lock().unwrap_or_else(PoisonError::into_inner).push((own, seen));
        }
        Ok(())
    })?;
    let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
    let reads: BTreeSet<(u64, u64)> =
        read.iter().map(|&(a, b)| (a.to_bits(), b.to_bits())).collect();
    let circle = read.iter().find(|(a, b)| reads.contains(&(b.to_bits(), a.to_bits())));
    circle.map_or(Ok(tally), |(a, b)| anomaly(format!("{a} and {b} read each other's writes")))
}
