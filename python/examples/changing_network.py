"""A communication network week by week: messages are committed as they come, and analysed as it is.

    python changing_network.py FOLDER/collegemsg/CollegeMsg.txt network.png

A thread replays the messages of a college's network, a transaction per day; after every week the
main thread asks the newest snapshot how large the largest group is, who matters most and how much
the neighbours of people know each other.
"""

from __future__ import annotations

import sys
import threading

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd

import evergraph as eg

DAY = 24 * 60 * 60


def replay(graph: eg.Graph, messages: pd.DataFrame, weeks: threading.Barrier) -> None:
    """Commits the messages of every day, and waits after every week for the analysis."""
    for day, sent in messages.groupby("day"):
        with graph.begin() as tx:
            for u, v in zip(sent["u"].tolist(), sent["v"].tolist(), strict=True):
                for person in (u, v):
                    if not tx.has_vertex(person):
                        tx.add_vertex(person)
                if not tx.has_edge(u, v):
                    tx.add_edge(u, v)
        if day % 7 == 6:
            weeks.wait()
            weeks.wait()


def main(path: str, image: str) -> None:
    """Replays, analyses, draws."""
    messages = pd.read_csv(path, sep=" ", names=["u", "v", "time"])
    start = messages["time"].min()
    messages["day"] = (messages["time"] - start) // DAY
    graph, weeks = eg.Graph(), threading.Barrier(2)
    writer = threading.Thread(target=replay, args=(graph, messages, weeks))
    writer.start()
    rows = []
    days = set(messages["day"])
    for week in range(sum(day % 7 == 6 for day in days)):
        weeks.wait()
        shown = graph.snapshot()
        weeks.wait()
        # From here on the writer commits the next week; this snapshot stays as it is.
        largest = max(map(len, nx.connected_components(shown)))
        ranks = shown.pagerank().to_pandas()
        leader = int(ranks.loc[ranks["rank"].idxmax(), "vertex"])
        knows = nx.average_clustering(shown)
        rows.append((week + 1, len(shown), shown.number_of_edges(), largest, knows))
        print(
            f"week {week + 1:2}: {len(shown):5,} people, {largest:5,} together, first is {leader}"
        )
    writer.join()
    columns = ["week", "people", "pairs", "largest group", "clustering"]
    table = pd.DataFrame(rows, columns=columns).set_index("week")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    table[["people", "pairs", "largest group"]].plot(ax=left, title="size")
    table["clustering"].plot(ax=right, title="mean clustering coefficient")
    figure.savefig(image, dpi=110, bbox_inches="tight")
    assert graph.number_of_edges() == len(
        {frozenset(pair) for pair in messages[["u", "v"]].itertuples(index=False)}
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
