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

from . import _native, algorithms, errors
from ._graph import Graph
from ._snapshot import Snapshot
from ._table import Table
from ._transaction import Attempt, Transaction
from .convert import from_edges, from_networkx, from_pandas_edgelist, read, to_networkx
from .errors import (
    AlreadyExistsError,
    ConflictError,
    EvergraphError,
    ForkedError,
    InvalidError,
    LimitError,
    NotFoundError,
    ReadError,
    SnapshotExpiredError,
    TransactionEndedError,
)

__all__ = [
    "AlreadyExistsError",
    "Attempt",
    "ConflictError",
    "EvergraphError",
    "ForkedError",
    "Graph",
    "InvalidError",
    "LimitError",
    "NotFoundError",
    "ReadError",
    "Snapshot",
    "SnapshotExpiredError",
    "Table",
    "Transaction",
    "TransactionEndedError",
    "algorithms",
    "errors",
    "from_edges",
    "from_networkx",
    "from_pandas_edgelist",
    "read",
    "to_networkx",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_native.forked)
