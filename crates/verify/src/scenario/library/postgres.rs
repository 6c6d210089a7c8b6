//! The stories that PostgreSQL's tests of serializable transactions tell, told on a graph: what
//! matters of each is who reads what another writes.

use super::super::{Graph, Program, Scenario, tx};
use super::{T, sum, table, value};

fn scenario(name: &str, start: Graph, programs: Vec<Program>) -> Scenario {
    Scenario::new(format!("postgres: {name}"), start, programs)
}

/// Reads the rows 1 and 2.
fn both() -> Program {
    tx().weight(T, 1).weight(T, 2)
}

pub(super) fn all() -> Vec<Scenario> {
    [skews(), scans(), keys(), readers()].concat()
}

fn skews() -> Vec<Scenario> {
    let (manager, project) = (1, 2);
    vec![
        scenario(
            "simple write skew, colours swapped",
            table(&[1.0, 2.0]),
            vec![tx().list(T).set(T, 1, 2.0), tx().list(T).set(T, 2, 1.0)],
        )
        .skews(),
        scenario(
            "receipts, and the report of a closed batch",
            table(&[1.0]),
            vec![
                tx().weight(T, 1).add_edge_of_last(T, 5, 0.0),
                tx().weight(T, 1).set_last(T, 1, 1.0),
                tx().weight(T, 1).list(T),
            ],
        )
        .skews(),
        scenario(
            "temporal range, a statute outside of its paragraph",
            table(&[10.0]),
            vec![
                tx().weight(T, 1).if_total_at_least(8.0).add_edge(T, 2, 8.0),
                tx().weight(T, 2).if_absent().set(T, 1, 5.0),
            ],
        )
        .skews_to("the statute is outside", |g| value(g, 2) > value(g, 1)),
        scenario(
            "project manager, demoted while a project begins",
            table(&[1.0]),
            vec![
                tx().weight(T, manager).if_total_at_least(1.0).add_edge(T, project, 1.0),
                tx().edge(T, project).if_absent().set(T, manager, 0.0),
            ],
        )
        .skews_to("a project without manager", |g| value(g, 1) == 0.0 && value(g, 2) == 1.0),
        scenario(
            "class room, booked and moved to the same hour",
            table(&[9.0]),
            vec![
                tx().heavy(T, 10.0).if_absent().add_edge(T, 2, 10.0),
                tx().heavy(T, 10.0).if_absent().set(T, 1, 10.0),
            ],
        )
        .skews_to("two bookings at ten", |g| sum(g) == 20.0),
        scenario(
            "total cash, two accounts overdrawn together",
            table(&[50.0, 50.0]),
            vec![
                both().if_total_at_least(100.0).set(T, 1, -40.0),
                both().if_total_at_least(100.0).set(T, 2, -40.0),
            ],
        )
        .skews_to("overdrawn", |g| sum(g) < 0.0),
    ]
}

fn scans() -> Vec<Scenario> {
    vec![
        scenario(
            "two ids, each the sum of both",
            table(&[1.0, 2.0]),
            vec![both().set_total(T, 1, 0.0), both().set_total(T, 2, 0.0), both()],
        )
        .skews(),
        scenario(
            "partial index, rows that leave what was scanned",
            table(&[1.0, 1.0]),
            vec![
                tx().heavy(T, 1.0).set(T, 1, 0.0),
                tx().heavy(T, 1.0).set(T, 2, 0.0),
                tx().list(T),
            ],
        )
        .skews(),
        scenario(
            "hot row, rewritten beside a predicate",
            table(&[1.0, 1.0]),
            vec![
                tx().heavy(T, 1.0).add_edge(T, 3, 1.0).roll_back(),
                tx().heavy(T, 1.0).set(T, 1, 2.0),
                tx().heavy(T, 1.0).set(T, 2, 0.0),
            ],
        )
        .skews(),
        scenario(
            "parallel sums, one of them only reads",
            table(&[0.0, 0.0]),
            vec![both().set(T, 1, -11.0), tx().weight(T, 2).set_last(T, 2, 20.0), tx().list(T)],
        )
        .skews(),
    ]
}

fn keys() -> Vec<Scenario> {
    let start = || Graph::new(2, &[]);
    let unless_there = |v| tx().vertex(v).if_absent().add_vertex(v);
    vec![
        scenario(
            "unique key, read and then written",
            start(),
            vec![unless_there(5), unless_there(5)],
        )
        .conflicts(),
        scenario(
            "unique key, read, written and read",
            start(),
            vec![unless_there(5).vertex(5), unless_there(5).vertex(5)],
        )
        .conflicts(),
        scenario(
            "unique key, written without a look",
            start(),
            vec![tx().add_vertex(5), tx().vertex(5).add_vertex(5)],
        )
        .conflicts(),
        scenario(
            "unique key, the next of a year",
            start(),
            vec![tx().vertices(1..9).add_vertex(3), tx().vertices(1..9).add_vertex(4)],
        )
        .skews(),
        scenario(
            "referential integrity, told by weights",
            table(&[1.0]),
            vec![
                tx().edge(T, 1).if_present().add_edge(T, 2, 1.0),
                tx().edge(T, 2).if_absent().remove_edge(T, 1),
            ],
        )
        .skews_to("a child without parent", |g| {
            g.weight_of(T, 1).is_none() && g.weight_of(T, 2).is_some()
        }),
        scenario(
            "referential integrity, told by vertices",
            start(),
            vec![
                tx().vertex(1).if_present().add_edge(2, 1, 1.0),
                tx().in_degree(1).if_absent().remove_vertex(1),
            ],
        )
        .conflicts(),
    ]
}

fn readers() -> Vec<Scenario> {
    vec![
        scenario(
            "read-only anomaly, withdrawal and deposit",
            table(&[0.0, 0.0]),
            vec![
                both().if_total_below(5.0).set(T, 1, -11.0),
                tx().weight(T, 2).set_last(T, 2, 20.0),
                both(),
            ],
        )
        .skews(),
        scenario(
            "read-only anomaly, without the reader",
            table(&[0.0, 0.0]),
            vec![
                both().if_total_below(5.0).set(T, 1, -11.0),
                tx().weight(T, 2).set_last(T, 2, 20.0),
            ],
        ),
        scenario(
            "read-only anomaly, the reader asks for one row only",
            table(&[0.0, 0.0]),
            vec![
                both().if_total_below(5.0).set(T, 1, -11.0),
                tx().weight(T, 2).set_last(T, 2, 20.0),
                tx().weight(T, 2),
            ],
        ),
        scenario(
            "versions of a row, four transactions",
            table(&[1.0, 1.0, 1.0]),
            vec![
                tx().weight(T, 1).set(T, 3, 2.0),
                tx().set(T, 1, 2.0),
                tx().set(T, 1, 3.0),
                tx().weight(T, 3).set(T, 2, 2.0),
            ],
        )
        .conflicts()
        .skews(),
        scenario(
            "delete, and roll back beside an update",
            table(&[1.0]),
            vec![
                tx().remove_edge(T, 1).edge(T, 1).roll_back(),
                tx().weight(T, 1).set_last(T, 1, 1.0),
            ],
        )
        .never("the row is gone", |g| value(g, 1) == 0.0),
    ]
}
