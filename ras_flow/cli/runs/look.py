"""ras-flow runs list, show and graph."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ras_flow.cli.output import AsJson, print_json
from ras_flow.cli.runs.options import Database, Run, read_run
from ras_flow.errors import InputError
from ras_flow.formats.text import plain
from ras_flow.runs.commands import PLACE
from ras_flow.runs.times import parse_time


def list_runs(
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    since: Annotated[
        str | None, typer.Option(help="Asked since: 2h, 7d, or a date like 2026-11-01 (UTC).")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="REASON", help="Stop reason: sufficient, budget, …")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Words in question or answer.")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the newest runs."""
    from ras_flow.cli.render import answer_text, snippet
    from ras_flow.runs import RunSummary
    from ras_flow.runs.databases.opening import is_server, open_runs_at
    from ras_flow.runs.systems import stop_reasons
    from ras_flow.systems import DEFAULT

    if stop is not None and stop not in (known := stop_reasons()):
        raise InputError(f"--stop must be one of {', '.join(known)}, not {stop!r}.")
    filters: dict[str, Any] = {"text": text, "stop_reason": stop}
    if since is not None:
        filters["since"] = parse_time(since, "--since")

    async def recent() -> list[RunSummary]:
        async with open_runs_at(database) as runs:
            return await runs.recent(limit=limit, **filters)

    summaries = asyncio.run(recent())
    if as_json:
        rows = map(asdict, summaries)
        print_json([{"run": row.pop("id"), **row} for row in rows])
        return
    if not summaries:
        documents = "" if is_server(database) else " --docs FOLDER"
        typer.echo(
            "No runs match."
            if any(filters.values())
            else f"No runs yet. Make one with: ras-flow ask 'Who …?'{documents}{PLACE.get()}"
        )
        return
    console = Console()
    for run in summaries:
        system = f"  {run.system}" * (run.system not in ("", DEFAULT))
        # Other commands take ids and times: they are never folded.
        console.print(
            Text(plain(f"{run.id}{system}  {run.started}  {run.stopped}")), soft_wrap=True
        )
        answer = answer_text(run.answer, supported=run.supported)
        for text in (snippet(run.question), answer and f"→ {answer}"):
            if text:
                console.print(Padding.indent(Text(text), 2))


def show(run: Run, database: Database = None, as_json: AsJson = False) -> None:
    """Show a run step by step: plans, passages, triples, answer and cost."""
    from ras_flow.cli.timeline import Timeline

    document, branch = read_run(database, run)
    if as_json:
        print_json({**document, "current": branch["number"]})
        return
    Timeline(document, branch).show()


def graph(
    run: Run,
    hop: Annotated[
        int | None, typer.Option(min=0, help="As it was after this hop; new triples have a +.")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show the graph as a tree, at the end or after a hop; cited triples have a *."""
    from ras_flow.cli.render import counted, graph_tree
    from ras_flow.events import GraphTriple
    from ras_flow.runs.reading import find_hop_step, graph_after, graph_of
    from ras_flow.state.kg import QueryKG

    document, branch = read_run(database, run)
    step = None if hop is None else find_hop_step(document, branch, hop)
    kg = QueryKG.from_triples(graph_of(document, branch, step))
    before: Collection[str] = () if hop == 0 else kg.triples
    if hop:
        before = graph_after(document, branch, find_hop_step(document, branch, hop - 1))
    new = [id for id in kg.triples if id not in before]
    answered_by = {citation["triple"] for citation in branch["citations"]}
    cited = [id for id in kg.triples if id in answered_by]
    if as_json:
        record = {
            "run": document["run"],
            "branch": branch["number"],
            "hop": hop,
            "entities": kg.entities,
            "triples": kg.triples,
            "new": new,
            "cited": cited,
        }
        print_json(record)
        return
    entities = counted(len(kg.entities), "entity", "entities")
    title = f"Graph    {entities}, {counted(len(kg.triples), 'triple')}"
    triples = [GraphTriple(id=id, **triple) for id, triple in kg.triples.items()]
    Console(highlight=False).print(graph_tree(title, triples, new, cited=cited))
