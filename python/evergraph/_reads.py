"""What snapshots and transactions can be asked about a vertex or an edge."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

Key = int | str
"""The key of a vertex: a whole number from 0 to 2**64 - 1, or a text."""


class _Native(Protocol):
    def has_edge(self, source: Key, target: Key) -> bool: ...
    def weight(self, source: Key, target: Key) -> float | None: ...
    def degree(self, key: Key) -> int: ...
    def in_degree(self, key: Key) -> int: ...
    def neighbours(self, key: Key) -> list[tuple[Any, float]]: ...
    def in_neighbours(self, key: Key) -> list[tuple[Any, float]]: ...


N = TypeVar("N", bound=_Native)


class PointReads(Generic[N]):
    """Reads of single vertices and edges, at the version of whoever has them."""

    __slots__ = ("_native",)

    _native: N

    def has_edge(self, source: Key, target: Key) -> bool:
        """Whether an edge exists. Ends that do not raise ``NotFoundError``."""
        return self._native.has_edge(source, target)

    def weight(self, source: Key, target: Key) -> float | None:
        """The weight of an edge, 1 if edges carry none; ``None`` if there is no such edge."""
        return self._native.weight(source, target)

    def degree(self, key: Key) -> int:
        """How many neighbours a vertex has (out-neighbours if edges have a direction)."""
        return self._native.degree(key)

    def in_degree(self, key: Key) -> int:
        """How many in-neighbours a vertex has."""
        return self._native.in_degree(key)

    def neighbours(self, key: Key) -> list[tuple[Any, float]]:
        """The neighbours of a vertex with the weights of the edges. Time O(neighbours)."""
        return self._native.neighbours(key)

    def in_neighbours(self, key: Key) -> list[tuple[Any, float]]:
        """The in-neighbours of a vertex with the weights of the edges."""
        return self._native.in_neighbours(key)
