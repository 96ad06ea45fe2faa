"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from ras_flow.state.schema import Role


class DropTriple(TypedDict):
    """Take a triple out of the graph."""

    op: Literal["drop_triple"]
    triple: str


class AddTriple(TypedDict):
    """Put a triple into the graph; ``passages``, if given, are passages of the run."""

    op: Literal["add_triple"]
    subject: str
    predicate: str
    object: str
    passages: NotRequired[list[str]]


class DropPassage(TypedDict):
    """Forget a passage, and the triples that no other passage states."""

    op: Literal["drop_passage"]
    passage: str


class SetSubquery(TypedDict):
    """Ask something else next."""

    op: Literal["subquery"]
    text: str


class SetPlan(TypedDict):
    """Decide in the planner's place, in its own words: ``[SUBQ] …``, ``[SUFFICIENT]``, …."""

    op: Literal["plan"]
    text: str


class SetModel(TypedDict):
    """Go on with another model for a role; ``name`` is ``provider:model`` or ``local:…``."""

    op: Literal["model"]
    role: Role
    name: str


Edit = DropTriple | AddTriple | DropPassage | SetSubquery | SetPlan | SetModel
"""Any edit; tell them apart by ``edit["op"]``."""
