"""Runs in a PostgreSQL database, shared by several machines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ras_flow.errors import RunError
from ras_flow.extras import require
from ras_flow.graph import build_graph
from ras_flow.runs.runs import Builder, Runs


@asynccontextmanager
async def open_postgres_runs(
    address: str, *, builder: Builder | None = None
) -> AsyncIterator[Runs]:
    """Open the runs of a database; the tables are made if they are not there.

    Args:
        address: ``postgresql://USER:PASSWORD@HOST:PORT/NAME``.
        builder: The graph to run; the shipped one by default.

    Yields:
        The runs.

    Raises:
        MissingExtraError: The packages for PostgreSQL are not installed.
        RunError: The address is malformed, or the database cannot be used. The message holds no
            password.
    """
    savers = require("langgraph.checkpoint.postgres.aio", extra="postgres")
    stores = require("langgraph.store.postgres.aio", extra="postgres")
    psycopg = require("psycopg", extra="postgres")
    try:
        known = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # What it says of a malformed address has the address in it, and hence the password.
        raise RunError(
            "The address of the database is malformed: write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME, with special characters as %XX."
        ) from None
    try:
        async with (
            savers.AsyncPostgresSaver.from_conn_string(address) as saver,
            stores.AsyncPostgresStore.from_conn_string(address) as store,
        ):
            await saver.setup()
            await store.setup()
            graph = (builder or build_graph()).compile(checkpointer=saver, store=store, name="ras")
            yield Runs(graph)
    except psycopg.Error as error:
        message = " ".join(str(error).split())
        for secret in (address, known.get("password")):
            message = message.replace(secret, "…") if secret else message
        raise RunError(
            f"The database at {known.get('host') or 'this address'} cannot be used ({message}). "
            "Check its address, and that it is running."
        ) from None
