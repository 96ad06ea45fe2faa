"""Runs in forms that other programs read: JSON, GraphML, JSON-LD and Turtle."""

from __future__ import annotations

from ras_flow.formats.escapes import json_text
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import get_branch


def to_json(document: RunDocument, branch: int | None = None) -> str:
    """Write a run as JSON."""
    number = get_branch(document, branch)["number"]
    return json_text({**document, "current": number}, indent=1)
