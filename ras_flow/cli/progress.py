"""The progress of index work on a terminal."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.status import Status

from ras_flow.retrieval.contents import IndexProgress

_DOING = {
    "read": "reading documents",
    "embed": "embedding passages",
    "link": "indexing vectors, shards",
    "write": "writing the index",
}


class Progress:
    """A line that changes as work proceeds; nothing where the output is no terminal.

    Args:
        console: Where to show it.
    """

    def __init__(self, console: Console) -> None:
        self._status: Status | None = None
        if console.is_terminal and not console.quiet:
            self._status = console.status("reading documents")

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
        if self._status is not None:
            of = "" if progress.total is None else f" of {progress.total}"
            self._status.update(f"{_DOING[progress.stage]}: {progress.done}{of}")
