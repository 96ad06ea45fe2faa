"""What all commands on runs share: how to name a run, and where runs are."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.options import address_of
from ras_flow.cli.output import tell_interrupted, with_hint
from ras_flow.errors import InputError, RasFlowError, RunError
from ras_flow.runs.commands import PLACE, command

if TYPE_CHECKING:
    from ras_flow.runs import Runs
    from ras_flow.runs.document import Branch, RunDocument

_VARIABLE = "RAS_FLOW_DATABASE"


def _place_for_commands(database: str | None) -> str | None:
    """Make suggested commands look for runs where this one does."""
    if database is not None and database != os.environ.get(_VARIABLE):
        # It may hold a password.
        secret = "@" in database or database.startswith(("postgresql://", "postgres://"))
        PLACE.set(f" --database {'ADDRESS' if secret else shlex.quote(database)}")
    return database


Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN[/N]",
        help="A run's id, as `ras-flow runs list` shows it; RUN/2 is its second branch.",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        parser=address_of,
        callback=_place_for_commands,
        metavar="ADDRESS",
        envvar=_VARIABLE,
        show_default=False,
        help="Where the runs are: a folder (yours if left out), postgresql://… or the http(s)://… "
        "of a LangGraph server.",
    ),
]


def read_run(database: str | None, name: str) -> tuple[RunDocument, Branch]:
    """Read a run, and the branch that was asked for."""

    async def read() -> tuple[RunDocument, Branch]:
        async with opened_run(database, name) as (_, document, branch):
            return document, branch

    return asyncio.run(read())


@asynccontextmanager
async def opened_run(
    database: str | None, name: str
) -> AsyncIterator[tuple[Runs, RunDocument, Branch]]:
    """Open the runs, and read one of them with the branch that was asked for."""
    from ras_flow.runs.address import find_address
    from ras_flow.runs.databases.opening import open_runs_at
    from ras_flow.runs.reading import get_branch

    async with open_runs_at(database) as runs:
        address = await find_address(runs, name)
        document = await runs.document(address.run)
        yield runs, document, get_branch(document, address.branch)


def go_on_with(run: str) -> str:
    """Return the hint that names the command to continue a run."""
    return f"Go on with: {command('resume', run)}"


@contextmanager
def resumable(run: str) -> Iterator[None]:
    """Add to a failure or interruption how to continue the run."""
    hint = go_on_with(run)
    try:
        yield
    except (InputError, RunError):
        raise
    except RasFlowError as error:
        raise RasFlowError(with_hint(error, hint)) from error
    except asyncio.CancelledError:
        tell_interrupted(hint)
        raise
