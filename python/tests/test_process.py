"""Threads, signals, forks, the end of the process, and memory."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import evergraph as eg


def run(code, **options):
    """Runs a program in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def test_threads_commit_while_others_compute():
    graph = eg.read("graph500-12")
    edges, stop, wrong = graph.number_of_edges(), threading.Event(), []
    committed = 0

    def write():
        nonlocal committed
        key = 1 << 40
        while not stop.is_set():
            with graph.begin() as tx:
                tx.add_vertex(key)
            committed, key = committed + 1, key + 1

    def read():
        for _ in range(20):
            shown = graph.snapshot()
            ranks = shown.pagerank(max_iter=5, tol=None)["rank"]
            if abs(ranks.sum() - 1.0) > 1e-9 or shown.number_of_edges() != edges:
                wrong.append(shown.version)

    graph = eg.from_edges(*(graph.snapshot().edges()[name] for name in ("source", "target")))
    writer, readers = threading.Thread(target=write), [threading.Thread(target=read)] * 1
    writer.start()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    stop.set()
    writer.join()
    assert not wrong
    assert committed > 0 and graph.snapshot().has_node((1 << 40) + committed - 1)


def test_other_threads_run_during_long_work():
    graph = eg.read("graph500-14")
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        graph.snapshot().pagerank(max_iter=50, tol=None)
    done.set()
    clock.join()
    # A thread that holds the interpreter's lock leaves room for a tick per 5 ms at most.
    assert ticks > 150


def test_ctrl_c_stops_a_kernel_and_the_graph_lives_on():
    graph = eg.read("graph500-14")
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        graph.snapshot().pagerank(max_iter=10_000_000, tol=None)
    assert time.perf_counter() - start < 5
    assert graph.snapshot().pagerank()["rank"].sum() == pytest.approx(1.0)


def test_ctrl_c_stops_a_load():
    main = threading.main_thread().ident
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        eg.read("graph500-22")
    assert time.perf_counter() - start < 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_child_is_told_and_can_make_its_own():
    done = run(
        """
        import os, evergraph as eg
        graph = eg.read("graph500-8")
        shown, tx = graph.snapshot(), graph.begin()
        shown.pagerank()
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (graph.snapshot, shown.pagerank, lambda: tx.add_vertex(1), graph.begin):
                try:
                    use()
                except eg.ForkedError:
                    refused += 1
            own = eg.from_edges([1, 2], [2, 3])
            ranks = own.snapshot().pagerank()["rank"].sum()
            del graph, shown, tx
            os._exit(0 if refused == 4 and abs(ranks - 1) < 1e-9 else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        print(round(shown.pagerank()["rank"].sum(), 9))
        """
    )
    assert (done.stdout, done.returncode) == ("1.0\n", 0), done.stderr


@pytest.mark.parametrize("daemon", [True, False])
def test_the_process_ends_cleanly_during_work(daemon):
    done = run(
        f"""
        import threading, time, evergraph as eg
        graph = eg.read("graph500-12")
        def work():
            for _ in range(40):
                graph.snapshot().pagerank(max_iter=200, tol=None)
        threading.Thread(target=work, daemon={daemon}).start()
        tx = graph.begin()
        time.sleep(0.1)
        print("end")
        """
    )
    assert (done.stdout, done.returncode) == ("end\n", 0), done.stderr


def test_nothing_is_left_behind():
    def round_trip():
        source = np.arange(20_000)
        graph = eg.from_edges(source, source + 1, keys="dense")
        shown = graph.snapshot()
        for table in (shown.pagerank(), shown.bfs(0), shown.connected_components(), shown.edges()):
            table.to_dict(), table.to_polars()
        shown.csr()

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(10):
        round_trip()
    before = resident()
    for _ in range(60):
        round_trip()
    # A round makes about 5 MB of arrays and graph; were they kept, 300 MB would be there.
    assert resident() - before < 60e6


def test_open_snapshots_are_given_back():
    graph = eg.Graph()
    for key in range(100):
        graph.add_node(key)
        graph.snapshot()
    gc.collect()
    assert graph.stats()["snapshots"] <= 1
    graph.add_node(100)
    assert graph.stats()["snapshots"] == 0
