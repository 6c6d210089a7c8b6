//! The live graph beside the model: every vertex, every edge in the lists of both its ends, every
//! weight.

use std::ops::ControlFlow;

use evergraph::graph::{EdgeList, GraphView, KeyRef, VertexId, Weight};
use evergraph::{Database, with_view};
use rayon::prelude::*;

use super::model::Model;
use crate::failure::Failure;

/// How many differences are told.
const TOLD: usize = 10;

/// What differs.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) count: u64,
    /// The first, a line each.
    pub(super) first: Vec<String>,
}

impl Differences {
    fn add(&mut self, difference: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(difference());
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(TOLD);
        self
    }
}

/// Compares the newest version of the database with the model. `list` knows the keys.
pub(super) fn compare(
    db: &Database,
    list: &EdgeList,
    model: &Model,
) -> Result<Differences, Failure> {
    let snapshot = db.snapshot()?;
    let mut ids = Vec::with_capacity(list.keys.len() as usize);
    for key in list.keys.iter() {
        ids.push(snapshot.id(key)?);
    }
    let edges = db.stats().edges;
    let mut differences = with_view!(snapshot.view()?, |view| {
        let names = Names { list, ids: &ids, of_id: invert(&ids, view.vertex_bound()) };
        let lists = |v| list_differences(view, model, (&names, v));
        let found = (0..model.bound()).into_par_iter().map(lists);
        let mut found = found.reduce(Differences::default, Differences::join);
        let (live, expected) = (u64::from(view.vertex_count()), model.vertex_count());
        if live != expected {
            found.add(|| format!("the store has {live} vertices, the model {expected}"));
        }
        found
    });
    if edges != model.edge_count() {
        let expected = model.edge_count();
        differences.add(|| format!("the store counts {edges} edges, the model {expected}"));
    }
    Ok(differences)
}

/// The names of vertices: their places in the edge list, and their ids in the store.
struct Names<'a> {
    list: &'a EdgeList,
    ids: &'a [Option<VertexId>],
    /// The place of every id.
    of_id: Vec<Option<VertexId>>,
}

impl Names<'_> {
    fn key(&self, v: VertexId) -> KeyRef<'_> {
        self.list.keys.key(v).unwrap_or(KeyRef::Number(v.into()))
    }
}

fn invert(ids: &[Option<VertexId>], bound: u32) -> Vec<Option<VertexId>> {
    let mut places = vec![None; bound as usize];
    for (place, id) in (0..).zip(ids) {
        if let Some(id) = id {
            places[*id as usize] = Some(place);
        }
    }
    places
}

/// What differs at one vertex.
fn list_differences<G: GraphView>(
    view: &G,
    model: &Model,
    (names, v): (&Names<'_>, VertexId),
) -> Differences {
    let mut differences = Differences::default();
    let id = match (names.ids[v as usize], model.contains(v)) {
        (Some(id), true) => id,
        (None, false) => return differences,
        (Some(_), false) => {
            differences.add(|| format!("vertex {} is there and should be gone", names.key(v)));
            return differences;
        }
        (None, true) => {
            differences.add(|| format!("vertex {} is gone and should be there", names.key(v)));
            return differences;
        }
    };
    let place = |u: VertexId| names.of_id[u as usize];
    let mut live = Vec::new();
    let _: ControlFlow<()> = view.weighted_runs(id, |run, weights| {
        live.extend(run.iter().zip(weights).map(|(&u, weight)| (place(u), weight.to_f64())));
        ControlFlow::Continue(())
    });
    let expected = model.out(v).iter().map(|(&u, &weight)| (u, weight));
    match_lists(live, expected, |u, what| {
        differences.add(|| format!("edge {} {}: {what}", names.key(v), shown(names, u)));
    });
    if model.is_directed() {
        let mut live = Vec::new();
        view.for_each_in(id, |u| live.push((place(u), 1.0)));
        let expected = model.incoming(v).iter().map(|&u| (u, 1.0));
        match_lists(live, expected, |u, what| {
            let (from, to) = (shown(names, u), names.key(v));
            differences.add(|| format!("edge {from} {to}, in the list of {to}: {what}"));
        });
    }
    differences
}

fn shown(names: &Names<'_>, u: Option<VertexId>) -> String {
    match u {
        Some(u) => names.key(u).to_string(),
        None => "to a vertex that nobody added".to_owned(),
    }
}

/// Compares two lists of neighbours and weights. The second one is sorted.
fn match_lists(
    mut live: Vec<(Option<VertexId>, f64)>,
    expected: impl Iterator<Item = (VertexId, f64)>,
    mut differs: impl FnMut(Option<VertexId>, String),
) {
    live.sort_unstable_by_key(|&(u, _)| u);
    let mut live = live.into_iter().peekable();
    for (u, weight) in expected {
        while let Some((extra, _)) = live.next_if(|&(found, _)| found < Some(u)) {
            differs(extra, "is there and should not be".to_owned());
        }
        match live.next_if(|&(found, _)| found == Some(u)) {
            None => differs(Some(u), "is not there and should be".to_owned()),
            Some((_, found)) if found.to_bits() != weight.to_bits() => {
                differs(Some(u), format!("weighs {found} and should weigh {weight}"));
            }
            Some(_) => {}
        }
    }
    live.for_each(|(extra, _)| differs(extra, "is there and should not be".to_owned()));
}

#[cfg(test)]
mod tests {
    use evergraph::graph::{Key, KeyKind, KeyTable};
    use evergraph::{StoreError, Transaction};

    use super::*;

    fn list(directed: bool) -> EdgeList {
        let mut keys = KeyTable::empty(KeyKind::Text);
        for key in ["a", "b", "c", "d"] {
            keys.push(key).expect("a new key");
        }
        let weights = Some(vec![1.0, 2.0, 3.0]);
        EdgeList { directed, keys, edges: vec![(0, 1), (1, 2), (3, 3)], weights }
    }

    fn differences(
        directed: bool,
        change: impl FnMut(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> (u64, String) {
        let list = list(directed);
        let db = evergraph::load(&list, &()).expect("loads");
        db.transaction(0, change).expect("commits");
        let found = compare(&db, &list, &Model::of(&list)).expect("compares");
        (found.count, found.first.join("\n"))
    }

    #[test]
    fn what_is_alike_does_not_differ() {
        assert_eq!(differences(false, |_| Ok(())), (0, String::new()));
        assert_eq!(differences(true, |_| Ok(())), (0, String::new()));
    }

    #[test]
    fn a_lost_edge_is_found_at_both_ends() {
        let (count, first) = differences(false, |tx| tx.remove_edge("a", "b"));
        assert_eq!(count, 3, "{first}");
        assert!(first.contains("edge a b: is not there and should be"), "{first}");
        assert!(first.contains("edge b a: is not there and should be"), "{first}");
        assert!(first.contains("the store counts 2 edges, the model 3"), "{first}");
        let (count, first) = differences(true, |tx| tx.remove_edge("a", "b"));
        assert_eq!(count, 3, "{first}");
        assert!(first.contains("edge a b, in the list of b: is not there"), "{first}");
    }

    #[test]
    fn a_wrong_weight_and_an_edge_too_many_are_found() {
        let (_, first) = differences(true, |tx| tx.set_weight("d", "d", 4.0));
        assert_eq!(first, "edge d d: weighs 4 and should weigh 3");
        let (_, first) = differences(true, |tx| tx.add_edge("c", "a"));
        assert!(first.contains("edge c a: is there and should not be"), "{first}");
        let (_, first) = differences(true, |tx| {
            tx.add_vertex("new")?;
            tx.add_edge("c", "new")
        });
        assert!(first.contains("edge c to a vertex that nobody added: is there"), "{first}");
        assert!(first.contains("the store has 5 vertices, the model 4"), "{first}");
    }

    #[test]
    fn a_lost_vertex_is_found() {
        let (_, first) = differences(false, |tx| tx.remove_vertex(&Key::Text("d".into())));
        assert!(first.contains("vertex d is gone and should be there"), "{first}");
    }
}
