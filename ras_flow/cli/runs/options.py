"""What the commands on runs have in common: how a run is named, and where runs are."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.names import address_of
from ras_flow.errors import InputError, RasFlowError, RunError

if TYPE_CHECKING:
    from ras_flow.runs import Runs
    from ras_flow.runs.document import Branch, RunDocument

_VARIABLE = "RAS_FLOW_DATABASE"
_ENDS_WITH_COMMAND = re.compile(r"ras-flow runs [^.]*$")

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
        metavar="ADDRESS",
        envvar=_VARIABLE,
        show_default=False,
        help="Where the runs are: a folder (yours if left out), postgresql://… or the http(s)://… "
        "of a LangGraph server.",
    ),
]


def read_run(database: str | None, name: str) -> tuple[RunDocument, Branch]:
    """Read a run, and the branch that was asked for; see :func:`read_runs`."""
    return read_runs(database, [name])[0]


def read_runs(database: str | None, names: Sequence[str]) -> list[tuple[RunDocument, Branch]]:
    """Read runs, each once.

    Args:
        database: Where they are.
        names: Runs, and branches of them; the current branch where none is given.

    Returns:
        Document and branch for each name.

    Raises:
        RunError: There is no such run or branch.
    """
    from ras_flow.runs.address import Address, find_address
    from ras_flow.runs.reading import get_branch

    async def read() -> tuple[list[Address], dict[str, RunDocument]]:
        async with opened(database) as runs:
            addresses = [await find_address(runs, name) for name in names]
            wanted = dict.fromkeys(address.run for address in addresses)
            return addresses, {run: await runs.document(run) for run in wanted}

    addresses, documents = asyncio.run(read())
    return [
        (documents[address.run], get_branch(documents[address.run], address.branch))
        for address in addresses
    ]


@asynccontextmanager
async def opened(database: str | None, *, new: bool = False) -> AsyncIterator[Runs]:
    """Open runs; a command that an error ends with finds them where this one did.

    Args:
        database: Where they are.
        new: Make the folder, or runs in it, where there are none.

    Yields:
        The runs.

    Raises:
        RunError: There are no runs at this address, or they cannot be opened.
    """
    from ras_flow.runs.opening import open_runs_at

    async with open_runs_at(database, new=new) as runs:
        try:
            yield runs
        except (InputError, RunError) as error:
            if not (at(database) and _ENDS_WITH_COMMAND.search(str(error))):
                raise
            raise type(error)(f"{error}{at(database)}") from error


def at(database: str | None) -> str:
    """Return how a command that is told to a person finds the runs where this one did.

    Args:
        database: Where they are.

    Returns:
        The command's further option; empty where the environment says it.
    """
    if database is None or database == os.environ.get(_VARIABLE):
        return ""
    # There may be a password in it.
    secret = "@" in database or database.startswith(("postgresql://", "postgres://"))
    return f" --database {'ADDRESS' if secret else shlex.quote(database)}"


def go_on_with(run_id: str, database: str | None) -> str:
    """Tell the command that goes on with a run."""
    return f"Go on with: ras-flow runs resume {run_id}{at(database)}"


@contextmanager
def resumable(run_id: str, database: str | None) -> Iterator[None]:
    """Tell how to go on with a run that fails or is interrupted.

    Args:
        run_id: The run.
        database: Where it is.

    Yields:
        Nothing.
    """
    hint = go_on_with(run_id, database)
    try:
        yield
    except (InputError, RunError):
        raise
    except RasFlowError as error:
        raise RasFlowError(f"{error} {hint}") from error
    except asyncio.CancelledError:
        typer.echo(f"ras-flow: interrupted. {hint}", err=True)
        raise
