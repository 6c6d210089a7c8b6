//! The algorithms on a snapshot.
//!
//! Each takes the snapshot and its own config, and answers per dense id ([`Snapshot::key`] names
//! them). They run on rayon's current thread pool. What they return and how they work is told in
//! [`crate::kernels`].

pub use evergraph_algo::{
    AlgoError, BfsConfig, BfsOutput, Cancel, CdlpConfig, CdlpOutput, LccConfig, LccOutput, Measure,
    PageRankConfig, PageRankOutput, SccConfig, SccOutput, SsspConfig, SsspOutput, TriangleConfig,
    TriangleOutput, WccConfig, WccOutput,
};
use evergraph_graph::{Key, KeyKind, KeyRef};
use evergraph_store::with_view;

use crate::{Error, Result, Snapshot};

/// Defines a function that runs a kernel on the view of a snapshot: the payload is looked at once.
macro_rules! on_snapshot {
    ($(#[$doc:meta])* $name:ident, $config:ty, $output:ty) => {
        $(#[$doc])*
        pub fn $name(snapshot: &Snapshot, config: &$config) -> Result<$output> {
            with_view!(snapshot.view()?, |view| evergraph_algo::$name(view, config))
                .map_err(|error| Error::of_algorithm(error, |v| key_of(snapshot, v)))
        }
    };
}

on_snapshot!(
    /// Hops from a source to every vertex.
    bfs, BfsConfig, BfsOutput
);
on_snapshot!(
    /// The share of time a random surfer spends at every vertex.
    pagerank, PageRankConfig, PageRankOutput
);
on_snapshot!(
    /// Connected components, directions ignored.
    wcc, WccConfig, WccOutput
);
on_snapshot!(
    /// How many of the possible edges there are among the neighbours of every vertex.
    lcc, LccConfig, LccOutput
);
on_snapshot!(
    /// The shortest distance from a source to every vertex. Edges without a weight count 1.
    sssp, SsspConfig, SsspOutput
);
on_snapshot!(
    /// How many triangles there are, directions ignored.
    triangle_count, TriangleConfig, TriangleOutput
);
on_snapshot!(
    /// Strongly connected components.
    scc, SccConfig, SccOutput
);

/// Communities by label propagation. Without labels of the caller's, every vertex starts with its
/// key if keys are numbers, and with its dense id if they are texts.
pub fn cdlp(snapshot: &Snapshot, config: &CdlpConfig<'_>) -> Result<CdlpOutput> {
    let keys = match config.labels {
        None if snapshot.key_kind() == KeyKind::Number => Some(number_keys(snapshot)?),
        _ => None,
    };
    let config = CdlpConfig { labels: config.labels.or(keys.as_deref()), ..config.clone() };
    with_view!(snapshot.view()?, |view| evergraph_algo::cdlp(view, &config))
        .map_err(|error| Error::of_algorithm(error, |v| key_of(snapshot, v)))
}

/// The number of every vertex, 0 where there is none.
fn number_keys(snapshot: &Snapshot) -> Result<Vec<u64>> {
    let keys = snapshot.keys()?.into_iter().map(|key| match key {
        Some(Key::Number(number)) => number,
        _ => 0,
    });
    Ok(keys.collect())
}

/// The dense id of the source of an algorithm.
pub fn source<'k>(snapshot: &Snapshot, key: impl Into<KeyRef<'k>>) -> Result<u32> {
    let key = key.into();
    snapshot.id(key)?.ok_or_else(|| Error::SourceNotFound(key.to_owned()))
}

/// The key of a vertex, or its id if it has none any more.
pub(crate) fn key_of(snapshot: &Snapshot, v: u32) -> Key {
    let key = snapshot.key(v).ok().flatten();
    key.unwrap_or(Key::Number(u64::from(v)))
}
