"""Columns in and out: which forms are taken, and what is copied."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evergraph as eg

SOURCE, TARGET, WEIGHT = [1, 2, 3], [2, 3, 9], [0.5, 1.5, 2.5]

FORMS = {
    "list": list,
    "uint64": lambda v: np.array(v, dtype=np.uint64),
    "int64": np.array,
    "int32": lambda v: np.array(v, dtype=np.int32),
    "strided": lambda v: np.repeat(np.array(v), 2)[::2],
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow uint16": lambda v: pa.array(v, pa.uint16()),
    "chunked": lambda v: pa.chunked_array([v[:1], v[1:]]),
    "sliced": lambda v: pa.array([7, *v, 7]).slice(1, len(v)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_numbers_in_any_form(form):
    expected = {(1, 2): 0.5, (2, 3): 1.5, (3, 9): 2.5}
    weight = pl.Series(WEIGHT) if form is pl.Series else WEIGHT
    for graph in (
        eg.from_edges(form(SOURCE), form(TARGET), weight, directed=True),
        eg.Graph(directed=True, weights=True),
    ):
        if not len(graph):
            graph.add_edges(form(SOURCE), form(TARGET), weight)
        assert {(u, v): w for u, v, w in graph.edges(data="weight")} == expected


@pytest.mark.parametrize(
    "form",
    [
        list,
        np.array,
        pd.Series,
        pl.Series,
        pa.array,
        lambda v: pa.array(v, pa.large_string()),
        lambda v: pa.array(v).dictionary_encode(),
        lambda v: pd.Series(v, dtype="category"),
    ],
)
def test_texts_in_any_form(form):
    graph = eg.from_edges(form(["a", "b"]), form(["b", "ü"]))
    assert set(graph.edges) == {("a", "b"), ("b", "ü")}
    table = graph.snapshot().bfs("a")
    assert table.to_dict() == {"a": 0, "b": 1, "ü": 2}
    assert table.to_polars()["vertex"].to_list() == ["a", "b", "ü"]


def test_answers_are_arrow_numpy_pandas_and_polars():
    table = eg.from_edges(SOURCE, TARGET).snapshot().pagerank()
    ranks = table["rank"]
    assert ranks.dtype == np.float64 and table["vertex"].dtype == np.uint64
    arrow = pa.table(table)
    assert arrow.column_names == table.columns == ["vertex", "rank"]
    np.testing.assert_array_equal(arrow["rank"].to_numpy(), ranks)
    np.testing.assert_array_equal(table.to_pandas()["rank"], ranks)
    np.testing.assert_array_equal(table.to_polars()["rank"].to_numpy(), ranks)
    assert list(table.to_dict().items()) == table.head(len(table))
    assert "rank" in table._repr_html_() and str(table.info["version"]) in repr(table)


def test_arrow_is_read_and_written_in_place():
    table = eg.from_edges(SOURCE, TARGET).snapshot().pagerank()
    first, second = pa.array(table.column("rank")), pa.array(table.column("rank"))
    assert first.buffers()[1].address == second.buffers()[1].address
    stream = pa.table(table)["rank"].chunk(0)
    assert stream.buffers()[1].address == first.buffers()[1].address


def test_an_answer_outlives_its_graph():
    graph = eg.from_edges(SOURCE, TARGET)
    table = graph.snapshot().bfs(1)
    column, array = pa.array(table.column("hops")), table["hops"]
    del table, graph
    assert column.to_pylist() == array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (pa.array([1, None, 3]), "1 values of a column are missing"),
        (pa.array([1, -2, 3]), "-2 at position 1 is negative"),
        (np.array([1, -2, 3]), "-2 at position 1 is negative"),
        (pa.array([1.0, 2.0, 3.0]), "holds no keys"),
        (np.array([[1], [2], [3]]), "one dimension"),
        ([1, "a", None], "holds no keys"),
    ],
)
def test_what_is_no_column_of_keys_is_refused(source, says):
    with pytest.raises(eg.InvalidError, match=says):
        eg.from_edges(source, TARGET)


def test_an_edge_that_stands_twice_is_refused():
    with pytest.raises(eg.AlreadyExistsError, match="edge 1 2 already|edge 2 1 already"):
        eg.from_edges([1, 2], [2, 1])
    graph = eg.Graph()
    with pytest.raises(eg.AlreadyExistsError):
        graph.add_edges([1, 2], [2, 1])
    assert len(graph) == 0


def test_vertices_are_there_without_an_edge_and_come_first():
    graph = eg.from_edges([5], [6], vertices=[9, 6])
    assert list(graph) == [9, 6, 5]
    dense = eg.from_edges([0], [3], keys="dense")
    assert list(dense) == [0, 1, 2, 3]


def test_vertices_that_are_gone_leave_no_gap_in_answers():
    graph = eg.from_edges([1, 2, 3, 4], [2, 3, 4, 5], np.array([1.0, 2.0, 3.0, 4.0]))
    graph.remove_node(3)
    shown = graph.snapshot()
    assert shown.vertices.tolist() == [1, 2, 4, 5]
    assert shown.bfs(4)["hops"].tolist() == [-1, -1, 0, 1]
    assert shown.sssp(4)["distance"].tolist() == [np.inf, np.inf, 0.0, 4.0]
    assert shown.connected_components().to_dict() == {1: 1, 2: 1, 4: 4, 5: 4}
    assert shown.degrees()["degree"].tolist() == [1, 1, 1, 1]
    assert shown.to_scipy_sparse_array().toarray()[2].tolist() == [0.0, 0.0, 0.0, 4.0]
    assert shown.edges().to_pandas().values.tolist() == [[1, 2, 1.0], [4, 5, 4.0]]


def test_from_pandas_edgelist():
    frame = pd.DataFrame({"a": SOURCE, "b": TARGET, "w": WEIGHT})
    graph = eg.from_pandas_edgelist(frame, "a", "b", "w")
    assert graph.edges[9, 3] == {"weight": 2.5}
    assert not eg.from_pandas_edgelist(frame, "a", "b").snapshot().weighted


def test_a_file_is_read_and_a_broken_one_named(tmp_path):
    good = tmp_path / "good.el"
    good.write_text("1 2 0.5\n2 3 1.5\n")
    graph = eg.read(good, weighted=True, directed=True)
    assert graph.edges[2, 3] == {"weight": 1.5} and graph.is_directed()
    bad = tmp_path / "bad.el"
    bad.write_text("1 2\n1\n")
    with pytest.raises(eg.ReadError, match=r"bad\.el.*2"):
        eg.read(bad)
    with pytest.raises(eg.ReadError, match="absent"):
        eg.read(tmp_path / "absent.el")
    with pytest.raises(eg.InvalidError, match="choose"):
        eg.read(good, duplicates="twice")


def test_a_column_has_every_row_of_a_real_graph(data):
    path = data / "p2p31" / "p2p-Gnutella31.e"
    graph = eg.read(path, directed=True)
    lines = [line for line in _lines(path) if line and not line.startswith("#")]
    assert len(graph.snapshot().edges()) == len(lines) == graph.number_of_edges()


def _lines(path):
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return file.read().splitlines()
