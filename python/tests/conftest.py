"""What the tests share: the folder of real graphs, and a reader of its files."""

import os
import pathlib
import signal

import pytest

# A shell that starts a command in the background has it ignore Ctrl-C, and Python goes on so.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def data() -> pathlib.Path:
    """The folder of real graphs; a test that wants it is skipped where it is absent."""
    folder = os.environ.get("EVERGRAPH_DATA")
    if not folder:
        pytest.skip("EVERGRAPH_DATA names no folder with real graphs")
    return pathlib.Path(folder)
