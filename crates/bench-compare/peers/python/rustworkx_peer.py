"""rustworkx: a Rust library over petgraph; its changes come from one Python thread."""

import os
from time import perf_counter

import numpy
import rustworkx as rx

TOLERANCE = 5e-8


def version():
    return rx.__version__


class Peer:
    def __init__(self, threads):
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        self.graph = None
        self.arcs = None
        self.degrees = None

    def load(self, edges, weights, vertices):
        start = perf_counter()
        given, weights = edges(), weights()
        # Looking for an edge that is there would cost a walk along a list for each.
        self.graph = rx.PyGraph(multigraph=True)
        self.graph.add_nodes_from(range(vertices))
        if weights is None:
            self.graph.add_edges_from_no_data([(a, b) for a, b in given.tolist()])
        else:
            rows = zip(given[:, 0].tolist(), given[:, 1].tolist(), weights.tolist())
            self.graph.add_edges_from(list(rows))
        seconds = perf_counter() - start
        self.degrees = numpy.bincount(given.reshape(-1), minlength=vertices)
        return seconds, None

    def bfs(self, source):
        start = perf_counter()
        layers = rx.bfs_layers(self.graph, [source])
        seconds = perf_counter() - start
        levels = numpy.full(self.graph.num_nodes(), -1, dtype=numpy.int64)
        for level, layer in enumerate(layers):
            levels[numpy.asarray(list(layer))] = level
        return seconds, levels

    def sssp(self, source):
        start = perf_counter()
        lengths = rx.dijkstra_shortest_path_lengths(self.graph, source, float)
        seconds = perf_counter() - start
        distances = numpy.full(self.graph.num_nodes(), numpy.inf)
        for vertex, length in lengths.items():
            distances[vertex] = length
        distances[source] = 0.0
        return seconds, distances

    def pagerank_converged(self, source):
        if self.arcs is None:
            # PageRank is there for directed graphs alone.
            self.arcs = self.graph.to_directed()
        start = perf_counter()
        ranks = rx.pagerank(self.arcs, alpha=0.85, tol=TOLERANCE / self.graph.num_nodes())
        seconds = perf_counter() - start
        return seconds, [ranks[v] for v in range(self.graph.num_nodes())]

    def wcc(self, source):
        start = perf_counter()
        components = rx.connected_components(self.graph)
        seconds = perf_counter() - start
        labels = numpy.empty(self.graph.num_nodes(), dtype=numpy.int64)
        for label, component in enumerate(components):
            labels[numpy.fromiter(component, dtype=numpy.int64)] = label
        return seconds, labels

    def triangles(self, source):
        start = perf_counter()
        transitivity = rx.transitivity(self.graph)
        seconds = perf_counter() - start
        # Transitivity is three times the triangles by the paths of two edges.
        degrees = self.degrees.astype(numpy.int64)
        paths = int((degrees * (degrees - 1) // 2).sum())
        return seconds, [round(transitivity * paths / 3)]

    def create(self, vertices):
        start = perf_counter()
        self.graph = rx.PyGraph(multigraph=False)
        self.graph.add_nodes_from(range(vertices))
        return perf_counter() - start, None

    def update(self, changes):
        graph = self.graph
        start = perf_counter()
        for removes, a, b in changes:
            if graph.has_edge(a, b) != bool(removes):
                raise ValueError(f"the edge {a} {b} is there or is not")
            if removes:
                graph.remove_edge(a, b)
            else:
                graph.add_edge(a, b, None)
        return perf_counter() - start, None

    def scan(self):
        graph = self.graph
        start = perf_counter()
        rows = []
        for vertex in graph.node_indices():
            neighbours = graph.neighbors(vertex)
            rows += (len(neighbours), sum(neighbours))
        return perf_counter() - start, rows
