//! Anomalies that only graphs have: edges without ends, halves of edges, paths, degrees.

use super::super::{Graph, Program, Scenario, tx};

fn scenario(name: &str, start: Graph, programs: Vec<Program>) -> Scenario {
    Scenario::new(format!("graph: {name}"), start, programs)
}

/// Vertices 1 to 4 and the edge from 1 to 2.
fn one_edge() -> Graph {
    Graph::new(4, &[(1, 2, 5.0)])
}

pub(super) fn all() -> Vec<Scenario> {
    [
        ends(),
        departures(),
        halves(),
        edges(),
        degrees(),
        counts(),
        paths(),
        vertices(),
        ranges(),
        own_writes(),
        loops(),
    ]
    .concat()
}

/// A vertex goes while an edge comes.
fn ends() -> Vec<Scenario> {
    let four = || Graph::new(4, &[]);
    let mut all = vec![
        scenario(
            "dangling edge, the target goes because nothing leads to it",
            four(),
            vec![tx().in_degree(2).if_absent().remove_vertex(2), tx().add_edge(1, 2, 1.0)],
        )
        .conflicts(),
        scenario(
            "dangling edge, the source goes because nothing leaves it",
            four(),
            vec![tx().degree(1).if_absent().remove_vertex(1), tx().add_edge(1, 2, 1.0)],
        )
        .conflicts(),
        scenario(
            "dangling edge without directions",
            four().undirected(),
            vec![tx().degree(2).if_absent().remove_vertex(2), tx().add_edge(1, 2, 1.0)],
        )
        .conflicts(),
        scenario(
            "both ends go while an edge comes",
            four(),
            vec![tx().remove_vertex(1), tx().remove_vertex(2), tx().add_edge(1, 2, 1.0)],
        )
        .conflicts(),
    ];
    for is_directed in [true, false] {
        let triangle = Graph::new(4, &[(1, 2, 1.0), (2, 3, 1.0), (3, 1, 1.0)]);
        let (start, words) =
            if is_directed { (triangle, "") } else { (triangle.undirected(), "undirected ") };
        all.push(
            scenario(
                &format!("a vertex of a {words}triangle goes beside a new edge of it"),
                start,
                vec![tx().remove_vertex(1), tx().add_edge(4, 1, 1.0), tx().list(4).list(2)],
            )
            .conflicts(),
        );
    }
    all
}

/// A vertex goes while something happens to its edges.
fn departures() -> Vec<Scenario> {
    vec![
        scenario(
            "a vertex goes while its edge gets a weight",
            one_edge(),
            vec![tx().remove_vertex(2), tx().set(1, 2, 6.0)],
        )
        .conflicts(),
        scenario(
            "a vertex goes while its edge goes",
            one_edge(),
            vec![tx().remove_vertex(2), tx().remove_edge(1, 2)],
        )
        .conflicts(),
        scenario(
            "two ends of an edge go at once",
            one_edge(),
            vec![tx().remove_vertex(1), tx().remove_vertex(2)],
        )
        .conflicts(),
        scenario(
            "a vertex goes while another gets an edge",
            one_edge(),
            vec![tx().remove_vertex(2), tx().add_edge(1, 3, 1.0)],
        ),
        scenario(
            "a vertex goes and comes again while an edge comes",
            Graph::new(4, &[]),
            vec![tx().remove_vertex(2), tx().add_vertex(2), tx().add_edge(1, 2, 1.0)],
        )
        .conflicts(),
    ]
}

/// Whoever sees one list of an edge sees the other.
fn halves() -> Vec<Scenario> {
    let both_lists = || tx().list(1).in_list(2);
    vec![
        scenario(
            "half edge, added",
            Graph::new(4, &[]),
            vec![both_lists(), tx().add_edge(1, 2, 3.0)],
        ),
        scenario("half edge, removed", one_edge(), vec![both_lists(), tx().remove_edge(1, 2)]),
        scenario("half edge, reweighted", one_edge(), vec![both_lists(), tx().set(1, 2, 6.0)]),
        scenario(
            "half edge, removed with its source",
            one_edge(),
            vec![tx().in_list(2).vertex(1), tx().remove_vertex(1)],
        ),
        scenario(
            "half edge without directions, added",
            Graph::new(4, &[]).undirected(),
            vec![tx().list(1).list(2), tx().add_edge(2, 1, 3.0)],
        ),
        scenario(
            "half edge without directions, reweighted",
            one_edge().undirected(),
            vec![tx().list(2).list(1), tx().set(2, 1, 6.0)],
        ),
        scenario(
            "fractured read of a cycle of edges",
            Graph::new(4, &[(1, 2, 0.0), (2, 3, 0.0), (3, 1, 0.0)]),
            vec![
                tx().weight(1, 2).weight(2, 3).weight(3, 1),
                tx().set(1, 2, 1.0).set(2, 3, 1.0).set(3, 1, 1.0),
            ],
        ),
        scenario(
            "edges moved from one vertex to another are counted once",
            Graph::new(4, &[(1, 2, 1.0), (1, 3, 1.0)]),
            vec![
                tx().degree(1).degree(4),
                tx().remove_edge(1, 2).add_edge(4, 2, 1.0),
                tx().remove_edge(1, 3).add_edge(4, 3, 1.0),
            ],
        ),
    ]
}

/// Two transactions on one edge, or on two that depend on each other.
fn edges() -> Vec<Scenario> {
    let unless_there = || tx().edge(1, 3).if_absent().add_edge(1, 3, 1.0);
    let one_way = |u, v| tx().edge(v, u).if_absent().add_edge(u, v, 1.0);
    let add = |more| tx().weight(1, 2).set_last(1, 2, more);
    vec![
        scenario("duplicate edge", one_edge(), vec![unless_there(), unless_there()]).conflicts(),
        scenario(
            "duplicate edge without directions, from both ends",
            one_edge().undirected(),
            vec![unless_there(), tx().edge(3, 1).if_absent().add_edge(3, 1, 2.0)],
        )
        .conflicts(),
        scenario(
            "duplicate edge, three",
            one_edge(),
            vec![unless_there(), unless_there(), tx().add_edge(1, 3, 2.0)],
        )
        .conflicts(),
        scenario("one direction only", one_edge(), vec![one_way(3, 4), one_way(4, 3)])
            .skews_to("both directions", |g| {
                g.weight_of(3, 4).is_some() && g.weight_of(4, 3).is_some()
            }),
        scenario("lost update of a weight", one_edge(), vec![add(1.0), add(2.0)])
            .conflicts()
            .never("nothing was added", |g| g.weight_of(1, 2) == Some(5.0)),
        scenario(
            "lost update of a weight without directions",
            one_edge().undirected(),
            vec![add(1.0), tx().weight(2, 1).set_last(2, 1, 2.0)],
        )
        .conflicts(),
        scenario(
            "removed and added again beside an update",
            one_edge(),
            vec![tx().remove_edge(1, 2).add_edge(1, 2, 7.0), add(1.0)],
        )
        .conflicts(),
        scenario(
            "removed and added again by two",
            one_edge(),
            vec![tx().remove_edge(1, 2), tx().edge(1, 2).if_absent().add_edge(1, 2, 7.0)],
        ),
        scenario(
            "added and removed again beside an addition",
            one_edge(),
            vec![tx().add_edge(1, 3, 1.0).remove_edge(1, 3), tx().add_edge(1, 3, 2.0)],
        )
        .conflicts(),
        scenario(
            "transfer between two edges beside another",
            Graph::new(4, &[(1, 2, 10.0), (1, 3, 10.0)]),
            vec![
                tx().weight(1, 2).set_last(1, 2, -1.0).weight(1, 3).set_last(1, 3, 1.0),
                tx().weight(1, 3).set_last(1, 3, -2.0).weight(1, 2).set_last(1, 2, 2.0),
            ],
        )
        .conflicts()
        .never("the sum is another", |g| g.edges.values().sum::<f64>() != 20.0),
    ]
}

/// Degrees as what is read, and as what is kept beside.
fn degrees() -> Vec<Scenario> {
    let below_two = |v| tx().degree(1).if_total_below(2.0).add_edge(1, v, 1.0);
    let counted = |v| tx().add_edge(1, v, 1.0).weight(4, 4).set_last(4, 4, 1.0);
    vec![
        scenario("degree, at most two", one_edge(), vec![below_two(3), below_two(4)])
            .skews_to("three edges", |g| g.degree_of(1) == 3),
        scenario(
            "in-degree, at most two",
            Graph::new(4, &[(2, 1, 1.0)]),
            vec![
                tx().in_degree(1).if_total_below(2.0).add_edge(3, 1, 1.0),
                tx().in_degree(1).if_total_below(2.0).add_edge(4, 1, 1.0),
            ],
        )
        .skews(),
        scenario(
            "degree without directions, at most two",
            one_edge().undirected(),
            vec![
                tx().degree(2).if_total_below(2.0).add_edge(2, 3, 1.0),
                tx().degree(2).if_total_below(2.0).add_edge(4, 2, 1.0),
            ],
        )
        .skews(),
        scenario(
            "counter of edges, raised by each",
            Graph::new(4, &[(4, 4, 0.0)]),
            vec![counted(2), counted(3)],
        )
        .conflicts()
        .never("the counter is wrong", |g| g.weight_of(4, 4) != Some(g.degree_of(1) as f64)),
        scenario(
            "counter of edges, set to the degree",
            Graph::new(4, &[(4, 4, 7.0)]),
            vec![
                tx().add_edge(1, 2, 1.0),
                tx().degree(1).set_last(4, 4, 0.0),
                tx().degree(1).weight(4, 4),
            ],
        )
        .skews(),
        scenario(
            "the last edge stays",
            Graph::new(4, &[(1, 2, 1.0), (1, 3, 1.0)]),
            vec![
                tx().degree(1).if_total_at_least(2.0).remove_edge(1, 2),
                tx().degree(1).if_total_at_least(2.0).remove_edge(1, 3),
            ],
        )
        .skews_to("no edge is left", |g| g.degree_of(1) == 0),
        scenario(
            "the last in-edge stays",
            Graph::new(4, &[(2, 1, 1.0), (3, 1, 1.0)]),
            vec![
                tx().in_degree(1).if_total_at_least(2.0).remove_edge(2, 1),
                tx().in_degree(1).if_total_at_least(2.0).remove_edge(3, 1),
            ],
        )
        .skews_to("no edge is left", |g| g.edges.is_empty()),
        scenario(
            "a weight by degree, an edge by weight",
            one_edge(),
            vec![
                tx().degree(1).set_last(1, 2, 10.0),
                tx().weight(1, 2).if_total_below(10.0).add_edge(1, 3, 1.0),
            ],
        )
        .skews(),
    ]
}

/// What is true of ways, and not of any single edge.
fn paths() -> Vec<Scenario> {
    let unless_path =
        |(a, b): (u64, u64), (u, v): (u64, u64)| tx().path(a, b).if_absent().add_edge(u, v, 1.0);
    vec![
        scenario(
            "no cycle, two edges",
            Graph::new(4, &[]),
            vec![unless_path((2, 1), (1, 2)), unless_path((1, 2), (2, 1))],
        )
        .skews_to("a cycle", |g| g.has_path(1, 1)),
        scenario(
            "no cycle, two ways",
            Graph::new(4, &[(1, 2, 1.0), (3, 4, 1.0)]),
            vec![unless_path((3, 2), (2, 3)), unless_path((1, 4), (4, 1))],
        )
        .skews_to("a cycle", |g| g.has_path(1, 1)),
        scenario(
            "at most one way",
            Graph::new(4, &[(1, 2, 1.0), (3, 4, 1.0)]),
            vec![unless_path((1, 4), (1, 4)), unless_path((1, 4), (2, 3))],
        )
        .skews(),
        scenario(
            "still connected",
            Graph::new(4, &[(1, 2, 1.0), (1, 3, 1.0), (2, 4, 1.0), (3, 4, 1.0)]),
            vec![
                tx().path(3, 4).if_present().remove_edge(1, 2),
                tx().path(1, 2).if_present().remove_edge(3, 4),
            ],
        )
        .skews_to("no way is left", |g| !g.has_path(1, 4)),
        scenario(
            "a way asked for twice",
            Graph::new(4, &[(1, 2, 1.0)]),
            vec![tx().path(1, 3).path(1, 3), tx().add_edge(2, 3, 1.0)],
        ),
        scenario(
            "a way that is moved is never gone",
            Graph::new(4, &[(1, 2, 1.0), (2, 4, 1.0)]),
            vec![
                tx().path(1, 4).path(1, 4),
                tx().remove_edge(2, 4).add_edge(1, 3, 1.0).add_edge(3, 4, 1.0),
            ],
        ),
    ]
}

/// Vertices as what is read, counted and made unique.
fn vertices() -> Vec<Scenario> {
    let below = |bound, v| tx().vertices(1..9).if_total_below(bound).add_vertex(v);
    let named = |v| tx().heavy(4, 7.0).if_absent().add_edge(4, v, 7.0);
    vec![
        scenario(
            "one key, two vertices",
            Graph::new(2, &[]),
            vec![tx().add_vertex(5).add_edge(5, 1, 1.0), tx().add_vertex(5).add_edge(5, 2, 1.0)],
        )
        .conflicts()
        .never("a mixture", |g| g.degree_of(5) != 1),
        scenario("one name, two vertices", Graph::new(4, &[]), vec![named(1), named(2)])
            .skews_to("one name twice", |g| g.degree_of(4) == 2),
        scenario("at most five vertices", Graph::new(4, &[]), vec![below(5.0, 5), below(5.0, 6)])
            .skews_to("six vertices", |g| g.vertices.len() == 6),
        scenario(
            "at most five vertices in all",
            Graph::new(4, &[]),
            vec![
                tx().all_vertices().if_total_below(5.0).add_vertex(5),
                tx().all_vertices().if_total_below(5.0).add_vertex(6),
            ],
        )
        .skews_to("six vertices", |g| g.vertices.len() == 6),
        scenario(
            "one of two stays",
            Graph::new(2, &[]),
            vec![
                tx().vertex(2).if_present().remove_vertex(1),
                tx().vertex(1).if_present().remove_vertex(2),
            ],
        )
        .skews_to("none is left", |g| g.vertices.is_empty()),
        scenario(
            "a vertex removed by two",
            Graph::new(2, &[]),
            vec![tx().remove_vertex(1), tx().vertex(1).if_present().remove_vertex(1)],
        )
        .conflicts(),
        scenario(
            "a vertex that comes back without its edges",
            one_edge(),
            vec![tx().remove_vertex(2).add_vertex(2), tx().list(1).vertex(2)],
        ),
        scenario(
            "a vertex that comes back beside a new edge",
            one_edge(),
            vec![tx().remove_vertex(2).add_vertex(2), tx().add_edge(3, 2, 1.0)],
        )
        .conflicts(),
        scenario(
            "a new vertex and its edge come together",
            Graph::new(2, &[]),
            vec![tx().add_vertex(5).add_edge(5, 1, 1.0), tx().in_list(1).vertex(5)],
        ),
        scenario(
            "a scan beside vertices that come and go",
            Graph::new(3, &[]),
            vec![tx().vertices(1..9).vertices(1..9), tx().add_vertex(5).remove_vertex(1)],
        ),
        scenario(
            "a new vertex that another uses at once",
            Graph::new(2, &[]),
            vec![tx().add_vertex(5), tx().vertex(5).if_present().add_edge(1, 5, 1.0)],
        ),
    ]
}

/// How many edges there are in all.
fn counts() -> Vec<Scenario> {
    vec![
        scenario(
            "at most two edges in all",
            one_edge(),
            vec![
                tx().edge_count().if_total_below(2.0).add_edge(1, 3, 1.0),
                tx().edge_count().if_total_below(2.0).add_edge(4, 2, 1.0),
            ],
        )
        .skews_to("three edges", |g| g.edges.len() == 3),
        scenario(
            "at most two edges in all, without directions",
            Graph::new(4, &[(1, 1, 1.0)]).undirected(),
            vec![
                tx().edge_count().if_total_below(2.0).add_edge(1, 3, 1.0),
                tx().edge_count().if_total_below(2.0).add_edge(4, 4, 1.0),
            ],
        )
        .skews_to("three edges", |g| g.edges.len() == 3),
        scenario(
            "the number of edges, kept beside them",
            Graph::new(4, &[(4, 4, 7.0)]),
            vec![
                tx().add_edge(1, 2, 1.0),
                tx().edge_count().set_last(4, 4, 0.0),
                tx().edge_count().weight(4, 4),
            ],
        )
        .skews(),
    ]
}

/// Vertices by a range of their keys.
fn ranges() -> Vec<Scenario> {
    vec![
        scenario(
            "at most one vertex in a range of keys",
            Graph::new(4, &[]),
            vec![
                tx().keys(5..9).if_absent().add_vertex(5),
                tx().keys(5..9).if_absent().add_vertex(8),
                tx().add_vertex(9),
            ],
        )
        .skews_to("two vertices", |g| g.vertices.range(5..9).count() == 2),
        scenario(
            "a range of keys beside vertices that come and go",
            Graph::new(3, &[]),
            vec![tx().keys(2..9).keys(2..9), tx().add_vertex(5).remove_vertex(2)],
        ),
    ]
}

/// A transaction sees what it did, and nobody else does before its commit.
fn own_writes() -> Vec<Scenario> {
    let reader = || tx().list(1).vertex(5);
    vec![
        scenario("own vertex", one_edge(), vec![tx().add_vertex(5).vertex(5).list(5), reader()]),
        scenario(
            "own edge",
            one_edge(),
            vec![tx().add_edge(1, 3, 2.0).list(1).in_degree(3), reader()],
        ),
        scenario(
            "own weight",
            one_edge(),
            vec![tx().set(1, 2, 7.0).weight(1, 2).set_last(1, 2, 1.0), reader()],
        ),
        scenario(
            "own removal",
            one_edge(),
            vec![tx().remove_edge(1, 2).edge(1, 2).degree(1), reader()],
        ),
        scenario(
            "own removal of a vertex",
            one_edge(),
            vec![tx().remove_vertex(2).list(1).vertex(2), reader()],
        ),
        scenario(
            "own changes that come to nothing",
            one_edge(),
            vec![tx().add_edge(1, 3, 1.0).remove_edge(1, 3).list(1), reader()],
        ),
        scenario(
            "half done and rolled back",
            one_edge(),
            vec![
                tx().remove_edge(1, 2).add_edge(1, 3, 1.0).list(1).roll_back(),
                reader(),
                tx().weight(1, 2).set_last(1, 2, 1.0),
            ],
        ),
        scenario(
            "refused in the middle",
            one_edge(),
            vec![tx().add_edge(1, 3, 1.0).add_edge(1, 2, 1.0), tx().list(1).in_list(3)],
        )
        .never("half of it", |g| g.weight_of(1, 3).is_some()),
    ]
}

/// Edges from a vertex to itself.
fn loops() -> Vec<Scenario> {
    let looped = || Graph::new(3, &[(1, 1, 1.0)]);
    vec![
        scenario(
            "loop, in both lists at once",
            Graph::new(3, &[]),
            vec![tx().list(1).in_list(1), tx().add_edge(1, 1, 2.0)],
        ),
        scenario(
            "loop without directions, once in the list",
            Graph::new(3, &[]).undirected(),
            vec![tx().list(1).degree(1), tx().add_edge(1, 1, 2.0)],
        ),
        scenario(
            "loop, raised by two",
            looped(),
            vec![tx().weight(1, 1).set_last(1, 1, 1.0), tx().weight(1, 1).set_last(1, 1, 2.0)],
        )
        .conflicts(),
        scenario(
            "loop, removed with its vertex",
            looped(),
            vec![tx().remove_vertex(1), tx().set(1, 1, 2.0)],
        )
        .conflicts(),
        scenario(
            "loop, removed beside its weight",
            looped().undirected(),
            vec![tx().remove_edge(1, 1), tx().set(1, 1, 2.0)],
        )
        .conflicts(),
    ]
}
