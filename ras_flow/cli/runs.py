"""ras-flow runs: list, show and resume runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from ras_flow.errors import InputError, RasFlowError, RunError

app = typer.Typer(help="List, show and resume runs.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
RunId = Annotated[str, typer.Argument(help="A run's id, as `ras-flow runs list` shows it.")]


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest runs."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ras_flow.cli.render import snippet
    from ras_flow.runs import RunSummary, open_runs

    async def recent() -> list[RunSummary]:
        async with open_runs() as runs:
            return await runs.recent(limit=limit)

    summaries = asyncio.run(recent())
    if as_json:
        typer.echo(json.dumps([asdict(summary) for summary in summaries], ensure_ascii=False))
        return
    if not summaries:
        typer.echo("No runs yet. Make one with: ras-flow ask 'Who …?' --docs FOLDER")
        return
    table = Table("run", "started", "stopped by", "question", "answer", box=None)
    for run in summaries:
        stop = run.stop_reason or "unfinished"
        cells = (run.id, run.started, stop, snippet(run.question), snippet(run.answer))
        table.add_row(*map(Text, cells))
    Console().print(table)


@app.command()
def show(run_id: RunId, as_json: AsJson = False) -> None:
    """Show a run: plans, passages, triples, answer and cost."""
    from ras_flow.cli.render import Screen
    from ras_flow.runs import StoredRun, open_runs
    from ras_flow.runs.events import events_of

    async def get() -> StoredRun:
        async with open_runs() as runs:
            return await runs.get(run_id)

    stored = asyncio.run(get())
    if as_json:
        typer.echo(json.dumps(stored.result(), ensure_ascii=False))
        return
    screen = Screen()
    for event in events_of(stored.state):
        screen.show(event)
    screen.cost(stored.state["usage"])
    if stored.next:
        steps = ", ".join(stored.next)
        typer.echo(f"Unfinished; next: {steps}. Go on with: ras-flow runs resume {run_id}")


@app.command()
def resume(run_id: RunId, as_json: AsJson = False) -> None:
    """Go on with an unfinished run; no finished model call is made again."""
    from ras_flow.cli.render import Screen
    from ras_flow.runs import StoredRun, open_runs
    from ras_flow.runs.events import events_of

    screen = Screen(quiet=as_json)

    async def go_on() -> StoredRun:
        async with open_runs() as runs:
            before = await runs.get(run_id)
            with resumable(run_id), screen:
                for event in events_of(before.state) if before.next else ():
                    screen.show(event)
                async for event in runs.resume(run_id):
                    screen.show(event)
            return await runs.get(run_id)

    stored = asyncio.run(go_on())
    screen.cost(stored.state["usage"])
    if as_json:
        typer.echo(json.dumps(stored.result(), ensure_ascii=False))


@contextmanager
def resumable(run_id: str) -> Iterator[None]:
    """Tell how to go on with a run that fails or is interrupted.

    Args:
        run_id: The run.

    Yields:
        Nothing.
    """
    hint = f"Go on with: ras-flow runs resume {run_id}"
    try:
        yield
    except (InputError, RunError):
        raise
    except RasFlowError as error:
        raise RasFlowError(f"{error} {hint}") from error
    except asyncio.CancelledError:
        typer.echo(f"ras-flow: interrupted. {hint}", err=True)
        raise
