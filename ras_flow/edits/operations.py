"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import AfterValidator, ConfigDict, with_config
from typing_extensions import TypedDict

from ras_flow.errors import ConfigurationError, EditError
from ras_flow.support.validation import checked

if TYPE_CHECKING:
    from ras_flow.edits.draft import Draft
    from ras_flow.parts.source import PartsSource
    from ras_flow.settings.context import Context


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
_JSON = with_config(ConfigDict(extra="forbid", strict=True))


@_JSON
class DropTriple(TypedDict):
    """Take a triple out of the graph."""

    op: Literal["drop_triple"]
    triple: Text


@_JSON
class AddTriple(TypedDict):
    """Put a triple into the graph; ``passages``, if given, are passages of the run."""

    op: Literal["add_triple"]
    subject: Text
    predicate: Text
    object: Text
    passages: NotRequired[list[Text]]


@_JSON
class DropPassage(TypedDict):
    """Take out a passage, and the triples that no other passage states; no later hop has it."""

    op: Literal["drop_passage"]
    passage: Text


@_JSON
class SetSubquery(TypedDict):
    """Ask something else next."""

    op: Literal["subquery"]
    text: Text


@_JSON
class SetPlan(TypedDict):
    """Decide in the planner's place, in its own words: ``[SUBQ] …``, ``[SUFFICIENT]``, …."""

    op: Literal["plan"]
    text: Text


@_JSON
class SetModel(TypedDict):
    """Go on with another model for a role.

    ``name`` is ``provider:model`` or ``local:…``; for the extractor also ``none``.
    """

    op: Literal["model"]
    role: Text
    name: Text


Edit = DropTriple | AddTriple | DropPassage | SetSubquery | SetPlan | SetModel
"""Any edit of RAS; tell them apart by ``edit["op"]``. Another system may have more."""


@dataclass(frozen=True)
class Operation:
    """A kind of edit.

    Attributes:
        record: The TypedDict of its JSON form, with its ``op``.
        apply: Makes the change in a draft, or refuses it there.
    """

    record: Any
    apply: Callable[[Draft, Any], None]


def parse_edits(payload: object, operations: Mapping[str, Operation]) -> list[Edit]:
    """Read edits that came as JSON. Total: every JSON value is either read or refused.

    Args:
        payload: A list of edits.
        operations: The system's, by ``op``.

    Returns:
        The edits.

    Raises:
        EditError: It is not a list, or one of the edits is malformed; names it by number, from 1.
    """
    if not isinstance(payload, list | tuple):
        raise EditError(
            f"Edits come as a list of objects, not as {type(payload).__name__}: write "
            '[{"op": "drop_triple", "triple": "…"}].'
        )
    return [_parse(number, edit, operations) for number, edit in enumerate(payload, 1)]


def _parse(number: int, edit: object, operations: Mapping[str, Operation]) -> Edit:
    op = edit.get("op") if isinstance(edit, Mapping) else None
    if not isinstance(op, str) or op not in operations:
        raise EditError(
            f"Edit {number}: {edit!r:.200} has no known `op`: use one of {', '.join(operations)}."
        )
    return cast(
        Edit, checked(operations[op].record, edit, f"Edit {number} ({op})", EditError, strict=True)
    )


async def check_models(edits: Sequence[Edit], context: Context, parts: PartsSource) -> None:
    """Find out whether the models that edits name can be used, while the person is there.

    Args:
        edits: The edits, of any kind.
        context: The run's settings.
        parts: Where the run gets its models.

    Raises:
        EditError: A model's name, key or package is missing or wrong, or the graph was built with
            an object for its role; names the edit by number, from 1.
    """
    for number, edit in enumerate(edits, start=1):
        if edit["op"] == "model":
            try:
                await parts.check_model(edit["role"], edit["name"], context)
            except ConfigurationError as error:
                raise EditError(f"Edit {number}: {error}") from error
