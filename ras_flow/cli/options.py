"""How files, folders, encoders and databases are named on the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ras_flow.support.engine import Engine


def path_argument(metavar: str, help: str) -> Any:
    """Take a file or folder by its place."""
    return typer.Argument(parser=path_of, metavar=metavar, help=help)


def path_option(help: str, *names: str, metavar: str = "PATH", panel: str | None = None) -> Any:
    """Take a file or folder by an option."""
    return typer.Option(*names, parser=path_of, metavar=metavar, help=help, rich_help_panel=panel)


def path_of(name: str) -> Path:
    """Return a path; refuse an empty name: ``--docs "$UNSET"`` must not mean the current folder."""
    if not name:
        raise typer.BadParameter("the name is empty; write . for the current folder")
    return Path(name)


def encoder_name(name: str) -> str:
    """Return an encoder's name; a folder becomes an absolute path, as indexes store it."""
    return os.path.abspath(name) if os.path.isdir(name) else name


def address_of(text: str) -> str:
    """Return an address; refuse an empty one: ``--database "$UNSET"`` must not mean the default."""
    if not text:
        raise typer.BadParameter("the address is empty; leave the option out for your own folder")
    return text


EngineName = Literal["local", "ray"]

EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="Where to work: in this process, or on a Ray cluster (at RAY_ADDRESS, or else started "
        "on this machine).",
    ),
]


@contextmanager
def opened_engine(name: EngineName, most: int | None = None) -> Iterator[Engine]:
    """Open an engine; call this before an event loop runs."""
    if name == "local":
        from ras_flow.support.engine import IN_PROCESS

        yield IN_PROCESS
        return
    from ras_flow.cluster.workers import open_workers

    with open_workers(most) as workers:
        yield workers
