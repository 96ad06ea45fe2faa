"""Commands that messages tell a person, written so that they find the runs where this one did."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

PLACE: ContextVar[str] = ContextVar("PLACE", default="")
"""The option that each such command has; the command line sets it by its own."""


def command(verb: str, *runs: str, options: Sequence[str] = ()) -> str:
    """Write a command of ``ras-flow runs``."""
    if any(run.startswith("-") for run in runs):
        told = shlex.join([verb, *options]) + PLACE.get() + f" -- {shlex.join(runs)}"
    else:
        told = shlex.join([verb, *runs, *options]) + PLACE.get()
    return f"ras-flow runs {told}"
