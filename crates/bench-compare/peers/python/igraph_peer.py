"""igraph: a C library, one thread."""

from time import perf_counter

import igraph


def version():
    return igraph.__version__


class Peer:
    def __init__(self, threads):
        self.graph = None

    def load(self, edges, weights, vertices):
        start = perf_counter()
        self.graph = igraph.Graph(n=vertices, edges=edges(), directed=False)
        given = weights()
        if given is not None:
            self.graph.es["weight"] = given
        return perf_counter() - start, None

    def bfs(self, source):
        start = perf_counter()
        levels = self.graph.distances(source)[0]
        return perf_counter() - start, [-1 if d == float("inf") else int(d) for d in levels]

    def sssp(self, source):
        start = perf_counter()
        distances = self.graph.distances(source, weights="weight")[0]
        return perf_counter() - start, [float(d) for d in distances]

    def pagerank_converged(self, source):
        start = perf_counter()
        ranks = self.graph.pagerank(damping=0.85, implementation="prpack")
        return perf_counter() - start, ranks

    def wcc(self, source):
        start = perf_counter()
        labels = self.graph.connected_components().membership
        return perf_counter() - start, labels

    def lcc(self, source):
        start = perf_counter()
        coefficients = self.graph.transitivity_local_undirected(mode="zero")
        return perf_counter() - start, coefficients

    def triangles(self, source):
        start = perf_counter()
        transitivity = self.graph.transitivity_undirected(mode="zero")
        seconds = perf_counter() - start
        # It only lists triangles; transitivity is three times their number by the paths of two
        # edges.
        paths = sum(degree * (degree - 1) // 2 for degree in self.graph.degree())
        return seconds, [round(transitivity * paths / 3)]
