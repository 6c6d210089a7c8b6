"""Kùzu in memory: every change is a transaction of its own, through a prepared statement.

An edge is stored once, from its smaller end to its larger one.
"""

from time import perf_counter

import kuzu
import numpy

# Vertices per statement when they are made; not timed.
BATCH = 10_000
INSERT = (
    "MATCH (a:V {id: $a}), (b:V {id: $b}) WHERE NOT EXISTS { MATCH (a)-[:E]->(b) } "
    "CREATE (a)-[:E]->(b) RETURN 1"
)
REMOVE = "MATCH (a:V {id: $a})-[e:E]->(b:V {id: $b}) DELETE e RETURN 1"
SCAN = "MATCH (a:V)-[:E]-(b:V) RETURN a.id, count(*), sum(b.id)"


def version():
    return kuzu.__version__


class Peer:
    def __init__(self, threads):
        self.threads = threads
        self.database = None

    def create(self, vertices):
        start = perf_counter()
        self.database = kuzu.Database(":memory:")
        self.connection = kuzu.Connection(self.database, num_threads=self.threads)
        run = self.connection.execute
        run("CREATE NODE TABLE V(id INT64, PRIMARY KEY(id))")
        run("CREATE REL TABLE E(FROM V TO V)")
        for first in range(0, vertices, BATCH):
            last = min(first + BATCH, vertices) - 1
            run(f"UNWIND range({first}, {last}) AS i CREATE (:V {{id: i}})")
        self.vertices = vertices
        self.statements = [self.connection.prepare(INSERT), self.connection.prepare(REMOVE)]
        return perf_counter() - start, None

    def update(self, changes):
        run, statements = self.connection.execute, self.statements
        start = perf_counter()
        for removes, a, b in changes:
            result = run(statements[removes], {"a": min(a, b), "b": max(a, b)})
            if result.get_num_tuples() != 1:
                raise ValueError(f"the edge {a} {b} is there or is not")
        return perf_counter() - start, None

    def scan(self):
        start = perf_counter()
        result = self.connection.execute(SCAN)
        found = result.get_all()
        seconds = perf_counter() - start
        rows = numpy.zeros((self.vertices, 2), dtype=numpy.int64)
        for vertex, degree, total in found:
            rows[vertex] = degree, total
        return seconds, rows.reshape(-1)
