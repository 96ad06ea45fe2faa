"""LangGraph stores by address: where triples are kept by passage, for all runs."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Literal

from filelock import AsyncFileLock
from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from ras_flow.errors import RunError
from ras_flow.support.files import file_lock
from ras_flow.support.paths import expanded, home_folder

FILES = {"runs": "runs.sqlite", "triples": "store.sqlite"}
"""What is kept in a folder, and in which file."""

POSTGRES = ("postgresql://", "postgres://")

PATIENCE = 60_000
"""Milliseconds that a writer waits for the writers of other processes."""


@asynccontextmanager
async def open_store(address: str | None = None, *, new: bool = False) -> AsyncIterator[BaseStore]:
    """Open the store that the runs of an address share.

    Args:
        address: A folder that has triples, or ``postgresql://…``; None for the user's own folder.
        new: Make the folder, or a store in it, if it is missing.

    Yields:
        The store.

    Raises:
        MissingExtraError: The packages for this kind of address are not installed.
        ConfigurationError: A home folder is not known.
        RunError: The address is of another kind, or the store is missing or cannot be used.
    """
    if address and address.startswith(POSTGRES):
        from ras_flow.runs.databases.postgres import open_postgres  # noqa: PLC0415

        async with open_postgres(address) as database:
            yield database.store
        return
    if address and "://" in address:
        raise RunError(
            "Triples cannot be reached there: give a folder or a postgresql:// address. A "
            "LangGraph server keeps its triples in its own database."
        )
    folder = folder_of(address, "triples", new=new)
    try:
        async with open_sqlite_store(folder) as store:
            yield store
    except DatabaseError as error:
        raise RunError(
            f"The triples in {folder} cannot be used ({error}). {advice(error)}"
        ) from error


@asynccontextmanager
async def filling(address: str | None, work: str) -> AsyncIterator[None]:
    """Take the work of filling a store: two processes at the same work would both pay for it."""
    name = f"filling-{sha256(work.encode()).hexdigest()[:16]}"
    busy = RunError(
        "Another process makes the same triples, by the same extractor, in the same place. Wait "
        "for it: what it makes is kept for all."
    )
    if address and address.startswith(POSTGRES):
        from ras_flow.runs.databases.locks import ThreadLocks  # noqa: PLC0415

        locks = ThreadLocks(address, busy)
        try:
            async with locks.at_work(name, alone=True):
                yield
        finally:
            await locks.close()
        return
    with file_lock(folder_of(address, "triples") / f"{name}.lock", busy):
        yield


def folder_of(
    address: str | Path | None, what: Literal["runs", "triples"], *, new: bool = True
) -> Path:
    """Return the folder at an address, made if missing; only if ``new`` where one is named."""
    folder = expanded(str(address)) if address else home_folder()
    # Unlike Path.is_file, this raises nothing: a name may be too long, a folder closed to us.
    if address and not new and not os.path.isfile(folder / FILES[what]):
        raise RunError(
            f"The folder {folder} holds no {what}: give one that has a file {FILES[what]}, as "
            "`ras-flow ask` makes it in the folder that RAS_FLOW_HOME names."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"The folder for {what} cannot be made ({error}). Give one where you may write, or set "
            "RAS_FLOW_HOME."
        ) from error
    return folder


@asynccontextmanager
async def open_sqlite_store(folder: Path) -> AsyncIterator[AsyncSqliteStore]:
    """Open the store of an existing folder, for any number of processes at once."""
    file = folder / FILES["triples"]
    async with AsyncSqliteStore.from_conn_string(str(file)) as store:
        await store.conn.execute(f"PRAGMA busy_timeout={PATIENCE}")
        await store.conn.execute("PRAGMA synchronous=NORMAL")
        # LangGraph's setup fails where two processes run it at once on a new file.
        try:
            async with AsyncFileLock(f"{file}.lock"):
                await store.conn.execute("PRAGMA journal_mode=WAL")
                await store.setup()
        except OSError as error:
            raise RunError(
                f"The folder {folder} cannot be written ({error.strerror}), which even reading "
                "its runs takes. Copy it to a place where you may write."
            ) from error
        yield store


def advice(error: DatabaseError) -> str:
    """Return what to do about an error of SQLite."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY:
            return "Another program is writing there. Nothing is lost: try again when it is done."
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return "What was stored is kept: make room on its disk, or check it, and try again."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "Its files must be writable: change that, or copy the folder."
        case _:
            return (
                "Close other programs that use it, or move its files away to start with an empty "
                "one."
            )
