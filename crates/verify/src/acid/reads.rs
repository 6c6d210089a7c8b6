//! IMP, PMP, OTV and FR: what a transaction reads is one state.

use evergraph::Transaction;
use evergraph::graph::Key;

use super::{AcidError, Arena, Config, Outcome, anomaly, pause, property};

/// The property `version`, and a post that persons like.
const VERSION: u64 = 5;
const POST: u64 = 6;
/// Four persons in a ring.
const RING: [u64; 4] = [1, 2, 3, 4];
/// Persons who like, one per transaction.
const FANS: u64 = 10;

/// IMP: an item read twice is the same.
pub(super) fn item_many_preceders(config: &Config) -> Outcome {
    let arena = Arena::new(config, [RING[0], VERSION], &[(RING[0], VERSION, 1.0)])?;
    arena.run_both(
        |hand, _| hand.commit(|tx, _| raise(tx, RING[0], VERSION)),
        |hand| {
            let both = hand.commit(|tx, rng| {
                let first = property(tx, RING[0], VERSION)?;
                pause(rng);
                Ok([first, property(tx, RING[0], VERSION)?])
            })?;
            same("versions", &both)
        },
    )
}

/// PMP: a count asked for twice is the same.
pub(super) fn predicate_many_preceders(config: &Config) -> Outcome {
    let fans = u64::from(config.threads * config.rounds);
    let arena = Arena::new(config, [POST].into_iter().chain(FANS..FANS + fans), &[])?;
    let tally = arena.run_both(
        |hand, round| {
            let fan = FANS + hand.ticket(round);
            hand.commit(|tx, _| Ok(tx.add_edge(fan, POST)?))
        },
        |hand| {
            let both = hand.commit(|tx, rng| {
                let first = tx.in_degree(POST)? as usize;
                pause(rng);
                Ok([first, tx.in_neighbours(POST)?.len()])
            })?;
            same("fans", &both)
        },
    )?;
    let fans = arena.look(|tx| Ok(tx.in_degree(POST)?))?;
    same("fans at the end", &[fans, arena.writers() * config.rounds])?;
    Ok(tally)
}

/// OTV: of a transaction that raised four properties, nothing vanishes once a part was seen.
pub(super) fn observed_transaction_vanishes(config: &Config) -> Outcome {
    let start = RING.map(|person| (person, VERSION, 0.0));
    let arena = Arena::new(config, RING.into_iter().chain([VERSION]), &start)?;
    let read = |tx: &Transaction<'_>| -> Result<Vec<f64>, AcidError> {
        RING.iter().map(|&person| property(tx, person, VERSION)).collect()
    };
    arena.run_both(
        |hand, _| {
            hand.commit(|tx, rng| {
                pause(rng);
                RING.iter().try_for_each(|&person| raise(tx, person, VERSION))
            })
        },
        |hand| {
            let values = hand.commit(|tx, rng| {
                let first = read(tx)?;
                pause(rng);
                Ok([first, read(tx)?].concat())
            })?;
            same("versions of the ring", &values)
        },
    )
}

/// FR: the same on the edges of the ring, which a reader walks along.
pub(super) fn fractured_reads(config: &Config) -> Outcome {
    let next = |person: u64| RING[person as usize % RING.len()];
    let start = RING.map(|person| (person, next(person), 0.0));
    let arena = Arena::new(config, RING, &start)?;
    arena.run_both(
        |hand, _| {
            hand.commit(|tx, rng| {
                pause(rng);
                RING.iter().try_for_each(|&person| raise(tx, person, next(person)))
            })
        },
        |hand| {
            let values = hand.commit(|tx, rng| {
                let first = walk(tx)?;
                pause(rng);
                Ok([first, walk(tx)?].concat())
            })?;
            same("versions along the ring", &values)
        },
    )
}

/// The weights of the edges from the first person around the ring.
fn walk(tx: &Transaction<'_>) -> Result<Vec<f64>, AcidError> {
    let mut at = Key::Number(RING[0]);
    let mut weights = Vec::new();
    for _ in RING {
        match tx.neighbours(&at)?.as_slice() {
            [(next, weight)] => {
                weights.push(*weight);
                at = next.clone();
            }
            other => return anomaly(format!("the ring goes on from {at:?} as {other:?}")),
        }
    }
    Ok(weights)
}

fn raise(tx: &mut Transaction<'_>, of: u64, name: u64) -> Result<(), AcidError> {
    let value = property(tx, of, name)?;
    Ok(tx.set_weight(of, name, value + 1.0)?)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, values: &[T]) -> Result<(), AcidError> {
    if values.iter().all(|value| *value == values[0]) {
        return Ok(());
    }
    anomaly(format!("{what} differ: {values:?}"))
}
