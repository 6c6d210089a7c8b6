"""Standing results: answers that are kept up to date while a graph in a folder changes.

Each is computed once. ``refresh`` reads what was committed since, from the log, and changes the
answer where that matters: it is what the algorithm says on the newest version (ranks: up to a
tolerance). A step that changes a large share of the graph is not worth that, and is computed anew.

>>> import evergraph as eg, tempfile
>>> graph = eg.open(tempfile.mkdtemp())
>>> graph.add_edges([1, 3], [2, 4])
>>> components = eg.standing.connected_components(graph, recompute_above=1.0)
>>> components.value.to_dict()
{1: 1, 3: 3, 2: 1, 4: 3}
>>> graph.add_edge(2, 3)
>>> components.refresh()
'updated'
>>> components.value.info["components"], components.version == graph.version
(1, True)
>>> graph.close()
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from . import _native
from ._graph import Graph
from ._reads import Key
from ._settings import Question
from ._table import Table

V = TypeVar("V", bound=Table | int)


class Standing(Generic[V]):
    """An answer that is kept up to date.

    It keeps the version it stands at in memory, with what later commits replaced: refresh it now
    and then, or close it.
    """

    __slots__ = ("_native", "_value")

    def __init__(self, native: _native.Standing) -> None:
        self._native = native
        self._value: V | None = None

    def refresh(self) -> str:
        """Brings the answer to the newest version; tells how.

        ``"unchanged"`` if nothing was committed, ``"updated"``, or ``"recomputed"`` if too much had
        changed or the log no longer tells what. Raises what the algorithm raises, for example
        ``NotFoundError`` if the source was removed; there is no answer then, until a later refresh
        succeeds. So it is after Ctrl-C, which stops it between two steps.
        """
        self._value = None
        return self._native.refresh()

    @property
    def value(self) -> V:
        """The answer: the table or the number that the method of a snapshot gives. Time O(V)."""
        if self._value is None:
            self._value = self._read()
        return self._value

    def _read(self) -> V:
        version, count, columns = self._native.answer()
        if not columns:
            return cast(V, count)
        info: dict[str, float] = {"version": version}
        if count is not None:
            info["components"] = count
        return cast(V, Table(dict(columns), info))

    @property
    def version(self) -> int:
        """The version that the answer is of."""
        return self._native.version

    def close(self) -> None:
        """Ends it. Closing the graph does it too."""
        self._native.close()


def _question(about: str, recompute_above: float | None, source: Key | None = None) -> Question:
    return {
        "about": about,
        "source": source,
        "damping": 0.85,
        "tolerance": 1e-4,
        "recompute_above": recompute_above,
    }


def degrees(graph: Graph, *, recompute_above: float | None = None) -> Standing[Table]:
    """Columns ``degree`` and, if edges have a direction, ``in_degree``.

    ``recompute_above``, here and below, is the share of edges above which a step is computed anew;
    0.01 unless given.
    """
    return Standing(graph._store.standing(_question("degrees", recompute_above)))


def connected_components(graph: Graph, *, recompute_above: float | None = None) -> Standing[Table]:
    """What ``Snapshot.connected_components`` says."""
    return Standing(graph._store.standing(_question("components", recompute_above)))


def triangle_count(graph: Graph, *, recompute_above: float | None = None) -> Standing[int]:
    """What ``Snapshot.triangle_count`` says."""
    return Standing(graph._store.standing(_question("triangles", recompute_above)))


def bfs(graph: Graph, source: Key, *, recompute_above: float | None = None) -> Standing[Table]:
    """What ``Snapshot.bfs`` says."""
    return Standing(graph._store.standing(_question("bfs", recompute_above, source)))


def sssp(graph: Graph, source: Key, *, recompute_above: float | None = None) -> Standing[Table]:
    """What ``Snapshot.sssp`` says."""
    return Standing(graph._store.standing(_question("sssp", recompute_above, source)))


def pagerank(
    graph: Graph,
    *,
    alpha: float = 0.85,
    tolerance: float = 1e-4,
    recompute_above: float | None = None,
) -> Standing[Table]:
    """What ``Snapshot.pagerank`` comes to if it never ends; all differences sum to ``tolerance``.

    At least 1e-12. With less than 1e-4 a refresh reaches most of the graph, and computing anew is
    faster.
    """
    question = _question("pagerank", recompute_above)
    question["damping"], question["tolerance"] = alpha, tolerance
    return Standing(graph._store.standing(question))
