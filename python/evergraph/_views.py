"""A snapshot in the shape of a NetworkX graph: mappings and sets that look things up when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from ._snapshot import Snapshot

List = Callable[[_native.Snapshot, Any], list[tuple[Any, float]]]
"""How the neighbours of a vertex are asked for."""


class Neighbours(Mapping[Any, dict[str, float]]):
    """The neighbours of a vertex, with what the edges carry."""

    def __init__(self, pairs: list[tuple[Any, float]], weighted: bool) -> None:
        self._weights = dict(pairs)
        self._weighted = weighted

    def __getitem__(self, node: Any) -> dict[str, float]:
        weight = self._weights[node]
        return {"weight": weight} if self._weighted else {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        return repr(dict(self))


class Adjacency(Mapping[Any, Neighbours]):
    """Neighbours by vertex."""

    def __init__(self, shown: Snapshot, neighbours: List) -> None:
        self._shown = shown
        self._neighbours = neighbours

    def __getitem__(self, node: Any) -> Neighbours:
        try:
            pairs = self._neighbours(self._shown._native, node)
        except (InvalidError, NotFoundError) as error:
            raise KeyError(node) from error
        return Neighbours(pairs, self._shown.weighted)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._shown._keys())

    def __len__(self) -> int:
        return self._shown.number_of_nodes()


class Nodes(Mapping[Any, dict[str, Any]], Set[Any]):
    """The vertices, each with the attributes it has: none."""

    def __init__(self, shown: Snapshot) -> None:
        self._shown = shown

    def __call__(self, data: bool | str = False, default: Any = None) -> Iterable[Any]:
        """The vertices; with ``data``, in pairs with their attributes or ``default``."""
        if data is False:
            return self
        return [(node, {} if data is True else default) for node in self]

    data = __call__

    def __getitem__(self, node: Any) -> dict[str, Any]:
        if node not in self:
            raise KeyError(node)
        return {}

    def __contains__(self, node: object) -> bool:
        try:
            return self._shown.has_node(node)  # type: ignore[arg-type]
        except InvalidError:
            return False

    def __iter__(self) -> Iterator[Any]:
        return iter(self._shown._keys())

    def __len__(self) -> int:
        return self._shown.number_of_nodes()

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)


class Edges(Set[tuple[Any, Any]]):
    """The edges, each once."""

    def __init__(self, shown: Snapshot) -> None:
        self._shown = shown

    def __call__(
        self, nbunch: Any = None, data: bool | str = False, default: Any = None
    ) -> Iterable[Any]:
        """The edges, or those from ``nbunch``; with ``data``, what they carry besides."""
        edges = self._all() if nbunch is None else self._of(nbunch)
        if data is False:
            return [(u, v) for u, v, _ in edges]
        if data is True:
            return [(u, v, {"weight": w} if self._shown.weighted else {}) for u, v, w in edges]
        has = data == "weight" and self._shown.weighted
        return [(u, v, w if has else default) for u, v, w in edges]

    def data(self, data: bool | str = True, default: Any = None) -> Iterable[Any]:
        """The edges with what they carry."""
        return self(data=data, default=default)

    def _all(self) -> Iterator[tuple[Any, Any, float]]:
        source, target, weight = self._shown._native.edges()
        sources = source.to_list()
        weights = weight.to_list() if weight is not None else [1.0] * len(sources)
        return zip(sources, target.to_list(), weights, strict=True)

    def _of(self, nbunch: Any) -> Iterator[tuple[Any, Any, float]]:
        try:
            nodes = [nbunch] if self._shown.has_node(nbunch) else [nbunch][:0]
        except InvalidError:
            nodes = [node for node in nbunch if self._shown.has_node(node)]
        seen: set[Any] = set()
        for node in nodes:
            for other, weight in self._shown.neighbours(node):
                if self._shown.directed or other not in seen:
                    yield node, other, weight
            seen.add(node)

    def __getitem__(self, edge: tuple[Any, Any]) -> dict[str, float]:
        try:
            weight = self._shown.weight(*edge)
        except (InvalidError, NotFoundError) as error:
            raise KeyError(edge) from error
        if weight is None:
            raise KeyError(edge)
        return {"weight": weight} if self._shown.weighted else {}

    def __contains__(self, edge: object) -> bool:
        try:
            return self._shown.has_edge(*edge)  # type: ignore[misc]
        except (InvalidError, NotFoundError, TypeError):
            return False

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((u, v) for u, v, _ in self._all())

    def __len__(self) -> int:
        return self._shown.number_of_edges()

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)


class Degrees:
    """How many ends of edges vertices have; a self loop has both ends at one."""

    def __init__(self, shown: Snapshot, side: str) -> None:
        self._shown = shown
        self._side = side

    def __getitem__(self, node: Any) -> int:
        native = self._shown._native
        try:
            if self._side == "in":
                return native.in_degree(node)
            if self._side == "out":
                return native.degree(node)
            if self._shown.directed:
                return native.degree(node) + native.in_degree(node)
            return native.degree(node) + int(native.has_edge(node, node))
        except (InvalidError, NotFoundError) as error:
            raise KeyError(node) from error

    def __call__(self, nbunch: Any = None) -> Any:
        """The degree of a vertex, or pairs of vertices and degrees."""
        if nbunch is None:
            return self
        if nbunch in Nodes(self._shown):
            return self[nbunch]
        return [(node, self[node]) for node in nbunch if node in Nodes(self._shown)]

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return ((node, self[node]) for node in self._shown._keys())

    def __len__(self) -> int:
        return self._shown.number_of_nodes()
