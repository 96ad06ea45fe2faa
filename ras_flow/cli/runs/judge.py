"""ras-flow runs diff and why."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ras_flow.cli.output import AsJson, print_json
from ras_flow.cli.runs.options import Database, Run, go_on_with, opened_run, read_run
from ras_flow.errors import RunError

if TYPE_CHECKING:
    from ras_flow.runs.document import Branch, RunDocument
    from ras_flow.runs.without import Without


def diff(a: Run, b: Run, database: Database = None, as_json: AsJson = False) -> None:
    """Compare two branches or runs: what changed, and which triples made the difference."""
    from ras_flow.cli.differences import show_comparison
    from ras_flow.runs.address import find_address
    from ras_flow.runs.compare import Comparison, compare
    from ras_flow.runs.reading import get_branch

    async def read() -> Comparison:
        async with opened_run(database, a) as (runs, one, first):
            run, number = await find_address(runs, b)
            two = one if run == one["run"] else await runs.document(run)
            return compare(one, first["number"], two, get_branch(two, number)["number"])

    found = asyncio.run(read())
    if as_json:
        print_json(found)
    else:
        show_comparison(found)


def why(
    run: Run,
    without: Annotated[
        bool,
        typer.Option(
            "--without",
            help="Ask the answerer again without each cited triple: which one changes the answer?",
        ),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most triples to leave out.")] = 8,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show the triples and passages under each part of the answer."""
    from ras_flow.cli.explanation import show_explanation
    from ras_flow.runs.reading import address_of
    from ras_flow.runs.why import explain

    document, branch = read_run(database, run)
    if branch["stop_reason"] is None:
        raise RunError(f"Run {run} has no answer yet. {go_on_with(address_of(document, branch))}")
    found = explain(document, branch["number"])
    if not as_json:
        show_explanation(found)
    tried = asyncio.run(_ask(document, branch, limit, as_json)) if without else []
    if as_json:
        record = {**found, "without": tried} if without else found
        print_json(record)


async def _ask(document: RunDocument, branch: Branch, limit: int, quiet: bool) -> list[Without]:
    from ras_flow.cli.render import fact_text, line, snippet
    from ras_flow.runs.without import answers_without

    console = Console(highlight=False, quiet=quiet)
    if not any(citation["triple"] for citation in branch["citations"]):
        line(console, "Without  ", "no triple is cited, so there is nothing to leave out")
        return []
    tried: list[Without] = []
    line(console, ("Asking again with the whole graph, then without each cited triple", "bold"))
    async for found in answers_without(document, branch["number"], limit=limit):
        tried.append(found)
        id, answer = found["triple"], snippet(found["answer"]) or "(none)"
        if id is None:
            said = (
                "differs from the run's answer; the rest is compared with this one"
                * found["changed"]
            )
            line(console, f"  whole graph: {answer}  ", (said or "as in the run", "dim"))
            continue
        style, said = ("bold red", "changes") if found["changed"] else ("dim", "stays")
        fact = fact_text(document["triples"][id])
        line(console, "  without ", (f"{id}  ", "dim"), f"{fact}: ", (said, style), f": {answer}")
    return tried
