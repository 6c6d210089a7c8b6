"""Rings of accounts that send money around: strongly connected parts of a graph of transfers.

    python fraud_rings.py FOLDER/finbench/data/snapshot rings.png

The largest transfers of LDBC FinBench are loaded as columns. Accounts that reach each other along
them are a ring; the neighbourhood of the largest is drawn, coloured by rank: whoever collects most
of what moves stands out. Then a new transfer closes another ring, and the next snapshot shows it.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evergraph as eg

LARGE = 0.85
"""Of all pairs that transfer, the share that transfers less than what is looked at."""


def main(folder: str, image: str) -> None:
    """Finds the rings, draws the largest, closes one more."""
    transfers = pd.read_csv(f"{folder}/AccountTransferAccount.csv", sep="|")
    transfers = transfers.groupby(["fromId", "toId"], as_index=False)["amount"].sum()
    transfers = transfers[transfers["amount"] >= transfers["amount"].quantile(LARGE)]
    graph = eg.from_pandas_edgelist(transfers, "fromId", "toId", "amount", directed=True)
    shown = graph.snapshot()
    found = shown.strongly_connected_components()
    sizes = found.to_pandas().groupby("component").size().sort_values(ascending=False)
    rings = sizes[sizes > 1]
    print(f"{shown.number_of_nodes():,} accounts, {shown.number_of_edges():,} pairs that transfer")
    print(f"{len(rings)} rings; the largest has {rings.iloc[0]:,} accounts")

    member = int(rings.index[0])
    shown.plot(shown.pagerank(), around=member, hops=2, max_nodes=150)
    plt.savefig(image, dpi=110, bbox_inches="tight")

    # Somebody outside all rings pays back whom the money came from.
    component = found["component"]
    alone = ~np.isin(component, rings.index.to_numpy())
    outside = found["vertex"][alone]
    edges = shown.edges()
    both = np.isin(edges["source"], outside) & np.isin(edges["target"], outside)
    payer, payee = int(edges["source"][both][0]), int(edges["target"][both][0])
    with graph.begin() as tx:
        tx.add_edge(payee, payer, 1000.0)
    before = found.info["components"]
    after = graph.snapshot().strongly_connected_components().info["components"]
    print(f"one transfer more: {before:,.0f} parts became {after:,.0f}")
    assert after == before - 1


if __name__ == "__main__":
    main(*sys.argv[1:])
