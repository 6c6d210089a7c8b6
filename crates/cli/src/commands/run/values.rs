//! What an algorithm says about one vertex, whatever the format.

use evergraph::graph::Key;
use evergraph::kernels::bfs::UNREACHED;

use super::compute::Answer;

/// The value of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Whole(u64),
    Real(f64),
    /// The key of a vertex.
    Key(&'a Key),
    /// Not reached by a search; the word is what Graphalytics writes.
    Unreached(&'static str),
}

/// What Graphalytics writes for a vertex that a breadth-first search does not reach: the largest
/// number of its reference implementation.
const NO_LEVEL: &str = "9223372036854775807";
/// What Graphalytics writes for a vertex that no path leads to.
const NO_DISTANCE: &str = "infinity";

/// The value of the vertex with id `v`. `None` if the answer is one number for the whole graph.
pub(super) fn value<'a>(answer: &Answer, v: usize, keys: &'a [Option<Key>]) -> Option<Value<'a>> {
    // A label is the id of a vertex, which has a key.
    let key = |label: usize| match &keys[label] {
        Some(key) => Value::Key(key),
        None => Value::Whole(label as u64),
    };
    Some(match answer {
        Answer::Levels(output) => match output.levels[v] {
            UNREACHED => Value::Unreached(NO_LEVEL),
            level => Value::Whole(level.into()),
        },
        Answer::Distances(output) => match output.distances[v] {
            f64::INFINITY => Value::Unreached(NO_DISTANCE),
            distance => Value::Real(distance),
        },
        Answer::Ranks(output) => Value::Real(output.ranks[v]),
        Answer::Coefficients(output) => Value::Real(output.coefficients[v]),
        Answer::Components(output) => key(output.labels[v] as usize),
        Answer::StrongComponents(output) => key(output.labels[v] as usize),
        Answer::Communities(output) => match keys[v] {
            // The labels are ids where keys are no numbers.
            Some(Key::Text(_)) => key(output.labels[v] as usize),
            _ => Value::Whole(output.labels[v]),
        },
        Answer::Triangles(_) => return None,
    })
}

/// Every vertex with its key, in id order.
pub(super) fn vertices(keys: &[Option<Key>]) -> impl Iterator<Item = (usize, &Key)> {
    keys.iter().enumerate().filter_map(|(v, key)| Some((v, key.as_ref()?)))
}
