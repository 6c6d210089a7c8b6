"""Ctrl-C while the past is put together and while a standing result is refreshed."""

import signal
import threading
import time

import numpy as np
import pytest

import evergraph as eg

TRIES = 5
"""Other work may hold up a call that was stopped; not each time."""


def sorted_edges(shown):
    """The edges as rows, in the order of their ends."""
    table = shown.edges()
    ends = np.stack([table["source"], table["target"]])
    return ends[:, np.lexsort(ends)]


def seconds(work):
    """How long a call takes; what it gives."""
    start = time.perf_counter()
    given = work()
    return time.perf_counter() - start, given


def stopped_after(work, delay):
    """How long a call takes that hears Ctrl-C after a delay."""
    main = threading.main_thread().ident
    timer = threading.Timer(delay, lambda: signal.pthread_kill(main, signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    took = time.perf_counter() - start
    timer.join()
    return took


def least_stopped_after(work, full):
    """The least of some tries, with Ctrl-C early in a call that takes so long in full."""
    least = full
    for _ in range(TRIES):
        least = min(least, stopped_after(work, full / 10))
        if least < full / 2:
            break
    return least


def test_ctrl_c_stops_a_snapshot_of_the_past(tmp_path):
    edges = eg.read("graph500-14").snapshot().edges()
    with eg.open(tmp_path, directed=True, durability="os", keep="everything") as graph:
        with graph.ingest(delay=0.001) as into:
            for shift in range(30):
                into.add_edges(edges["source"] + shift, edges["target"])
        before = graph.version
        graph.add_node(1 << 40)
        full, past = seconds(lambda: graph.snapshot(at=before))
        assert full > 0.2
        least = least_stopped_after(lambda: graph.snapshot(at=before), full)
        assert least < full / 2, f"{least} of {full} seconds"
        again = graph.snapshot(at=before)
        now = sorted_edges(graph.snapshot())
        assert np.array_equal(sorted_edges(past), now) and np.array_equal(sorted_edges(again), now)
        assert (again.version, graph.has_node(1 << 40)) == (before, True)


def test_ctrl_c_stops_a_refresh_and_a_later_one_succeeds(tmp_path):
    with eg.open(tmp_path, durability="os") as graph:
        # Ranks spread slowly along a path.
        path = np.arange(1500)
        graph.add_edges(path, path + 1)

        def begin():
            return eg.standing.pagerank(graph, alpha=0.9999, tolerance=1e-10, recompute_above=0.0)

        full, ranks = seconds(begin)
        assert full > 0.2
        least = least_stopped_after(begin, full)
        assert least < full / 2, f"{least} of {full} seconds to begin"

        def refresh():
            graph.add_node(graph.version + (1 << 40))
            ranks.refresh()

        least = least_stopped_after(refresh, full)
        assert least < full / 2, f"{least} of {full} seconds to refresh"
        with pytest.raises(eg.InvalidError, match="refresh again"):
            _ = ranks.value
        assert ranks.refresh() == "recomputed"
        assert ranks.value["rank"].sum() == pytest.approx(1.0)
        assert ranks.version == graph.version
