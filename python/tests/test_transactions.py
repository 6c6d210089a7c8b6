"""Transactions: what a block does, what an error is, what a retry does."""

import threading

import pytest

import evergraph as eg


def triangle(**options):
    graph = eg.Graph(**options)
    graph.add_edges([1, 2, 3], [2, 3, 1])
    return graph


def test_a_block_commits_at_its_end():
    graph = eg.Graph()
    with graph.begin() as tx:
        tx.add_vertices([1, 2])
        tx.add_edge(1, 2)
        assert graph.number_of_nodes() == 0
        assert len(tx) == 3
    assert graph.has_edge(2, 1)
    assert tx.version == graph.version == 1


def test_a_block_that_raises_changes_nothing():
    graph = triangle()
    with pytest.raises(RuntimeError, match="mine"), graph.begin() as tx:
        tx.remove_vertex(1)
        raise RuntimeError("mine")
    assert graph.number_of_edges() == 3


def test_a_transaction_reads_its_own_changes():
    graph = triangle(weights=True)
    with graph.begin() as tx:
        tx.set_weight(1, 2, 4.5)
        tx.remove_edge(2, 3)
        assert tx.weight(2, 1) == 4.5
        assert tx.weight(2, 3) is None
        assert tx.neighbours(2) == [(1, 4.5)]
        assert tx.degree(3) == 1
        assert sorted(tx.vertices()) == [1, 2, 3]
        tx.rollback()
    assert graph.adj[1][2] == {"weight": 1.0}


def test_what_has_ended_is_not_used_again():
    tx = eg.Graph().begin()
    tx.commit()
    for use in (tx.commit, tx.rollback, lambda: tx.add_vertex(1), lambda: len(tx)):
        with pytest.raises(eg.TransactionEndedError, match="begin a new one"):
            use()


def test_the_second_of_two_that_change_the_same_conflicts():
    graph = triangle(weights=True)
    first, second = graph.begin(), graph.begin()
    first.set_weight(1, 2, 2.0)
    second.set_weight(2, 1, 3.0)
    first.commit()
    with pytest.raises(eg.ConflictError, match="edge 2 1|edge 1 2"):
        second.commit()
    assert graph.edges[1, 2] == {"weight": 2.0}


def test_a_serializable_one_is_refused_when_what_it_read_changed():
    graph = triangle(isolation="serializable")
    tx = graph.begin()
    assert tx.has_edge(1, 2)
    tx.add_vertex(9)
    graph.remove_edge(1, 2)
    with pytest.raises(eg.ConflictError):
        tx.commit()
    free = graph.begin(isolation="snapshot")
    assert free.has_edge(2, 3)
    graph.remove_edge(2, 3)
    free.add_vertex(10)
    free.commit()


@pytest.mark.parametrize("style", ["attempts", "transaction"])
def test_counters_of_many_threads_lose_nothing(style):
    graph = eg.Graph(weights=True)
    graph.add_edge(1, 2, 0.0)
    rounds, threads = 25, 4

    def bump(tx):
        tx.set_weight(1, 2, tx.weight(1, 2) + 1.0)

    def work():
        for _ in range(rounds):
            if style == "transaction":
                graph.transaction(bump, tries=10_000)
                continue
            for attempt in graph.attempts(10_000):
                with attempt as tx:
                    bump(tx)

    crew = [threading.Thread(target=work) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert graph.edges[1, 2]["weight"] == rounds * threads


def test_tries_come_to_an_end():
    graph = triangle(weights=True)
    seen = 0

    def always_late(tx):
        nonlocal seen
        seen += 1
        tx.set_weight(1, 2, 5.0)
        graph.transaction(lambda other: other.set_weight(1, 2, float(seen)))

    with pytest.raises(eg.ConflictError):
        graph.transaction(always_late, tries=3)
    assert seen == 3
    seen = 0
    with pytest.raises(eg.ConflictError):
        for attempt in graph.attempts(2):
            with attempt as tx:
                always_late(tx)
    assert seen == 2


@pytest.mark.parametrize(
    ("work", "error", "says"),
    [
        (lambda tx: tx.add_edge(1, 99), eg.NotFoundError, "no vertex 99; add it first"),
        (lambda tx: tx.remove_edge(1, 1), eg.NotFoundError, "no edge 1 1"),
        (lambda tx: tx.add_vertex(1), eg.AlreadyExistsError, "a vertex 1 already"),
        (lambda tx: tx.add_edge(1, 2), eg.AlreadyExistsError, "an edge 1 2 already"),
        (lambda tx: tx.add_vertex(-1), eg.InvalidError, "-1 is no key"),
        (lambda tx: tx.add_vertex(1.5), eg.InvalidError, "1.5 is no key"),
        (lambda tx: tx.add_vertex("a"), eg.InvalidError, "64-bit numbers"),
        (lambda tx: tx.add_edges([1, 2], [3]), eg.InvalidError, "2 sources, 1 targets"),
        (lambda tx: tx.add_vertices([1, -7]), eg.InvalidError, "-7 at position 1 is negative"),
        (lambda tx: tx.add_vertices([1.5]), eg.InvalidError, "float64 holds no keys"),
        (lambda tx: tx.set_weight(1, 2, 3.0), eg.InvalidError, r"Graph\(weights=True\)"),
    ],
)
def test_an_error_names_the_key_and_changes_nothing(work, error, says):
    graph = triangle()
    with pytest.raises(error, match=says), graph.begin() as tx:
        tx.add_vertex(50)
        work(tx)
    assert graph.number_of_nodes() == 3
    assert issubclass(error, eg.EvergraphError)


def test_limits_have_errors_of_their_own():
    graph = eg.Graph(max_transaction=2)
    with pytest.raises(eg.LimitError, match="at most 2 operations"):
        graph.add_nodes_from([1, 2, 3])
    graph = eg.Graph(self_loops=False)
    graph.add_node(1)
    with pytest.raises(eg.InvalidError, match="from 1 to itself"):
        graph.add_edge(1, 1)


def test_an_expired_snapshot_says_so():
    graph = triangle()
    shown = graph.snapshot()
    assert graph.expire_snapshots(0.0) == 1
    with pytest.raises(eg.SnapshotExpiredError, match="open a new one"):
        shown.pagerank()
    assert graph.stats()["snapshots"] == 0
