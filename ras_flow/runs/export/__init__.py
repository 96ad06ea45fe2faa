"""Runs in forms that other programs read: JSON, GraphML, JSON-LD and Turtle.

Importing this package loads no writer; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.runs.export.graphml import to_graphml
    from ras_flow.runs.export.json import to_json
    from ras_flow.runs.export.rdf import to_json_ld, to_turtle

_HOMES = {
    "to_graphml": "graphml",
    "to_json": "json",
    "to_json_ld": "rdf",
    "to_turtle": "rdf",
}

__all__ = ["to_graphml", "to_json", "to_json_ld", "to_turtle"]

__getattr__ = load_on_use(__name__, _HOMES)
