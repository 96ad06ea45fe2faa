"""Long-running commands: run, interrupt, report."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ras_flow.cli.options import path_option
from ras_flow.cli.output import INTERRUPTED, print_json, tell_interrupted
from ras_flow.cli.progress import shown_progress

if TYPE_CHECKING:
    from ras_flow.training.data.stats import Stats
    from ras_flow.training.data.writer import Progress

T = TypeVar("T")

GO_ON = "Go on with the same command."

ENDING = 1.0
"""Seconds that work has to end after Ctrl-C."""

Out = Annotated[Path, path_option("Folder of the data set.", "--out")]


def run_work(work: Callable[[Progress], Coroutine[Any, Any, T]], hint: str) -> T:
    """Do a command's work, and show its progress."""
    with ended_by_ctrl_c(hint) as loop, shown_progress() as progress:
        return loop.run(in_time(work(progress)))


@contextmanager
def ended_by_ctrl_c(hint: str) -> Iterator[asyncio.Runner]:
    """Provide an event loop; on Ctrl-C, end the process at once.

    A thread in the middle of a computation cannot be stopped, and Python would wait for it.
    """
    with asyncio.Runner() as loop:
        try:
            yield loop
        except KeyboardInterrupt:
            tell_interrupted(hint)
            os._exit(INTERRUPTED)


async def in_time(work: Coroutine[Any, Any, T]) -> T:
    """Await work; if it is cancelled, give it a moment to save what it has."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=ENDING)
        raise


def report(folder: Path, stats: Stats, as_json: bool) -> None:
    """Print what a data set holds."""
    if as_json:
        print_json(stats.to_json())
        return
    typer.echo(f"{folder}: {sum(stats.by(1).values())} records {json.dumps(stats.by(1))}")
    typer.echo(stats.table())
    for step, used in stats.usage.items():
        typer.echo(f"{step}: {json.dumps(used)}")
    if stats.dropped:
        typer.echo(f"left out: {json.dumps(stats.dropped)}")
