"""Transactions: changes that become visible together, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from . import _columns, _native
from ._columns import Keys
from ._edges import EdgeChanges
from ._reads import Key, PointReads
from .errors import ConflictError

R = TypeVar("R")

DEFAULT_TRIES = 10
"""Enough for writers that meet now and then; those that meet always should be one transaction."""


class Transaction(PointReads[_native.Transaction], EdgeChanges[_native.Transaction]):
    """Changes that become visible together, or not at all.

    It reads the graph as it was when it began, with its own changes applied. As a context manager
    it commits at the end of the block, and rolls back if the block raises.

    An edge is added between vertices that exist, and only one that exists is changed or removed. A
    call refuses at once what can never be right; whether the rest fits the graph is checked by
    the commit, in the order of the calls. A commit that was refused has changed nothing.

    >>> import evergraph as eg
    >>> graph = eg.Graph()
    >>> with graph.begin() as tx:
    ...     tx.add_vertices([1, 2, 3])
    ...     tx.add_edge(1, 2)
    ...     tx.has_edge(2, 1)
    True
    >>> graph.number_of_edges()
    1
    """

    __slots__ = ("_changed", "version")

    version: int | None
    """The version that the commit made; none before."""

    def __init__(self, native: _native.Transaction, changed: Callable[[], None]) -> None:
        self._native = native
        self._changed = changed
        self.version = None

    def add_vertex(self, key: Key) -> None:
        """Adds a vertex. Committing raises ``AlreadyExistsError`` if there is one."""
        self._native.add_vertex(key)

    def add_vertices(self, keys: Keys) -> None:
        """Adds a column of vertices."""
        self._native.add_vertices(_columns.keys(keys))

    def add_missing_vertices(self, keys: Keys) -> None:
        """Adds those of a column of vertices that are not there."""
        self._native.add_missing_vertices(_columns.keys(keys))

    def remove_vertex(self, key: Key) -> None:
        """Removes a vertex and all its edges."""
        self._native.remove_vertex(key)

    def has_vertex(self, key: Key) -> bool:
        """Whether a vertex exists."""
        return self._native.has_vertex(key)

    def vertices(self) -> list[Any]:
        """The keys of all vertices."""
        return self._native.vertices()

    def vertex_count(self) -> int:
        """How many vertices there are. Time O(V)."""
        return self._native.vertex_count()

    @property
    def snapshot_version(self) -> int:
        """The version that it reads."""
        return self._native.snapshot_version()

    def set_position(self, name: str, version: int) -> None:
        """Stores how far the reader of a name is; it survives or not with the changes.

        ``Graph.position`` tells it. A reader that stores its position together with what it made
        of the commits up to there does each commit once, whatever happens in between.
        """
        self._native.set_position(name, version)

    def __len__(self) -> int:
        """How many changes are waiting for the commit."""
        return len(self._native)

    def commit(self) -> int:
        """Makes the changes visible; the version at which they are.

        Raises ``ConflictError`` if another transaction changed the same thing first.
        """
        self.version = self._native.commit()
        self._changed()
        return self.version

    def rollback(self) -> None:
        """Forgets the changes."""
        self._native.rollback()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._native.is_open():
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()


class Attempt:
    """One try of a transaction that is run again after a conflict; see ``Graph.attempts``."""

    __slots__ = ("_begin", "_last", "_tx", "done")

    done: bool
    """Whether the transaction was committed."""

    def __init__(self, begin: Callable[[], Transaction], last: bool) -> None:
        self._begin = begin
        self._last = last
        self._tx: Transaction | None = None
        self.done = False

    def __enter__(self) -> Transaction:
        self._tx = self._begin()
        return self._tx

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        assert self._tx is not None, "a block is left after it was entered"
        try:
            self._tx.__exit__(kind, error, trace)
        except ConflictError:
            if self._last:
                raise
            return False
        if isinstance(error, ConflictError) and not self._last:
            return True
        self.done = kind is None
        return False


def attempts(begin: Callable[[], Transaction], tries: int) -> Iterator[Attempt]:
    """Tries until one is committed."""
    for left in reversed(range(tries)):
        attempt = Attempt(begin, last=left == 0)
        yield attempt
        if attempt.done:
            return


def transaction(
    begin: Callable[[], Transaction], work: Callable[[Transaction], R], tries: int
) -> R:
    """Runs ``work`` in a transaction until its commit is not refused by a conflict."""
    for left in reversed(range(tries)):
        try:
            with begin() as tx:
                return work(tx)
        except ConflictError:
            if left == 0:
                raise
    raise ValueError("a transaction is tried at least once")
