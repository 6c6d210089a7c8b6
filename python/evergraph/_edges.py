"""Changes of edges, one by one and by columns, as transactions and ingesting take them."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from . import _columns
from ._columns import Keys, Weights
from ._reads import Key


class _Native(Protocol):
    def add_edge(self, source: Key, target: Key, weight: float | None = None) -> None: ...
    def add_edges(self, source: Any, target: Any, weights: Any = None) -> None: ...
    def remove_edge(self, source: Key, target: Key) -> None: ...
    def remove_edges(self, source: Any, target: Any) -> None: ...
    def set_weight(self, source: Key, target: Key, weight: float) -> None: ...
    def set_weights(self, source: Any, target: Any, weights: Any) -> None: ...


N = TypeVar("N", bound=_Native)


class EdgeChanges(Generic[N]):
    """Changes of edges. Columns are arrays of Arrow, NumPy or others, or lists, of one length."""

    __slots__ = ()

    _native: N

    def add_edge(self, source: Key, target: Key, weight: float | None = None) -> None:
        """Adds an edge, of weight 1 unless one is given."""
        self._native.add_edge(source, target, weight)

    def add_edges(self, source: Keys, target: Keys, weight: Weights | None = None) -> None:
        """Adds columns of edges, of weight 1 unless weights are given."""
        self._native.add_edges(
            _columns.keys(source), _columns.keys(target), _columns.weights(weight)
        )

    def remove_edge(self, source: Key, target: Key) -> None:
        """Removes an edge. Its ends stay."""
        self._native.remove_edge(source, target)

    def remove_edges(self, source: Keys, target: Keys) -> None:
        """Removes columns of edges. Their ends stay."""
        self._native.remove_edges(_columns.keys(source), _columns.keys(target))

    def set_weight(self, source: Key, target: Key, weight: float) -> None:
        """Gives an edge another weight."""
        self._native.set_weight(source, target, weight)

    def set_weights(self, source: Keys, target: Keys, weight: Weights) -> None:
        """Gives columns of edges other weights."""
        self._native.set_weights(
            _columns.keys(source), _columns.keys(target), _columns.weights(weight)
        )
