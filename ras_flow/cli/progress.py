"""How far work is: a line that changes on a terminal, or one a minute where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.status import Status

from ras_flow.cli.output import log
from ras_flow.retrieval.contents import IndexProgress

_DOING = {
    "read": "reading documents",
    "embed": "embedding passages",
    "link": "indexing vectors, shards",
    "write": "writing the index",
}


PAUSE = 60.0
"""Seconds between two lines in a log."""


def now_and_then(log: Callable[[str], None]) -> Callable[[str], None]:
    """Return what writes a line to a log where the last one is a minute old, or the start is.

    Args:
        log: Where there is no terminal.
    """
    due = time.monotonic() + PAUSE

    def tell(line: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            log(line)
            due = time.monotonic() + PAUSE

    return tell


class Progress:
    """A line that changes as work proceeds, or lines in a log where the output is no terminal.

    Args:
        console: Where to show it.
    """

    def __init__(self, console: Console) -> None:
        self._status: Status | None = None
        self._tell: Callable[[str], None] | None = None
        if console.is_terminal and not console.quiet:
            self._status = console.status("reading documents")
        elif not console.quiet:
            self._tell = now_and_then(log)

    def __enter__(self) -> Self:
        """Show it."""
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        if self._status is not None:
            self._status.stop()

    def __call__(self, progress: IndexProgress) -> None:
        """Say how far the work is."""
        of = "" if progress.total is None else f" of {progress.total}"
        line = f"{_DOING[progress.stage]}: {progress.done}{of}"
        if self._status is not None:
            self._status.update(line)
        elif self._tell is not None:
            self._tell(line)
