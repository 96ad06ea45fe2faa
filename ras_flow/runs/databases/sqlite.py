"""The default home of runs: SQLite files in the user's data folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ras_flow.errors import RunError
from ras_flow.runs.databases.stores import FILES, advice, folder_of, open_sqlite_store
from ras_flow.runs.local import DATA_ONLY
from ras_flow.runs.runs import Builder, Runs
from ras_flow.support.concurrency import to_its_end
from ras_flow.systems import DEFAULT, find_system

PAGE_SIZE = 1024
"""Bytes. Checkpoints take one to two KiB each; the larger default pages stay a fifth empty."""


@asynccontextmanager
async def open_runs(
    folder: str | Path | None = None, *, builder: Builder | None = None
) -> AsyncIterator[Runs]:
    """Open the runs of a folder, which is made if it is not there.

    Args:
        folder: Holds ``runs.sqlite`` (checkpoints) and ``store.sqlite`` (triples by passage);
            ``RAS_FLOW_HOME`` or the user's data folder by default.
        builder: The graph to run; the shipped one by default.

    Yields:
        The runs.

    Raises:
        RunError: The folder cannot be made, a file there is another kind of database, or another
            program keeps it locked. What is stored stays as it is.
    """
    folder = folder_of(folder, "runs")
    with translate_errors(folder):
        async with open_saver(folder) as saver, open_sqlite_store(folder) as store:
            graph = (builder or find_system(DEFAULT).builder()).compile(
                checkpointer=saver, store=store
            )
            yield Runs(graph, told=partial(translate_errors, folder))


@asynccontextmanager
async def open_saver(folder: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints of an existing folder; fails as soon as its file is not there."""
    file = folder / FILES["runs"]
    async with AsyncSqliteSaver.from_conn_string(str(file)) as opened:
        saver = _Saver(opened, file)
        await saver.conn.execute(f"PRAGMA page_size={PAGE_SIZE}")
        await saver.setup()
        # A killed process loses nothing. A power cut may lose the last steps, never the rest;
        # to wait for the disk at each of them would bound all runs to a few steps a second.
        await saver.conn.execute("PRAGMA synchronous=NORMAL")
        yield saver


class _Saver(AsyncSqliteSaver):
    """A checkpointer that ends every transaction, and stops once its file was moved or deleted.

    SQLite would go on with a deleted file, and lose all of it at the end. LangGraph's own leaves
    its transaction open, and the file locked, when a write is cancelled.
    """

    def __init__(self, opened: AsyncSqliteSaver, file: Path) -> None:
        super().__init__(opened.conn, serde=DATA_ONLY)
        self._file = file
        self._known: tuple[int, int] | None = None

    async def setup(self) -> None:
        """Make the tables; LangGraph calls this before all that it reads and writes."""
        await super().setup()
        found = _identity(self._file)  # A thread would take longer than this.
        self._known = self._known or found
        if found is None or found != self._known:
            raise RunError(
                f"The run database in {self._file.parent} was deleted, moved or replaced while it "
                "was open, so that nothing is read there or kept. Move it back, or start this "
                "program again with what is there now."
            )

    async def aput(self, *given: Any) -> RunnableConfig:
        """Write a checkpoint."""
        return await to_its_end(super().aput(*given))

    async def aput_writes(self, *given: Any) -> None:
        """Write what a task returned."""
        await to_its_end(super().aput_writes(*given))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread."""
        await to_its_end(super().adelete_thread(thread_id))


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another of its name; None if it is missing."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of a folder's databases into ours."""
    try:
        yield
    except DatabaseError as error:
        raise RunError(
            f"The run database in {folder} cannot be used ({error}). {advice(error)}"
        ) from error
