"""Who is at work on something, among all processes that share a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ras_flow.errors import RunError
from ras_flow.support.extras import require

_psycopg = require("psycopg", extra="postgres")

OPTIONS = {"autocommit": True, "client_encoding": "utf8"}
"""Options of every connection; the environment or a user's settings may name another encoding."""

_PATIENCE = 1.0
"""Seconds to wait for others: the database takes a moment to notice that a process was killed."""

_ANSWER = 10.0
"""Seconds to wait for the database's answer; an interrupted command waits for it, too."""

_MAY_BE_IDLE = (
    "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'"
)
"""Keeps the connection with the locks open while it is idle; PostgreSQL 13 has no such setting."""

_EXCLUSIVE = "SELECT pg_try_advisory_lock(hashtextextended(%s, 7))"
_NOT_EXCLUSIVE = "SELECT pg_advisory_unlock(hashtextextended(%s, 7))"
_SHARED = "SELECT pg_advisory_lock_shared(hashtextextended(%s, 7))"
_NOT_SHARED = "SELECT pg_advisory_unlock_shared(hashtextextended(%s, 7))"


class ThreadLocks:
    """Advisory locks on threads, all held by one connection: they end with the process.

    LangGraph itself lets two processes go on from the same checkpoint. Both would make its next
    model call, and of the two results only the first is kept, beside what either made of its own.
    """

    def __init__(self, address: str, busy: RunError | None = None) -> None:
        self._address = address
        self._busy = busy
        self._connection: Any = None
        self._one_at_a_time = asyncio.Lock()
        self._at_work: Counter[str] = Counter()

    @asynccontextmanager
    async def at_work(self, thread: str, alone: bool) -> AsyncIterator[None]:
        """Mark a thread as being worked on; ``alone`` refuses if anybody else works on it."""
        # Cancelled half-way, these would leave a lock behind: they run as tasks of their own.
        begun = asyncio.create_task(self._begin(thread, alone))
        try:
            await asyncio.shield(begun)
            yield
        finally:
            await asyncio.shield(self._end(thread, begun))

    async def close(self) -> None:
        """Release every lock."""
        if self._connection is not None:
            await self._connection.close()

    async def _begin(self, thread: str, alone: bool) -> None:
        until = asyncio.get_running_loop().time() + _PATIENCE
        while not await self._try(thread, alone):
            if asyncio.get_running_loop().time() > until:
                raise self._busy or RunError(
                    f"Run {thread} is at work elsewhere, so that it is not resumed here: wait for "
                    "it, or end the process that works on it."
                )
            await asyncio.sleep(0.1)

    async def _try(self, thread: str, alone: bool) -> bool:
        async with self._one_at_a_time:
            # To the database all tasks of this process are one.
            if alone and self._at_work[thread]:
                return False
            if alone and not await self._ask(_EXCLUSIVE, thread):
                return False
            if not self._at_work[thread]:
                await self._ask(_SHARED, thread)
            self._at_work[thread] += 1
            if alone:
                try:
                    await self._ask(_NOT_EXCLUSIVE, thread)
                except _psycopg.OperationalError:
                    # Both locks are gone with the connection, and nobody comes to count this out.
                    del self._at_work[thread]
                    raise
            return True

    async def _end(self, thread: str, begun: asyncio.Task[None]) -> None:
        await asyncio.wait([begun])
        if begun.cancelled() or begun.exception():
            return
        async with self._one_at_a_time:
            self._at_work[thread] -= 1
            if self._at_work[thread]:
                return
            del self._at_work[thread]
            try:
                await self._ask(_NOT_SHARED, thread)
            except _psycopg.OperationalError:
                # The connection is gone, and its locks with it.
                return

    async def _ask(self, question: str, thread: str) -> bool:
        try:
            async with asyncio.timeout(_ANSWER):
                try:
                    return await self._ask_once(question, thread)
                except _psycopg.OperationalError:
                    # That the database was restarted shows only now.
                    return await self._ask_once(question, thread)
        except (_psycopg.OperationalError, TimeoutError) as error:
            # The connection may still be there, with locks that nobody knows of.
            await self.close()
            if isinstance(error, TimeoutError):
                raise _psycopg.OperationalError(f"no answer within {_ANSWER:g} seconds") from None
            raise

    async def _ask_once(self, question: str, thread: str) -> bool:
        if self._connection is None or self._connection.closed:
            self._connection = await _psycopg.AsyncConnection.connect(self._address, **OPTIONS)
            await self._connection.execute(_MAY_BE_IDLE)
            for at_work in self._at_work:
                await self._connection.execute(_SHARED, (at_work,))
        row = await (await self._connection.execute(question, (thread,))).fetchone()
        return bool(row[0])
