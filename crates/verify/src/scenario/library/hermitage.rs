//! The anomalies that Hermitage tries on SQL databases: two or three transactions on a table with
//! the rows 1 and 2, of value 10 and 20.

use super::super::{Program, Scenario, tx};
use super::{T, sum, table};

fn scenario(name: &str, programs: Vec<Program>) -> Scenario {
    Scenario::new(format!("hermitage: {name}"), table(&[10.0, 20.0]), programs)
}

/// Reads both rows.
fn both() -> Program {
    tx().weight(T, 1).weight(T, 2)
}

pub(super) fn all() -> Vec<Scenario> {
    [dirty(), predicates(), updates(), skews()].concat()
}

fn dirty() -> Vec<Scenario> {
    vec![
        scenario(
            "G0, two writers of two rows",
            vec![tx().set(T, 1, 11.0).set(T, 2, 21.0), tx().set(T, 1, 12.0).set(T, 2, 22.0)],
        )
        .conflicts()
        .never("rows of two writers", |g| ![30.0, 32.0, 34.0].contains(&sum(g))),
        scenario(
            "G1a, a write that is rolled back",
            vec![tx().set(T, 1, 101.0).roll_back(), tx().weight(T, 1).weight(T, 1).list(T)],
        )
        .never("a trace of the write", |g| sum(g) != 30.0),
        scenario(
            "G1b, a write that is overwritten by its writer",
            vec![tx().set(T, 1, 101.0).set(T, 1, 11.0), tx().weight(T, 1).list(T).weight(T, 1)],
        ),
        scenario(
            "G1c, each reads what the other writes",
            vec![tx().set(T, 1, 11.0).weight(T, 2), tx().set(T, 2, 22.0).weight(T, 1)],
        )
        .skews(),
        scenario(
            "OTV, a transaction seen and then gone",
            vec![
                tx().set(T, 1, 11.0).set(T, 2, 19.0),
                tx().set(T, 1, 12.0).set(T, 2, 18.0),
                both(),
            ],
        )
        .conflicts(),
    ]
}

fn predicates() -> Vec<Scenario> {
    vec![
        scenario(
            "PMP, a row that comes to fit",
            vec![tx().heavy(T, 30.0).heavy(T, 15.0), tx().add_edge(T, 3, 30.0)],
        ),
        scenario(
            "PMP, a write by predicate",
            vec![
                tx().weight(T, 1).set_last(T, 1, 10.0).weight(T, 2).set_last(T, 2, 10.0),
                tx().heavy(T, 20.0).if_present().remove_edge(T, 2).list(T),
            ],
        )
        .conflicts(),
        scenario(
            "G-single, a predicate asked twice",
            vec![tx().heavy(T, 10.0).heavy(T, 12.0), tx().set(T, 1, 12.0)],
        ),
        scenario(
            "G-single, a write by predicate",
            vec![
                tx().weight(T, 1).heavy(T, 20.0).if_present().remove_edge(T, 2),
                both().set(T, 1, 12.0).set(T, 2, 18.0),
            ],
        )
        .conflicts(),
        scenario(
            "G2, rows by a predicate that found none",
            vec![
                tx().heavy(T, 30.0).if_absent().add_edge(T, 3, 30.0),
                tx().heavy(T, 30.0).if_absent().add_edge(T, 4, 42.0),
            ],
        )
        .skews_to("both rows", |g| sum(g) == 102.0),
    ]
}

fn updates() -> Vec<Scenario> {
    let add = |more| tx().weight(T, 1).set_last(T, 1, more);
    vec![
        scenario("P4, an update that is lost", vec![add(1.0), add(2.0)])
            .conflicts()
            .never("less than one update", |g| sum(g) < 31.0),
        scenario("P4, three updates", vec![add(1.0), add(2.0), add(4.0)]).conflicts(),
        scenario("G-single, read skew", vec![both(), tx().set(T, 1, 12.0).set(T, 2, 18.0)]),
        scenario(
            "G-single, and a write of what was read",
            vec![both().set_total(T, 1, 0.0), tx().set(T, 1, 12.0).set(T, 2, 18.0)],
        )
        .conflicts(),
    ]
}

fn skews() -> Vec<Scenario> {
    vec![
        scenario("G2-item, write skew", vec![both().set(T, 1, 11.0), both().set(T, 2, 21.0)])
            .skews(),
        scenario(
            "G2, two edges of anti-dependency",
            vec![both().set(T, 1, 0.0), tx().weight(T, 2).set_last(T, 2, 5.0), both()],
        )
        .skews(),
        scenario(
            "G2, the reader is what goes wrong",
            vec![both().if_total_at_least(30.0).set(T, 1, 0.0), tx().set(T, 2, 25.0), both()],
        )
        .skews(),
        scenario(
            "G2-item, three in a ring",
            vec![
                tx().weight(T, 1).set_last(T, 2, 1.0),
                tx().weight(T, 2).set_last(T, 1, 2.0),
                both(),
            ],
        )
        .skews(),
    ]
}
