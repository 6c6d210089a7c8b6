//! Changes as columns: what was done to which vertex or edge, and in which commit.
//!
//! Where readers are is no change of the graph: `Change::Position` has no row.

use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use evergraph::graph::{Key, KeyKind};
use evergraph::{Change, Commit};

use crate::column::Column;

/// Columns and their names.
pub(crate) type Columns = Vec<(&'static str, Column)>;

/// What decides which columns there are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) keys: KeyKind,
    pub(crate) weighted: bool,
}

/// A change as a row: what was done, to a vertex or from it, to where, and with which weight.
type Row<'c> = (&'static str, &'c Key, Option<&'c Key>, Option<f64>);

fn row(change: &Change) -> Option<Row<'_>> {
    Some(match change {
        Change::AddVertex(key) => ("add_vertex", key, None, None),
        Change::RemoveVertex(key) => ("remove_vertex", key, None, None),
        Change::AddEdge(source, target, weight) => {
            ("add_edge", source, Some(target), Some(*weight))
        }
        Change::SetWeight(source, target, weight) => {
            ("set_weight", source, Some(target), Some(*weight))
        }
        Change::RemoveEdge(source, target) => ("remove_edge", source, Some(target), None),
        Change::Position(..) => return None,
    })
}

impl Layout {
    /// The columns of changes.
    pub(crate) fn of_changes<'c>(self, changes: impl Iterator<Item = &'c Change>) -> Columns {
        let rows: Vec<Row<'_>> = changes.filter_map(row).collect();
        let did = StringArray::from_iter_values(rows.iter().map(|row| row.0));
        let sources = self.keys(rows.iter().map(|row| Some(row.1)));
        let targets = self.keys(rows.iter().map(|row| row.2));
        let mut columns = vec![
            ("change", Column::new(Arc::new(did))),
            ("source", Column::new(sources)),
            ("target", Column::nullable(targets)),
        ];
        if self.weighted {
            let weights: Float64Array = rows.iter().map(|row| row.3).collect();
            columns.push(("weight", Column::nullable(Arc::new(weights))));
        }
        columns
    }

    /// The columns of the changes of commits, with the version and the time of each.
    pub(crate) fn of_commits(self, commits: &[Commit]) -> Columns {
        let (mut versions, mut times) = (Vec::new(), Vec::new());
        for commit in commits {
            let rows = commit.changes.iter().filter_map(row).count();
            versions.extend(std::iter::repeat_n(commit.version.0, rows));
            times.extend(std::iter::repeat_n(micros(commit.time), rows));
        }
        let mut columns =
            vec![("version", Column::numbers(versions)), ("time", Column::times(times))];
        columns.extend(self.of_changes(commits.iter().flat_map(|commit| &commit.changes)));
        columns
    }

    fn keys<'c>(self, keys: impl Iterator<Item = Option<&'c Key>>) -> ArrayRef {
        if self.keys == KeyKind::Text {
            let texts = keys.map(|key| match key {
                Some(Key::Text(text)) => Some(&**text),
                _ => None,
            });
            return Arc::new(texts.collect::<StringArray>());
        }
        let numbers = keys.map(|key| match key {
            Some(Key::Number(number)) => Some(*number),
            _ => None,
        });
        Arc::new(numbers.collect::<UInt64Array>())
    }
}

/// Microseconds since 1970; 0 before that.
fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
