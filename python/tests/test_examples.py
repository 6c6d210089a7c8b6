"""The examples run on the real graphs they are about, and draw something."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("example", "graph"),
    [
        ("fraud_rings", "finbench/data/snapshot"),
        ("changing_network", "collegemsg/CollegeMsg.txt"),
        ("web_graph", "uk2007-100k/uk-2007-05@100000.el.zst"),
    ],
)
def test_an_example_runs_and_draws(example, graph, data, tmp_path):
    image = tmp_path / "image.png"
    program = [sys.executable, EXAMPLES / f"{example}.py", data / graph, image]
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert image.read_bytes().startswith(b"\x89PNG") and image.stat().st_size > 10_000
