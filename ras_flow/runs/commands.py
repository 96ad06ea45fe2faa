"""Commands that messages tell a person, written so that they find the runs where this one did."""

from __future__ import annotations

import shlex
from contextvars import ContextVar

PLACE: ContextVar[str] = ContextVar("PLACE", default="")
"""The option that such a command ends with; the command line sets it by its own."""


def command(*words: str) -> str:
    """Write a command of ``ras-flow runs``.

    Args:
        words: What follows that.

    Returns:
        The command, as a shell takes it.
    """
    return f"ras-flow runs {shlex.join(words)}{PLACE.get()}"
