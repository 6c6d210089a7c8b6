"""Rings of accounts that send money around: strongly connected parts of a graph of transfers.

    python fraud_rings.py FOLDER/finbench/data/snapshot rings.png

The largest transfers of LDBC FinBench are put as columns into a graph in a folder. Accounts that
reach each other along them are a ring; the neighbourhood of the largest is drawn, coloured by rank:
whoever collects most of what moves stands out. Then a new transfer closes another ring. The folder
is closed and opened again: the ring is there, and before that version it was not.
"""

from __future__ import annotations

import sys
import tempfile

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evergraph as eg

LARGE = 0.85
"""Of all pairs that transfer, the share that transfers less than what is looked at."""


def parts(shown: eg.Snapshot) -> int:
    """How many strongly connected parts there are."""
    return int(shown.strongly_connected_components().info["components"])


def main(folder: str, image: str) -> None:
    """Finds the rings, draws the largest, closes one more, and looks back."""
    transfers = pd.read_csv(f"{folder}/AccountTransferAccount.csv", sep="|")
    transfers = transfers.groupby(["fromId", "toId"], as_index=False)["amount"].sum()
    transfers = transfers[transfers["amount"] >= transfers["amount"].quantile(LARGE)]
    with tempfile.TemporaryDirectory() as home:
        with eg.open(home, directed=True, weights=True, keep="everything") as graph:
            graph.add_edges(transfers["fromId"], transfers["toId"], transfers["amount"])
            before = graph.version
            pay_back(graph, find_rings(graph.snapshot(), image))
        with eg.open(home, keep="everything") as graph:
            was, is_now = parts(graph.snapshot(at=before)), parts(graph.snapshot())
            (payee, payer) = graph.changes(before).head(1)[0][3:5]
            print(f"{payee} paid {payer}: {was:,} parts became {is_now:,}")
            assert is_now == was - 1


def find_rings(shown: eg.Snapshot, image: str) -> tuple[int, int]:
    """Draws the largest ring; a transfer between two accounts that are in none."""
    found = shown.strongly_connected_components()
    sizes = found.to_pandas().groupby("component").size().sort_values(ascending=False)
    rings = sizes[sizes > 1]
    print(f"{shown.number_of_nodes():,} accounts, {shown.number_of_edges():,} pairs that transfer")
    print(f"{len(rings)} rings; the largest has {rings.iloc[0]:,} accounts")

    member = int(rings.index[0])
    shown.plot(shown.pagerank(), around=member, hops=2, max_nodes=150)
    plt.savefig(image, dpi=110, bbox_inches="tight")

    component = found["component"]
    alone = ~np.isin(component, rings.index.to_numpy())
    outside = found["vertex"][alone]
    edges = shown.edges()
    both = np.isin(edges["source"], outside) & np.isin(edges["target"], outside)
    payer, payee = int(edges["source"][both][0]), int(edges["target"][both][0])
    return payer, payee


def pay_back(graph: eg.Graph, transfer: tuple[int, int]) -> None:
    """Closes a ring: whoever was paid pays back."""
    payer, payee = transfer
    with graph.begin() as tx:
        tx.add_edge(payee, payer, 1000.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
