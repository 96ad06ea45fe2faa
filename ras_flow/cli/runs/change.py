"""ras-flow runs replay, fork and resume: continue a run, from its end or from any step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ras_flow.cli.output import AsJson, print_json
from ras_flow.cli.runs.options import Database, Run, opened_run, resumable
from ras_flow.errors import EditError, InputError
from ras_flow.formats.text import plain
from ras_flow.runs.commands import command

if TYPE_CHECKING:
    from ras_flow.cli.render import Screen
    from ras_flow.events import Event
    from ras_flow.runs import Runs
    from ras_flow.runs.document import Branch, RunDocument

From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="STEP",
        help="The step after which to go on: its number in `show`, or its name, like plan:1.",
    ),
]


def replay(run: Run, start: From, database: Database = None, as_json: AsJson = False) -> None:
    """Run again from a step on, as a new branch."""
    asyncio.run(_fork(run, start, [], database, as_json))


def fork(
    arguments: typer.Context,
    run: Run,
    start: From,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change something after a step and run on from there, as a new branch.

    Edits are options after RUN and are made in their order: --drop-triple ID, --add-triple
    'SUBJECT | PREDICATE | OBJECT', --drop-passage ID, --subquery TEXT, --plan '[SUFFICIENT]',
    --model ROLE=NAME, --edit JSON; for t2rag also --fill '?slot=VALUE', --choose '?slot=VALUE',
    --unfill '?slot', --add-clue 'SUBJECT | PREDICATE | ?slot', --drop-clue ID. The start of an id
    is enough.
    """
    if not arguments.args:
        raise InputError(
            "No edit given: use one that --help lists, such as --drop-triple ID, or run it again "
            f"unchanged with: {command('replay', run, options=['--from', start])}"
        )
    asyncio.run(_fork(run, start, arguments.args, database, as_json))


def resume(
    arguments: typer.Context,
    run: Run,
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve what a waiting run shows.")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Continue an unfinished run, or answer one that waits for you.

    Edits are options after RUN, as for `fork`.
    """
    if approve and arguments.args:
        raise InputError(
            "Give --approve or edits, not both: edits approve everything that they leave."
        )
    asyncio.run(_resume(run, approve, arguments.args, database, as_json))


async def _fork(
    run: str, start: str, edits: list[str], database: str | None, as_json: bool
) -> None:
    from ras_flow.cli.render import Screen
    from ras_flow.cli.runs.edits import read_edits
    from ras_flow.runs.reading import branch_with, find_step, passages_of, steps_of
    from ras_flow.runs.systems import known_system

    async with opened_run(database, run) as (runs, document, branch):
        id = document["run"]
        step = find_step(document, branch, start)
        # Also those that come later: between extraction and merge a triple is not in the graph yet.
        triples = [id for each in steps_of(document, branch) for id in each["added"]]
        operations = document["system"]["operations"]
        found = {"triples": dict.fromkeys(triples), "passages": passages_of(branch)}
        given = read_edits(edits, operations, **found)
        events = runs.fork(id, branch["steps"][step], given)
        screen = Screen(quiet=as_json, tells=known_system(document["system"]["name"]).tells)
        first = await follow(events, id, screen)
        # Someone else may have made another branch meanwhile.
        forked = branch_with(await runs.document(id), first)["number"] if first else None
        new = await tell(runs, id, as_json, forked)
    if not as_json and new != branch["number"]:
        both = (f"{id}/{number}" for number in (branch["number"], new))
        typer.echo(plain(f"Compare with: {command('diff', *both)}"))


async def _resume(
    run: str, approve: bool, edits: list[str], database: str | None, as_json: bool
) -> None:
    from ras_flow.cli.render import Screen
    from ras_flow.cli.runs.edits import read_edits
    from ras_flow.cli.timeline import Timeline
    from ras_flow.runs.systems import known_system

    async with opened_run(database, run) as (runs, document, branch):
        id, given = document["run"], None
        review = document["steps"][branch["steps"][-1]]["review"]
        if branch["status"] == "paused" and review is not None:
            if not approve and not edits:
                if as_json:
                    print_json(_standing(document, branch))
                else:
                    Timeline(document, branch).outcome()
                return
            operations = document["system"]["operations"]
            found = {name: review.get(name, ()) for name in ("triples", "passages")}
            given = read_edits(edits, operations, **found)
        elif approve or edits:
            raise InputError(
                f"Run {id} is not waiting for a review: resume it without --approve and "
                f"edits, or edit it with: {command('fork', run, options=['--from', 'STEP'])}"
            )
        events = runs.resume(id, given, branch=branch["number"])
        screen = Screen(quiet=as_json, tells=known_system(document["system"]["name"]).tells)
        if branch["status"] != "finished":
            Timeline(document, branch, screen.console).steps()
        await follow(events, run, screen)
        # A refused answer leaves no step: the branch need not be the newest.
        await tell(runs, id, as_json, branch["number"])


async def follow(events: AsyncGenerator[Event], run: str, screen: Screen) -> str | None:
    """Show events as they come, but not the answer, which the outcome has.

    Returns the first checkpoint of the branch that a fork began.
    """
    first = None
    with resumable(run), screen:
        async with aclosing(events):
            async for event in events:
                if event["type"] == "forked":
                    first = event["checkpoint"]
                elif event["type"] != "answer":
                    screen.show(event)
    return first


async def tell(
    runs: Runs, run: str, as_json: bool, number: int | None = None, *, clock: float | None = None
) -> int:
    """Show how a run stands, and what it asks if it waits; return the branch's number.

    ``clock`` is how many seconds the run took.
    """
    from ras_flow.cli.timeline import Timeline
    from ras_flow.runs.reading import get_branch

    document = await runs.document(run)
    branch = get_branch(document, number)
    standing = _standing(document, branch)
    if as_json:
        print_json({**(await runs.get(run, branch["number"])).result(), **standing})
    else:
        Timeline(document, branch).outcome(clock)
    if standing["review"] and (problem := standing["review"].get("problem")):
        raise EditError(f"{problem} The run still waits, unchanged.")
    return branch["number"]


def _standing(document: RunDocument, branch: Branch) -> dict[str, Any]:
    return {
        "run": document["run"],
        "branch": branch["number"],
        "status": branch["status"],
        "review": document["steps"][branch["steps"][-1]]["review"],
    }
