"""NetworKit: a C++ library with OpenMP."""

from time import perf_counter

import networkit as nk
import numpy

# When an iteration changes the ranks by no more than this, it is the last one.
TOLERANCE = 5e-8


def version():
    return nk.__version__


def timed(algorithm):
    start = perf_counter()
    algorithm.run()
    return perf_counter() - start


class Peer:
    def __init__(self, threads):
        nk.setNumberOfThreads(threads)
        self.graph = None

    def load(self, edges, weights, vertices):
        start = perf_counter()
        given, weights = edges().astype(numpy.uint64), weights()
        ends = (numpy.ascontiguousarray(given[:, 0]), numpy.ascontiguousarray(given[:, 1]))
        data = ends if weights is None else (weights, ends)
        self.graph = nk.GraphFromCoo(data, n=vertices, weighted=weights is not None)
        # Counting triangles needs numbered edges.
        self.graph.indexEdges()
        return perf_counter() - start, None

    def bfs(self, source):
        search = nk.distance.BFS(self.graph, source, storePaths=False)
        seconds = timed(search)
        distances = numpy.asarray(search.getDistances(asarray=True))
        levels = numpy.where(distances < 1e300, distances, -1)
        return seconds, levels.astype(numpy.int64)

    def sssp(self, source):
        search = nk.distance.Dijkstra(self.graph, source, storePaths=False)
        seconds = timed(search)
        distances = numpy.asarray(search.getDistances(asarray=True))
        return seconds, numpy.where(distances < 1e300, distances, numpy.inf)

    def pagerank_converged(self, source):
        ranking = nk.centrality.PageRank(self.graph, damp=0.85, tol=TOLERANCE)
        ranking.norm = nk.centrality.Norm.L1_NORM
        seconds = timed(ranking)
        return seconds, ranking.scores()

    def wcc(self, source):
        components = nk.components.ParallelConnectedComponents(self.graph)
        seconds = timed(components)
        return seconds, components.getPartition().getVector()

    def lcc(self, source):
        clustering = nk.centrality.LocalClusteringCoefficient(self.graph, turbo=True)
        seconds = timed(clustering)
        return seconds, clustering.scores()

    def triangles(self, source):
        score = nk.sparsification.TriangleEdgeScore(self.graph)
        seconds = timed(score)
        # Every triangle counts at each of its three edges.
        return seconds, [sum(score.scores()) // 3]
