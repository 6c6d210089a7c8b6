"""NetworkX on our graphs: without conversion, at the newest version, as NetworkX itself answers."""

import gc

import networkx as nx
import numpy as np
import pytest

import evergraph as eg
from evergraph import _nx_info
from evergraph import nx as backend


@pytest.fixture
def no_conversion(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the graph was converted")

    monkeypatch.setattr(eg.convert, "to_networkx", refuse)
    monkeypatch.setattr(backend.Backend, "convert_from_nx", staticmethod(refuse))


def test_a_graph_is_read_in_place_and_never_stale(no_conversion):
    graph = eg.Graph()
    for size in range(2, 30):
        graph.add_edge(size - 1, size)
        assert nx.number_connected_components(graph) == 1
        assert nx.single_source_shortest_path_length(graph, 1)[size] == size - 1
        assert len(nx.pagerank(graph)) == size
    graph.remove_edge(5, 6)
    assert [len(part) for part in nx.connected_components(graph)] == [5, 24]


def test_what_we_do_not_have_is_computed_on_the_newest_version():
    graph = eg.from_edges([1, 2, 3], [2, 3, 4])
    with nx.config(fallback_to_nx=True):
        assert nx.diameter(graph) == 3
        graph.add_edge(4, 5)
        assert nx.diameter(graph) == 4


def test_every_function_that_is_announced_is_there():
    info = _nx_info.info()
    for name in info["functions"]:
        assert callable(getattr(backend.backend, name)), name
        assert hasattr(nx, name), name
    assert set(info["functions"]) <= set(nx.utils.backends._registered_algorithms)


@pytest.mark.parametrize("nodes", [["a", ("b", 1), None, 2.5], [10**30, -1, True, "x"]])
def test_nodes_of_any_kind_come_back_as_they_are(nodes):
    nodes = [node for node in nodes if node is not None]
    model = nx.cycle_graph(nodes)
    assert nx.pagerank(model, backend="evergraph") == pytest.approx(nx.pagerank(model))
    assert next(nx.connected_components(model, backend="evergraph")) == set(nodes)


def random_graph(seed, directed):
    random = np.random.default_rng(seed)
    model = nx.gnm_random_graph(40, 90, seed=int(seed), directed=directed)
    for _, _, data in model.edges(data=True):
        data["weight"] = float(random.integers(1, 9))
    model.add_edge(3, 3, weight=2.0)
    return model


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_answers_are_those_of_networkx(seed, directed):
    model = random_graph(seed, directed)
    graph = eg.from_networkx(model, weight="weight")
    some = {0: 1.0, 5: 3.0}
    for options in (
        {},
        {"weight": None},
        {"personalization": some},
        {"dangling": some},
        {"nstart": some},
        {"alpha": 0.5, "tol": 1e-10},
    ):
        expected = nx.pagerank(model, **options)
        assert nx.pagerank(graph, **options) == pytest.approx(expected, abs=1e-9), options
        converted = nx.pagerank(model, backend="evergraph", **options)
        assert converted == pytest.approx(expected, abs=1e-9), options
    for cutoff in (None, 6):
        expected = nx.single_source_dijkstra_path_length(model, 0, cutoff)
        assert nx.single_source_dijkstra_path_length(graph, 0, cutoff) == expected
        expected = nx.single_source_shortest_path_length(model, 0, cutoff)
        assert nx.single_source_shortest_path_length(graph, 0, cutoff) == expected
    far = max(expected)
    assert nx.dijkstra_path_length(graph, 0, far) == nx.dijkstra_path_length(model, 0, far)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_clustering_is_exactly_that_of_networkx(seed, directed):
    model = random_graph(seed, directed)
    # Many triangles, of which some sides lead both ways.
    model.add_edges_from(random_graph(seed + 100, directed).edges)
    model.add_edges_from([(v, u) for u, v in list(model.edges) if (u + v) % 3 == 0])
    graph = eg.from_networkx(model)
    expected = nx.clustering(model)
    assert nx.clustering(graph) == expected and len(set(expected.values())) > 10
    assert nx.clustering(model, backend="evergraph") == expected
    assert nx.clustering(graph, 3) == nx.clustering(model, 3)
    assert nx.clustering(graph, [3, 4]) == nx.clustering(model, [3, 4])
    assert graph.snapshot().clustering("triangles").to_dict() == expected
    for count_zeros in (True, False):
        expected = nx.average_clustering(model, count_zeros=count_zeros)
        assert nx.average_clustering(graph, count_zeros=count_zeros) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_self_loops_do_not_count_in_triangles(seed):
    model = random_graph(seed, directed=False)
    graph = eg.from_networkx(model)
    assert nx.triangles(graph) == nx.triangles(model)
    assert nx.triangles(graph, 3) == nx.triangles(model, 3)
    assert nx.transitivity(graph) == pytest.approx(nx.transitivity(model))


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_waits_while_sets_are_made(enabled):
    ends = np.arange(0, 40_000, 2)
    shown = eg.from_edges(ends, ends + 1).snapshot()
    found, keys, runs = shown._native.wcc(), shown._keys(), []

    def hear(phase, info):
        runs.append(phase)

    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    gc.callbacks.append(hear)
    try:
        groups = found.groups(keys)
        during = list(runs)
        assert gc.isenabled() == enabled
    finally:
        gc.callbacks.remove(hear)
        (gc.enable if was_enabled else gc.disable)()
    assert len(groups) == 20_000 and groups[7] == {14, 15}
    # Once more at most, before it is told to wait.
    assert during.count("start") <= 1


def test_errors_are_those_of_networkx():
    graph = eg.from_edges([1, 3], [2, 4])
    with pytest.raises(nx.NodeNotFound):
        nx.single_source_shortest_path_length(graph, 9)
    with pytest.raises(nx.NetworkXNoPath):
        nx.dijkstra_path_length(graph, 1, 4)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(eg.from_edges([1, 2], [2, 3]), max_iter=1)
    with pytest.raises(nx.NetworkXPointlessConcept):
        nx.is_connected(eg.Graph())
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.connected_components(eg.Graph(directed=True))
    with pytest.raises(NotImplementedError, match="transitivity"):
        nx.transitivity(eg.Graph(directed=True))
    with pytest.raises(NotImplementedError, match="clustering"):
        nx.clustering(eg.Graph(), weight="weight")
    with pytest.raises(eg.InvalidError, match="edges or triangles"):
        eg.Graph().snapshot().clustering("local")


def test_a_multigraph_is_run_where_parallel_edges_do_not_count():
    model = nx.MultiGraph([(1, 2), (1, 2), (3, 4)])
    assert nx.number_connected_components(model, backend="evergraph") == 2
    with pytest.raises(NotImplementedError, match="pagerank"):
        nx.pagerank(model, backend="evergraph")


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_a_filtered_graph_is_what_its_filter_leaves(kind):
    model = kind([(1, 2), (2, 3), (3, 1), (3, 4)])
    some = model.edge_subgraph(list(model.edges)[:2])
    expected = nx.descendants(some, 1)
    assert nx.descendants(some, 1, backend="evergraph") == expected == {2, 3}


def test_a_large_real_graph_agrees(data):
    path = data / "p2p31" / "p2p-Gnutella31.e"
    graph = eg.read(path, directed=True)
    model = eg.to_networkx(graph)
    assert nx.pagerank(graph) == pytest.approx(nx.pagerank(model), abs=1e-9)
    ours = {frozenset(part) for part in nx.strongly_connected_components(graph)}
    assert ours == {frozenset(part) for part in nx.strongly_connected_components(model)}
    assert nx.clustering(graph) == nx.clustering(model)
