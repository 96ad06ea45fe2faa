"""The commands that messages suggest; they look for runs where the current command does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

PLACE: ContextVar[str] = ContextVar("PLACE", default="")
"""The ``--database`` option that each suggested command gets; the command line sets it."""


def command(verb: str, *runs: str, options: Sequence[str] = ()) -> str:
    """Write a command of ``ras-flow runs``."""
    if any(run.startswith("-") for run in runs):
        told = shlex.join([verb, *options]) + PLACE.get() + f" -- {shlex.join(runs)}"
    else:
        told = shlex.join([verb, *runs, *options]) + PLACE.get()
    return f"ras-flow runs {told}"
