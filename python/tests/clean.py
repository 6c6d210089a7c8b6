"""What works in an environment that has the package and what it depends on, nothing else. A program
of its own: ``cargo xtask test`` runs it where the wheel was just installed."""

import importlib.util

import evergraph as eg

for absent in ("networkx", "pandas", "polars", "pyarrow", "scipy", "matplotlib"):
    assert importlib.util.find_spec(absent) is None, f"{absent} is installed: this proves nothing"

graph = eg.from_edges([1, 2, 3], [2, 3, 1], [1.0, 2.0, 3.0])
with graph.begin() as tx:
    tx.add_vertex(4)
    tx.add_edge(3, 4, 0.5)
assert graph.snapshot().sssp(1).to_dict() == {1: 0.0, 2: 1.0, 3: 3.0, 4: 3.5}
assert abs(graph.snapshot().pagerank()["rank"].sum() - 1.0) < 1e-9
assert graph.snapshot().edges().columns == ["source", "target", "weight"]
assert len(graph.adj[3]) == 3
print("the wheel works by itself")
