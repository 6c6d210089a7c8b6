"""What the native half is told, by name."""

from __future__ import annotations

from typing import TypedDict


class Settings(TypedDict):
    """How a graph is made; ``None`` is as usual, or as the folder says."""

    directed: bool | None
    weights: str | None
    keys: str | None
    dense: int
    self_loops: bool | None
    serializable: bool
    memory_limit: int | None
    max_transaction: int | None
    max_snapshots: int | None
    max_snapshot_age: float | None
    max_transaction_age: float | None


class Place(TypedDict):
    """A folder, and how it is opened."""

    path: str
    durability: str
    keep: str
    read_only: bool


class Archiving(TypedDict):
    """When changes that are ingested are archived, and how many may wait; ``None`` is as it is."""

    threshold: int | None
    delay: float | None
    batch: int | None
    backlog: int | None
    full: str | None
    threads: int | None


class WindowShape(TypedDict):
    """How commits are put together."""

    commits: int | None
    seconds: float
    step: float


class Question(TypedDict):
    """What a standing result is about."""

    about: str
    source: int | str | None
    damping: float
    tolerance: float
    recompute_above: float | None


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
