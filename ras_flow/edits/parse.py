"""Edits read from JSON, whoever wrote it, and checked while the person is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ras_flow.edits.draft import Operation
from ras_flow.edits.records import Edit
from ras_flow.errors import ConfigurationError, EditError
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.support.validation import checked


def parse_edits(payload: object, operations: Mapping[str, Operation]) -> list[Edit]:
    """Read edits that came as JSON, or refuse them by an EditError that names one by number."""
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
    """Find out whether the models that edits name can be used, while the person is there."""
    for number, edit in enumerate(edits, start=1):
        if edit["op"] == "model":
            try:
                await parts.check_model(edit["role"], edit["name"], context)
            except ConfigurationError as error:
                raise EditError(f"Edit {number}: {error}") from error
