"""What NetworkX is told about the backend. Imported with NetworkX, so it imports nothing."""

from __future__ import annotations

from typing import Any

FUNCTIONS = {
    "average_clustering": "Without weight.",
    "clustering": "Without weight.",
    "connected_components": "",
    "descendants": "",
    "dijkstra_path_length": "The weight is the name of an attribute.",
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "With weights, personalization, nstart or dangling it takes SciPy.",
    "single_source_dijkstra_path_length": "The weight is the name of an attribute.",
    "single_source_shortest_path_length": "",
    "strongly_connected_components": "",
    "transitivity": "Undirected.",
    "triangles": "",
    "weakly_connected_components": "",
}
"""The functions of the backend, and what is particular about them."""


def info() -> dict[str, Any]:
    """The backend in NetworkX's form."""
    return {
        "backend_name": "evergraph",
        "project": "evergraph",
        "package": "evergraph",
        "short_summary": "Graphs that change while algorithms run on them.",
        "functions": {
            name: {"additional_docs": notes} if notes else {} for name, notes in FUNCTIONS.items()
        },
    }
