"""Some things at once, their results in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_order(work: Iterable[Coroutine[Any, Any, T]], at_once: int) -> AsyncIterator[T]:
    """Run coroutines, some at once.

    Args:
        work: The coroutines, taken from it as they are started.
        at_once: How many run at the same time.

    Yields:
        Their results, in order. Where one fails, or no more results are wanted, those that run
        are cancelled.
    """
    running: deque[asyncio.Task[T]] = deque()
    try:
        for coroutine in work:
            running.append(asyncio.create_task(coroutine))
            if len(running) >= at_once:
                yield await running.popleft()
        while running:
            yield await running.popleft()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
