"""Runs by address: a folder, a PostgreSQL database, or a LangGraph server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ras_flow.errors import RunError
from ras_flow.runs.databases.sqlite import open_runs
from ras_flow.runs.runs import Builder, Runs
from ras_flow.support.paths import expanded
from ras_flow.systems import DEFAULT, named_system


@asynccontextmanager
async def open_runs_at(
    address: str | None = None,
    *,
    builder: Builder | None = None,
    system: str = DEFAULT,
    new: bool = False,
) -> AsyncIterator[Runs]:
    """Open the runs at an address; new ones are of a system, or of the graph given."""
    builder = builder or (None if is_server(address) else named_system(system).builder())
    scheme, found, _ = (address or "").partition("://")
    match scheme.lower() if found else "":
        case "":
            opened = open_runs(_folder(address, new), builder=builder)
        case "postgresql" | "postgres":
            from ras_flow.runs.databases.postgres import open_postgres_runs  # noqa: PLC0415

            opened = open_postgres_runs(str(address), builder=builder)
        case "http" | "https":
            from ras_flow.runs.databases.server import open_server_runs  # noqa: PLC0415

            opened = open_server_runs(str(address), system=system)
        case _:
            raise RunError(
                f"Runs cannot be opened at {scheme}://: give a folder, a postgresql:// address, or "
                "the http:// or https:// address of a LangGraph server."
            )
    async with opened as runs:
        yield runs


def is_server(address: str | None) -> bool:
    """Return whether an address is that of a LangGraph server, which runs what it is asked."""
    return (address or "").lower().startswith(("http://", "https://"))


def _folder(address: str | None, new: bool) -> Path | None:
    """Return a folder that has runs; a mistyped one is made only for new runs."""
    if address is None:
        return None
    folder = expanded(address)
    # Unlike Path.is_file, this raises nothing: a name may be too long, a folder closed to us.
    if not new and not os.path.isfile(folder / "runs.sqlite"):
        raise RunError(
            f"The folder {folder} holds no runs: give one that has a file runs.sqlite, as the "
            "environment variable RAS_FLOW_HOME of `ras-flow ask` names it."
        )
    return folder
