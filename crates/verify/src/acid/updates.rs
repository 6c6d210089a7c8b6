//! LU and WS: what transactions read and then write.

use rand::RngExt;

use super::{Arena, Config, Outcome, anomaly, pause, property};
use crate::level::Level;

/// A person, its property `numFriends`, and friends, one per transaction.
const PERSON: u64 = 1;
const FRIEND_COUNT: u64 = 2;
const FRIENDS: u64 = 10;

/// The property `value` of persons in pairs, and the persons.
const VALUE: u64 = 1;
const PAIRS: u64 = 10;

/// LU: each transaction adds a friend and raises the number of friends.
pub(super) fn lost_updates(config: &Config) -> Outcome {
    let commits = u64::from(config.threads * config.rounds);
    let vertices = [PERSON, FRIEND_COUNT].into_iter().chain(FRIENDS..FRIENDS + commits);
    let arena = Arena::new(config, vertices, &[(PERSON, FRIEND_COUNT, 0.0)])?;
    let tally = arena.run(|hand| {
        for round in 0..config.rounds {
            let friend = FRIENDS + hand.ticket(round);
            hand.commit(|tx, rng| {
                let count = property(tx, PERSON, FRIEND_COUNT)?;
                tx.add_edge(PERSON, friend)?;
                pause(rng);
                Ok(tx.set_weight(PERSON, FRIEND_COUNT, count + 1.0)?)
            })?;
        }
        Ok(())
    })?;
    let (count, degree) = arena
        .look(|tx| Ok((property(tx, PERSON, FRIEND_COUNT)?, u64::from(tx.degree(PERSON)?) - 1)))?;
    if count != commits as f64 || degree != commits || tally.committed != commits {
        return anomaly(format!("{commits} commits left {degree} friends, and count {count}"));
    }
    Ok(tally)
}

/// WS: of a pair with values 70 and 80, one gives 100 if both have 100 together. All threads read the
/// same pair before the first of them writes, so that snapshot isolation must let it go wrong.
pub(super) fn write_skew(config: &Config) -> Outcome {
    let persons = |pair: u32| [PAIRS + 2 * u64::from(pair), PAIRS + 2 * u64::from(pair) + 1];
    let pairs = || (0..config.rounds).map(persons);
    let start: Vec<_> = pairs().flat_map(|[a, b]| [(a, VALUE, 70.0), (b, VALUE, 80.0)]).collect();
    let arena = Arena::new(config, [VALUE].into_iter().chain(pairs().flatten()), &start)?;
    let mut tally = arena.run(|hand| {
        // Nobody leaves early: the others would wait at the barrier.
        let mut outcome = Ok(());
        for [a, b] in pairs() {
            hand.barrier.wait();
            let (barrier, thread) = (hand.barrier, hand.thread);
            let result = hand.try_once(|tx, rng| {
                let values = [property(tx, a, VALUE), property(tx, b, VALUE)];
                barrier.wait();
                let [first, second] = values;
                let values = [first?, second?];
                // The first two threads take different persons, the others any.
                let side = if thread < 2 { thread as usize } else { rng.random_range(0..2) };
                pause(rng);
                if values[0] + values[1] >= 100.0 {
                    tx.set_weight([a, b][side], VALUE, values[side] - 100.0)?;
                }
                Ok(())
            });
            outcome = outcome.and(result.map(|_| ()));
        }
        outcome
    })?;
    for [a, b] in pairs() {
        let sum = arena.look(|tx| Ok(property(tx, a, VALUE)? + property(tx, b, VALUE)?))?;
        tally.skews += u64::from(sum <= 0.0);
    }
    match config.level {
        Level::Serializable if tally.skews > 0 => {
            anomaly(format!("{} of {} pairs have nothing left", tally.skews, config.rounds))
        }
        Level::Snapshot if tally.skews == 0 => {
            anomaly("no pair was emptied, though snapshots allow it: nothing was tried".to_owned())
        }
        _ => Ok(tally),
    }
}
