"""ras-flow runs export and prune."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.runs.options import Database, Run, opened, read_run
from ras_flow.errors import InputError, RunError
from ras_flow.files import write_whole

if TYPE_CHECKING:
    from ras_flow.runs import Runs, RunSummary
    from ras_flow.runs.document import RunDocument

_ALL = 1_000_000


class Format(StrEnum):
    """The forms in which a run can be written."""

    json = "json"
    graphml = "graphml"
    jsonld = "jsonld"
    turtle = "turtle"
    html = "html"


def export(
    run: Run,
    format: Annotated[Format, typer.Option(help="html is one file that shows all.")] = Format.json,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to the screen.")
    ] = None,
    database: Database = None,
) -> None:
    """Write a run for other programs: JSON, GraphML, JSON-LD, Turtle, or an HTML page."""
    document, branch = read_run(database, run)
    text = _written(document, branch["number"], format)
    if output is None:
        # These forms are UTF-8 whatever the locale; a terminal is shown what it can show.
        typer.echo(text if sys.stdout.isatty() else text.encode())
        return
    try:
        write_whole(output, text)
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}.") from error
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
    """Delete whole runs for good, with all their branches; with both options, what fits both."""
    from ras_flow.cli.output import confirmed
    from ras_flow.cli.render import plain, snippet
    from ras_flow.runs.times import parse_time

    if runs and (older_than or keep is not None):
        raise InputError("Name runs, or give --older-than and --keep: not both.")
    if not runs and older_than is None and keep is None:
        raise InputError("Say what to delete: ids of runs, --older-than 30d or --keep 100.")
    before = None if older_than is None else parse_time(older_than, "--older-than")
    chosen = asyncio.run(_chosen(database, runs or [], before, keep))
    if not chosen:
        typer.echo("No run is to be deleted.")
        return
    for run in chosen:
        stopped = run.stop_reason or "unfinished"
        typer.echo(f"{plain(run.id)}  {run.started}  {stopped}  {snippet(run.question)}")
    count = f"{len(chosen)} run{'s' * (len(chosen) > 1)}"
    if not yes and not confirmed(f"{count} for good"):
        typer.echo("Nothing was deleted.")
        return
    asyncio.run(_delete(database, [run.id for run in chosen]))
    typer.echo(f"Deleted {count}.")


def _written(document: RunDocument, branch: int, format: Format) -> str:
    from ras_flow.runs.export import to_graphml, to_json, to_json_ld, to_turtle

    match format:
        case Format.json:
            return to_json(document, branch)
        case Format.graphml:
            return to_graphml(document, branch)
        case Format.jsonld:
            return to_json_ld(document, branch)
        case Format.turtle:
            return to_turtle(document, branch)
        case Format.html:
            from ras_flow.page.export import to_html

            return to_html(document, branch)


async def _chosen(
    database: str | None, named: list[str], before: datetime | None, keep: int | None
) -> list[RunSummary]:
    from ras_flow.runs.address import find_address

    async with opened(database) as runs:
        for run in named:
            if (await find_address(runs, run)).branch is not None:
                raise InputError(
                    f"{run} is one branch: only whole runs can be deleted, by their ids."
                )
        newest = await runs.recent(limit=_ALL)
        old = await runs.recent(limit=_ALL, until=before) if before else newest
        known = {run.id: run for run in newest}
        # A run that was deleted while it was at work has lost its question, by which runs are
        # listed, and still has what it wrote since.
        chosen = [
            known.get(run_id) or await _found(runs, run_id) for run_id in dict.fromkeys(named)
        ]
    if named:
        return chosen
    spared = {run.id for run in newest[: keep or 0]}
    return [run for run in old if run.id not in spared]


async def _found(runs: Runs, run_id: str) -> RunSummary:
    try:
        return (await runs.get(run_id)).summary
    except RunError as error:
        raise RunError(f"{error} (Nothing was deleted.)") from error


async def _delete(database: str | None, run_ids: list[str]) -> None:
    async with opened(database) as runs:
        await runs.delete(run_ids)
