"""Commits as they come: in batches, in windows, and as steps from snapshot to snapshot."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from . import _native
from ._snapshot import Snapshot
from ._table import Table

T = TypeVar("T")
S = TypeVar("S", bound="_Pulled[Any]")

BATCH = 1024
"""Commits of a batch, at most, unless another number is given."""

SLICE = 0.05
"""Seconds between two looks for Ctrl-C."""

PAUSE = 0.005
"""Seconds between two looks for something that cannot be waited for."""


class _Pulled(ABC, Generic[T]):
    """An iterator that waits for what is next: at most ``timeout`` seconds each, ``None`` for ever.

    Ctrl-C works while it waits; nothing is lost, and the next call goes on where this one was.
    """

    __slots__ = ("_timeout",)

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout

    @abstractmethod
    def poll(self) -> T | None:
        """What is next, if it is there."""

    @abstractmethod
    def close(self) -> None:
        """Ends it. Closing the graph does it too."""

    def _look(self, seconds: float) -> T | None:
        """As ``poll``, after so many seconds at most."""
        found = self.poll()
        if found is None:
            time.sleep(min(seconds, PAUSE))
        return found

    def wait(self, timeout: float | None = None) -> T | None:
        """What is next, or ``None`` if it is not there after ``timeout`` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        found = self.poll()
        while found is None:
            left = SLICE if end is None else end - time.monotonic()
            if left <= 0:
                return None
            found = self._look(min(left, SLICE))
        return found

    def __iter__(self: S) -> S:
        return self

    def __next__(self) -> T:
        found = self.wait(self._timeout)
        if found is None:
            raise StopIteration
        return found

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def changes_table(columns: list[tuple[str, _native.Column]], after: int, version: int) -> Table:
    """Changes between two versions as a table."""
    return Table(dict(columns), {"after": after, "version": version})


class Follower(_Pulled[Table]):
    """The commits after a version, in batches: a table of changes each, as ``Graph.changes`` gives.

    ``info["version"]`` of a batch is the version up to which it goes; commits are never torn apart.

    >>> import evergraph as eg, tempfile
    >>> graph = eg.open(tempfile.mkdtemp())
    >>> follower = graph.follow()
    >>> graph.add_edge(1, 2)
    >>> [batch["change"].tolist() for batch in follower.until(graph.version)]
    [['add_vertex', 'add_vertex', 'add_edge']]
    >>> graph.close()
    """

    __slots__ = ("_most", "_native")

    def __init__(self, native: _native.Follower, most: int, timeout: float | None) -> None:
        super().__init__(timeout)
        self._native = native
        self._most = most

    @property
    def position(self) -> int:
        """The version up to which commits were handed out; follow again from there."""
        return self._native.position

    def poll(self) -> Table | None:
        """The next batch, if there is one."""
        after = self.position
        return _batch(self._native.poll(self._most), after)

    def _look(self, seconds: float) -> Table | None:
        after, start = self.position, time.monotonic()
        found = _batch(self._native.wait(self._most, seconds), after)
        if found is None and time.monotonic() - start < seconds:
            # There was nothing to wait for: the writer is another process.
            time.sleep(min(seconds, PAUSE))
        return found

    def until(self, version: int) -> list[Table]:
        """The batches up to a version, which exists."""
        batches = []
        while self.position < version:
            batch = self.wait()
            if batch is not None:
                batches.append(batch)
        return batches

    def close(self) -> None:
        """Ends it."""
        self._native.close()


class Windows(_Pulled[Table]):
    """The commits after a version in windows: a table of changes each; see ``Graph.windows``."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Windows, timeout: float | None) -> None:
        super().__init__(timeout)
        self._native = native

    @property
    def position(self) -> int | None:
        """The version after which the next window begins; ``None`` if that is still to come."""
        return self._native.position

    def poll(self) -> Table | None:
        """The next window, if it is complete."""
        found = self._native.poll()
        if found is None:
            return None
        version, columns = found
        return Table(dict(columns), {"version": version})

    def close(self) -> None:
        """Ends it."""
        self._native.close()


class Step(NamedTuple):
    """A step of a stream."""

    after: int
    """The version before it."""
    snapshot: Snapshot
    """The graph after it."""
    changes: Table
    """What differs, each vertex and edge once, as ``Graph.diff`` gives."""


class Stream(_Pulled[Step]):
    """Snapshots, each with what changed since the one before.

    >>> import evergraph as eg, tempfile
    >>> graph = eg.open(tempfile.mkdtemp())
    >>> stream = graph.stream()
    >>> graph.add_edge(1, 2)
    >>> graph.remove_node(1)
    >>> step = next(stream)
    >>> step.snapshot.number_of_nodes(), step.changes.head()
    (1, [('add_vertex', 2, None)])
    >>> graph.close()
    """

    __slots__ = ("_native", "_show")

    def __init__(
        self,
        native: _native.Stream,
        show: Callable[[_native.Snapshot], Snapshot],
        timeout: float | None,
    ) -> None:
        super().__init__(timeout)
        self._native = native
        self._show = show

    @property
    def position(self) -> int:
        """The version up to which changes were handed out; stream again from there."""
        return self._native.position

    def poll(self) -> Step | None:
        """The next step, if there was a commit."""
        found = self._native.poll()
        if found is None:
            return None
        after, native, columns = found
        shown = self._show(native)
        return Step(after, shown, changes_table(columns, after, shown.version))

    def close(self) -> None:
        """Ends it."""
        self._native.close()


def _batch(found: tuple[int, list[tuple[str, _native.Column]]] | None, after: int) -> Table | None:
    if found is None:
        return None
    version, columns = found
    return changes_table(columns, after, version)


def watch(
    path: str | os.PathLike[str],
    after: int | str = "newest",
    *,
    most: int = BATCH,
    timeout: float | None = None,
) -> Follower:
    """Follows the commits in a folder that another process may be writing. Takes no lock.

    ``after`` is a version, ``"oldest"`` for all that the files tell about, or ``"newest"`` for what
    comes from now on. Iterating waits for more, ``timeout`` seconds at most each time. Whoever is
    too slow, so that files were removed, gets ``TooOldError``. Raises ``NotFoundError`` if there is
    no database. Under ``durability="none"`` nothing is logged, and nothing can be followed.

    >>> import evergraph as eg, tempfile
    >>> path = tempfile.mkdtemp()
    >>> graph = eg.open(path)
    >>> graph.add_edge(1, 2)
    >>> [batch["change"].tolist() for batch in eg.watch(path, "oldest", timeout=0)]
    [['add_vertex', 'add_vertex', 'add_edge']]
    >>> graph.close()
    """
    return Follower(_native.watch(os.fspath(path), after), most, timeout)
