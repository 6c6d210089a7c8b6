"""A part of the web: what is where, and where its weight is.

    python web_graph.py FOLDER/uk2007-100k/uk-2007-05@100000.el.zst web.png

The pages of a crawl are read from a compressed file. Ranks, distances from the first page and
strongly connected parts come from one snapshot; SciPy gets the same matrix without a detour.
"""

from __future__ import annotations

import sys
import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import evergraph as eg


def main(path: str, image: str) -> None:
    """Reads, computes, draws."""
    start = time.perf_counter()
    graph = eg.read(path, directed=True)
    shown = graph.snapshot()
    print(f"{shown!r}, read in {time.perf_counter() - start:.2f} s")

    start = time.perf_counter()
    ranks = shown.pagerank()
    print(f"PageRank: {time.perf_counter() - start:.3f} s, {ranks.info['iterations']} iterations")
    parts = shown.strongly_connected_components()
    first = int(shown.vertices[0])
    hops = shown.bfs(first)["hops"]
    print(f"{parts.info['components']:,} strongly connected parts")
    print(f"page {first} leads to {(hops >= 0).sum():,} pages, at most {hops.max()} clicks away")

    matrix = shown.to_scipy_sparse_array()
    in_degree = np.bincount(matrix.indices, minlength=matrix.shape[0])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.loglog(np.maximum(in_degree, 0.7), ranks["rank"], ".", markersize=1, alpha=0.3)
    left.set(xlabel="links to a page", ylabel="rank", title="what links are worth")
    best = int(ranks["vertex"][ranks["rank"].argmax()])
    shown.plot(ranks, around=best, hops=1, max_nodes=120, ax=right)
    figure.savefig(image, dpi=110, bbox_inches="tight")
    assert np.isclose(ranks["rank"].sum(), 1.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
