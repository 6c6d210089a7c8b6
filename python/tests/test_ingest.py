"""Changes without transactions: what is there afterwards, errors, threads, closing."""

import random
import threading
import time

import numpy as np
import pytest

import evergraph as eg


def edges(shown):
    """The edges with their weights, each once."""
    table = shown.edges()
    ends = zip(table["source"].tolist(), table["target"].tolist(), strict=True)
    pairs = [tuple(sorted(pair)) for pair in ends]
    return dict(zip(pairs, table["weight"].tolist(), strict=True))


def wait_until(true):
    """Waits for what a thread of the graph does."""
    limit = time.monotonic() + 20
    while not true() and time.monotonic() < limit:
        time.sleep(0.01)
    assert true()


@pytest.mark.parametrize("seed", range(5))
def test_the_last_one_wins(seed):
    dice = random.Random(seed)
    graph = eg.Graph(weights=True)
    plain = {}
    with graph.ingest() as into:
        for step in range(500):
            pair = tuple(sorted((dice.randrange(12), dice.randrange(12))))
            match dice.randrange(4):
                case 0:
                    into.remove_edge(*pair)
                    plain.pop(pair, None)
                case 1:
                    into.set_weight(*pair, step)
                    plain.update({pair: float(step)} if pair in plain else {})
                case _:
                    into.add_edge(*pair, step)
                    plain[pair] = float(step)
            if dice.randrange(60) == 0:
                view = dice.choice(["plain", "private"])
                assert edges(graph.static_view(view)) == plain, f"seed {seed}, {view}"
    assert edges(graph.snapshot()) == plain, f"seed {seed}"
    assert edges(graph.static_view("stale")) == plain


def test_columns():
    graph = eg.Graph(weights=True, directed=True)
    source, target = np.arange(1000) % 50, np.arange(1000) % 7
    into = graph.ingest()
    into.add_edges(source, target, np.arange(1000.0))
    version = into.flush()
    assert version == graph.version and into.backlog() == (0, 0.0)
    assert graph.number_of_edges() == len(set(zip(source.tolist(), target.tolist(), strict=True)))
    assert graph.edges[999 % 50, 999 % 7]["weight"] == 999.0
    into.set_weights([49, 1], [5, 10**6], [0.5, 0.5])
    into.remove_edges(source[:7], target[:7])
    into.flush()
    assert graph.edges[49, 5]["weight"] == 0.5
    assert not graph.has_edge(3, 3) and not graph.has_node(10**6)


def test_errors():
    graph = eg.Graph()
    into = graph.ingest()
    with pytest.raises(eg.InvalidError, match="weights=True"):
        into.add_edge(1, 2, 0.5)
    with pytest.raises(eg.InvalidError, match="64-bit numbers"):
        into.add_edge("a", "b")
    with pytest.raises(eg.InvalidError):
        into.add_edges([1, 2], [3])
    with pytest.raises(eg.InvalidError, match="plain, stale or private"):
        graph.static_view("fresh")
    with pytest.raises(ValueError, match="mine"), graph.ingest() as other:
        raise ValueError("mine")
    with pytest.raises(eg.ClosedError):
        other.flush()
    assert graph.version == 0


def test_options_count_for_the_window_from_then_on():
    graph = eg.Graph()
    into = graph.ingest(backlog=3, full="refuse")
    chain = np.arange(100)
    with pytest.raises(eg.BacklogFullError, match="^3 changes wait"):
        into.add_edges(chain, chain + 1)
    assert issubclass(eg.BacklogFullError, eg.LimitError)
    into.flush()
    assert graph.number_of_edges() == 3
    # What is not said stays: it still refuses, also by the older handle.
    other = graph.ingest(backlog=7, threads=2)
    for each in (into, other):
        with pytest.raises(eg.BacklogFullError, match="^7 changes wait"):
            each.add_edges(chain, chain + 1)
        each.flush()
    assert graph.number_of_edges() == 7
    # Nothing is old or many enough.
    graph.ingest(backlog=1000, threshold=1000, delay=3600, full="wait")
    version = graph.version
    into.add_edges(chain, chain + 1)
    time.sleep(0.1)
    assert (into.backlog()[0], graph.version) == (100, version)
    # Now it is old enough: the thread archives by itself.
    graph.ingest(delay=0.001)
    wait_until(lambda: graph.number_of_edges() == 100)


def test_a_batch_is_a_version():
    graph = eg.Graph()
    with graph.ingest(batch=10, threshold=10**6, delay=3600) as into:
        into.add_edges(np.arange(95), np.arange(95) + 1)
        assert graph.version == 0
    assert graph.version == 10
    with graph.ingest(threshold=50) as into:
        into.add_edges(np.arange(50), np.arange(50) + 200)
        # Enough wait for a batch; what is left of it is neither old nor many enough.
        wait_until(lambda: graph.version == 11)
        assert into.flush() == 15


@pytest.mark.parametrize("name", ["threshold", "batch", "backlog", "threads"])
def test_options_that_mean_nothing_are_refused(name):
    graph = eg.Graph()
    for number in (0, -1):
        with pytest.raises(eg.InvalidError, match=f"{name}={number}: say 1 or more"):
            graph.ingest(**{name: number})
    for wrong in ({"full": "drop"}, {"delay": -1.0}, {"delay": float("nan")}):
        with pytest.raises(eg.InvalidError):
            graph.ingest(**wrong)


def test_threads_share_one_window():
    graph = eg.Graph()

    def work(first):
        with graph.ingest() as into:
            for start in range(first, first + 4000, 100):
                keys = np.arange(start, start + 100)
                into.add_edges(keys, keys + 1)

    threads = [threading.Thread(target=work, args=(10_000 * at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert graph.number_of_edges() == 16_000
    assert graph.stats()["backlog"] == 0


def test_closing_keeps_what_was_appended(tmp_path):
    with eg.open(tmp_path) as graph:
        into = graph.ingest()
        into.add_edges([1, 2], [2, 3])
    with pytest.raises(eg.ClosedError):
        into.add_edge(3, 4)
    with eg.open(tmp_path, read_only=True) as graph:
        assert graph.number_of_edges() == 2
        with pytest.raises(eg.ReadOnlyError):
            graph.ingest()
