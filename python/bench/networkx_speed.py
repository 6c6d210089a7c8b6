"""How fast the package is beside NetworkX and igraph, on this machine.

    python networkx_speed.py [--graph graph500-18] [--directed] [--repeats 5] [--limit 60]

Times are those of the call alone, from the loaded graph to the answer as Python objects: NetworkX
through its backend and by itself (once, given up after ``--limit`` seconds), igraph to lists.
Then: a call on a tiny graph, loading ten million edges of Arrow columns, and a thread that commits
while another ranks. Needs the packages networkx, igraph, pyarrow and scipy.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import threading
import time
from collections.abc import Callable

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa

import evergraph as eg

TINY_CALLS = 2000
LOADED_EDGES = 10_000_000
MIXED_SECONDS = 5.0


def main() -> None:
    """Measures what was asked for and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="graph500-18", help="a generated graph or a file")
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=int, default=60, help="seconds for a call of NetworkX")
    parser.add_argument("--only", choices=["functions", "rest"])
    options = parser.parse_args()
    if options.only != "rest":
        functions(options)
    if options.only != "functions":
        rest(options.repeats)


def functions(options: argparse.Namespace) -> None:
    """A row per function: the backend, NetworkX, igraph."""
    graph = eg.read(options.graph, directed=options.directed, duplicates="ignore")
    model, other = eg.to_networkx(graph), to_igraph(graph)
    source = max(graph.degree, key=lambda pair: pair[1])[0]
    place = graph.snapshot().vertices.tolist().index(source)
    print(f"\n{options.graph}: {graph!r}\n")
    print("| function | backend | NetworkX | igraph | of NetworkX | of igraph |")
    print("|---|---|---|---|---|---|")
    for name, ours, theirs in calls(options.directed, source, place):
        answer = median(lambda call=ours: call(graph), options.repeats)
        slow = limited(lambda call=ours: call(model), options.limit)
        peer = median(lambda call=theirs: call(other), options.repeats) if theirs else None
        print(
            f"| {name} | {seconds(answer)} | {'> ' if slow is None else ''}"
            f"{seconds(slow or options.limit)} | {seconds(peer)} | "
            f"{'> ' if slow is None else ''}{(slow or options.limit) / answer:,.0f} x | "
            f"{'' if peer is None else f'{answer / peer:.2f} of its time'} |",
            flush=True,
        )


Call = Callable[..., object]


def calls(directed: bool, source: object, place: int) -> list[tuple[str, Call, Call | None]]:
    """Name, call of NetworkX, call of igraph."""
    paths = (
        "single_source_shortest_path_length",
        lambda g: nx.single_source_shortest_path_length(g, source),
        lambda g: g.distances(source=place, mode="out"),
    )
    ranks = ("pagerank", nx.pagerank, lambda g: g.pagerank())
    if directed:
        return [
            ranks,
            paths,
            (
                "strongly_connected_components",
                lambda g: list(nx.strongly_connected_components(g)),
                lambda g: list(g.connected_components(mode="strong")),
            ),
            (
                "weakly_connected_components",
                lambda g: list(nx.weakly_connected_components(g)),
                lambda g: list(g.connected_components(mode="weak")),
            ),
        ]
    return [
        ranks,
        paths,
        (
            "connected_components",
            lambda g: list(nx.connected_components(g)),
            lambda g: list(g.connected_components()),
        ),
        ("triangles", nx.triangles, None),
        ("clustering", nx.clustering, lambda g: g.transitivity_local_undirected(mode="zero")),
    ]


def to_igraph(graph: eg.Graph) -> igraph.Graph:
    """The same graph in igraph."""
    matrix = graph.snapshot().to_scipy_sparse_array().tocoo()
    ends = np.column_stack((matrix.row, matrix.col))
    if not graph.is_directed():
        ends = ends[ends[:, 0] <= ends[:, 1]]
    return igraph.Graph(n=matrix.shape[0], edges=ends, directed=graph.is_directed())


def rest(repeats: int) -> None:
    """What is not about one function."""
    tiny = eg.from_edges([1, 2, 3], [2, 3, 1])
    shown = tiny.snapshot()
    for name, call in (
        ("nx.pagerank of a triangle", lambda: nx.pagerank(tiny)),
        (
            "nx.number_connected_components of a triangle",
            lambda: nx.number_connected_components(tiny),
        ),
        ("Snapshot.bfs of a triangle", lambda: shown.bfs(1)),
        ("Snapshot.has_edge", lambda: shown.has_edge(1, 2)),
        ("Graph.snapshot", tiny.snapshot),
    ):
        took = median(lambda call=call: [call() for _ in range(TINY_CALLS)], repeats) / TINY_CALLS
        print(f"{name}: {took * 1e6:.1f} us a call")
    load(repeats)
    mixed()


def load(repeats: int) -> None:
    """Ten million edges that a seed gives, as Arrow columns, into a new graph."""
    random = np.random.default_rng(1)
    bits = 20
    pairs = np.unique(random.integers(0, 1 << 2 * bits, int(LOADED_EDGES * 1.01), dtype=np.int64))
    random.shuffle(pairs)
    pairs = pairs[:LOADED_EDGES]
    columns = [pa.array(pairs >> bits), pa.array(pairs & ((1 << bits) - 1))]
    for keys in ("dense", "number"):
        took = median(lambda keys=keys: eg.from_edges(*columns, directed=True, keys=keys), repeats)
        print(f"loading {LOADED_EDGES:,} directed edges, {keys} keys: {took:.2f} s")


def mixed() -> None:
    """Commits of single edges and PageRank: each alone, then both."""
    graph = eg.read("graph500-18")

    def commit() -> Callable[[], None]:
        key = graph.number_of_nodes() + 1_000_000
        graph.add_nodes_from([key, key + 1])

        def flip() -> None:
            with graph.begin() as tx:
                tx.add_edge(key, key + 1)
            with graph.begin() as tx:
                tx.remove_edge(key, key + 1)

        return flip

    def rank() -> None:
        graph.snapshot().pagerank(max_iter=20, tol=None)

    flip = commit()
    alone = [rate(work, MIXED_SECONDS) for work in (flip, rank)]
    both = [0.0, 0.0]

    def run(place: int, work: Callable[[], None]) -> None:
        both[place] = rate(work, MIXED_SECONDS)

    crew = [threading.Thread(target=run, args=pair) for pair in enumerate((flip, rank))]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    for name, before, after in zip(("commits", "PageRank"), alone, both, strict=True):
        print(
            f"{name} a second: {before:,.2f} alone, {after:,.2f} beside the other "
            f"({after / before:.2f})"
        )


def rate(work: Callable[[], None], limit: float) -> float:
    """How often a second it is done."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < limit:
        work()
        done += 1
    return done / (time.perf_counter() - start)


def median(call: Callable[[], object], repeats: int) -> float:
    """Seconds, of calls after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def limited(call: Callable[[], object], limit: int) -> float | None:
    """Seconds of one call, or none if it takes longer than the limit."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    start = time.perf_counter()
    try:
        call()
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)
    return time.perf_counter() - start


def seconds(time_taken: float | None) -> str:
    """A time in a unit that fits."""
    if time_taken is None:
        return ""
    return f"{time_taken:.2f} s" if time_taken >= 1 else f"{time_taken * 1e3:.1f} ms"


if __name__ == "__main__":
    main()
