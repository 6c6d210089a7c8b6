"""The graph against NetworkX's own, over random sequences of changes; hypothesis shrinks and
replays what fails."""

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import evergraph as eg

KEYS = st.integers(0, 7)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add_node"), KEYS),
        st.tuples(st.just("remove_node"), KEYS),
        st.tuples(st.just("add_edge"), KEYS, KEYS),
        st.tuples(st.just("remove_edge"), KEYS, KEYS),
    ),
    max_size=40,
)


def apply(graph, model, change):
    name, *keys = change
    try:
        getattr(model, name)(*keys)
    except nx.NetworkXError:
        with pytest.raises(eg.NotFoundError):
            getattr(graph, name)(*keys)
    else:
        getattr(graph, name)(*keys)


def check_reads(graph, model):
    assert set(graph) == set(graph.nodes) == set(model)
    assert len(graph) == len(model)
    assert graph.number_of_edges() == len(graph.edges) == model.number_of_edges()
    for node in model:
        assert node in graph
        assert set(graph.neighbors(node)) == set(graph[node]) == set(model[node])
        assert graph.degree[node] == model.degree[node]
    for u in range(8):
        for v in range(8):
            assert graph.has_edge(u, v) == ((u, v) in graph.edges) == model.has_edge(u, v)
    if model.is_directed():
        assert set(graph.edges) == set(model.edges)
        assert dict(graph.in_degree) == dict(model.in_degree)
        assert {n: set(graph.predecessors(n)) for n in model} == {
            n: set(model.predecessors(n)) for n in model
        }


def check_algorithms(graph, model):
    assert nx.pagerank(graph) == pytest.approx(nx.pagerank(model), abs=1e-9)
    for source in model:
        assert nx.single_source_shortest_path_length(graph, source) == (
            nx.single_source_shortest_path_length(model, source)
        )
        assert nx.descendants(graph, source) == nx.descendants(model, source)
    found = nx.strongly_connected_components if model.is_directed() else nx.connected_components
    assert {frozenset(part) for part in found(graph)} == {frozenset(part) for part in found(model)}
    if not model.is_directed():
        assert nx.triangles(graph) == nx.triangles(model)
        assert nx.clustering(graph) == pytest.approx(nx.clustering(model))
        assert nx.transitivity(graph) == pytest.approx(nx.transitivity(model))


@pytest.mark.parametrize("directed", [False, True])
@given(changes=CHANGES)
@settings(max_examples=60, deadline=None, print_blob=True)
def test_any_changes_leave_the_graph_that_networkx_has(directed, changes):
    graph = eg.Graph(directed=directed)
    model = nx.DiGraph() if directed else nx.Graph()
    for change in changes:
        apply(graph, model, change)
    check_reads(graph, model)
    check_algorithms(graph, model)


@given(changes=CHANGES)
@settings(max_examples=30, deadline=None, print_blob=True)
def test_matrix_and_columns_are_the_graph(changes):
    graph, model = eg.Graph(directed=True), nx.DiGraph()
    for change in changes:
        apply(graph, model, change)
    shown = graph.snapshot()
    edges = shown.edges()
    assert set(zip(edges["source"].tolist(), edges["target"].tolist(), strict=True)) == set(
        model.edges
    )
    order = shown.vertices.tolist()
    assert order == list(graph)
    if order:
        ours = shown.to_scipy_sparse_array().toarray()
        theirs = nx.to_numpy_array(model, nodelist=order)
        np.testing.assert_array_equal(ours, theirs)


@given(changes=CHANGES)
@settings(max_examples=30, deadline=None, print_blob=True)
def test_there_and_back(changes):
    graph = eg.Graph()
    model = nx.Graph()
    for change in changes:
        apply(graph, model, change)
    back = eg.to_networkx(eg.from_networkx(eg.to_networkx(graph)))
    assert nx.utils.graphs_equal(back, model)
