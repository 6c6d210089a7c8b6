"""Snapshots: the graph at one version, and the algorithms on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from . import _native
from ._html import facts_html
from ._reads import Key, PointReads
from ._table import Table

if TYPE_CHECKING:
    import matplotlib.axes
    import scipy.sparse


class Snapshot(PointReads[_native.Snapshot]):
    """The graph at one version. It never changes, whatever is committed meanwhile.

    Algorithms answer a ``Table`` with a row per vertex, in the order of ``vertices``. They run on
    all cores without the interpreter's lock, and Ctrl-C stops them between two iterations, levels
    or tasks. Times are those of V vertices and E edges.

    >>> import evergraph as eg
    >>> graph = eg.from_edges([1, 2, 3], [2, 3, 1])
    >>> before = graph.snapshot()
    >>> graph.add_edge(3, 4)
    >>> before.number_of_nodes(), graph.snapshot().number_of_nodes()
    (3, 4)
    """

    __networkx_backend__: ClassVar[str] = "evergraph"
    __networkx_cache__: ClassVar[None] = None
    __slots__ = ("_edges", "_list", "directed", "weighted")

    directed: bool
    """Whether edges have a direction."""
    weighted: bool
    """Whether edges carry a weight."""

    def __init__(self, native: _native.Snapshot, directed: bool, weighted: bool) -> None:
        self._native = native
        self.directed = directed
        self.weighted = weighted
        self._list: list[Any] | None = None
        self._edges: int | None = None

    @property
    def version(self) -> int:
        """The version it shows: how many transactions had changed the graph."""
        return self._native.version

    @property
    def age(self) -> float:
        """Seconds since it was opened, to a tenth."""
        return self._native.age

    def number_of_nodes(self) -> int:
        """How many vertices there are. Time O(V) once."""
        return self._native.vertex_count()

    def number_of_edges(self) -> int:
        """How many edges there are, each counted once. Time O(V) once."""
        if self._edges is None:
            self._edges = self._native.edge_count()
        return self._edges

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Never: an edge stands once."""
        return False

    def has_node(self, key: Key) -> bool:
        """Whether a vertex exists."""
        return self._native.has_vertex(key)

    @property
    def vertices(self) -> npt.NDArray[Any]:
        """The keys of all vertices, in the order of every answer: ``uint64``, or objects."""
        return self._native.keys().to_numpy()

    def _keys(self) -> list[Any]:
        """The keys as Python objects, made once."""
        if self._list is None:
            self._list = self._native.keys().to_list()
        return self._list

    def _table(self, name: str, column: _native.Column, **info: float) -> Table:
        columns = {"vertex": self._native.keys(), name: column}
        return Table(columns, {"version": self.version, **info})

    # The graph as arrays.

    def edges(self) -> Table:
        """Every edge once: columns ``source``, ``target``, and ``weight`` if edges carry one.

        >>> import evergraph as eg
        >>> eg.from_edges([1, 2], [2, 3]).snapshot().edges()["target"]
        array([2, 3], dtype=uint64)
        """
        source, target, weight = self._native.edges()
        columns = {"source": source, "target": target}
        if weight is not None:
            columns["weight"] = weight
        return Table(columns, {"version": self.version})

    def degrees(self) -> Table:
        """Column ``degree``: how many neighbours each vertex has. Time O(V)."""
        return self._table("degree", self._native.degrees())

    def csr(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Rows of the adjacency matrix: ``indptr`` (V + 1), ``indices`` and ``data`` (entries).

        Row and column ``i`` are ``vertices[i]``; an undirected edge stands in two rows. ``data`` is
        1 if edges carry no weight. New arrays; time O(V + E).
        """
        return self._native.csr()

    def to_scipy_sparse_array(self) -> scipy.sparse.csr_array:
        """The adjacency matrix (V x V), on the arrays of ``csr``."""
        import scipy.sparse

        indptr, indices, data = self.csr()
        rows = len(indptr) - 1
        return scipy.sparse.csr_array((data, indices, indptr), shape=(rows, rows))

    # Algorithms.

    def bfs(self, source: Key) -> Table:
        """Column ``hops``: the fewest edges from ``source``, along directions; -1 if none lead.

        Time O(V + E). Raises ``NotFoundError`` if there is no such vertex. Source: Beamer,
        Asanović, Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012.

        >>> import evergraph as eg
        >>> eg.from_edges([1, 2], [2, 3]).snapshot().bfs(1).to_dict()
        {1: 0, 2: 1, 3: 2}
        """
        return self._table("hops", self._native.bfs(source))

    def sssp(self, source: Key, *, delta: float | None = None) -> Table:
        """Column ``distance``: the least sum of weights from ``source``; infinite if none lead.

        Weights must be 0 or more (``InvalidError``); edges without one count 1. ``delta`` is the
        width of a bucket; only speed depends on it. Source: Meyer, Sanders, *Delta-Stepping*,
        J. Algorithms 2003.

        >>> import evergraph as eg
        >>> graph = eg.from_edges([1, 2, 1], [2, 3, 3], [1.0, 1.5, 4.0])
        >>> graph.snapshot().sssp(1).to_dict()
        {1: 0.0, 2: 1.0, 3: 2.5}
        """
        return self._table("distance", self._native.sssp(source, delta))

    def pagerank(
        self, *, alpha: float = 0.85, max_iter: int = 100, tol: float | None = 1e-6
    ) -> Table:
        """Column ``rank``: the share of time a random surfer spends at each vertex; they sum to 1.

        ``alpha`` is the share of steps that follow an edge. Stops when the ranks change by no more
        than ``tol`` times V in sum, as NetworkX does, or after ``max_iter`` iterations;
        ``tol=None`` runs them all. ``info`` has ``iterations`` and ``change``. Weights are not
        looked at. Time O(V + E) per iteration. Source: Page, Brin, Motwani, Winograd, *The PageRank
        Citation Ranking*, 1999.

        >>> import evergraph as eg
        >>> table = eg.from_edges([1, 2, 3], [2, 3, 1]).snapshot().pagerank()
        >>> {vertex: round(rank, 3) for vertex, rank in table.to_dict().items()}
        {1: 0.333, 2: 0.333, 3: 0.333}
        """
        tolerance = None if tol is None else tol * self.number_of_nodes()
        ranks, iterations, change = self._native.pagerank(alpha, max_iter, tolerance)
        return self._table("rank", ranks, iterations=iterations, change=change)

    def connected_components(self) -> Table:
        """Column ``component``: the key of one vertex of the same component, directions ignored.

        ``info["components"]`` is how many there are. Time O(V + E). Source: Sutton, Ben-Nun, Barak,
        *Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling*, IPDPS 2018.

        >>> import evergraph as eg
        >>> eg.from_edges([1, 3], [2, 4]).snapshot().connected_components().to_dict()
        {1: 1, 2: 1, 3: 3, 4: 3}
        """
        return self._components(self._native.wcc())

    def strongly_connected_components(self) -> Table:
        """Column ``component``: the key of one vertex of those that reach each other.

        ``info["components"]`` is how many there are. Time O(V + E). Source: Tarjan, *Depth-First
        Search and Linear Graph Algorithms*, SIAM J. Computing 1972, after the steps of McLendon et
        al., JPDC 2005.

        >>> import evergraph as eg
        >>> graph = eg.from_edges([1, 2, 2], [2, 1, 3], directed=True)
        >>> graph.snapshot().strongly_connected_components().to_dict()
        {1: 1, 2: 1, 3: 3}
        """
        return self._components(self._native.scc())

    def _components(self, found: _native.Components) -> Table:
        named = found.name(self._native.keys())
        return self._table("component", named, components=found.count)

    def clustering(self, measure: str = "edges") -> Table:
        """Column ``coefficient``: how much of what could be among a vertex's neighbours is there.

        Where edges have a direction, neighbours are those on either side, and there are two ways to
        count. ``"edges"``: directed edges among them, of those there could be, as LDBC Graphalytics
        defines it. ``"triangles"``: ways to go around a triangle by directed edges, whatever their
        direction, of those there could be, as NetworkX defines it (Fagiolo, *Clustering in Complex
        Directed Networks*, Phys. Rev. E 2007). Otherwise both are the share of pairs of neighbours
        that are joined. Self loops are ignored. Time O(E^1.5). Source: Latapy, *Main-memory
        Triangle Computations*, TCS 2008.

        >>> import evergraph as eg
        >>> eg.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).snapshot().clustering().to_dict()
        {1: 1.0, 2: 1.0, 3: 0.3333333333333333, 4: 0.0}
        """
        return self._table("coefficient", self._native.lcc(measure))

    def triangles(self) -> Table:
        """Column ``triangles``: how many each vertex of an undirected graph is a corner of.

        Time O(E^1.5). A directed graph raises ``InvalidError``.

        >>> import evergraph as eg
        >>> eg.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).snapshot().triangles().to_dict()
        {1: 1, 2: 1, 3: 1, 4: 0}
        """
        return self._table("triangles", self._native.triangles())

    def triangle_count(self) -> int:
        """How many triangles there are, directions and self loops ignored. Time O(E^1.5)."""
        return self._native.triangle_count()

    def label_propagation(self, *, max_iter: int = 10) -> Table:
        """Column ``label``: communities; in every round each takes the most frequent label.

        All vertices choose at once, ``max_iter`` times, the smallest of several labels, as LDBC
        Graphalytics defines it; labels are keys where keys are numbers. Time O(V + E) per round.
        Source: Raghavan, Albert, Kumara, Phys. Rev. E 2007.

        >>> import evergraph as eg
        >>> graph = eg.from_edges([1, 1, 2, 4, 4, 5], [2, 3, 3, 5, 6, 6])
        >>> graph.snapshot().label_propagation().to_dict()
        {1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 6: 4}
        """
        return self._table("label", self._native.cdlp(max_iter))

    # Looking at it.

    def plot(
        self,
        values: Table | None = None,
        *,
        around: Key | None = None,
        hops: int = 2,
        max_nodes: int = 300,
        ax: matplotlib.axes.Axes | None = None,
    ) -> matplotlib.axes.Axes:
        """Draws the graph, or what is within ``hops`` of a vertex; see ``evergraph.plot``."""
        from . import plotting

        return plotting.plot(self, values, around=around, hops=hops, max_nodes=max_nodes, ax=ax)

    def __len__(self) -> int:
        return self.number_of_nodes()

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        nodes, edges = self.number_of_nodes(), self.number_of_edges()
        return f"Snapshot({nodes:,} vertices, {edges:,} edges, {kind}; version {self.version})"

    def _repr_html_(self) -> str:
        return facts_html("Evergraph snapshot", self._facts())

    def _facts(self) -> dict[str, object]:
        return {
            "vertices": self.number_of_nodes(),
            "edges": self.number_of_edges(),
            "directed": self.directed,
            "weighted": self.weighted,
            "keys": self._native.key_kind,
            "version": self.version,
            "age in seconds": self.age,
        }
