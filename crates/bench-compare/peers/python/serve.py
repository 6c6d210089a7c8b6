"""Serves one peer: a request per line on standard input, an answer per line on standard output.

The requests and answers are those of `src/protocol.rs`. Every `NAME_peer.py` has a class `Peer` and a
function `version`. What a method of `Peer` returns is `(seconds, values)`; turning an answer into an
array comes after the clock has stopped.
"""

import importlib
import json
import os
import sys
import warnings

import numpy


class Absent(Exception):
    """The peer has no such kernel."""


def edges(path):
    return numpy.fromfile(path, dtype="<u4").reshape(-1, 2)


def updates(path):
    return numpy.fromfile(path, dtype="<u4").reshape(-1, 3)


def load(peer, request):
    weights = request["weights"]
    return peer.load(
        lambda: edges(request["edges"]),
        lambda: numpy.fromfile(weights, dtype="<f8") if weights else None,
        request["vertices"],
    )


def kernel(peer, request):
    method = getattr(peer, request["kernel"], None)
    if method is None:
        raise Absent("it has no such function")
    return method(request["source"])


STEPS = {
    "load": load,
    "kernel": kernel,
    "create": lambda peer, request: peer.create(request["vertices"]),
    "update": lambda peer, request: peer.update(updates(request["updates"]).tolist()),
    "scan": lambda peer, request: peer.scan(),
}


def write(values, path):
    values = numpy.asarray(values)
    kind = "<f8" if values.dtype.kind == "f" else "<i8"
    values.astype(kind).tofile(path)


def serve(peer, requests, answer):
    for line in requests:
        request = json.loads(line)
        try:
            seconds, values = STEPS[request["do"]](peer, request)
            if request.get("answer"):
                write(values, request["answer"])
            answer({"seconds": seconds})
        except Absent as absent:
            answer({"absent": str(absent)})
        except Exception as error:  # Whatever a peer may raise is an answer.
            answer({"error": f"{type(error).__name__}: {error}"})


def main():
    # What a library prints must not get between the answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def answer(reply):
        out.write(json.dumps(reply) + "\n")
        out.flush()

    name, threads = sys.argv[1], int(sys.argv[2])
    sys.modules["serve"] = sys.modules["__main__"]
    module = importlib.import_module(name + "_peer")
    peer = module.Peer(threads)
    answer({"version": module.version()})
    serve(peer, sys.stdin, answer)


if __name__ == "__main__":
    main()
