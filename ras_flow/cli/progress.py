"""Progress: a line that changes on a terminal, or a line a minute in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from ras_flow.cli.output import log
from ras_flow.formats.text import plain
from ras_flow.indexes.contents import IndexProgress, OnProgress

_DOING = {
    "read": "reading documents",
    "embed": "embedding",
    "link": "indexing vectors, shards",
    "write": "writing the index",
}

PAUSE = 60.0
"""Seconds between two lines in a log."""

Show = Callable[[str, int, int | None], None]
"""Called with the kind of work, how much is done, and the total, if that is known."""


@contextmanager
def shown_progress(console: Console | None = None) -> Iterator[Show]:
    """Show progress on a console, by default on standard error."""
    console = console or Console(stderr=True)
    due = time.monotonic() + PAUSE
    with console.status("reading") as status:

        def show(doing: str, done: int, total: int | None) -> None:
            nonlocal due
            of = "" if total is None else f" of {total:,}"
            line = plain(doing) + (f": {done:,}{of}" if done or of else "")
            if console.is_terminal:
                status.update(Text(line))
            elif not console.quiet and time.monotonic() >= due:
                log(line)
                due = time.monotonic() + PAUSE

        yield show


@contextmanager
def progress_on(console: Console | None = None) -> Iterator[OnProgress]:
    """Show the progress of building an index."""
    with shown_progress(console) as show:

        def shown(progress: IndexProgress) -> None:
            show(_DOING[progress.stage], progress.done, progress.total)

        yield shown
