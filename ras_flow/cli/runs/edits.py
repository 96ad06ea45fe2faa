"""Edits as options, such as ``--drop-triple ID``; the run's system says which there are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ras_flow.errors import InputError

Operations = Mapping[str, Sequence[str]]
"""The fields of a system's edits, by ``op``."""


def read_edits(
    words: Sequence[str],
    operations: Operations,
    *,
    triples: Collection[str] = (),
    passages: Collection[str] = (),
) -> list[Any]:
    """Read options as edits; the start of an id of these triples and passages is enough."""
    from ras_flow.runs.reading import unique_id

    known = {"triple": triples, "passage": passages}
    left, edits = list(words), []
    while left:
        name, joined, value = left.pop(0).partition("=")
        if not joined:
            value = left.pop(0) if left else ""
        op = name.removeprefix("--").replace("-", "_")
        if name == "--edit":
            edits.append(_object(value))
        elif op in operations and name.startswith("--"):
            fields = _fields(op, value, operations)
            for field in known.keys() & fields.keys():
                fields[field] = unique_id(field, fields[field], known[field])
            edits.append({"op": op, **fields})
        else:
            options = ", ".join(option_text(op, operations) for op in operations)
            raise InputError(f"No such option: {name}. The edits of this run: {options}, --edit.")
    return edits


def option_text(op: str, operations: Operations) -> str:
    """Return the option that makes an edit: ``--model ROLE=NAME``."""
    if op not in operations:
        return f"--edit of {op}"
    fields = operations[op]
    value = _mark(fields).join(field.upper() for field in fields)
    return f"--{op.replace('_', '-')} {value if len(fields) < 3 else repr(value)}"


def _mark(fields: Sequence[str]) -> str:
    return "=" if len(fields) == 2 else " | "


def _fields(op: str, value: str, operations: Operations) -> dict[str, str]:
    fields = operations[op]
    most = 1 if len(fields) == 2 else -1  # A name may have a "=".
    parts = value.split(_mark(fields).strip(), most) if len(fields) > 1 else [value]
    texts = [part.strip() for part in parts]
    if len(texts) != len(fields) or not all(texts):
        option = option_text(op, operations)
        raise InputError(f"{option.split()[0]} {value!r} cannot be read: write {option}.")
    return dict(zip(fields, texts, strict=True))


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"--edit {text!r} is not JSON ({error}): write an object.") from error
