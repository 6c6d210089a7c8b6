"""Whole graphs in and out: columns, files, data frames, NetworkX."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _columns, _native
from ._columns import Keys, Weights
from ._graph import Graph
from ._settings import FileSource, Shape
from ._snapshot import Snapshot
from .errors import InvalidError

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def from_edges(
    source: Keys,
    target: Keys,
    weight: Weights | None = None,
    *,
    directed: bool = False,
    keys: str | None = None,
    vertices: Keys | None = None,
) -> Graph:
    """A new graph of columns of edges, loaded on all cores.

    Columns are arrays of Arrow, Polars, pandas or NumPy, or lists, all of one length. ``keys`` is
    what keys are; texts are seen, numbers are ``"number"`` unless you say ``"dense"``. ``vertices``
    are there even without an edge. An edge that stands twice raises ``AlreadyExistsError``. Arrow
    columns of 64-bit keys are read where they are.

    >>> import evergraph as eg
    >>> eg.from_edges(["a", "b"], ["b", "c"], [1.0, 2.0], directed=True)
    Graph(3 vertices, 2 edges, directed; version 1)
    """
    source, target = _columns.keys(source), _columns.keys(target)
    shape: Shape = {
        "directed": directed,
        "keys": keys or ("text" if _are_texts(source) else "number"),
    }
    members = None if vertices is None else _columns.keys(vertices)
    return Graph._of(_native.load((source, target), _columns.weights(weight), members, shape))


def _are_texts(column: Any) -> bool:
    if isinstance(column, list):
        return True
    kind = str(getattr(column, "type", getattr(column, "dtype", ""))).lower()
    return any(word in kind for word in ("str", "utf8", "object", "categor", "dictionary"))


def read(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    weighted: bool = False,
    format: str | None = None,
    keys: str = "auto",
    duplicates: str = "error",
    self_loops: str = "allow",
    vertices: str | os.PathLike[str] | None = None,
) -> Graph:
    """A new graph of a file, or of a generated graph such as ``"graph500-16"``.

    Reads LDBC Graphalytics, edge lists, Matrix Market, METIS and DIMACS, plain or compressed with
    gzip, zstd or xz. ``directed=None`` is what the file says; ``weighted`` takes the weights in it.
    ``duplicates`` is ``"error"`` or ``"ignore"``, ``self_loops`` ``"allow"``, ``"forbid"`` or
    ``"drop"``. Ctrl-C stops it. Raises ``ReadError`` with the file and the line.

    >>> import evergraph as eg
    >>> eg.read("uniform-6").number_of_nodes()
    64
    """
    source: FileSource = {
        "path": os.fspath(path),
        "format": format,
        "directed": directed,
        "weighted": weighted,
        "keys": keys,
        "duplicates": duplicates,
        "self_loops": self_loops,
        "vertices": None if vertices is None else os.fspath(vertices),
    }
    return Graph._of(_native.read(source))


def from_pandas_edgelist(
    df: pd.DataFrame,
    source: str = "source",
    target: str = "target",
    edge_attr: str | None = None,
    *,
    directed: bool = False,
) -> Graph:
    """A new graph of a data frame with an edge per row; ``edge_attr`` is the column of weights.

    >>> import evergraph as eg
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "km": [4.0, 2.5]})
    >>> eg.from_pandas_edgelist(frame, edge_attr="km").edges[2, 3]
    {'weight': 2.5}
    """
    weight = None if edge_attr is None else df[edge_attr]
    return from_edges(df[source], df[target], weight, directed=directed)


def from_networkx(graph: nx.Graph, *, weight: str | None = None) -> Graph:
    """A new graph of a NetworkX graph; ``weight`` names the attribute that becomes the weight.

    Nodes must be all whole numbers from 0 on, or all texts. Other attributes are left out. A
    multigraph raises ``InvalidError``.

    >>> import evergraph as eg
    >>> import networkx as nx
    >>> eg.from_networkx(nx.path_graph(4))
    Graph(4 vertices, 3 edges, undirected; version 1)
    """
    if graph.is_multigraph():
        raise InvalidError("an edge stands once; make it a Graph or DiGraph first")
    nodes = list(graph)
    ends = list(graph.edges())
    weights = None
    if weight is not None:
        weights = [value for *_, value in graph.edges(data=weight, default=1.0)]
    source, target = [u for u, _ in ends], [v for _, v in ends]
    return from_edges(
        source,
        target,
        weights,
        directed=graph.is_directed(),
        keys="text" if nodes and isinstance(nodes[0], str) else "number",
        vertices=nodes,
    )


def to_networkx(graph: Graph | Snapshot) -> nx.Graph:
    """A NetworkX graph; weights become the attribute ``weight``.

    >>> import evergraph as eg
    >>> eg.to_networkx(eg.from_edges([1], [2], [0.5])).edges(data=True)
    EdgeDataView([(1, 2, {'weight': 0.5})])
    """
    import networkx as nx

    shown = graph.snapshot() if isinstance(graph, Graph) else graph
    made: nx.Graph = nx.DiGraph() if shown.directed else nx.Graph()
    made.add_nodes_from(shown._keys())
    source, target, weight = shown._native.edges()
    if weight is None:
        made.add_edges_from(zip(source.to_list(), target.to_list(), strict=True))
    else:
        rows = zip(source.to_list(), target.to_list(), weight.to_list(), strict=True)
        made.add_weighted_edges_from(rows)
    return made
