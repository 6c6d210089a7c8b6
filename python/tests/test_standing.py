"""Standing results: what they say after every refresh is what the algorithm says anew."""

import random

import numpy as np
import pytest

import evergraph as eg


def answers(graph, source):
    """Each standing result, with what it must be equal to on a snapshot."""
    standing = eg.standing
    return [
        (standing.connected_components(graph), lambda s: s.connected_components()),
        (standing.triangle_count(graph), lambda s: s.triangle_count()),
        (standing.bfs(graph, source), lambda s: s.bfs(source)),
        (standing.sssp(graph, source), lambda s: s.sssp(source)),
        (standing.degrees(graph), lambda s: s.degrees()),
    ]


def dictionary(value):
    return value.to_dict() if isinstance(value, eg.Table) else value


@pytest.mark.parametrize("directed", [False, True])
def test_every_refresh_is_what_the_algorithms_say(tmp_path, directed):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    with eg.open(tmp_path, directed=directed, weights=True, durability="os") as graph:
        graph.add_nodes_from(range(1000, 1010))
        graph.add_nodes_from(range(300))
        # Ids without a vertex, in front of the others.
        graph.remove_nodes_from(range(1000, 1010))
        pairs = {tuple(sorted(dice.sample(range(300), 2))) for _ in range(600)}
        graph.add_weighted_edges_from((u, v, dice.random()) for u, v in pairs)
        kept = answers(graph, 0)
        ranks = eg.standing.pagerank(graph, tolerance=1e-6)
        done = set()
        for _ in range(15):
            u, v = dice.choice(sorted(pairs)) if dice.random() < 0.5 else dice.sample(range(300), 2)
            pair = tuple(sorted((u, v)))
            if pair in pairs:
                graph.remove_edge(*pair)
                pairs.remove(pair)
            else:
                graph.add_edge(*pair, dice.random())
                pairs.add(pair)
            shown = graph.snapshot()
            for standing, expected in kept:
                done.add(standing.refresh())
                assert dictionary(standing.value) == dictionary(expected(shown))
                assert standing.version == shown.version
            ranks.refresh()
            exact = shown.pagerank(tol=None, max_iter=200)["rank"]
            assert np.abs(ranks.value["rank"] - exact).sum() < 1e-6
        assert done == {"updated"}
        assert kept[0][0].refresh() == "unchanged"
        graph.add_nodes_from(range(300, 600))
        assert kept[0][0].refresh() == "recomputed"
        if directed:
            assert kept[4][0].value.columns == ["vertex", "degree", "in_degree"]
            assert kept[4][0].value["in_degree"].sum() == len(pairs)


def test_a_source_that_goes_says_so_and_may_come_again(tmp_path):
    with eg.open(tmp_path) as graph:
        graph.add_edge(1, 2)
        hops = eg.standing.bfs(graph, 1, recompute_above=1.0)
        graph.remove_node(1)
        with pytest.raises(eg.NotFoundError, match="the source 1 is not in the graph"):
            hops.refresh()
        with pytest.raises(eg.InvalidError, match="refresh again"):
            _ = hops.value
        graph.add_edge(1, 3)
        assert hops.refresh() == "recomputed"
        assert hops.value.to_dict() == {2: -1, 1: 0, 3: 1} or hops.value.to_dict()[3] == 1
        hops.close()
        with pytest.raises(eg.ClosedError):
            hops.refresh()
        with pytest.raises(eg.NotFoundError):
            eg.standing.sssp(graph, 77)
        with pytest.raises(eg.InvalidError):
            eg.standing.pagerank(graph, tolerance=0.0)
        with pytest.raises(eg.InvalidError, match="share of the edges"):
            eg.standing.degrees(graph, recompute_above=-1.0)


def test_a_graph_in_memory_has_no_standing_results():
    with pytest.raises(eg.InvalidError, match=r"make it with open\(path\)"):
        eg.standing.degrees(eg.Graph())
