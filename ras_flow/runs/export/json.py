"""A run as JSON: the whole document, every branch included."""

from __future__ import annotations

from ras_flow.formats.escapes import json_text
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import get_branch


def to_json(document: RunDocument, branch: int | None = None) -> str:
    """Write a run as JSON.

    Args:
        document: The run.
        branch: The branch that readers are to open first, as ``current``; None to leave that.

    Returns:
        The document as JSON text.

    Raises:
        RunError: The run has no such branch.
    """
    number = get_branch(document, branch)["number"]
    return json_text({**document, "current": number}, indent=1)
