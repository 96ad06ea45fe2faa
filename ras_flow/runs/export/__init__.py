"""Runs in forms that other programs read: JSON, GraphML, JSON-LD and Turtle."""

from ras_flow.runs.export.graphml import to_graphml
from ras_flow.runs.export.json import to_json
from ras_flow.runs.export.json_ld import to_json_ld
from ras_flow.runs.export.turtle import to_turtle

__all__ = ["to_graphml", "to_json", "to_json_ld", "to_turtle"]
