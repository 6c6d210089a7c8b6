"""Graphs in folders: what is there again, who may open it, what closing does, how it ends."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import tqdm

import evergraph as eg


def run(code, *arguments, **options):
    """Runs a program in a Python of its own."""
    program = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, **options)


@pytest.mark.parametrize("durability", ["sync", "group:10ms", "os", "none"])
def test_what_was_committed_is_there_again(tmp_path, durability):
    with eg.open(tmp_path / "g", weights="f32", keys="text", durability=durability) as graph:
        graph.add_edge("anna", "bert", 0.5)
        graph.add_edge("bert", "cleo", 1.5)
        graph.remove_node("anna")
        version = graph.version
    with eg.open(tmp_path / "g") as graph:
        assert graph.version == version
        assert list(graph.edges(data="weight")) == [("bert", "cleo", 1.5)]
        assert not graph.is_directed() and graph.path == str(tmp_path / "g")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"directed": False}, "directions"),
        ({"weights": "f64"}, "weights"),
        ({"weights": False}, "weights"),
        ({"keys": "text"}, "keys"),
        ({"self_loops": True}, "self loops"),
    ],
)
def test_a_folder_that_was_made_with_others_says_so(tmp_path, options, what):
    made = {"directed": True, "weights": "f32", "keys": "number", "self_loops": False}
    eg.open(tmp_path, **made).close()
    with pytest.raises(eg.InvalidError, match=f"made with other {what}; leave these options out"):
        eg.open(tmp_path, **options)
    eg.open(tmp_path, **made).close()
    with eg.open(tmp_path) as graph:
        assert graph.is_directed()
        with pytest.raises(eg.InvalidError, match="itself"):
            graph.add_edge(1, 1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"durability": "often"}, "durability: `often` is not sync, group:MS"),
        ({"durability": "group:0"}, "`group:0` is not"),
        ({"keep": "versions"}, "keep: `versions` is not nothing, versions:N"),
        ({"weights": "f16"}, "choose False, True, f32 or f64"),
        ({"keys": "uuid"}, "choose number, text or dense"),
        ({"isolation": "none"}, "choose snapshot or serializable"),
    ],
)
def test_an_option_that_there_is_not_is_refused_before_anything_is_made(tmp_path, options, says):
    with pytest.raises(eg.InvalidError, match=says.replace("(", "\\(")):
        eg.open(tmp_path / "g", **options)
    assert not (tmp_path / "g").exists()


def test_one_writes_or_many_read(tmp_path):
    with pytest.raises(eg.NotFoundError, match="no database in"):
        eg.open(tmp_path / "g", read_only=True)
    writer = eg.open(tmp_path / "g")
    writer.add_edge(1, 2)
    with pytest.raises(eg.LockedError, match=f"process {os.getpid()}; close it there first") as it:
        eg.open(tmp_path / "g")
    assert isinstance(it.value, OSError)
    with pytest.raises(eg.LockedError):
        eg.open(tmp_path / "g", read_only=True)
    writer.close()
    with (
        eg.open(tmp_path / "g", read_only=True) as one,
        eg.open(tmp_path / "g", read_only=True) as other,
    ):
        assert one.has_edge(1, 2) and other.has_edge(1, 2)
        with pytest.raises(eg.ReadOnlyError, match="read_only=True"):
            one.add_node(3)


def test_closing_ends_what_uses_the_graph(tmp_path):
    graph = eg.open(tmp_path, keep="everything")
    graph.add_edge(1, 2)
    shown, tx = graph.snapshot(), graph.begin()
    tx.add_vertex(9)
    pulled = [graph.follow(0), graph.windows(0, commits=1), graph.stream(0)]
    standing = eg.standing.degrees(graph)
    graph.close()
    graph.close()
    # The lock is free although all of these are still held.
    with eg.open(tmp_path) as again:
        assert again.number_of_nodes() == 2
    uses = [graph.snapshot, graph.begin, graph.sync, graph.stats, tx.commit, standing.refresh]
    for use in [*uses, *(one.poll for one in pulled)]:
        with pytest.raises(eg.ClosedError, match="open it again"):
            use()
    assert shown.has_edge(1, 2)
    assert repr(graph) == "Graph(closed)"


def test_a_graph_in_memory_closes_too():
    with eg.Graph() as graph:
        graph.add_edge(1, 2)
        graph.sync()
        for use in (graph.checkpoint, graph.follow, lambda: graph.changes(0)):
            with pytest.raises(eg.InvalidError, match=r"make it with open\(path\)"):
                use()
    with pytest.raises(eg.ClosedError):
        graph.add_edge(2, 3)


def test_closing_waits_for_work_of_others(tmp_path):
    graph = eg.open(tmp_path, durability="none")
    done, errors = 0, []

    def work():
        nonlocal done
        try:
            while True:
                graph.add_node(done)
                done += 1
        except eg.ClosedError:
            pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while done < 50:
        time.sleep(0.001)
    graph.close()
    thread.join()
    assert not errors
    with eg.open(tmp_path) as again:
        assert again.number_of_nodes() == done


def test_other_threads_run_while_one_commits_opens_and_closes(tmp_path):
    ticks, stop = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    begin = time.perf_counter()
    rounds = 0
    while time.perf_counter() - begin < 0.5:
        with eg.open(tmp_path) as graph:
            for key in range(20):
                graph.add_node(20 * rounds + key)
            graph.checkpoint()
        rounds += 1
    stop.set()
    clock.join()
    assert ticks > 100


def test_stats_tell_what_lies_in_the_folder(tmp_path):
    for key in range(6):
        # Whoever opens it begins a new file of the log.
        with eg.open(tmp_path, keep="versions:2") as graph:
            graph.add_node(key)
            version = graph.version
            assert graph.checkpoint() == version
            stats = graph.stats()
            logs, checkpoints = (
                [file.stat().st_size for file in tmp_path.glob(names)]
                for names in ("log-*", "checkpoint-*")
            )
            assert (stats["log_files"], stats["log_bytes"]) == (len(logs), sum(logs))
            assert stats["checkpoints"] == len(checkpoints)
            assert stats["checkpoint_bytes"] == sum(checkpoints) > 0
            held = graph.snapshot()
            graph.add_node(100 + key)
            assert graph.stats()["oldest_version"] == held.version == version
    assert 0 < stats["changes_after"] <= stats["oldest_kept"] <= version - 2
    assert "log_bytes" not in eg.Graph().stats()


def test_a_bar_hears_how_far_opening_is(tmp_path):
    with eg.open(tmp_path, durability="os") as graph:
        graph.add_edges(list(range(50_000)), list(range(1, 50_001)))

    class Bar:
        n, total = 0, None

        def update(self, more):
            assert more >= 0
            self.n += more

    bar = Bar()
    eg.open(tmp_path, progress=bar).close()
    assert bar.n == bar.total > 50_000
    with tqdm.tqdm(unit="B", unit_scale=True, file=io.StringIO()) as real:
        eg.open(tmp_path, progress=real).close()
        assert real.n == real.total >= bar.n

    class Broken(Bar):
        def update(self, more):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        eg.open(tmp_path, progress=Broken())
    eg.open(tmp_path).close()


def test_damage_is_told_with_its_place(tmp_path):
    with eg.open(tmp_path) as graph:
        graph.add_edge(1, 2)
    file = tmp_path / "DATABASE"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(eg.CorruptError, match="DATABASE is damaged at byte 0: its checksum"):
        eg.open(tmp_path)
    assert issubclass(eg.CorruptError, eg.StorageError)


@pytest.mark.parametrize("durability", ["group:1000", "none"])
@pytest.mark.parametrize(
    "ending", ["pass", "raise SystemExit(0)", "threading.Thread(target=add).start()"]
)
def test_the_end_of_the_process_closes_what_is_open(tmp_path, durability, ending):
    done = run(
        f"""
        import sys, threading, time, evergraph as eg
        graph = eg.open(sys.argv[1], durability={durability!r})
        graph.add_edge(1, 2)
        tx = graph.begin()
        def wait():
            for batch in graph.follow(0):
                pass
        def add():
            for key in range(3, 100):
                graph.add_node(key)
        if {durability!r} != "none":
            threading.Thread(target=wait, daemon=True).start()
        time.sleep(0.05)
        {ending}
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    with eg.open(tmp_path) as graph:
        assert graph.has_edge(1, 2)
        assert graph.number_of_nodes() == (99 if "Thread" in ending else 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_child_neither_writes_nor_keeps_the_folder(tmp_path):
    done = run(
        """
        import os, sys, evergraph as eg
        graph = eg.open(sys.argv[1], durability="group:1000")
        graph.add_edge(1, 2)
        follower = graph.follow(0)
        asks, tells = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (graph.close, graph.sync, follower.poll, lambda: graph.add_node(3)):
                try:
                    use()
                except eg.ForkedError:
                    refused += 1
            try:
                eg.open(sys.argv[1])
            except eg.LockedError:
                refused += 1
            os.write(tells[1], b"x")
            os.read(asks[0], 1)
            with eg.open(sys.argv[1]) as own:
                own.add_node(4)
            # An orderly end: what is left of the parent's graph is not closed here.
            sys.exit(0 if refused == 5 else 1)
        os.read(tells[0], 1)
        graph.close()
        with eg.open(sys.argv[1]) as again:
            again.add_node(3)
        os.write(asks[1], b"x")
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        with eg.open(sys.argv[1]) as again:
            print(sorted(again))
        """,
        tmp_path,
    )
    assert (done.stdout, done.returncode) == ("[1, 2, 3, 4]\n", 0), done.stderr


def test_ctrl_c_while_opening_leaves_the_folder_as_it_was(tmp_path):
    with eg.open(tmp_path, durability="os") as graph:
        graph.add_edges(list(range(300_000)), list(range(1, 300_001)))
    before = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    interrupted = 0

    class Bar:
        n, total = 0, None

        def update(self, more):
            signal.raise_signal(signal.SIGINT)

    for _ in range(3):
        try:
            eg.open(tmp_path, progress=Bar()).close()
        except KeyboardInterrupt:
            interrupted += 1
    assert interrupted == 3
    after = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert {name: size for name, size in after.items() if name != "LOCK"}.keys() >= {"DATABASE"}
    assert set(before) <= set(after)
    with eg.open(tmp_path) as graph:
        assert graph.number_of_edges() == 300_000


def test_a_killed_writer_leaves_what_was_synced(tmp_path):
    done = run(
        """
        import os, signal, sys, evergraph as eg
        graph = eg.open(sys.argv[1])
        graph.add_edge(1, 2)
        with graph.begin() as tx:
            tx.add_vertex(3)
            os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path,
    )
    assert done.returncode == -signal.SIGKILL
    with eg.open(tmp_path) as graph:
        assert sorted(graph) == [1, 2]
