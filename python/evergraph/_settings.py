"""What the native half is told, by name."""

from __future__ import annotations

from typing import TypedDict


class Settings(TypedDict):
    """How a graph is made."""

    directed: bool
    weights: str
    keys: str
    dense: int
    self_loops: bool
    serializable: bool
    memory_limit: int | None
    max_transaction: int | None
    max_snapshots: int | None
    max_snapshot_age: float | None


class Shape(TypedDict):
    """What a graph of columns is like."""

    directed: bool
    keys: str


class FileSource(TypedDict):
    """A graph file, and how it is read."""

    path: str
    format: str | None
    directed: bool | None
    weighted: bool
    keys: str
    duplicates: str
    self_loops: str
    vertices: str | None
