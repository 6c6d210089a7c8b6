//! Atomicity: all of a transaction is there, or nothing of it.

use evergraph::{StoreError, Transaction};
use rand::RngExt;

use super::{AcidError, Arena, Config, LISTS, Outcome, anomaly, pause};
use crate::lists;

/// Persons from the start, each with a name; the mails of Alice and Bob are lists.
const ALICE: u64 = 1;
const BOB: u64 = 2;
/// The vertex to which a person has an edge if it has a name.
const NAME: u64 = 3;
/// Vertices that stand for mails of the start, and from here on for later ones.
const MAILS: u64 = 10;
const NEW_MAILS: u64 = 20;

/// Persons that come later are above all mails.
fn new_persons(config: &Config) -> u64 {
    NEW_MAILS + u64::from(config.threads * config.rounds)
}

fn arena(config: &Config) -> Result<Arena, AcidError> {
    let vertices = (ALICE..=NAME).chain(MAILS..new_persons(config));
    let arena = Arena::new(config, vertices, &[(ALICE, NAME, 1.0), (BOB, NAME, 2.0)])?;
    let mut tx = arena.db.begin()?;
    for (person, mail) in [(ALICE, MAILS), (BOB, MAILS + 1), (BOB, MAILS + 2)] {
        lists::append(&mut tx, LISTS, (person, mail))?;
    }
    tx.commit().map_err(StoreError::from)?;
    Ok(arena)
}

/// How many names, friends of Alice and mails there are, all in one transaction. Lists are kept as
/// in-edges here, so that the out-edges of Alice are her name, her length and her friends.
fn counts(tx: &Transaction<'_>) -> Result<[u64; 3], AcidError> {
    let mails = lists::read(tx, LISTS, ALICE)?.len() + lists::read(tx, LISTS, BOB)?.len();
    let names = u64::from(tx.in_degree(NAME)?);
    Ok([names, u64::from(tx.degree(ALICE)?) - 2, mails as u64])
}

/// Atomicity-C: each transaction adds a person with a name, an edge and a mail.
pub(super) fn commits(config: &Config) -> Outcome {
    let arena = arena(config)?;
    let tally = arena.run_both(
        |hand, round| {
            let ticket = hand.ticket(round);
            let (person, mail) = (new_persons(config) + ticket, NEW_MAILS + ticket);
            hand.commit(|tx, rng| {
                tx.add_vertex(person)?;
                pause(rng);
                tx.add_edge(person, NAME)?;
                tx.add_edge(ALICE, person)?;
                Ok(lists::append(tx, LISTS, (ALICE, mail))?)
            })
        },
        |hand| {
            let [names, friends, mails] = hand.commit(|tx, _| counts(tx))?;
            if names == friends + 2 && mails == friends + 3 {
                return Ok(());
            }
            anomaly(format!("{names} names, {friends} friends and {mails} mails"))
        },
    )?;
    let added = u64::from(arena.writers() * config.rounds);
    match arena.look(counts)? {
        [names, friends, mails] if [names, friends, mails] == [added + 2, added, added + 3] => {
            Ok(tally)
        }
        found => anomaly(format!("{added} commits left {found:?} names, friends and mails")),
    }
}

/// Atomicity-RB: each transaction adds a mail, then finds that its person exists, and rolls back; or
/// adds the person all the same, and is refused.
pub(super) fn rollbacks(config: &Config) -> Outcome {
    let arena = arena(config)?;
    let unchanged = |found: [u64; 3]| match found {
        [2, 0, 3] => Ok(()),
        found => anomaly(format!("names, friends and mails are {found:?}")),
    };
    let tally = arena.run_both(
        |hand, round| {
            let mail = NEW_MAILS + hand.ticket(round);
            if hand.rng.random() {
                return hand.roll_back(|tx, rng| {
                    lists::append(tx, LISTS, (ALICE, mail))?;
                    pause(rng);
                    if tx.has_vertex(BOB)? { Ok(()) } else { anomaly("Bob is gone".to_owned()) }
                });
            }
            let refused = hand.try_once(|tx, rng| {
                lists::append(tx, LISTS, (ALICE, mail))?;
                pause(rng);
                Ok(tx.add_vertex(BOB)?)
            });
            match refused {
                Err(AcidError::Refused(StoreError::DuplicateVertex { .. })) => Ok(()),
                Err(error) => Err(error),
                Ok(_) => anomaly("a second Bob was not refused".to_owned()),
            }
        },
        |hand| hand.commit(|tx, _| counts(tx)).and_then(unchanged),
    )?;
    arena.look(counts).and_then(unchanged)?;
    Ok(tally)
}
