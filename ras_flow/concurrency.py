"""Calls that succeed or fail together, or must end; objects that belong to a loop or process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

AT_ONCE = 256
"""Calls of one request under way: the rest of a large one waits without a place among all calls."""


class PerLoop(Generic[T]):
    """One object for each event loop, for those that work in the loop alone that they began in.

    Args:
        make: Makes one.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def here(self) -> T:
        """Return the running event loop's own."""
        loop = asyncio.get_running_loop()
        if loop not in self._of:
            self._of[loop] = self._make()
        return self._of[loop]


class PerProcess(Generic[T]):
    """One object for each process, for those with threads: a forked process has none of these.

    It would wait for its parent's threads for ever.

    Args:
        make: Makes one.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of: dict[int, T] = {}

    def here(self) -> T:
        """Return this process's own."""
        process = os.getpid()
        if process not in self._of:
            self._of.setdefault(process, self._make())
        return self._of[process]


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


async def to_its_end(work: Awaitable[T]) -> T:
    """Await what must not stop half-way: a caller that is cancelled meanwhile ends after it.

    Args:
        work: What to await.

    Returns:
        Its result; an error of it is raised here.
    """
    begun = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(begun)
    finally:
        await asyncio.wait([begun])
