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
    """Await many calls at once; where one fails or the caller is cancelled, cancel the others."""
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
    """Await what must not stop half-way: a caller that is cancelled meanwhile ends after it."""
    begun = asyncio.ensure_future(work)
    # Who was cancelled does not ask for it, and Python would print its error with a traceback.
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(begun)
    finally:
        await asyncio.wait([begun], timeout=patience)
