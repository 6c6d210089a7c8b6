"""The backend for NetworkX: its functions on graphs of Evergraph, and on others by conversion.

A ``Graph`` or ``Snapshot`` is read as it is, a graph at its newest version. A graph of NetworkX is
numbered in the order of its nodes and loaded; NetworkX keeps the result until the graph changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import numpy.typing as npt

from . import _native, convert
from ._graph import Graph
from ._nx_info import FUNCTIONS
from ._snapshot import Snapshot
from .errors import EvergraphError

Node = Any
"""Whatever is hashable."""


class Numbered:
    """A graph of NetworkX whose nodes are numbered in their order, loaded."""

    __networkx_backend__: ClassVar[str] = "evergraph"

    def __init__(self, shown: Snapshot, nodes: list[Node], index: dict[Node, int]) -> None:
        self.shown = shown
        self.nodes = nodes
        self.index = index
        self.__networkx_cache__: dict[str, Any] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.shown.directed

    def is_multigraph(self) -> bool:
        """Never: parallel edges became one."""
        return False


class _Reading:
    """What a function reads: a snapshot, the nodes in its order, and their keys."""

    __slots__ = ("_index", "native", "nodes", "shown")

    def __init__(self, graph: Graph | Snapshot | Numbered) -> None:
        self._index: dict[Node, int] | None = None
        if isinstance(graph, Numbered):
            self.shown = graph.shown
            self.nodes = graph.nodes
            self._index = graph.index
        else:
            self.shown = graph.snapshot() if isinstance(graph, Graph) else graph
            self.nodes = self.shown._keys()
        self.native = self.shown._native

    def key(self, node: Node) -> Any:
        """The key of a node. Raises ``networkx.NodeNotFound`` if there is none."""
        if self._index is not None:
            try:
                return self._index[node]
            except KeyError:
                raise nx.NodeNotFound(f"Node {node} is not in the graph") from None
        if not self.has(node):
            raise nx.NodeNotFound(f"Node {node} is not in the graph")
        return node

    def has(self, node: Node) -> bool:
        """Whether a node exists."""
        try:
            if self._index is not None:
                return node in self._index
            return self.native.has_vertex(node)
        except (EvergraphError, TypeError):
            return False

    def by_node(self, values: _native.Column) -> dict[Node, Any]:
        """The values of nodes."""
        return _native.by_node(self.nodes, values)

    def chosen(self, values: _native.Column, nodes: Any) -> Any:
        """The values of all nodes, of a node, or of some nodes."""
        if nodes is None:
            return self.by_node(values)
        all_values = self.by_node(values)
        if self.has(nodes):
            return all_values[nodes]
        return {node: all_values[node] for node in nodes if node in all_values}


def _without_nodes(what: str) -> nx.NetworkXPointlessConcept:
    return nx.NetworkXPointlessConcept(f"{what} is undefined for a graph without nodes")


# Components.


def connected_components(G: Any) -> Iterator[set[Node]]:
    """The sets of nodes that hang together."""
    reading = _Reading(G)
    yield from reading.native.wcc().groups(reading.nodes)


def number_connected_components(G: Any) -> int:
    """How many sets of nodes hang together."""
    return _Reading(G).native.wcc().count


def is_connected(G: Any) -> bool:
    """Whether all nodes hang together."""
    reading = _Reading(G)
    if not reading.nodes:
        raise _without_nodes("Connectivity")
    return reading.native.wcc().count == 1


def node_connected_component(G: Any, n: Node) -> set[Node]:
    """The nodes that hang together with one."""
    reading = _Reading(G)
    if not reading.has(n):
        raise KeyError(n)
    return _reached(reading, n)


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def strongly_connected_components(G: Any) -> Iterator[set[Node]]:
    """The sets of nodes that reach each other."""
    reading = _Reading(G)
    yield from reading.native.scc().groups(reading.nodes)


def number_strongly_connected_components(G: Any) -> int:
    """How many sets of nodes reach each other."""
    return _Reading(G).native.scc().count


def is_strongly_connected(G: Any) -> bool:
    """Whether all nodes reach each other."""
    reading = _Reading(G)
    if not reading.nodes:
        raise _without_nodes("Connectivity")
    return reading.native.scc().count == 1


# Paths.


def single_source_shortest_path_length(
    G: Any, source: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """Hops from a node to those it reaches, nearest first."""
    reading = _Reading(G)
    hops = reading.native.bfs(reading.key(source))
    return _native.nearest_first(reading.nodes, hops, cutoff)


def single_source_dijkstra_path_length(
    G: Any, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, float]:
    """Lengths of shortest paths from a node to those it reaches, nearest first."""
    reading = _Reading(G)
    distances = _distances(reading, source, weight)
    return _native.nearest_first(reading.nodes, distances, cutoff)


def dijkstra_path_length(G: Any, source: Node, target: Node, weight: Any = "weight") -> float:
    """The length of the shortest path from a node to another."""
    reading = _Reading(G)
    key = reading.key(source)
    if source == target:
        return 0
    if reading.has(target):
        column = _distances(reading, source, weight).to_numpy()
        length = float(column[_position(reading, target)])
        if np.isfinite(length):
            return length
    raise nx.NetworkXNoPath(f"Node {target} not reachable from {key}")


def descendants(G: Any, source: Node) -> set[Node]:
    """The nodes that a node reaches, without itself."""
    reading = _Reading(G)
    if not reading.has(source):
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return _reached(reading, source) - {source}


def _reached(reading: _Reading, source: Node) -> set[Node]:
    hops = reading.native.bfs(reading.key(source)).to_numpy()
    return {reading.nodes[position] for position in np.flatnonzero(hops >= 0).tolist()}


def _distances(reading: _Reading, source: Node, weight: Any) -> _native.Column:
    key = reading.key(source)
    if reading.shown.weighted and weight is not None and _is_own(reading, weight):
        return reading.native.sssp(key, None)
    return _native.lengths(reading.native.bfs(key))


def _is_own(reading: _Reading, weight: Any) -> bool:
    """Whether this is what edges carry: in a converted graph whatever was asked for."""
    return reading._index is not None or weight == "weight"


def _position(reading: _Reading, node: Node) -> int:
    return reading.nodes.index(node) if reading._index is None else reading._index[node]


# Triangles.


def triangles(G: Any, nodes: Any = None) -> Any:
    """Triangles at nodes."""
    reading = _Reading(G)
    return reading.chosen(reading.native.triangles(), nodes)


def clustering(G: Any, nodes: Any = None, weight: None = None) -> Any:
    """Clustering coefficients of nodes."""
    reading = _Reading(G)
    return reading.chosen(reading.native.lcc("triangles"), nodes)


def average_clustering(
    G: Any, nodes: Any = None, weight: None = None, count_zeros: bool = True
) -> float:
    """The mean of clustering coefficients."""
    values: list[float] = list(clustering(G, nodes).values())
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


def transitivity(G: Any) -> float:
    """The share of open or closed triads that are closed."""
    reading = _Reading(G)
    closed = 2.0 * float(reading.native.triangles().to_numpy().sum())
    if closed == 0:
        return 0
    degrees = _degrees_without_loops(reading)
    return closed / float((degrees * (degrees - 1)).sum())


def _degrees_without_loops(reading: _Reading) -> npt.NDArray[np.int64]:
    degrees = reading.native.degrees().to_numpy().astype(np.int64)
    indptr, indices, _ = reading.native.csr()
    rows = np.repeat(np.arange(len(degrees)), np.diff(indptr))
    degrees[rows[rows == indices]] -= 1
    return degrees


# Ranks.


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Mapping[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Mapping[Node, float] | None = None,
    weight: Any = "weight",
    dangling: Mapping[Node, float] | None = None,
) -> dict[Node, float]:
    """The share of time a random surfer spends at each node."""
    reading = _Reading(G)
    count = len(reading.nodes)
    if count == 0:
        return {}
    weighted = reading.shown.weighted and weight is not None and _is_own(reading, weight)
    if weighted or personalization is not None or nstart is not None or dangling is not None:
        return _general_pagerank(
            reading, weighted, _Surfer(alpha, max_iter, tol), (personalization, nstart, dangling)
        )
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    ranks, _, change = reading.native.pagerank(alpha, max_iter, tol * count)
    if not change < tol * count:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return reading.by_node(ranks)


class _Surfer:
    """How a surfer moves, and when it is enough."""

    __slots__ = ("alpha", "max_iter", "tol")

    def __init__(self, alpha: float, max_iter: int, tol: float) -> None:
        self.alpha, self.max_iter, self.tol = alpha, max_iter, tol


def _general_pagerank(
    reading: _Reading,
    weighted: bool,
    surfer: _Surfer,
    given: tuple[Mapping[Node, float] | None, ...],
) -> dict[Node, float]:
    """Power iteration on the weighted matrix, with what the caller wants in place of evenness."""
    personalization, nstart, dangling = given
    matrix = reading.shown.to_scipy_sparse_array()
    if not weighted:
        matrix.data[:] = 1.0
    even = np.full(len(reading.nodes), 1.0 / len(reading.nodes))
    jump = even if personalization is None else _shares(reading, personalization)
    ranks = even if nstart is None else _shares(reading, nstart)
    from_ends = jump if dangling is None else _shares(reading, dangling)
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    ends = totals == 0
    per_weight = np.divide(1.0, totals, out=np.zeros_like(totals), where=~ends)
    incoming = matrix.T.tocsr()
    for _ in range(surfer.max_iter):
        followed = incoming @ (ranks * per_weight) + ranks[ends].sum() * from_ends
        following = surfer.alpha * followed + (1.0 - surfer.alpha) * jump
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < len(ranks) * surfer.tol:
            return dict(zip(reading.nodes, ranks.tolist(), strict=True))
    raise nx.PowerIterationFailedConvergence(surfer.max_iter)


def _shares(reading: _Reading, given: Mapping[Node, float]) -> npt.NDArray[np.float64]:
    """What nodes are given, as shares of the sum."""
    values = np.array([given.get(node, 0.0) for node in reading.nodes], dtype=np.float64)
    total = values.sum()
    if total == 0:
        raise ZeroDivisionError("the values given for nodes sum to 0")
    shares: npt.NDArray[np.float64] = values / total
    return shares


# What NetworkX asks of a backend.

_WEIGHTED = {
    "average_clustering",
    "clustering",
    "dijkstra_path_length",
    "pagerank",
    "single_source_dijkstra_path_length",
}
_UNDIRECTED = {"transitivity", "triangles"}
_SIMPLE = _WEIGHTED | _UNDIRECTED
"""Functions for which parallel edges count."""


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function runs on these arguments, or why not."""
    graph = args[0] if args else kwargs.get("G")
    if graph is None or not hasattr(graph, "is_directed"):
        return "it takes one graph"
    if name in _UNDIRECTED and graph.is_directed():
        return "triangles are those of undirected graphs"
    weight = kwargs.get("weight")
    if callable(weight) or any(callable(arg) for arg in args[1:]):
        return "a weight is the name of an attribute, not a function"
    if name.endswith("clustering") and (weight is not None or _clustering_weight(name, args)):
        return "clustering is without weights"
    if graph.is_multigraph() and name in _SIMPLE:
        return "parallel edges count here"
    return True


def _clustering_weight(name: str, args: tuple[Any, ...]) -> bool:
    return len(args) > 2 and args[2] is not None


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether it is worth a conversion."""
    graph = args[0] if args else kwargs.get("G")
    few = 1000
    if isinstance(graph, nx.Graph) and len(graph) < few:
        return f"converting a graph of less than {few} nodes takes longer than it saves"
    return True


def convert_from_nx(
    graph: Any, *, edge_attrs: Mapping[str, Any] | None = None, **_: Any
) -> Graph | Snapshot | Numbered:
    """A graph of NetworkX, numbered and loaded; a graph of Evergraph as it is."""
    if isinstance(graph, Graph | Snapshot | Numbered):
        return graph
    nodes = list(graph)
    index = {node: number for number, node in enumerate(nodes)}
    rows = [graph.adj[node] for node in nodes]
    # Not the length of a row: that of a filtered one counts what its iteration leaves out.
    ends = [[index[other] for other in row] for row in rows]
    target = np.array(list(chain.from_iterable(ends)), dtype=np.int64)
    source = np.repeat(np.arange(len(nodes)), [len(row) for row in ends])
    weights = _weights(graph, rows, edge_attrs)
    if not graph.is_directed():
        once = source <= target
        source, target = source[once], target[once]
        weights = None if weights is None else weights[once]
    if weights is not None and bool((weights == 1.0).all()):
        weights = None
    loaded = convert.from_edges(
        source,
        target,
        weights,
        directed=graph.is_directed(),
        keys="dense",
        vertices=np.arange(len(nodes)),
    )
    return Numbered(loaded.snapshot(), nodes, index)


def _weights(
    graph: Any, rows: list[Any], edge_attrs: Mapping[str, Any] | None
) -> npt.NDArray[np.float64] | None:
    if not edge_attrs or graph.is_multigraph():
        return None
    [(name, default)] = edge_attrs.items()
    default = 1 if default is None else default
    values = [data.get(name, default) for row in rows for data in row.values()]
    try:
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NotImplementedError(f"not every {name!r} is a number") from None
    if weights.ndim != 1 or np.isnan(weights).any():
        raise NotImplementedError(f"not every {name!r} is a number")
    return weights


def convert_to_nx(result: Any, **_: Any) -> Any:
    """A graph of Evergraph as one of NetworkX; everything else as it is."""
    if isinstance(result, Graph | Snapshot):
        return convert.to_networkx(result)
    if isinstance(result, Numbered):
        made = convert.to_networkx(result.shown)
        return nx.relabel_nodes(made, dict(enumerate(result.nodes)))
    return result


class Backend:
    """What the entry point ``networkx.backends`` names."""

    can_run = staticmethod(can_run)
    should_run = staticmethod(should_run)
    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)


def _functions() -> Iterable[tuple[str, Callable[..., Any]]]:
    return ((name, globals()[name]) for name in FUNCTIONS)


for _name, _function in _functions():
    setattr(Backend, _name, staticmethod(_function))

backend = Backend()
