"""What a person may change in a run: one JSON form for command line, page, SDK and reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NotRequired, cast

from typing_extensions import TypedDict

from ras_flow.errors import ConfigurationError, EditError
from ras_flow.state.schema import MODEL_ROLES, Role

if TYPE_CHECKING:
    from ras_flow.parts.chosen import Parts
    from ras_flow.settings.context import Context


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
    """Take out a passage, and the triples that no other passage states; no later hop has it."""

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
    """Go on with another model for a role.

    ``name`` is ``provider:model`` or ``local:…``; for the extractor also ``none``.
    """

    op: Literal["model"]
    role: Role
    name: str


Edit = DropTriple | AddTriple | DropPassage | SetSubquery | SetPlan | SetModel
"""Any edit; tell them apart by ``edit["op"]``."""

_FIELDS: dict[str, tuple[str, ...]] = {
    "drop_triple": ("triple",),
    "add_triple": ("subject", "predicate", "object"),
    "drop_passage": ("passage",),
    "subquery": ("text",),
    "plan": ("text",),
    "model": ("role", "name"),
}
"""What each edit must have beside its ``op``; all of it is text."""


def parse_edits(payload: object) -> list[Edit]:
    """Read edits that came as JSON. Total: every JSON value is either read or refused.

    Args:
        payload: A list of edits.

    Returns:
        The edits.

    Raises:
        EditError: It is no list, or one of the edits is malformed; names it by number, from 1.
    """
    if not isinstance(payload, list | tuple):
        raise EditError(
            f"Edits come as a list of objects, not as {_kind(payload)}: write "
            '[{"op": "drop_triple", "triple": "…"}].'
        )
    return [_parse(number, edit) for number, edit in enumerate(payload, 1)]


async def check_models(edits: Sequence[Edit], context: Context, parts: Parts) -> None:
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


def _parse(number: int, edit: object) -> Edit:
    if not isinstance(edit, Mapping):
        raise EditError(f"Edit {number} is {_kind(edit)}: write an object with an `op`.")
    op = edit.get("op")
    if not isinstance(op, str) or op not in _FIELDS:
        raise EditError(f"Edit {number} has the op {op!r}: use one of {', '.join(_FIELDS)}.")
    where = f"Edit {number} ({op})"
    wanted = _FIELDS[op]
    optional = ("passages",) if op == "add_triple" else ()
    unknown = sorted(str(name) for name in edit if name not in ("op", *wanted, *optional))
    if unknown:
        known = ", ".join(wanted + optional)
        raise EditError(
            f"{where} has the unknown field(s) {', '.join(unknown)}: known are {known}."
        )
    parsed: dict[str, object] = {"op": op}
    for name in wanted:
        parsed[name] = _text(where, name, edit.get(name))
    if op == "model" and parsed["role"] not in MODEL_ROLES:
        raise EditError(
            f"{where} has the role {edit['role']!r}: use one of {', '.join(MODEL_ROLES)}."
        )
    if "passages" in edit:
        parsed["passages"] = _ids(where, edit["passages"])
    return cast(Edit, parsed)


def _text(where: str, name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        found = "is empty" if isinstance(value, str) else f"is {_kind(value)}"
        raise EditError(f"{where}: `{name}` {found}; give it some text.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise EditError(
            f"{where}: `{name}` holds half a character at position {error.start}; write it as "
            "valid Unicode."
        ) from error
    return value


def _ids(where: str, value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise EditError(f"{where}: `passages` is {_kind(value)}; give a list of passage ids.")
    return [_text(where, "passages", id) for id in value]


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    if value is None:
        return "missing"
    return names.get(type(value), "a number" if isinstance(value, int | float) else "no JSON")
