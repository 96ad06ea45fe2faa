"""Commands that messages tell a person, written so that they find the runs where this one did."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

PLACE: ContextVar[str] = ContextVar("PLACE", default="")
"""The option that each such command has; the command line sets it by its own."""


def command(verb: str, *runs: str, options: Sequence[str] = ()) -> str:
    """Write a command of ``ras-flow runs``.

    Args:
        verb: What it does.
        runs: The runs that it is about, by id.
        options: Its options, with their values.

    Returns:
        The command, as a shell takes it; ids that begin with a dash are last, told from options.
    """
    if any(run.startswith("-") for run in runs):
        told = shlex.join([verb, *options]) + PLACE.get() + f" -- {shlex.join(runs)}"
    else:
        told = shlex.join([verb, *runs, *options]) + PLACE.get()
    return f"ras-flow runs {told}"
