"""Evergraph: a graph store for graphs that never stop changing, and for the analytics that need
them fresh.

Threads commit transactions while algorithms run on consistent snapshots; NetworkX's functions run
on the graph as it is, without conversion and never on stale data.

>>> import evergraph as eg
>>> graph = eg.from_edges([1, 2, 3], [2, 3, 4])
>>> with graph.begin() as tx:
...     tx.add_edge(4, 1)
>>> graph.snapshot().pagerank()["rank"].sum().round(6)
np.float64(1.0)
"""

import os as _os

from . import _native, algorithms, errors, standing
from ._graph import Graph
from ._ingest import Ingest
from ._open import open
from ._snapshot import Snapshot
from ._streams import Follower, Step, Stream, Windows, watch
from ._table import Table
from ._threads import set_threads, threads, using_threads
from ._transaction import Attempt, Transaction
from .convert import from_edges, from_networkx, from_pandas_edgelist, read, to_networkx
from .errors import (
    AlreadyExistsError,
    BacklogFullError,
    ClosedError,
    ConflictError,
    CorruptError,
    DiskFullError,
    EvergraphError,
    ForkedError,
    InvalidError,
    LimitError,
    LockedError,
    NotFoundError,
    OutcomeUnknownError,
    ReadError,
    ReadOnlyError,
    SnapshotExpiredError,
    StorageError,
    TooOldError,
    TransactionEndedError,
)

__all__ = [
    "AlreadyExistsError",
    "Attempt",
    "BacklogFullError",
    "ClosedError",
    "ConflictError",
    "CorruptError",
    "DiskFullError",
    "EvergraphError",
    "Follower",
    "ForkedError",
    "Graph",
    "Ingest",
    "InvalidError",
    "LimitError",
    "LockedError",
    "NotFoundError",
    "OutcomeUnknownError",
    "ReadError",
    "ReadOnlyError",
    "Snapshot",
    "SnapshotExpiredError",
    "Step",
    "StorageError",
    "Stream",
    "Table",
    "TooOldError",
    "Transaction",
    "TransactionEndedError",
    "Windows",
    "algorithms",
    "errors",
    "from_edges",
    "from_networkx",
    "from_pandas_edgelist",
    "open",
    "read",
    "set_threads",
    "standing",
    "threads",
    "to_networkx",
    "using_threads",
    "watch",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_native.forked)
