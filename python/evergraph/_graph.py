"""The graph: what a program makes, changes and asks."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from . import _native, _views
from ._columns import Keys, Weights
from ._html import facts_html
from ._ingest import Ingest
from ._reads import Key
from ._settings import Archiving, Settings, WindowShape
from ._snapshot import Snapshot
from ._streams import BATCH, Follower, Stream, Windows, changes_table
from ._table import Table
from ._transaction import DEFAULT_TRIES, Attempt, Transaction, attempts, transaction
from .errors import InvalidError, NotFoundError

R = TypeVar("R")

_WEIGHTS = {False: "none", True: "f64"}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Graph:
    """A graph that many threads change and read at once: in memory, or from ``evergraph.open``.

    It reads like a graph of NetworkX, always at the newest version, and NetworkX's functions run
    on it. Whatever changes it is a transaction: the methods with NetworkX's names are one each, run
    again after a conflict; ``begin``, ``attempts`` and ``transaction`` put several changes in one.

    Args:
        directed: Whether edges have a direction.
        weights: ``False`` for none; ``True`` or ``"f64"`` for a 64-bit float per edge; ``"f32"``.
        keys: ``"number"`` (0 to 2**64 - 1), ``"text"``, or ``"dense"``: small numbers from 0 on,
            kept without a table.
        vertices: With dense keys, how many vertices there are from the start.
        self_loops: Whether a vertex may have an edge to itself.
        isolation: ``"snapshot"`` or ``"serializable"``.
        memory_limit: Bytes it may hold; commits that would go past raise ``LimitError``.
        max_transaction: Changes a transaction may have.
        max_snapshots: Snapshots that may be open; of more, the oldest expire.
        max_snapshot_age: Seconds a snapshot may be open before it expires.
        max_transaction_age: Seconds a transaction may be open before it ends.

    >>> import evergraph as eg
    >>> graph = eg.Graph()
    >>> graph.add_edge("anna", "bert")
    Traceback (most recent call last):
    ...
    evergraph.errors.InvalidError: anna is not a key of this database: its keys are 64-bit numbers
    >>> graph = eg.Graph(keys="text")
    >>> graph.add_edge("anna", "bert")
    >>> list(graph.neighbors("bert"))
    ['anna']
    """

    __networkx_backend__: ClassVar[str] = "evergraph"
    # NetworkX keeps conversions of a graph here, where they would grow stale.
    __networkx_cache__: ClassVar[None] = None

    def __init__(
        self,
        *,
        directed: bool = False,
        weights: bool | str = False,
        keys: str = "number",
        vertices: int = 0,
        self_loops: bool = True,
        isolation: str = "snapshot",
        memory_limit: int | None = None,
        max_transaction: int | None = None,
        max_snapshots: int | None = None,
        max_snapshot_age: float | None = None,
        max_transaction_age: float | None = None,
    ) -> None:
        made = settings(
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
        self._take(_native.Store(made))

    @classmethod
    def _of(cls, store: _native.Store) -> Graph:
        graph = cls.__new__(cls)
        graph._take(store)
        return graph

    def _take(self, store: _native.Store) -> None:
        self._store = store
        self._directed = store.directed
        self._weighted = store.weighted
        self._shown: Snapshot | None = None
        self._path: str | None = None

    # Transactions and snapshots.

    def begin(self, *, isolation: str | None = None) -> Transaction:
        """Begins a transaction, with the isolation of the graph or another."""
        if isolation not in (None, "snapshot", "serializable"):
            raise InvalidError(f"isolation={isolation!r}: choose snapshot or serializable")
        serializable = None if isolation is None else isolation == "serializable"
        return Transaction(self._store.begin(serializable), self._forget)

    def attempts(self, tries: int = DEFAULT_TRIES) -> Iterator[Attempt]:
        """Runs a block as a transaction until its commit is not refused by a conflict.

        >>> import evergraph as eg
        >>> graph = eg.Graph()
        >>> for attempt in graph.attempts():
        ...     with attempt as tx:
        ...         tx.add_vertex(tx.vertex_count())
        >>> graph.number_of_nodes()
        1
        """
        return attempts(self.begin, tries)

    def transaction(self, work: Callable[[Transaction], R], tries: int = DEFAULT_TRIES) -> R:
        """Calls ``work`` with a transaction until its commit is not refused by a conflict."""
        return transaction(self.begin, work, tries)

    def ingest(
        self,
        *,
        threshold: int | None = None,
        delay: float | None = None,
        batch: int | None = None,
        backlog: int | None = None,
        full: str | None = None,
        threads: int | None = None,
    ) -> Ingest:
        """Takes changes of edges in unchecked, and archives them in batches: see ``Ingest``.

        All that is ingested waits in one window of the graph. What is said here counts for the
        window from now on, whoever ingests; what is not said stays as it is.

        Args:
            threshold: So many changes are archived at once, even if they are new: 65,536, and at
                most ``backlog``.
            delay: Fewer are archived when the oldest is so many seconds old: 0.02.
            batch: So many changes go into one batch, which is one version, at most: 1,048,576.
                Fewer make pauses of others shorter, more make archiving faster.
            backlog: So many changes may wait: 4,194,304.
            full: What one more does: ``"wait"`` until there is room, or ``"refuse"`` and raise
                ``BacklogFullError``.
            threads: Threads that work on a batch: one per core, four at most.

        Raises ``ReadOnlyError`` if the graph is only read.

        >>> import evergraph as eg
        >>> graph = eg.Graph()
        >>> into = graph.ingest(backlog=2, full="refuse")
        >>> try:
        ...     into.add_edges([1, 2, 3], [2, 3, 4])
        ... except eg.BacklogFullError as full:
        ...     print(full)
        2 changes wait to be archived already; flush, or try again later
        """
        numbers = {"threshold": threshold, "batch": batch, "backlog": backlog, "threads": threads}
        for name, number in numbers.items():
            if number is not None and number < 1:
                raise InvalidError(f"{name}={number}: say 1 or more")
        archiving: Archiving = {
            "threshold": threshold,
            "delay": delay,
            "batch": batch,
            "backlog": backlog,
            "full": full,
            "threads": threads,
        }
        return Ingest(self._store.ingest(archiving))

    def static_view(self, view: str = "plain") -> Snapshot:
        """The graph as it is now, and what was ingested but not archived yet.

        Args:
            view: ``"plain"`` shows it too, and archives it first; ``"stale"`` does not, as
                ``snapshot``; ``"private"`` shows it too, in a copy of its own, which takes as much
                time and memory as the graph, and for which nothing old is kept.

        >>> import evergraph as eg
        >>> graph = eg.Graph()
        >>> graph.ingest().add_edge(1, 2)
        >>> graph.static_view("private").number_of_edges(), graph.static_view().number_of_edges()
        (1, 1)
        """
        return self._show(self._store.static_view(view))

    def snapshot(self, at: int | datetime.datetime | None = None) -> Snapshot:
        """The graph at its newest version. Takes microseconds at any size.

        While nothing is committed the same snapshot is given again, with what it has worked out.

        Of a graph in a folder, ``at`` is an older version, or a time: then it is the last version
        that was written by then, a ``datetime`` without time zone being local. It is put together
        from the files: in the time that opening takes, and as much memory as the graph; Ctrl-C
        stops it. Raises ``TooOldError`` beyond what ``open(keep=)`` says, ``NotFoundError`` for
        what is to come.

        >>> import evergraph as eg, tempfile
        >>> with eg.open(tempfile.mkdtemp(), keep="everything") as graph:
        ...     graph.add_node(1)
        ...     graph.add_node(2)
        ...     len(graph.snapshot(at=1)), len(graph.snapshot())
        (1, 2)
        """
        if at is not None:
            return self._show(self._past(at))
        shown = self._shown
        if shown is not None and shown.version == self._store.version:
            return shown
        # Not kept here across a commit: an open snapshot keeps old versions in memory.
        shown = self._show(self._store.snapshot())
        self._shown = shown
        return shown

    def _past(self, at: int | datetime.datetime) -> _native.Snapshot:
        if isinstance(at, datetime.datetime):
            since = at.astimezone(datetime.timezone.utc) - _EPOCH
            return self._store.snapshot_at_time(since // datetime.timedelta(microseconds=1))
        return self._store.snapshot_at(at)

    def _show(self, native: _native.Snapshot) -> Snapshot:
        return Snapshot(native, self._directed, self._weighted)

    def _forget(self) -> None:
        self._shown = None

    def expire_snapshots(self, age: float) -> int:
        """Ends snapshots open for more than ``age`` seconds; how many there were."""
        return self._store.expire_snapshots(age)

    @property
    def version(self) -> int:
        """The newest version: how many transactions have changed the graph."""
        return self._store.version

    def stats(self) -> dict[str, Any]:
        """What the graph is doing: counts, open snapshots, memory, outcomes of transactions.

        ``oldest_version`` is the oldest that somebody reads, ``oldest_age`` for how many seconds.
        Of a graph in a folder also how much lies there (``log_files``, ``log_bytes``,
        ``checkpoints``, ``checkpoint_bytes``) and how far back it tells: ``oldest_kept`` is the
        oldest that ``snapshot`` can show, ``changes_after`` where ``changes`` can begin.
        """
        return self._store.stats()

    # The folder, if it has one.

    @property
    def path(self) -> str | None:
        """The folder; ``None`` if it is in memory."""
        return self._path

    def sync(self) -> None:
        """Returns when all that was committed before is on the disk, in every ``durability``."""
        self._store.sync()

    def checkpoint(self) -> int:
        """Writes the graph to a file, so that opening need not read the log before; its version.

        Others go on meanwhile. It is done from time to time by itself. Raises ``InvalidError`` for
        a graph in memory.
        """
        return self._store.checkpoint()

    def close(self) -> None:
        """Ends transactions, ingesting, followers, streams and standing results, and closes it.

        Waits for what other threads are doing. All that was committed is on the disk then, and the
        folder can be opened again. Snapshots stay readable; whatever else is asked raises
        ``ClosedError``. Closing again does nothing.
        """
        self._forget()
        self._store.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # The past, and how it became the present: for graphs in folders.

    def position(self, name: str) -> int | None:
        """How far the reader of a name is, as ``Transaction.set_position`` stored it."""
        return self._store.position(name)

    def changes(self, after: int, until: int | None = None) -> Table:
        """What the commits after a version did, up to another (the newest) and with it.

        Columns ``version`` and ``time`` (when it was written) of the commit, ``change`` (one of
        ``add_vertex``, ``remove_vertex``, ``add_edge``, ``set_weight``, ``remove_edge``),
        ``source`` (also of a change of a vertex), ``target``, and ``weight`` if edges carry one.
        Raises ``TooOldError`` beyond what ``open(keep=)`` says.

        >>> import evergraph as eg, tempfile
        >>> with eg.open(tempfile.mkdtemp(), keep="everything") as graph:
        ...     graph.add_edge(1, 2)
        ...     table = graph.changes(0)
        >>> table["change"].tolist(), table["target"].tolist()
        (['add_vertex', 'add_vertex', 'add_edge'], [None, None, 2])
        """
        until = self.version if until is None else until
        return changes_table(self._store.changes(after, until), after, until)

    def diff(self, before: int, after: int) -> Table:
        """What differs between two versions, each vertex and edge once, in the order of their keys.

        As ``changes`` without ``version`` and ``time``: what the commits between them come to.

        >>> import evergraph as eg, tempfile
        >>> with eg.open(tempfile.mkdtemp(), keep="everything") as graph:
        ...     graph.add_edge(1, 2)
        ...     graph.remove_node(2)
        ...     graph.diff(0, 2).head()
        [('add_vertex', 1, None)]
        """
        return changes_table(self._store.diff(before, after), before, after)

    def follow(
        self, after: int | None = None, *, most: int = BATCH, timeout: float | None = None
    ) -> Follower:
        """The commits after a version (the newest), in batches of ``most`` commits at most.

        Iterating waits for more, ``timeout`` seconds at most each time, ``None`` for ever. A graph
        that was opened to be read only has no more than it has.
        """
        return Follower(self._store.follow(self._after(after)), most, timeout)

    def windows(
        self,
        after: int | None = None,
        *,
        commits: int | None = None,
        seconds: float | None = None,
        step: float | None = None,
        timeout: float | None = None,
    ) -> Windows:
        """The commits after a version (the newest), in windows of so many commits or seconds.

        Time is that of the column ``time``; windows in which nothing was committed are passed over.
        The next window begins ``step`` commits or seconds later: as many as a window has, unless
        said, so that windows tumble; with fewer they slide.

        >>> import evergraph as eg, tempfile
        >>> graph = eg.open(tempfile.mkdtemp(), keep="everything")
        >>> for key in range(4):
        ...     graph.add_node(key)
        >>> sliding = graph.windows(0, commits=2, step=1, timeout=0)
        >>> [window["source"].tolist() for window in sliding]
        [[0, 1], [1, 2], [2, 3]]
        >>> graph.close()
        """
        size = seconds if commits is None else commits
        if size is None or (commits is not None and seconds is not None):
            raise InvalidError("a window has so many commits, or so many seconds: say one of them")
        step = size if step is None else step
        if size <= 0 or step <= 0:
            raise InvalidError("a window and its step are more than 0")
        shape: WindowShape = {"commits": commits, "seconds": seconds or 0.0, "step": step}
        return Windows(self._store.windows(self._after(after), shape), timeout)

    def stream(self, after: int | None = None, *, timeout: float | None = None) -> Stream:
        """Steps from a version (the newest) on: the newest snapshot, and what changed up to it."""
        return Stream(self._store.stream(self._after(after)), self._show, timeout)

    def _after(self, after: int | None) -> int:
        return self.version if after is None else after

    # Changes, with NetworkX's names.

    def add_node(self, node: Key) -> None:
        """Adds a vertex, if it is not there."""
        self.add_nodes_from([node])

    def add_nodes_from(self, nodes: Iterable[Key]) -> None:
        """Adds those vertices that are not there, in one transaction."""
        keys = list(nodes)
        self.transaction(lambda tx: tx.add_missing_vertices(keys))

    def remove_node(self, node: Key) -> None:
        """Removes a vertex and its edges. Raises ``NotFoundError`` if there is none."""
        self.transaction(lambda tx: tx.remove_vertex(node))

    def remove_nodes_from(self, nodes: Iterable[Key]) -> None:
        """Removes those vertices that are there, in one transaction."""
        keys = list(nodes)

        def work(tx: Transaction) -> None:
            for key in keys:
                if tx.has_vertex(key):
                    tx.remove_vertex(key)

        self.transaction(work)

    def add_edge(self, u: Key, v: Key, weight: float | None = None) -> None:
        """Adds an edge and its ends, unless they are there; sets the weight if one is given."""
        self._put([(u, v, weight)])

    def add_edges_from(self, edges: Iterable[tuple[Any, ...]]) -> None:
        """Adds edges ``(u, v)`` or ``(u, v, {"weight": w})`` and their ends, in one transaction."""
        self._put([_edge(edge) for edge in edges])

    def add_weighted_edges_from(self, edges: Iterable[tuple[Key, Key, float]]) -> None:
        """Adds edges ``(u, v, weight)`` and their ends, in one transaction."""
        self._put([(u, v, weight) for u, v, weight in edges])

    def _put(self, edges: list[tuple[Key, Key, float | None]]) -> None:
        def work(tx: Transaction) -> None:
            for u, v, weight in edges:
                for key in (u, v):
                    if not tx.has_vertex(key):
                        tx.add_vertex(key)
                if not tx.has_edge(u, v):
                    tx.add_edge(u, v, weight)
                elif weight is not None:
                    tx.set_weight(u, v, weight)

        self.transaction(work)

    def add_edges(self, source: Keys, target: Keys, weight: Weights | None = None) -> None:
        """Adds columns of new edges and those of their ends that are not there, in one transaction.

        Columns are arrays of Arrow, Polars, pandas or NumPy, or lists, all of one length. An edge
        that exists, or stands twice, raises ``AlreadyExistsError``, and nothing is added. For
        millions of edges into a new graph, ``evergraph.from_edges`` is faster.

        >>> import evergraph as eg
        >>> import numpy as np
        >>> graph = eg.Graph(weights=True)
        >>> graph.add_edges(np.arange(3), np.arange(1, 4), [0.5, 1.5, 2.5])
        >>> graph.number_of_edges()
        3
        """

        def work(tx: Transaction) -> None:
            tx.add_missing_vertices(source)
            tx.add_missing_vertices(target)
            tx.add_edges(source, target, weight)

        self.transaction(work)

    def remove_edge(self, u: Key, v: Key) -> None:
        """Removes an edge. Raises ``NotFoundError`` if there is none."""
        self.transaction(lambda tx: tx.remove_edge(u, v))

    def remove_edges_from(self, edges: Iterable[tuple[Any, ...]]) -> None:
        """Removes those edges that are there, in one transaction."""
        ends = [(edge[0], edge[1]) for edge in edges]

        def work(tx: Transaction) -> None:
            for u, v in ends:
                if tx.has_vertex(u) and tx.has_vertex(v) and tx.has_edge(u, v):
                    tx.remove_edge(u, v)

        self.transaction(work)

    # Reads, with NetworkX's names.

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Never: an edge stands once."""
        return False

    def number_of_nodes(self) -> int:
        """How many vertices there are."""
        return self.snapshot().number_of_nodes()

    order = number_of_nodes
    __len__ = number_of_nodes

    def number_of_edges(self) -> int:
        """How many edges there are, each counted once."""
        return self.snapshot().number_of_edges()

    def size(self) -> int:
        """How many edges there are, each counted once."""
        return self.number_of_edges()

    def has_node(self, node: object) -> bool:
        """Whether a vertex exists."""
        try:
            return self.snapshot().has_node(node)  # type: ignore[arg-type]
        except InvalidError:
            return False

    __contains__ = has_node

    def has_edge(self, u: object, v: object) -> bool:
        """Whether an edge exists."""
        try:
            return self.snapshot().has_edge(u, v)  # type: ignore[arg-type]
        except (InvalidError, NotFoundError):
            return False

    def __iter__(self) -> Iterator[Any]:
        return iter(self.snapshot()._keys())

    def __getitem__(self, node: Key) -> _views.Neighbours:
        return self.adj[node]

    @property
    def adj(self) -> _views.Adjacency:
        """Neighbours by vertex: ``graph.adj[u][v]`` is ``{"weight": w}``, or ``{}``."""
        return _views.Adjacency(self.snapshot(), _native.Snapshot.neighbours)

    succ = adj

    @property
    def pred(self) -> _views.Adjacency:
        """As ``adj``, for in-neighbours."""
        return _views.Adjacency(self.snapshot(), _native.Snapshot.in_neighbours)

    @property
    def nodes(self) -> _views.Nodes:
        """The vertices: iterate, look up, or call."""
        return _views.Nodes(self.snapshot())

    @property
    def edges(self) -> _views.Edges:
        """The edges: iterate, look up, or call with ``data="weight"``."""
        return _views.Edges(self.snapshot())

    @property
    def degree(self) -> _views.Degrees:
        """How many ends of edges each vertex has: look up, iterate, or call."""
        return _views.Degrees(self.snapshot(), "both")

    @property
    def in_degree(self) -> _views.Degrees:
        """How many edges lead to each vertex."""
        return _views.Degrees(self.snapshot(), "in")

    @property
    def out_degree(self) -> _views.Degrees:
        """How many edges lead away from each vertex."""
        return _views.Degrees(self.snapshot(), "out")

    def neighbors(self, node: Key) -> Iterator[Any]:
        """The neighbours of a vertex (out-neighbours if edges have a direction)."""
        return iter([key for key, _ in self.snapshot().neighbours(node)])

    successors = neighbors

    def predecessors(self, node: Key) -> Iterator[Any]:
        """The in-neighbours of a vertex."""
        return iter([key for key, _ in self.snapshot().in_neighbours(node)])

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draws the newest version; see ``Snapshot.plot``."""
        return self.snapshot().plot(*args, **kwargs)

    def __repr__(self) -> str:
        if self._store.is_closed():
            return "Graph(closed)"
        return repr(self.snapshot()).replace("Snapshot", "Graph", 1)

    def _repr_html_(self) -> str:
        stats = self.stats()
        facts = self.snapshot()._facts()
        del facts["age in seconds"]
        facts["memory in bytes"] = stats["memory_bytes"]
        facts["open snapshots"] = stats["snapshots"]
        return facts_html("Evergraph graph", facts)


def _edge(edge: tuple[Any, ...]) -> tuple[Any, Any, float | None]:
    """An edge as NetworkX takes it."""
    if len(edge) == 2:
        return edge[0], edge[1], None
    u, v, data = edge
    if set(data) - {"weight"}:
        raise InvalidError(f"an edge carries a weight and nothing else; this has {sorted(data)}")
    return u, v, data.get("weight")


def settings(
    *,
    directed: bool | None,
    weights: bool | str | None,
    keys: str | None,
    vertices: int,
    self_loops: bool | None,
    isolation: str,
    memory_limit: int | None,
    max_transaction: int | None,
    max_snapshots: int | None,
    max_snapshot_age: float | None,
    max_transaction_age: float | None,
) -> Settings:
    """What a graph is made or opened with, checked as far as that goes here."""
    if isolation not in ("snapshot", "serializable"):
        raise InvalidError(f"isolation={isolation!r}: choose snapshot or serializable")
    if vertices and keys != "dense":
        raise InvalidError("vertices= goes with keys='dense'; add other vertices by their keys")
    return {
        "directed": directed,
        "weights": _WEIGHTS[weights] if isinstance(weights, bool) else weights,
        "keys": keys,
        "dense": vertices,
        "self_loops": self_loops,
        "serializable": isolation == "serializable",
        "memory_limit": memory_limit,
        "max_transaction": max_transaction,
        "max_snapshots": max_snapshots,
        "max_snapshot_age": max_snapshot_age,
        "max_transaction_age": max_transaction_age,
    }
