"""Calls that succeed or fail together, or must end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 256
"""Calls of one request under way: the rest of a large one waits without a place among all calls."""


async def all_or_none(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Await many calls at once; if one fails, or the caller is cancelled, the others are given up.

    Args:
        calls: What to await; an iterator makes each as its turn comes.

    Returns:
        Their results, in order; an error of one is raised here.
    """
    made: list[T] = []
    waiting = iter(calls)
    while tasks := [asyncio.ensure_future(call) for call in islice(waiting, AT_ONCE)]:
        try:
            made += await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return made


async def to_its_end(work: Awaitable[T], patience: float | None = None) -> T:
    """Await what must not stop half-way: a caller that is cancelled meanwhile ends after it.

    Args:
        work: What to await.
        patience: Seconds that a caller who is cancelled waits at most, while the work goes on.

    Returns:
        Its result; an error of it is raised here.
    """
    begun = asyncio.ensure_future(work)
    # Who was cancelled does not ask for it, and Python would print its error with a traceback.
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(begun)
    finally:
        await asyncio.wait([begun], timeout=patience)
