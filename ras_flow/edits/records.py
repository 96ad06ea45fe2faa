"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, with_config
from typing_extensions import TypedDict


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; give it some text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"holds half a character at position {error.start}; write valid Unicode"
        ) from error
    return text


Text = Annotated[str, AfterValidator(_written)]
JSON = with_config(ConfigDict(extra="forbid", strict=True))


@JSON
class DropTriple(TypedDict):
    """Take a triple out of the graph."""

    op: Literal["drop_triple"]
    triple: Text


@JSON
class AddTriple(TypedDict):
    """Put a triple into the graph; ``passages``, if given, are passages of the run."""

    op: Literal["add_triple"]
    subject: Text
    predicate: Text
    object: Text
    passages: NotRequired[list[Text]]


@JSON
class DropPassage(TypedDict):
    """Take out a passage, and the triples that no other passage states; no later hop has it."""

    op: Literal["drop_passage"]
    passage: Text


@JSON
class SetSubquery(TypedDict):
    """Ask something else next."""

    op: Literal["subquery"]
    text: Text


@JSON
class SetPlan(TypedDict):
    """Decide in the planner's place, in its own words: ``[SUBQ] …``, ``[SUFFICIENT]``, …."""

    op: Literal["plan"]
    text: Text


@JSON
class SetModel(TypedDict):
    """Go on with another model for a role.

    ``name`` is ``provider:model`` or ``local:…``; for the extractor also ``none``.
    """

    op: Literal["model"]
    role: Text
    name: Text


Edit = DropTriple | AddTriple | DropPassage | SetSubquery | SetPlan | SetModel
"""Any edit of RAS; tell them apart by ``edit["op"]``. Another system may have more."""
