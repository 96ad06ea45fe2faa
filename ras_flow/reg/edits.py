"""ReG's edits: of the question's entities too, and where on a run's way each edit makes sense."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ras_flow.edits.draft import Draft, EditPoint, Operation
from ras_flow.edits.graph import GRAPH_EDITS, SHARED
from ras_flow.edits.records import JSON, Text


@JSON
class SetEntities(TypedDict):
    """Search around other entities: names or ids, as the graph has them."""

    op: Literal["entities"]
    names: Annotated[list[Text], Field(min_length=1)]


def set_entities(draft: Draft, edit: SetEntities) -> None:
    """Look up other entities, and go on from there."""
    draft.settings["entities"] = edit["names"]
    draft.context()
    draft.as_node = "start"


_BEFORE = ("entities", "model")
_GRAPH = (*GRAPH_EDITS, "model")

EDIT_POINTS = {
    "__start__": EditPoint((), "__start__"),
    "start": EditPoint(("model",), "__start__"),
    "link": EditPoint(_BEFORE, "start"),
    "review_entities": EditPoint(_BEFORE, "review_entities"),
    "retrieve": EditPoint(_BEFORE, "review_entities"),
    "to_triples": EditPoint(_GRAPH, "retrieve"),
    "merge_graph": EditPoint(_GRAPH, "to_triples"),
    "review_graph": EditPoint(_GRAPH, "review_graph"),
    "reorganise": EditPoint(_GRAPH, "review_graph"),
    "review_answer": EditPoint(_GRAPH, "review_answer"),
    "answer": EditPoint(_GRAPH, "review_answer"),
    "": EditPoint(_GRAPH, "review_answer"),
}
"""Before each node. Edits count as reviewed: nobody is asked about them again."""

OPERATIONS = {**SHARED, "entities": Operation(SetEntities, set_entities)}
"""ReG's edits by ``op``."""
