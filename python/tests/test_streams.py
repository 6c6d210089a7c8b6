"""The past, and how it became the present: snapshots at versions, changes, followers, windows."""

import datetime
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import evergraph as eg


@pytest.fixture
def graph(tmp_path):
    with eg.open(tmp_path, weights=True, keep="everything") as opened:
        yield opened


def rows(table):
    return [
        tuple(row) for row in zip(*(table.column(name).to_list() for name in table), strict=True)
    ]


def state(shown):
    """What a graph holds: vertices, and edges with their weights."""
    table = shown.edges()
    ends = zip(table["source"].tolist(), table["target"].tolist(), strict=True)
    edges = [tuple(sorted(pair)) for pair in ends]
    return set(shown.vertices.tolist()), dict(zip(edges, table["weight"].tolist(), strict=True))


def change_at_random(graph, dice):
    """A transaction that fits the graph."""
    vertices, edges = state(graph.snapshot())
    with graph.begin() as tx:
        for _ in range(dice.randrange(2, 5)):
            new = max(vertices | {0}) + 1
            tx.add_vertex(new)
            vertices.add(new)
        pair = tuple(sorted(dice.sample(sorted(vertices), 2)))
        if edges and dice.random() < 0.6:
            pair = dice.choice(sorted(edges))
        u, v = pair
        if pair not in edges:
            tx.add_edge(u, v, dice.random())
        elif dice.random() < 0.5:
            tx.remove_edge(u, v)
        else:
            tx.set_weight(u, v, dice.random())
    if dice.random() < 0.2:
        graph.remove_node(dice.choice(sorted(vertices)))


def apply(to, table):
    """The state after the changes of a table."""
    vertices, edges = set(to[0]), dict(to[1])
    names = ("change", "source", "target", "weight")
    for what, source, target, weight in zip(
        *(table.column(name).to_list() for name in names), strict=True
    ):
        pair = None if target is None else tuple(sorted((source, target)))
        if what == "add_vertex":
            vertices.add(source)
        elif what == "remove_vertex":
            vertices.remove(source)
        elif what == "remove_edge":
            del edges[pair]
        else:
            assert (pair in edges) == (what == "set_weight")
            edges[pair] = weight
    return vertices, edges


def test_every_version_is_what_it_was_and_changes_lead_from_one_to_the_next(graph):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    states = {0: (set(), {})}
    for _ in range(25):
        change_at_random(graph, dice)
        states[graph.version] = state(graph.snapshot())
    for version in dice.sample(sorted(states), 8):
        assert state(graph.snapshot(at=version)) == states[version]
    for _ in range(8):
        a, b = sorted(dice.sample(sorted(states), 2))
        assert apply(states[a], graph.changes(a, b)) == states[b]
        assert apply(states[a], graph.diff(a, b)) == states[b]
    merged = states[0]
    for batch in graph.follow(0, most=3).until(graph.version):
        merged = apply(merged, batch)
    assert merged == states[graph.version]


def test_a_change_says_what_when_and_where(graph):
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    graph.add_edge(1, 2, 0.5)
    graph.add_edge(1, 2, 0.25)
    graph.remove_node(2)
    table = graph.changes(0)
    assert table.columns == ["version", "time", "change", "source", "target", "weight"]
    # Vertices come before edges; in which order, and an edge from which end, is not said.
    found = [(what, {u, v} - {None}, weight) for _, _, what, u, v, weight in rows(table)]
    assert sorted(found[:2], key=str) == [("add_vertex", {1}, None), ("add_vertex", {2}, None)]
    assert found[2:] == [
        ("add_edge", {1, 2}, 0.5),
        ("set_weight", {1, 2}, 0.25),
        ("remove_vertex", {2}, None),
        ("remove_edge", {1, 2}, None),
    ]
    assert table["version"].tolist() == [1, 1, 1, 2, 3, 3]
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    assert all(begin <= at <= end for at in table.column("time").to_list())
    assert table["time"].dtype == "datetime64[us]"
    assert rows(graph.diff(0, 3)) == [("add_vertex", 1, None, None)]
    assert (table.info["after"], table.info["version"]) == (0, 3)


def test_changes_are_arrow_tables(graph):
    pa = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    graph.add_edge(1, 2, 0.5)
    graph.add_node(3)
    batches = graph.follow(0, most=1).until(2)
    table = pa.concat_tables([pa.table(batch) for batch in batches])
    assert str(table.schema.field("time").type) == "timestamp[us, tz=UTC]"
    assert table.column("target").null_count == 3
    assert table.column("weight").to_pylist() == [None, None, 0.5, None]
    assert polars.DataFrame(graph.changes(0)).height == 4
    frame = graph.changes(0).to_pandas()
    assert frame["weight"].isna().tolist() == [True, True, False, True]


def test_texts_and_unweighted_edges(tmp_path):
    with eg.open(tmp_path, keys="text", directed=True) as graph:
        follower = graph.follow()
        graph.add_edge("b", "a")
        assert rows(next(follower))[-1][2:] == ("add_edge", "b", "a")


def test_a_time_is_the_last_version_that_was_written_by_then(graph):
    graph.add_node(1)
    time.sleep(0.02)
    between = datetime.datetime.now(datetime.timezone.utc)
    time.sleep(0.02)
    graph.add_node(2)
    for at in (between, between.astimezone(), between.astimezone().replace(tzinfo=None)):
        assert graph.snapshot(at=at).version == 1
    assert graph.snapshot(at=datetime.datetime.now()).version == 2


def test_what_is_not_kept_or_not_yet_there_says_so(tmp_path):
    with eg.open(tmp_path) as graph:
        for key in range(3):
            graph.add_node(key)
    with eg.open(tmp_path) as graph:
        graph.add_node(3)
        graph.checkpoint()
        for ask in (
            lambda: graph.snapshot(at=1),
            lambda: graph.changes(0),
            lambda: graph.follow(0).poll(),
        ):
            with pytest.raises(eg.TooOldError, match=r"keep more with open\(path, keep=\.\.\.\)"):
                ask()
        for ask in (
            lambda: graph.snapshot(at=9),
            lambda: graph.follow(9),
            lambda: graph.diff(4, 9),
        ):
            with pytest.raises(eg.NotFoundError, match="the newest is 4"):
                ask()


def test_a_follower_waits_for_commits_of_other_threads(graph):
    threads = [
        threading.Thread(target=lambda base=base: [graph.add_node(base + i) for i in range(40)])
        for base in (0, 1000)
    ]
    follower = graph.follow(timeout=5.0)
    for thread in threads:
        thread.start()
    keys = []
    for batch in follower:
        keys += batch["source"].tolist()
        if len(keys) == 80:
            break
    for thread in threads:
        thread.join()
    assert sorted(keys) == [*range(40), *range(1000, 1040)]
    assert follower.position == graph.version


def test_a_timeout_ends_the_iteration(graph):
    graph.add_node(1)
    begin = time.perf_counter()
    assert len(list(graph.follow(0, timeout=0.2))) == 1
    assert 0.2 <= time.perf_counter() - begin < 2
    assert list(graph.follow(timeout=0)) == list(graph.windows(commits=1, timeout=0)) == []
    assert graph.stream(timeout=0).wait(0.01) is None
    with graph.follow() as follower:
        pass
    with pytest.raises(eg.ClosedError):
        follower.poll()


@pytest.mark.parametrize("kind", ["follow", "windows", "stream"])
def test_ctrl_c_ends_waiting_and_nothing_is_lost(graph, kind):
    pulled = graph.windows(commits=1) if kind == "windows" else getattr(graph, kind)()
    main = threading.main_thread().ident
    threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        next(pulled)
    assert time.perf_counter() - begin < 2
    graph.add_node(7)
    found = next(pulled)
    assert (found.changes if kind == "stream" else found)["source"].tolist() == [7]


def test_windows_tumble_and_slide(graph):
    for key in range(7):
        graph.add_node(key)

    def windows(**shape):
        return [window["source"].tolist() for window in graph.windows(0, timeout=0, **shape)]

    assert windows(commits=3) == [[0, 1, 2], [3, 4, 5]]
    assert windows(commits=3, step=2) == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert windows(commits=2, step=3) == [[0, 1], [3, 4]]
    assert windows(seconds=0.000_001) == [[key] for key in range(7)]
    assert windows(seconds=3600) == []
    first = graph.windows(0, commits=3)
    next(first)
    assert first.position == 3
    for wrong in ({}, {"commits": 1, "seconds": 1}, {"commits": 0}, {"seconds": 1, "step": 0}):
        with pytest.raises(eg.InvalidError, match="window"):
            graph.windows(0, **wrong)


def test_a_stream_gives_snapshots_with_what_led_to_them(graph):
    stream = graph.stream()
    before = state(graph.snapshot())
    for base in range(3):
        graph.add_edge(base, base + 1, 1.0)
        graph.add_edge(base, base + 2, 2.0)
        step = next(stream)
        assert step.snapshot.version == stream.position == graph.version
        before = apply(before, step.changes)
        assert before == state(step.snapshot)
    assert stream.poll() is None


def test_a_reader_that_stores_its_position_does_each_commit_once(tmp_path):
    path = tmp_path / "g"
    with eg.open(path, keep="everything", weights=True) as graph:
        assert graph.position("sum") is None
        graph.add_edge(0, 0, 0.0)
        for key in range(1, 6):
            graph.add_node(key)
    # A sum of keys, kept in the graph itself; the reader stops after every second batch.
    for _ in range(6):
        with eg.open(path, keep="everything") as graph:
            position = graph.position("sum") or 0
            for batch in graph.follow(position, most=2, timeout=0).until(graph.version)[:1]:
                added = [
                    key
                    for what, key in zip(batch["change"], batch["source"], strict=True)
                    if what == "add_vertex"
                ]
                with graph.begin() as tx:
                    tx.set_weight(0, 0, tx.weight(0, 0) + sum(added))
                    tx.set_position("sum", int(batch.info["version"]))
    with eg.open(path) as graph:
        assert graph.snapshot().weight(0, 0) == 15.0


def test_another_process_is_watched(tmp_path):
    with pytest.raises(eg.NotFoundError):
        eg.watch(tmp_path)
    eg.open(tmp_path).close()
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(
                """
                import sys, evergraph as eg
                with eg.open(sys.argv[1]) as graph:
                    for key in range(200):
                        graph.add_node(key)
                """
            ),
            str(tmp_path),
        ]
    )
    keys = []
    for batch in eg.watch(tmp_path, "oldest", timeout=20.0):
        keys += batch["source"].tolist()
        if len(keys) == 200:
            break
    assert writer.wait(20) == 0
    assert keys == list(range(200))
    assert [len(b) for b in eg.watch(tmp_path, 190, timeout=0)] == [10]
    assert list(eg.watch(tmp_path, timeout=0)) == []
    with pytest.raises(eg.InvalidError, match="choose a version, oldest or newest"):
        eg.watch(tmp_path, "first")
