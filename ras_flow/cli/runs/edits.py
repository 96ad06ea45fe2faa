"""Edits as options of the command line."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ras_flow.errors import InputError
from ras_flow.systems import DEFAULT

if TYPE_CHECKING:
    from ras_flow.edits.records import Edit

DropTriples = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-triple", metavar="ID", help="Remove a triple; the start of its id is enough."
    ),
]
AddTriples = Annotated[
    list[str] | None,
    typer.Option(
        "--add-triple", metavar="TRIPLE", help="Add a triple: 'subject | predicate | object'."
    ),
]
DropPassages = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-passage",
        metavar="ID",
        help="Remove a passage, also from later hops, with the triples that only it states.",
    ),
]
Subquery = Annotated[str | None, typer.Option(metavar="TEXT", help="Ask this next.")]
PlanText = Annotated[
    str | None,
    typer.Option("--plan", metavar="TEXT", help="Decide for the planner: '[SUFFICIENT]'."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="ROLE=NAME", help="Another model from here on: planner=openai:…"
    ),
]
Others = Annotated[
    list[str] | None,
    typer.Option("--edit", metavar="JSON", help="Any edit as an object with its `op`."),
]


@dataclass(frozen=True)
class Edits:
    """The edits that were given as options."""

    drop_triples: list[str] | None = None
    add_triples: list[str] | None = None
    drop_passages: list[str] | None = None
    subquery: str | None = None
    plan: str | None = None
    models: list[str] | None = None
    others: list[str] | None = None
    own: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Tell whether there are any."""
        texts = (self.subquery, self.plan)
        lists = (self.drop_triples, self.add_triples, self.drop_passages, self.models, self.others)
        return any(text is not None for text in texts) or any(lists) or bool(self.own)

    def to_list(
        self, triples: Collection[str], passages: Collection[str], system: str = DEFAULT
    ) -> list[Edit]:
        """Return them as edits of a run of a system."""
        from ras_flow.runs.reading import unique_id

        if self.subquery is not None and self.plan is not None:
            raise InputError("Give --subquery or --plan, not both: each decides what comes next.")
        edits: list[dict[str, Any]] = []
        for text in self.models or ():
            role, _, name = text.partition("=")
            edits.append({"op": "model", "role": role.strip(), "name": name.strip()})
        for prefix in self.drop_passages or ():
            id = unique_id("passage", prefix, passages)
            edits.append({"op": "drop_passage", "passage": id})
        for prefix in self.drop_triples or ():
            edits.append({"op": "drop_triple", "triple": unique_id("triple", prefix, triples)})
        edits += [{"op": "add_triple", **_fact(text)} for text in self.add_triples or ()]
        if self.subquery is not None:
            edits.append({"op": "subquery", "text": self.subquery})
        if self.plan is not None:
            edits.append({"op": "plan", "text": self.plan})
        edits += map(_object, self.others or ())
        if self.own:
            edits += _own(list(self.own), system)
        return cast("list[Edit]", edits)


def option_text(op: str, fields: Sequence[str]) -> str:
    """Return the option that makes an edit of a system: ``--fill SLOT=VALUE``."""
    mark = "=" if len(fields) == 2 else " | "
    value = mark.join(field.upper() for field in fields)
    return f"--{op.replace('_', '-')} {value if len(fields) < 3 else repr(value)}"


def _own(words: list[str], system: str) -> list[dict[str, Any]]:
    """Read options that are named as the system's edits are."""
    from ras_flow.runs.systems import fields_of

    operations = fields_of(system)
    edits = []
    while words:
        name, joined, value = words.pop(0).partition("=")
        op = name.removeprefix("--").replace("-", "_")
        if not name.startswith("--") or op not in operations:
            known = ", ".join(f"--{op.replace('_', '-')}" for op in operations)
            raise InputError(f"No such option: {name}. The edits of this run: {known}, --edit.")
        if not joined:
            value = words.pop(0) if words else ""
        fields = operations[op]
        parts = value.split("=" if len(fields) == 2 else "|", len(fields) - 1)
        texts = [part.strip() for part in parts] if fields[1:] else [value.strip()]
        if len(texts) != len(fields) or not all(texts):
            raise InputError(f"{name} {value!r} cannot be read: write {option_text(op, fields)}.")
        edits.append({"op": op, **dict(zip(fields, texts, strict=True))})
    return edits


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"--edit {text!r} is not JSON ({error}): write an object.") from error


def _fact(text: str) -> dict[str, str]:
    fields = [field.strip() for field in text.split("|")]
    if len(fields) != 3 or not all(fields):
        raise InputError(f"--add-triple {text!r} is invalid: write 'subject | predicate | object'.")
    return dict(zip(("subject", "predicate", "object"), fields, strict=True))
