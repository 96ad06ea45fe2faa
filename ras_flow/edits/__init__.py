"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""

from ras_flow.edits.parse import parse_edits
from ras_flow.edits.records import (
    AddTriple,
    DropPassage,
    DropTriple,
    Edit,
    SetModel,
    SetPlan,
    SetSubquery,
)

__all__ = [
    "AddTriple",
    "DropPassage",
    "DropTriple",
    "Edit",
    "SetModel",
    "SetPlan",
    "SetSubquery",
    "parse_edits",
]
