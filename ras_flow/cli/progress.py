"""Progress: a line that changes on a terminal, or a line a minute in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from ras_flow.cli.output import log
from ras_flow.indexes.contents import IndexProgress, OnProgress

_DOING = {
    "read": "reading documents",
    "embed": "embedding",
    "link": "indexing vectors, shards",
    "write": "writing the index",
}

PAUSE = 60.0
"""Seconds between two lines in a log."""


def now_and_then(log: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that logs a line if the last one, or the start, is a minute old."""
    due = time.monotonic() + PAUSE

    def tell(line: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            log(line)
            due = time.monotonic() + PAUSE

    return tell


@contextmanager
def progress_on(console: Console) -> Iterator[OnProgress]:
    """Show progress on a terminal, in a log, or not at all."""
    if console.quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status("reading documents") as status:
            yield lambda progress: status.update(_line(progress))
    else:
        tell = now_and_then(log)
        yield lambda progress: tell(_line(progress))


def _line(progress: IndexProgress) -> str:
    of = "" if progress.total is None else f" of {progress.total}"
    return _DOING[progress.stage] + (f": {progress.done}{of}" if progress.done or of else "")
