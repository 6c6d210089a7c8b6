"""Drawing: all of a small graph, an honest sample of a large one, and what notebooks show."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest

import evergraph as eg


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(axes):
    """How many vertices a picture has."""
    return len(axes.collections[0].get_offsets())


def test_all_of_a_small_graph_is_drawn_with_its_keys():
    graph = eg.from_edges(list("abca"), list("bcad"))
    axes = graph.plot()
    assert drawn(axes) == 4
    assert {text.get_text() for text in axes.texts} == set("abcd")
    assert "4 vertices" in axes.get_title() and "sample" not in axes.get_title()


def test_a_large_graph_is_sampled_and_says_so():
    graph = eg.read("graph500-12")
    axes = graph.plot(max_nodes=80)
    total = graph.number_of_nodes()
    assert drawn(axes) == 80
    assert f"sample: the 80 best connected of {total:,} vertices" in axes.get_title()


def test_a_neighbourhood_is_what_is_near_and_colours_are_values():
    graph = eg.from_edges([1, 2, 3, 4], [2, 3, 4, 5])
    axes = graph.plot(graph.snapshot().pagerank(), around=1, hops=2)
    assert drawn(axes) == 3
    assert "within 2 hops of 1" in axes.get_title()
    assert len(axes.collections[0].get_array()) == 3
    with pytest.raises(eg.NotFoundError):
        graph.plot(around=9)
    with pytest.raises(eg.InvalidError, match="row per vertex"):
        graph.plot(eg.from_edges([1], [2]).snapshot().pagerank())


def test_a_graph_without_anything_is_drawn_too():
    assert "0 vertices" in eg.Graph().plot().get_title()


def test_notebooks_show_what_there_is():
    graph = eg.from_edges(["<a>"], ["b"])
    for shown in (graph._repr_html_(), graph.snapshot()._repr_html_()):
        assert "vertices</th><td>2" in shown and "version" in shown
    table = graph.snapshot().pagerank()._repr_html_()
    assert "&lt;a&gt;" in table and "<a>" not in table
