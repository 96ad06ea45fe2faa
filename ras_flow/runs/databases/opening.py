"""Runs by address: a folder, a PostgreSQL database, or a LangGraph server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ras_flow.errors import RunError
from ras_flow.runs.databases.sqlite import open_runs
from ras_flow.runs.databases.stores import folder_of
from ras_flow.runs.runs import Builder, Runs
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
            opened = open_runs(folder_of(address, "runs", new=new), builder=builder)
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
