"""The algorithms as functions of a graph or a snapshot; a graph is read at its newest version.

>>> import evergraph as eg
>>> graph = eg.from_edges([1, 2], [2, 3])
>>> eg.algorithms.bfs(graph, 1).to_dict()
{1: 0, 2: 1, 3: 2}
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ._graph import Graph
from ._snapshot import Snapshot

P = ParamSpec("P")
R = TypeVar("R")


def _of(
    method: Callable[Concatenate[Snapshot, P], R],
) -> Callable[Concatenate[Graph | Snapshot, P], R]:
    """The method of a snapshot, as a function that takes a graph as well."""

    @wraps(method)
    def function(graph: Graph | Snapshot, /, *args: P.args, **kwargs: P.kwargs) -> R:
        shown = graph.snapshot() if isinstance(graph, Graph) else graph
        return method(shown, *args, **kwargs)

    return function


bfs = _of(Snapshot.bfs)
clustering = _of(Snapshot.clustering)
connected_components = _of(Snapshot.connected_components)
degrees = _of(Snapshot.degrees)
label_propagation = _of(Snapshot.label_propagation)
pagerank = _of(Snapshot.pagerank)
sssp = _of(Snapshot.sssp)
strongly_connected_components = _of(Snapshot.strongly_connected_components)
triangle_count = _of(Snapshot.triangle_count)
triangles = _of(Snapshot.triangles)
