"""Changes without transactions: appended at once, archived in batches."""

from __future__ import annotations

from types import TracebackType

from . import _native
from ._edges import EdgeChanges


class Ingest(EdgeChanges[_native.Ingest]):
    """Takes changes of edges in unchecked, far faster than transactions (``Graph.ingest``).

    A change says what is to be true, whatever is there: of two changes of one edge the later one
    wins, and one that changes nothing is no error. Ends that are missing are made. A call returns
    before its change is visible or on the disk; ``flush`` returns after. As a context manager it
    flushes at the end, unless the block raised. Threads may share one, or each have their own:
    there is one order of all changes.

    >>> import evergraph as eg
    >>> graph = eg.Graph()
    >>> with graph.ingest() as into:
    ...     into.add_edges([1, 2, 3], [2, 3, 4])
    ...     into.remove_edge(1, 2)
    >>> sorted(graph.edges())
    [(2, 3), (3, 4)]
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Ingest) -> None:
        self._native = native

    def flush(self) -> int:
        """Has all that was appended before archived; the version that shows it.

        It is as safe then as a commit that has returned. Raises what kept a batch from being
        archived, ``LimitError`` or ``DiskFullError``: the batch waits, and is tried again.
        """
        return self._native.flush()

    def backlog(self) -> tuple[int, float]:
        """How many changes wait to be archived, and for how many seconds the oldest does."""
        return self._native.backlog()

    def close(self) -> None:
        """Ends it. What was appended is archived all the same; closing the graph ends it too."""
        self._native.close()

    def __enter__(self) -> Ingest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self.close()
