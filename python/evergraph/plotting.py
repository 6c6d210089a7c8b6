"""Drawing a graph, or a part of it, with matplotlib.

All of it is drawn as long as it is legible. Of a larger graph a sample is, and the title says so:
the best connected vertices and what joins them, so that the picture shows where most edges are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._reads import Key
from ._snapshot import Snapshot
from ._table import Table
from .errors import InvalidError

if TYPE_CHECKING:
    import matplotlib.axes

ROUNDS = 60
"""Of the layout: more do not change a picture of some hundred vertices visibly."""

LABELS_MAX = 60
"""Labels of more vertices cover each other."""

LABEL_MAX = 8
"""Characters of a label: longer ones cover their neighbours."""


def plot(
    shown: Snapshot,
    values: Table | None = None,
    *,
    around: Key | None = None,
    hops: int = 2,
    max_nodes: int = 300,
    ax: matplotlib.axes.Axes | None = None,
) -> matplotlib.axes.Axes:
    """Draws a snapshot, or what is within ``hops`` of a vertex; vertices coloured by ``values``.

    At most ``max_nodes`` vertices are drawn, the best connected ones, and the title says of how
    many. ``values`` is a table with a row per vertex, such as an algorithm answers; its second
    column gives the colours.
    """
    import matplotlib.pyplot as plt

    if max_nodes < 1:
        raise InvalidError("max_nodes is at least 1")
    reach = _neighbourhood(shown, around, hops)
    picked = _best_connected(shown, reach, max_nodes)
    ends = _edges_between(shown, picked)
    places = _layout(len(picked), ends, seed=len(picked))
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 6))
    if len(ends):
        ax.plot(*_lines(places, ends), color="0.75", linewidth=0.6, zorder=1)
    colours = _colours(values, picked, shown)
    dots = ax.scatter(places[:, 0], places[:, 1], s=_sizes(len(picked)), c=colours, zorder=2)
    if values is not None:
        ax.figure.colorbar(dots, ax=ax, label=values.columns[1], shrink=0.7)
    keys = shown._keys()
    if len(picked) <= LABELS_MAX:
        for place, position in zip(places, picked.tolist(), strict=True):
            ax.annotate(_label(keys[position]), place, fontsize=7, zorder=3)
    ax.set_title(_title(shown, len(picked), len(reach), around, hops), fontsize=9)
    ax.set_axis_off()
    return ax


def _neighbourhood(shown: Snapshot, around: Key | None, hops: int) -> npt.NDArray[np.int64]:
    """The positions of what may be drawn."""
    if around is None:
        return np.arange(shown.number_of_nodes())
    distance = shown.bfs(around)["hops"]
    return np.flatnonzero((distance >= 0) & (distance <= hops))


def _best_connected(
    shown: Snapshot, reach: npt.NDArray[np.int64], max_nodes: int
) -> npt.NDArray[np.int64]:
    if len(reach) <= max_nodes:
        return reach
    degrees = shown.degrees()["degree"][reach]
    best = np.argsort(degrees, kind="stable")[len(reach) - max_nodes :]
    return np.sort(reach[best])


def _edges_between(shown: Snapshot, picked: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Pairs of indices into ``picked``."""
    keys = shown._keys()
    index = {keys[position]: place for place, position in enumerate(picked.tolist())}
    pairs = [
        (place, index[other])
        for key, place in index.items()
        for other, _ in shown.neighbours(key)
        if other in index and index[other] != place
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _layout(count: int, ends: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.float64]:
    """Places by springs: vertices push each other away, edges pull (Fruchterman, Reingold 1991)."""
    random = np.random.default_rng(seed)
    places = random.uniform(-1.0, 1.0, (count, 2))
    ideal = 1.0 / np.sqrt(max(count, 1))
    for step in np.linspace(0.2, 0.005, ROUNDS):
        apart = places[:, None] - places[None, :]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        moved = (apart * (ideal / distance)[..., None] ** 2).sum(axis=1)
        if len(ends):
            pull = places[ends[:, 0]] - places[ends[:, 1]]
            pull *= np.hypot(pull[:, 0], pull[:, 1])[:, None] / ideal
            np.subtract.at(moved, ends[:, 0], pull)
            np.add.at(moved, ends[:, 1], pull)
        length = np.maximum(np.hypot(moved[:, 0], moved[:, 1]), 1e-9)
        places += moved * (np.minimum(length, step) / length)[:, None]
        # A weak pull to the middle keeps parts that do not hang together in the picture.
        places *= 0.99
    return places


def _lines(
    places: npt.NDArray[np.float64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The edges as columns of x and y."""
    return places[ends, 0].T, places[ends, 1].T


def _colours(values: Table | None, picked: npt.NDArray[np.int64], shown: Snapshot) -> Any:
    if values is None:
        return "tab:blue"
    if len(values) != shown.number_of_nodes():
        raise InvalidError("values has a row per vertex of the snapshot that is drawn")
    column = values[values.columns[1]][picked]
    if column.dtype.kind == "O":
        return np.unique(column.astype(str), return_inverse=True)[1]
    return column


def _label(key: object) -> str:
    """The key, or the end of a long one."""
    label = str(key)
    return label if len(label) <= LABEL_MAX else "…" + label[-LABEL_MAX + 2 :]


def _sizes(count: int) -> float:
    return float(np.clip(6000.0 / max(count, 1), 6.0, 120.0))


def _title(shown: Snapshot, drawn: int, reach: int, around: Key | None, hops: int) -> str:
    where = "" if around is None else f" within {hops} hops of {around}"
    if drawn == reach:
        return f"{drawn:,} vertices{where}, version {shown.version}"
    return (
        f"sample: the {drawn:,} best connected of {reach:,} vertices{where}, "
        f"version {shown.version}"
    )
