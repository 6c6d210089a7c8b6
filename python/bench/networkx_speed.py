"""How fast the package is beside NetworkX and igraph, on this machine.

    python networkx_speed.py [--graph graph500-18] [--directed] [--repeats 5] [--limit 60] [--json]

``evergraph bench python`` runs it. Results are a table in Markdown, or with ``--json`` an object
per line; what is being measured is told on standard error. Times are those of the call alone, from
the loaded graph to the answer as Python objects: NetworkX through its backend and by itself (once,
given up after ``--limit`` seconds), igraph to lists. Then: a call on a tiny graph, loading ten
million edges of Arrow columns, and a thread that commits while another ranks. Needs the packages
networkx, igraph, pyarrow and scipy.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa

import evergraph as eg

TINY_CALLS = 2000
LOADED_EDGES = 10_000_000
MIXED_SECONDS = 2.0
MIXED_ROUNDS = 3


def main() -> None:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="graph500-18", help="a generated graph or a file")
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=int, default=60, help="seconds for a call of NetworkX")
    parser.add_argument("--only", choices=["functions", "rest"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tell = tell_json if options.json else tell_markdown
    if not options.json:
        print("| figure | of | value | beside | that | quotient |\n|---|---|---|---|---|---|")
    if options.only != "rest":
        functions(options, tell)
    if options.only != "functions":
        rest(options.repeats, tell)


class Figure(NamedTuple):
    """What was measured, and what it stands beside."""

    metric: str
    of: str
    unit: str
    samples: list[float]
    baseline: str | None = None
    baseline_value: float | None = None
    remark: str | None = None
    threads: int | None = None
    """Those of the package; all unless said."""


Tell = Callable[[Figure], None]


def tell_json(figure: Figure) -> None:
    """A figure as an object on a line."""
    print(json.dumps(figure._asdict()), flush=True)


def tell_markdown(figure: Figure) -> None:
    """A figure as a row of a table."""
    value, beside = statistics.median(figure.samples), figure.baseline_value
    print(
        f"| {figure.metric} | {figure.of} {figure.remark or ''} | {value:.6g} {figure.unit} | "
        f"{figure.baseline or ''} | {'' if beside is None else f'{beside:.6g}'} | "
        f"{'' if beside is None else f'{value / beside:.3g}'} |",
        flush=True,
    )


def begin(step: str) -> None:
    """Tells what is measured now."""
    print(step, file=sys.stderr, flush=True)


def functions(options: argparse.Namespace, tell: Tell) -> None:
    """Each function through the backend, beside NetworkX itself and igraph."""
    graph = eg.read(options.graph, directed=options.directed, duplicates="ignore")
    model, other = eg.to_networkx(graph), to_igraph(graph)
    source = max(graph.degree, key=lambda pair: pair[1])[0]
    place = graph.snapshot().vertices.tolist().index(source)
    for name, ours, theirs in calls(options.directed, source, place):
        begin(name)
        took = times(lambda call=ours: call(graph), options.repeats)
        slow = limited(lambda call=ours: call(model), options.limit)
        given_up = None if slow is not None else "NetworkX was given up"
        beside = slow or float(options.limit)
        tell(Figure(f"nx_{name}", options.graph, "s", took, "networkx", beside, given_up))
        if theirs is not None:
            peer = statistics.median(times(lambda call=theirs: call(other), options.repeats))
            tell(Figure(f"nx_{name}", options.graph, "s", took, "igraph", peer))


Call = Callable[..., object]


def calls(directed: bool, source: object, place: int) -> list[tuple[str, Call, Call | None]]:
    """Name, call of NetworkX, call of igraph."""
    paths = (
        "single_source_shortest_path_length",
        lambda g: nx.single_source_shortest_path_length(g, source),
        lambda g: g.distances(source=place, mode="out"),
    )
    ranks = ("pagerank", nx.pagerank, lambda g: g.pagerank())
    # igraph ignores directions here, which is less to do.
    clustering = (
        "clustering",
        nx.clustering,
        lambda g: g.transitivity_local_undirected(mode="zero"),
    )
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
            clustering,
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
        clustering,
    ]


def to_igraph(graph: eg.Graph) -> igraph.Graph:
    """The same graph in igraph."""
    matrix = graph.snapshot().to_scipy_sparse_array().tocoo()
    ends = np.column_stack((matrix.row, matrix.col))
    if not graph.is_directed():
        ends = ends[ends[:, 0] <= ends[:, 1]]
    return igraph.Graph(n=matrix.shape[0], edges=ends, directed=graph.is_directed())


def rest(repeats: int, tell: Tell) -> None:
    """What is not about one function."""
    begin("calls on a tiny graph")
    tiny = eg.from_edges([1, 2, 3], [2, 3, 1])
    shown = tiny.snapshot()
    for name, call in (
        ("nx.pagerank", lambda: nx.pagerank(tiny)),
        ("nx.number_connected_components", lambda: nx.number_connected_components(tiny)),
        ("Snapshot.bfs", lambda: shown.bfs(1)),
        ("Snapshot.has_edge", lambda: shown.has_edge(1, 2)),
        ("Graph.snapshot", tiny.snapshot),
    ):
        took = times(lambda call=call: [call() for _ in range(TINY_CALLS)], repeats)
        each = [seconds / TINY_CALLS for seconds in took]
        tell(Figure("python_call", "a triangle", "s", each, remark=name))
    load(repeats, tell)
    mixed(tell)


def load(repeats: int, tell: Tell) -> None:
    """Ten million edges that a seed gives, as Arrow columns, into a new graph."""
    random = np.random.default_rng(1)
    bits = 20
    pairs = np.unique(random.integers(0, 1 << 2 * bits, int(LOADED_EDGES * 1.01), dtype=np.int64))
    random.shuffle(pairs)
    pairs = pairs[:LOADED_EDGES]
    columns = [pa.array(pairs >> bits), pa.array(pairs & ((1 << bits) - 1))]
    for keys in ("dense", "number"):
        begin(f"loading {LOADED_EDGES:,} edges, {keys} keys")
        took = times(lambda keys=keys: eg.from_edges(*columns, directed=True, keys=keys), repeats)
        tell(Figure("python_load", f"{LOADED_EDGES} edges", "s", took, remark=f"{keys} keys"))


def mixed(tell: Tell) -> None:
    """Commits of single edges and PageRank: each alone, then both, in turns.

    First PageRank has one thread, which leaves a core to who commits, then all.
    """
    graph = eg.read("graph500-18")
    key = max(graph) + 1
    graph.add_nodes_from([key, key + 1])

    def flip() -> None:
        with graph.begin() as tx:
            tx.add_edge(key, key + 1)
        with graph.begin() as tx:
            tx.remove_edge(key, key + 1)

    def rank() -> None:
        graph.snapshot().pagerank(max_iter=20, tol=None)

    for threads in sorted({1, eg.threads()}):
        begin(f"commits beside PageRank on {threads} threads")
        with eg.using_threads(threads):
            rounds = [side_by_side((flip, rank)) for _ in range(MIXED_ROUNDS)]
        remark = f"PageRank on {threads} of {eg.threads()} threads"
        for at, name in enumerate(("commits", "pagerank")):
            alone, both = ([rates[at] for rates in which] for which in zip(*rounds, strict=True))
            beside = statistics.median(alone)
            tell(
                Figure(
                    f"python_{name}", "graph500-18", "1/s", both, "alone", beside, remark, threads
                )
            )


def side_by_side(works: tuple[Callable[[], None], ...]) -> tuple[list[float], list[float]]:
    """How often a second each is done: alone, and all at once."""
    alone = [rate(work, MIXED_SECONDS) for work in works]
    both = [0.0] * len(works)

    def run(place: int, work: Callable[[], None]) -> None:
        both[place] = rate(work, MIXED_SECONDS)

    crew = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    return alone, both


def rate(work: Callable[[], None], limit: float) -> float:
    """How often a second it is done."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < limit:
        work()
        done += 1
    return done / (time.perf_counter() - start)


def times(call: Callable[[], object], repeats: int) -> list[float]:
    """Seconds, of calls after one that is not counted."""
    call()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return took


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


if __name__ == "__main__":
    main()
