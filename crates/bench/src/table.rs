//! The results as a table to read.

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::report::Row;
use crate::targets;

const HEAD: [&str; 9] =
    ["metric", "graph", "threads", "of", "value", "least .. most", "baseline", "ratio", "wanted"];
/// Columns of numbers.
const RIGHT: [usize; 3] = [4, 5, 7];

/// Draws the table.
pub(crate) fn draw(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(HEAD);
    for row in rows {
        table.add_row(cells(row).map(Cell::new));
    }
    for column in RIGHT {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn cells(row: &Row) -> [String; 9] {
    let scale = Scale::of(row.value.unwrap_or(0.0), row.unit);
    let baseline = row.baseline.map_or(String::new(), |baseline| {
        let value = row.baseline_value.unwrap_or(f64::NAN);
        let scale = Scale::of(value, row.unit);
        format!("{baseline} {} {}", scale.number(value), scale.unit())
    });
    let spread = row.min.zip(row.max).filter(|_| row.samples > 1);
    let spread = spread.map(|(min, max)| format!("{} .. {}", scale.number(min), scale.number(max)));
    let value = row.value.map(|value| format!("{} {}", scale.number(value), scale.unit()));
    [
        row.metric.into(),
        if row.weighted { format!("{} weighted", row.graph) } else { row.graph.clone() },
        row.threads.to_string(),
        details(row),
        value.unwrap_or_else(|| "-".into()),
        spread.unwrap_or_default(),
        baseline,
        row.ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
        targets::ratio_max(row).map_or(String::new(), |ratio| format!("<= {ratio}")),
    ]
}

/// What tells a row from others of its metric.
fn details(row: &Row) -> String {
    let parts = [
        row.peer.map(str::to_owned),
        row.state.map(|state| state.name().to_owned()),
        row.kernel.map(|kernel| format!("during {kernel}")),
        row.keys.map(|keys| format!("{keys} keys")),
        row.isolation.map(str::to_owned),
        row.durability.map(str::to_owned),
        row.batch.map(|batch| format!("{batch} edges")),
        row.into.map(|into| format!("into {into}")),
        row.after.map(|after| format!("after {}", after.replace('_', " "))),
        row.process.filter(|&process| process == "shared").map(|_| "this process".to_owned()),
        (row.writers > 0).then(|| "beside a writer".to_owned()),
        row.written.map(str::to_owned),
        row.remark.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How numbers of about one size are written: four digits that count, and a unit.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    prefix: &'static str,
    unit: &'static str,
}

impl Scale {
    /// The scale in which a value is a handy number.
    fn of(value: f64, unit: &'static str) -> Self {
        let (factor, prefix, unit) = match (unit, value.abs()) {
            ("s", value) if value < 1.0 => (1e3, "m", "s"),
            ("us", value) if value >= 1e3 => (1e-3, "", "ms"),
            ("B", value) if value >= 1e6 => (1e-6, "M", "B"),
            ("s" | "B" | "us" | "of alone", _) => (1.0, "", unit),
            (_, value) if value >= 1e9 => (1e-9, "G", unit),
            (_, value) if value >= 1e6 => (1e-6, "M", unit),
            (_, value) if value >= 1e3 => (1e-3, "k", unit),
            _ => (1.0, "", unit),
        };
        Self { factor, prefix, unit }
    }

    fn unit(self) -> String {
        format!("{}{}", self.prefix, self.unit)
    }

    fn number(self, value: f64) -> String {
        let value = value * self.factor;
        let digits = match value.abs() {
            value if value >= 1000.0 => 0,
            value if value >= 100.0 => 1,
            value if value >= 10.0 => 2,
            _ => 3,
        };
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::State;
    use crate::samples::{Pairs, Samples};

    #[test]
    fn numbers_are_written_with_four_digits() {
        for (value, unit, text) in [
            (0.012_345, "s", "12.35 ms"),
            (12.345, "s", "12.35 s"),
            (1_234_567.0, "edges/s", "1.235 Medges/s"),
            (14.5e9, "B/s", "14.50 GB/s"),
            (5.43, "B", "5.430 B"),
            (1_234_500_000.0, "B", "1234 MB"),
            (0.9, "of alone", "0.900 of alone"),
            (12_345.6, "us", "12.35 ms"),
        ] {
            let scale = Scale::of(value, unit);
            assert_eq!(format!("{} {}", scale.number(value), scale.unit()), text);
        }
    }

    #[test]
    fn a_row_says_what_it_is_and_what_is_wanted() {
        let pairs = Pairs { ours: Samples(vec![0.2, 0.3]), base: Samples(vec![0.1, 0.1]) };
        let row = Row::of_pairs("bfs", &pairs, "csr");
        let row = Row { graph: "graph500-4".into(), state: Some(State::Fresh), threads: 2, ..row };
        let table = draw(&[row]);
        for word in ["bfs", "graph500-4", "fresh", "250.0 ms", "csr 100.0 ms", "2.500", "<= 2"] {
            assert!(table.contains(word), "no {word} in\n{table}");
        }
    }
}
