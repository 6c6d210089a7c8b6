"""How many threads algorithms use: said by a program, by the environment, for a block."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import evergraph as eg

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.fixture(autouse=True)
def as_usual():
    yield
    eg.set_threads(None)


def run(code, threads=None):
    """Runs a program in a Python of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "EVERGRAPH_THREADS"}
    if threads is not None:
        environment["EVERGRAPH_THREADS"] = threads
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )


@pytest.mark.parametrize(("said", "expected"), [(None, CORES), ("", CORES), ("3", 3), (" 1 ", 1)])
def test_the_environment_says_it_for_a_process(said, expected):
    done = run("import evergraph as eg; print(eg.threads())", said)
    assert (done.stdout, done.returncode) == (f"{expected}\n", 0), done.stderr


@pytest.mark.parametrize("said", ["0", "many", "-1", "1.5", "²"])
def test_what_the_environment_cannot_mean_is_told(said):
    done = run("import evergraph", said)
    assert done.returncode == 1
    assert f"EVERGRAPH_THREADS={said!r}: say how many threads" in done.stderr


def test_a_program_and_a_block_say_it():
    eg.set_threads(3)
    assert eg.threads() == 3
    with eg.using_threads(2):
        assert eg.threads() == 2
        with eg.using_threads(None):
            assert eg.threads() == CORES
        assert eg.threads() == 2
    with pytest.raises(ValueError, match="mine"), eg.using_threads(1):
        raise ValueError("mine")
    assert eg.threads() == 3
    for wrong in (0, -1):
        with pytest.raises(eg.InvalidError, match="say 1 or more, or None"):
            eg.set_threads(wrong)
    assert eg.threads() == 3
    eg.set_threads(None)
    assert eg.threads() == CORES


def names_of_threads():
    """Of the threads that algorithms run on."""
    found = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            found.append((task / "comm").read_text().strip())
        except OSError:  # it has ended
            continue
    return sorted(name for name in found if re.fullmatch(r"evergraph-\d+", name))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="a system without /proc")
@pytest.mark.parametrize("count", [1, 3])
def test_algorithms_run_on_so_many_and_the_others_end(count):
    graph = eg.read("graph500-10")
    for before in (2, count):
        eg.set_threads(before)
        graph.snapshot().pagerank()
    wanted = [f"evergraph-{at}" for at in range(count)]
    limit = time.monotonic() + 10
    while names_of_threads() != wanted and time.monotonic() < limit:
        time.sleep(0.01)
    assert names_of_threads() == wanted


def test_work_goes_on_while_another_thread_says_it():
    graph = eg.read("graph500-12")
    shown = graph.snapshot()
    expected = shown.pagerank(max_iter=20, tol=None)["rank"]
    done, wrong = threading.Event(), []

    def rank():
        try:
            for _ in range(30):
                ranks = shown.pagerank(max_iter=20, tol=None)["rank"]
                if not np.allclose(ranks, expected, rtol=0, atol=1e-12):
                    wrong.append(ranks)
        finally:
            done.set()

    worker = threading.Thread(target=rank)
    worker.start()
    count = 0
    while not done.is_set():
        count += 1
        eg.set_threads(count % 3 + 1)
        assert eg.threads() == count % 3 + 1
    worker.join()
    assert not wrong and count > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_child_has_as_many():
    done = run(
        """
        import os, evergraph as eg
        eg.set_threads(3)
        eg.read("graph500-8").snapshot().pagerank()
        child = os.fork()
        if child == 0:
            ranks = eg.from_edges([1, 2], [2, 3]).snapshot().pagerank()["rank"].sum()
            os._exit(0 if eg.threads() == 3 and abs(ranks - 1) < 1e-9 else 1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), eg.threads())
        """
    )
    assert (done.stdout, done.returncode) == ("0 3\n", 0), done.stderr
