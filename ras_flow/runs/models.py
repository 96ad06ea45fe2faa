"""Models that a person names for a run, looked up while the person is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ras_flow.errors import ConfigurationError, EditError

if TYPE_CHECKING:
    from ras_flow.context import Context
    from ras_flow.parts import Parts
    from ras_flow.runs.edits import Edit


async def check_models(edits: Sequence[Edit], context: Context, parts: Parts) -> None:
    """Find out whether the models that edits name can be used.

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
