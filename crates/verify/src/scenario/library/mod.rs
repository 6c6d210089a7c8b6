//! All scenarios.
//!
//! Vertices are `1 ..`; where a scenario of a table is told on a graph, vertex `T` is the table, its
//! out-neighbours are the rows, and the weight of an edge is the value of the row.

mod graphs;
mod hermitage;
mod postgres;
mod tables;

use super::{Graph, Scenario, V};

/// The vertex that stands for a table.
const T: V = 9;

/// A table with rows `1 ..` of these values; the vertices up to `T` exist.
fn table(values: &[f64]) -> Graph {
    let rows: Vec<(V, V, f64)> =
        values.iter().zip(1..).map(|(&value, row)| (T, row, value)).collect();
    Graph::new(T, &rows)
}

/// The value of a row, 0 without it.
fn value(graph: &Graph, row: V) -> f64 {
    graph.weight_of(T, row).unwrap_or(0.0)
}

/// The sum of a table.
fn sum(graph: &Graph) -> f64 {
    (1..=T).map(|row| value(graph, row)).sum()
}

/// Every scenario, each under a name of its own.
pub fn all() -> Vec<Scenario> {
    [hermitage::all(), postgres::all(), graphs::all(), tables::all()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(Scenario::name).collect();
        assert_eq!(names.len(), all.len());
    }
}
