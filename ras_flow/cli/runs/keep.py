"""ras-flow runs export and prune."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.options import path_option
from ras_flow.cli.output import confirmed
from ras_flow.cli.runs.options import Database, Run, read_run
from ras_flow.errors import InputError, RunError
from ras_flow.formats.text import plain
from ras_flow.page.forms import Form, writer_of
from ras_flow.runs.times import parse_time
from ras_flow.support.files import write_whole, writing

if TYPE_CHECKING:
    from ras_flow.runs import RunSummary

_ALL = 1_000_000


def export(
    run: Run,
    format: Annotated[Form, typer.Option(help="html is one self-contained page.")] = Form.json,
    output: Annotated[
        Path | None, path_option("Write to this file instead of the screen.", "--output", "-o")
    ] = None,
    database: Database = None,
) -> None:
    """Write a run for other programs: JSON, GraphML, JSON-LD, Turtle, or an HTML page."""
    document, branch = read_run(database, run)
    text = writer_of(format).write(document, branch["number"])
    if output is None:
        # These forms are UTF-8 whatever the locale; a terminal is shown what it can show.
        typer.echo(text if sys.stdout.isatty() else text.encode())
        return
    with writing(output):
        write_whole(output, text)
    typer.echo(f"{output}: {len(text.encode())} bytes", err=True)


def prune(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN…]", help="Runs to delete, by id.")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(metavar="AGE", help="Delete runs asked before: 30d, 2026-11-01.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Delete all but the newest N.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: Database = None,
) -> None:
    """Delete whole runs for good, with all their branches; both options must match."""
    from ras_flow.cli.render import counted, snippet

    if runs and (older_than or keep is not None):
        raise InputError("Name runs, or give --older-than and --keep: not both.")
    if not runs and older_than is None and keep is None:
        raise InputError("Say what to delete: ids of runs, --older-than 30d or --keep 100.")
    before = None if older_than is None else parse_time(older_than, "--older-than")
    chosen = asyncio.run(_chosen(database, runs or [], before, keep))
    if not chosen:
        typer.echo("No runs to delete.")
        return
    for run in chosen:
        typer.echo(f"{plain(run.id)}  {run.started}  {run.stopped}  {snippet(run.question)}")
    count = counted(len(chosen), "run")
    if not yes and not confirmed(f"{count} for good"):
        typer.echo("Nothing was deleted.")
        return
    asyncio.run(_delete(database, [run.id for run in chosen]))
    typer.echo(f"Deleted {count}.")


async def _chosen(
    database: str | None, named: list[str], before: datetime | None, keep: int | None
) -> list[RunSummary]:
    from ras_flow.runs.address import find_address
    from ras_flow.runs.databases.opening import open_runs_at

    async with open_runs_at(database) as runs:
        chosen = []
        for name in named:
            run, branch = await find_address(runs, name)
            if branch is not None:
                raise InputError(
                    f"{name} is one branch, but only whole runs can be deleted: give an id."
                )
            try:
                chosen.append(await runs.summary(run))
            except RunError as error:
                raise RunError(f"Nothing was deleted. {error}") from error
        if named:
            return list(dict.fromkeys(chosen))
        old = await runs.recent(limit=_ALL, until=before)
        spared = {run.id for run in await runs.recent(limit=keep)} if keep else set()
        return [run for run in old if run.id not in spared]


async def _delete(database: str | None, run_ids: list[str]) -> None:
    from ras_flow.runs.databases.opening import open_runs_at

    async with open_runs_at(database) as runs:
        await runs.delete(run_ids)
