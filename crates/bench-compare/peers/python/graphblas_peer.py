"""SuiteSparse:GraphBLAS through python-graphblas: kernels as formulas on the adjacency matrix."""

from time import perf_counter

import graphblas as gb
import numpy
from graphblas import Matrix, Vector, binary, monoid, semiring, unary

DAMPING = 0.85
ITERATIONS = 20
TOLERANCE = 5e-8


def version():
    import suitesparse_graphblas

    return f"{gb.__version__} on SuiteSparse:GraphBLAS {suitesparse_graphblas.__version__}"


class Peer:
    def __init__(self, threads):
        gb.ss.config["nthreads"] = threads
        self.adjacency = None

    def load(self, edges, weights, vertices):
        start = perf_counter()
        given, weights = edges().astype(numpy.uint64), weights()
        rows = numpy.concatenate([given[:, 0], given[:, 1]])
        columns = numpy.concatenate([given[:, 1], given[:, 0]])
        values = 1.0 if weights is None else numpy.concatenate([weights, weights])
        self.adjacency = Matrix.from_coo(
            rows, columns, values, nrows=vertices, ncols=vertices, dtype=float
        )
        self.adjacency.wait()
        return perf_counter() - start, None

    def bfs(self, source):
        n, adjacency = self.adjacency.nrows, self.adjacency
        start = perf_counter()
        levels = Vector(gb.dtypes.INT64, n)
        frontier = Vector(gb.dtypes.BOOL, n)
        frontier[source] = True
        level = 0
        while frontier.nvals:
            levels(frontier.S) << level
            frontier(~levels.S, replace=True) << semiring.any_pair(frontier @ adjacency)
            level += 1
        seconds = perf_counter() - start
        return seconds, levels.to_dense(fill_value=-1)

    def sssp(self, source):
        n, adjacency = self.adjacency.nrows, self.adjacency
        start = perf_counter()
        distances = Vector(float, n)
        distances[source] = 0.0
        changed = distances.dup()
        while changed.nvals:
            reached = semiring.min_plus(changed @ adjacency).new()
            known = distances.dup()
            distances(binary.min) << reached
            # What was not known, or is nearer than it was.
            nearer = reached.ewise_mult(known, binary.lt).new().select("==", True).new()
            changed = Vector(float, n)
            changed(nearer.S) << reached
            changed(~known.S) << reached
        seconds = perf_counter() - start
        return seconds, distances.to_dense(fill_value=numpy.inf)

    def pagerank(self, source):
        return self._pagerank(ITERATIONS, None)

    def pagerank_converged(self, source):
        return self._pagerank(None, TOLERANCE)

    def _pagerank(self, iterations, tolerance):
        n, adjacency = self.adjacency.nrows, self.adjacency
        start = perf_counter()
        degrees = adjacency.reduce_rowwise(monoid.plus).new()
        ranks = Vector.from_scalar(1.0 / n, n)
        done, change = 0, numpy.inf
        while done != iterations and (tolerance is None or change > tolerance):
            before = ranks
            shares = before.ewise_mult(degrees, binary.truediv).new()
            followed = before.dup()
            followed(degrees.S, replace=False) << 0.0
            stranded = followed.reduce(monoid.plus).value
            ranks = Vector.from_scalar((1 - DAMPING) / n + DAMPING * stranded / n, n)
            shares << DAMPING * shares
            ranks(binary.plus) << semiring.plus_second(adjacency @ shares)
            if tolerance is not None:
                difference = before.ewise_mult(ranks, binary.minus).new()
                change = unary.abs(difference).new().reduce(monoid.plus).value
            done += 1
        seconds = perf_counter() - start
        return seconds, ranks.to_dense(fill_value=0.0)

    def wcc(self, source):
        n, adjacency = self.adjacency.nrows, self.adjacency
        start = perf_counter()
        labels = Vector.from_dense(numpy.arange(n, dtype=numpy.int64))
        while True:
            before = labels.dup()
            labels(binary.min) << semiring.min_second(adjacency @ before)
            # The label of my label: long paths are halved in every round.
            dense = labels.to_dense()
            labels = Vector.from_dense(dense[dense])
            if labels.isequal(before):
                break
        seconds = perf_counter() - start
        return seconds, labels.to_dense()

    def triangles(self, source):
        start = perf_counter()
        lower = self.adjacency.select("tril", -1).new()
        count = semiring.plus_pair(lower @ lower.T).new(gb.dtypes.INT64, mask=lower.S)
        total = count.reduce_scalar(monoid.plus).value
        seconds = perf_counter() - start
        return seconds, [int(total or 0)]

    def lcc(self, source):
        n, adjacency = self.adjacency.nrows, self.adjacency
        start = perf_counter()
        closed = semiring.plus_pair(adjacency @ adjacency.T).new(float, mask=adjacency.S)
        corners = closed.reduce_rowwise(monoid.plus).new()
        degrees = adjacency.reduce_rowwise(monoid.plus).new()
        pairs = (degrees * (degrees - 1)).new()
        pairs << pairs.select(">", 0)
        coefficients = corners.ewise_mult(pairs, binary.truediv).new()
        seconds = perf_counter() - start
        return seconds, coefficients.to_dense(fill_value=0.0)
