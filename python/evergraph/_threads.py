"""How many threads algorithms use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from . import _native
from .errors import InvalidError

VARIABLE = "EVERGRAPH_THREADS"
"""The environment variable that says it for a process."""


def threads() -> int:
    """How many threads an algorithm uses that is called now: as many as there are cores, unless
    ``set_threads``, or ``EVERGRAPH_THREADS`` in the environment, said otherwise.
    """
    return _native.threads()


def set_threads(count: int | None) -> None:
    """Says how many threads algorithms use, in this process and its forks; ``None`` is as usual.

    It counts for what is called later, from whatever thread: algorithms, loading, opening and
    refreshing. Calls at once share the threads. Fewer than there are cores leave room for threads
    that commit. The answers are the same with any number. Ingesting has threads of its own, see
    ``Graph.ingest``.

    >>> import evergraph as eg
    >>> eg.set_threads(1)
    >>> eg.threads()
    1
    >>> eg.set_threads(None)
    """
    if count is not None and count < 1:
        raise InvalidError(f"{count} threads can do nothing: say 1 or more, or None")
    _native.set_threads(_usual() if count is None else count)
    _said.count = count


@contextlib.contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """In the block, algorithms use so many threads, in all threads of Python; then as before.

    >>> import evergraph as eg
    >>> with eg.using_threads(1):
    ...     eg.threads()
    1
    """
    before = _said.count
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


class _Said:
    """What ``set_threads`` was told last."""

    count: int | None = None


_said = _Said()


def _usual() -> int:
    """What the environment says; 0 if it says nothing, which is one thread per core."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return 0
    if not (said.isascii() and said.isdigit() and int(said) > 0):
        raise InvalidError(f"{VARIABLE}={said!r}: say how many threads, 1 or more")
    return int(said)


set_threads(None)
