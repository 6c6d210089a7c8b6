"""Graphs in folders: opened, and closed at the end of the process if nobody did it before."""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from typing import Any, Protocol

from . import _native
from ._graph import Graph, settings
from ._settings import Place
from .errors import ForkedError

_opened: weakref.WeakSet[Graph] = weakref.WeakSet()


class Bar(Protocol):
    """A bar of progress as ``tqdm`` makes it."""

    n: Any
    total: Any

    def update(self, n: int) -> Any:
        """So many bytes more were read."""


def open(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    weights: bool | str | None = None,
    keys: str | None = None,
    vertices: int = 0,
    self_loops: bool | None = None,
    durability: str = "sync",
    keep: str = "nothing",
    read_only: bool = False,
    progress: Bar | None = None,
    isolation: str = "snapshot",
    memory_limit: int | None = None,
    max_transaction: int | None = None,
    max_snapshots: int | None = None,
    max_snapshot_age: float | None = None,
    max_transaction_age: float | None = None,
) -> Graph:
    """Opens the graph in a folder, or makes one there. What was committed is there again.

    Close it, or use it in a ``with`` block; at the end of the process it is closed for you. One
    process may write a folder, or many may read it; ``evergraph.watch`` reads beside a writer.

    Args:
        path: The folder.
        directed: As in ``Graph``; needed only to make a new one, as are the next four. A folder
            that was made with others raises ``InvalidError``.
        weights: As in ``Graph``.
        keys: As in ``Graph``.
        vertices: As in ``Graph``.
        self_loops: As in ``Graph``.
        durability: When a commit is on the disk: ``"sync"`` before it returns, ``"group:10ms"`` so
            many milliseconds later, ``"os"`` when the system sees fit, ``"none"`` with the next
            checkpoint.
        keep: How far back ``snapshot(at=)``, ``changes`` and ``follow`` reach: ``"nothing"``,
            ``"versions:1000"``, ``"seconds:3600"``, ``"bytes:1000000"`` or ``"everything"``,
            rounded up to whole files.
        read_only: Opens what is there to read it; others may do so at the same time.
        progress: A bar such as ``tqdm(unit="B", unit_scale=True)``, told what was read.
        isolation: As in ``Graph``, and so are the limits that follow.
        memory_limit: As in ``Graph``.
        max_transaction: As in ``Graph``.
        max_snapshots: As in ``Graph``.
        max_snapshot_age: As in ``Graph``.
        max_transaction_age: As in ``Graph``.

    Raises ``LockedError`` if another process has it open, ``NotFoundError`` if there is nothing to
    read, ``CorruptError`` if a file is damaged. Ctrl-C stops it and leaves the folder as it was.

    >>> import evergraph as eg, tempfile
    >>> path = tempfile.mkdtemp()
    >>> with eg.open(path, weights=True) as graph:
    ...     graph.add_edge(1, 2, 0.5)
    >>> with eg.open(path) as graph:
    ...     graph.edges[1, 2]
    {'weight': 0.5}
    """
    place: Place = {
        "path": os.fspath(path),
        "durability": durability,
        "keep": keep,
        "read_only": read_only,
    }
    asked = settings(
        directed=directed,
        weights=weights,
        keys=keys,
        vertices=vertices,
        self_loops=self_loops,
        isolation=isolation,
        memory_limit=memory_limit,
        max_transaction=max_transaction,
        max_snapshots=max_snapshots,
        max_snapshot_age=max_snapshot_age,
        max_transaction_age=max_transaction_age,
    )

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress.total = total
            progress.update(done - progress.n)

    graph = Graph._of(_native.open(place, asked, None if progress is None else tell))
    graph._path = place["path"]
    _opened.add(graph)
    return graph


@atexit.register
def _close_all() -> None:
    """Closes what is still open, so that all that was committed lies on the disk."""
    with contextlib.ExitStack() as stack:
        # One that cannot be closed does not keep the others from it.
        for graph in list(_opened):
            stack.callback(_close, graph)


def _close(graph: Graph) -> None:
    # Those of a parent process are the parent's to close.
    with contextlib.suppress(ForkedError):
        graph.close()
