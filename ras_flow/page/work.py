"""Runs at work on behalf of the page; they go on when the browser goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from ras_flow.errors import RasFlowError

JsonEvent = dict[str, Any]
"""What the page is told: a progress event, or how it ended."""

SILENT_SECONDS = 15.0
"""After how long a stream shows that it is still there, for proxies that cut idle ones."""


class Work:
    """The runs that this process works on.

    Each is a task of its own, so that a page that is closed or loaded again neither kills the run
    nor leaves the database in the middle of a write.
    """

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], str] = {}

    def is_at_work(self, run: str) -> bool:
        """Tell whether a run is being worked on here."""
        return run in self._tasks.values()

    def begin(
        self, run: str, events: AsyncGenerator[JsonEvent]
    ) -> AsyncGenerator[JsonEvent | None]:
        """Start to work."""
        queue: asyncio.Queue[JsonEvent | None] = asyncio.Queue()
        task = asyncio.create_task(_pump(events, queue))
        self._tasks[task] = run
        task.add_done_callback(self._tasks.pop)
        return _relayed(task, queue)

    async def stop(self) -> list[str]:
        """Stop all work; return the runs that were at work. Each can be resumed."""
        stopped = dict(self._tasks)
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)
        return list(dict.fromkeys(stopped.values()))


async def failing_softly(events: AsyncGenerator[JsonEvent]) -> AsyncGenerator[JsonEvent]:
    """Pass on events; a failure of ours becomes the last of them."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except RasFlowError as error:
        yield {"type": "error", "message": str(error)}


async def _pump(events: AsyncGenerator[JsonEvent], queue: asyncio.Queue[JsonEvent | None]) -> None:
    try:
        async with aclosing(failing_softly(events)) as told:
            async for event in told:
                queue.put_nowait(event)
    finally:
        queue.put_nowait(None)


async def _relayed(
    task: asyncio.Task[None], queue: asyncio.Queue[JsonEvent | None]
) -> AsyncGenerator[JsonEvent | None]:
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), SILENT_SECONDS)
        except TimeoutError:
            yield None
            continue
        if event is None:
            break
        yield event
    await asyncio.shield(task)
