"""Checkpoints, triples and runs in a PostgreSQL database, shared by several machines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ras_flow.errors import RunError
from ras_flow.runs.databases.locks import OPTIONS, ThreadLocks
from ras_flow.runs.local import DATA_ONLY, LocalThreads
from ras_flow.runs.runs import Builder, Runs
from ras_flow.support.extras import require
from ras_flow.systems import DEFAULT, find_system

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

_savers = require("langgraph.checkpoint.postgres.aio", extra="postgres")
_stores = require("langgraph.store.postgres.aio", extra="postgres")
_pools = require("psycopg_pool", extra="postgres")
_psycopg = require("psycopg", extra="postgres")

CONNECTIONS = 10
"""Most connections of one process; a step of a run needs one for a few milliseconds."""

_MIGRATING = 7_283_519_046
"""Number of the advisory lock that whoever makes or changes the tables holds."""


@dataclass(frozen=True)
class Postgres:
    """What a graph is compiled with: ``compile(checkpointer=db.saver, store=db.store)``."""

    saver: AsyncPostgresSaver
    store: AsyncPostgresStore


@asynccontextmanager
async def open_postgres(address: str, *, connections: int = CONNECTIONS) -> AsyncIterator[Postgres]:
    """Open checkpointer and store of a database; its tables are made or migrated where needed.

    Only making or migrating them needs a user who may create tables. Any number of processes may
    open the database at once. Connections are made when needed, and again after it restarts.
    """
    options = {**OPTIONS, "prepare_threshold": 0, "row_factory": _psycopg.rows.dict_row}
    with _translate_errors(address):
        # On a connection of its own: without a database, a pool would wait for one.
        await _migrate(address, options)
        made = WeakSet[Any]()

        async def keep(connection: Any) -> None:
            made.add(connection)

        async with _pools.AsyncConnectionPool(
            address,
            min_size=1,
            max_size=connections,
            kwargs=options,
            configure=keep,
            check=_pools.AsyncConnectionPool.check_connection,
        ) as pool:
            try:
                yield Postgres(_savers.AsyncPostgresSaver(pool), _stores.AsyncPostgresStore(pool))
            finally:
                # Where the server is suspended, psycopg would wait for the answer to each question.
                for connection in list(made):
                    await connection.close()


@asynccontextmanager
async def open_postgres_runs(
    address: str, *, builder: Builder | None = None
) -> AsyncIterator[Runs]:
    """Open the runs of a database; the tables are made if they are not there."""
    async with open_postgres(address) as database:
        database.saver.serde = DATA_ONLY
        graph = (builder or find_system(DEFAULT).builder()).compile(
            checkpointer=database.saver, store=database.store
        )
        locks = ThreadLocks(address)
        try:
            yield Runs(LocalThreads(graph, locks.at_work), told=partial(_translate_errors, address))
        finally:
            await locks.close()


async def _migrate(address: str, options: dict[str, Any]) -> None:
    """Make or change the tables if they are missing or old, one process at a time."""
    async with await _psycopg.AsyncConnection.connect(address, **options) as connection:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise RunError(
                f"The database has the encoding {encoding}, which lacks most characters. Make one "
                "with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
            )
        if await _is_migrated(connection):
            return
        # Not `pg_advisory_lock`: making an index concurrently waits for all who wait in a query.
        question = "SELECT pg_try_advisory_lock(%s) AS mine"
        while not (await (await connection.execute(question, (_MIGRATING,))).fetchone())["mine"]:
            await asyncio.sleep(0.05)
        await _savers.AsyncPostgresSaver(connection).setup()
        await _stores.AsyncPostgresStore(connection).setup()


async def _is_migrated(connection: Any) -> bool:
    """Check without `setup`, which needs the right to create tables even if all are there."""
    needed = {
        "checkpoint_migrations": len(_savers.AsyncPostgresSaver.MIGRATIONS) - 1,
        "store_migrations": len(_stores.AsyncPostgresStore.MIGRATIONS) - 1,
    }
    try:
        for table, version in needed.items():
            made = await connection.execute(f"SELECT coalesce(max(v), -1) AS v FROM {table}")
            if (await made.fetchone())["v"] < version:
                return False
    except _psycopg.errors.UndefinedTable:
        return False
    return True


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """Turn the database's errors into ours, without its password."""
    try:
        known = _psycopg.conninfo.conninfo_to_dict(address)
        if not _is_place(known.get("host") or "", known.get("port") or ""):
            raise _psycopg.ProgrammingError
    except (_psycopg.ProgrammingError, UnicodeEncodeError):
        # What it says of a malformed address has the address in it, and hence the password.
        raise RunError(
            "The address of the database is malformed: write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME, with special characters as %XX."
        ) from None
    try:
        yield
    except _psycopg.Error as error:
        message = " ".join(str(error).split())
        for secret in (address, known.get("password")):
            message = message.replace(secret, "…") if secret else message
        raise RunError(
            f"The database at {known.get('host') or 'this address'} cannot be used ({message}). "
            f"{_advice(error)}"
        ) from None


_LONGER = "What was stored is kept: give its user a longer timeout, and try again."
_ADVICE = {
    "42501": "Its tables are made, and changed after an upgrade, by a user who may create tables "
    "there and owns those that are there: have that one open it once (ras-flow runs list "
    "--database ADDRESS). Others need SELECT, INSERT, UPDATE and DELETE on them.",
    "25006": "It is read-only: give a user, or a server, that can write. Of several hosts, "
    "?target_session_attrs=read-write takes the one that can.",
    "57014": _LONGER,
    "55P03": _LONGER,
    "53100": "What was stored is kept: make room on its disk, and try again.",
    "54000": "A run's id, or what a run holds, is too long for it: make that shorter.",
}
"""What to do, by the code of the database's error."""


def _advice(error: Exception) -> str:
    if isinstance(error, _psycopg.DataError):
        return "What was stored is kept: leave out of the texts what it cannot store."
    unknown = "Check its address, that it is running, and that it has connections to spare."
    return _ADVICE.get(str(getattr(error, "sqlstate", None)), unknown)


def _is_place(host: str, port: str) -> bool:
    """Tell host and port from pieces of a password that has an @ or a slash in it."""
    is_socket = host.startswith(("/", "@"))
    numbers = port.replace(",", "")  # There may be several hosts.
    return (is_socket or "@" not in host) and (not numbers or numbers.isdecimal())
