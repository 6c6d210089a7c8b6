//! Families of scenarios: every question beside every change, and every change beside every other.

use super::super::model::{Change, Graph, Query, Side};
use super::super::{Program, Scenario, tx};

/// Vertices 1 to 4, two edges and a loop.
fn start() -> Graph {
    Graph::new(4, &[(1, 2, 5.0), (2, 3, 6.0), (4, 4, 7.0)])
}

/// Questions whose answers the changes below make other ones.
fn questions() -> [(&'static str, Query); 13] {
    [
        ("a vertex", Query::Vertex(5)),
        ("an edge", Query::Edge(1, 3)),
        ("a weight", Query::Weight(1, 2)),
        ("a degree", Query::Degree(Side::Out, 1)),
        ("an in-degree", Query::Degree(Side::In, 3)),
        ("a list", Query::List(Side::Out, 1)),
        ("an in-list", Query::List(Side::In, 3)),
        ("heavy edges", Query::Heavy(1, 2.0)),
        ("vertices", Query::Vertices(1..7)),
        ("all vertices", Query::AllVertices),
        ("a range of keys", Query::Keys(3..7)),
        ("the number of edges", Query::EdgeCount),
        ("a path", Query::Path(1, 3)),
    ]
}

/// Changes, each to the start.
fn changes() -> [(&'static str, Change); 7] {
    [
        ("a new vertex", Change::AddVertex(5)),
        ("a vertex that goes", Change::RemoveVertex(3)),
        ("a new edge", Change::AddEdge(1, 3, 4.0)),
        ("another new edge", Change::AddEdge(3, 1, 4.0)),
        ("a new weight", Change::SetWeight(1, 2, 1.0)),
        ("an edge that goes", Change::RemoveEdge(2, 3)),
        ("a loop that goes", Change::RemoveEdge(4, 4)),
    ]
}

/// Whether first updater wins for two changes of [`changes`].
fn collide(a: &Change, b: &Change) -> bool {
    let ends = |change: &Change| match *change {
        Change::AddVertex(v) | Change::RemoveVertex(v) => (v, None),
        Change::AddEdge(u, v, _) | Change::SetWeight(u, v, _) | Change::RemoveEdge(u, v) => {
            (u, Some(v))
        }
    };
    match (ends(a), ends(b)) {
        ((v, None), (w, None)) => v == w,
        ((v, None), (u, Some(w))) | ((u, Some(w)), (v, None)) => v == u || v == w,
        (a, b) => a == b,
    }
}

pub(super) fn all() -> Vec<Scenario> {
    [repeated(), pairs(), phantoms()].concat()
}

/// One asks twice while another makes a change.
fn repeated() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (asked, query) in questions() {
        for (made, change) in changes() {
            let name = format!("table: {asked} asked for twice beside {made}");
            let reader = tx().ask(query.clone()).ask(query.clone());
            all.push(Scenario::new(name, start(), vec![reader, tx().change(change)]));
        }
    }
    all
}

/// Two make a change each, and a third looks.
fn pairs() -> Vec<Scenario> {
    let changes = changes();
    let mut all = Vec::new();
    for (place, (first, a)) in changes.iter().enumerate() {
        for (second, b) in &changes[place..] {
            let name = format!("table: {first} beside {second}");
            let programs = vec![tx().change(*a), tx().change(*b), tx().list(1).in_list(3)];
            let pair = Scenario::new(name, start(), programs);
            all.push(if collide(a, b) { pair.conflicts() } else { pair });
        }
    }
    all
}

/// Two make sure that something is not there, and add it where the other does not look for a
/// conflict: what both found is not true any more.
fn phantoms() -> Vec<Scenario> {
    let unless = |query: Query, change| tx().ask(query).if_absent().change(change);
    let both = |query: Query, a, b| vec![unless(query.clone(), a), unless(query, b)];
    let edge = |u, v| Change::AddEdge(u, v, 9.0);
    let families: [(&str, Vec<Program>); 7] = [
        ("a degree", both(Query::Degree(Side::Out, 3), edge(3, 1), edge(3, 2))),
        ("an in-degree", both(Query::Degree(Side::In, 1), edge(2, 1), edge(3, 1))),
        ("a list", both(Query::List(Side::Out, 3), edge(3, 1), edge(3, 4))),
        ("an in-list", both(Query::List(Side::In, 1), edge(2, 1), edge(4, 1))),
        ("heavy edges", both(Query::Heavy(1, 8.0), edge(1, 3), edge(1, 4))),
        ("vertices", both(Query::Vertices(5..9), Change::AddVertex(5), Change::AddVertex(6))),
        ("a range of keys", both(Query::Keys(5..9), Change::AddVertex(5), Change::AddVertex(6))),
    ];
    let scenario = |(words, programs): (&str, Vec<Program>)| {
        Scenario::new(format!("table: phantom of {words}"), start(), programs).skews()
    };
    families.into_iter().map(scenario).collect()
}
