"""Calls that belong together, and objects that belong to one event loop or one process."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Generic, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

T = TypeVar("T")
U = TypeVar("U")
Given = TypeVarTuple("Given")

AT_ONCE = 256
"""Calls of one request under way: the rest of a large one waits without a place among all calls."""


SMALL = 500
"""Triples that are worked on within two milliseconds: a thread would take longer to hand over."""


async def off_loop(size: int, work: Callable[[*Given], T], *given: *Given) -> T:
    """Do work on so many triples: in a thread where it would hold up the event loop."""
    return work(*given) if size <= SMALL else await asyncio.to_thread(work, *given)


async def all_or_none(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Await many calls at once; if one fails or the caller is cancelled, cancel the others."""
    made: list[T] = []
    waiting = iter(calls)
    while tasks := [asyncio.ensure_future(call) for call in islice(waiting, AT_ONCE)]:
        try:
            made += await asyncio.gather(*tasks)
        finally:
            await _cancel(tasks)
    return made


async def in_order(
    work: Callable[[U], Awaitable[T]], units: Iterable[U], at_once: int
) -> AsyncGenerator[tuple[U, T]]:
    """Do units of work, several at once, and yield the results in the units' order.

    Close it (:func:`contextlib.aclosing`), so that an error of the caller ends what is under way.
    """
    rest, end = iter(units), object()
    waiting: deque[tuple[U, asyncio.Future[T]]] = deque()
    try:
        while (unit := await asyncio.to_thread(next, rest, end)) is not end:
            waiting.append((unit, asyncio.ensure_future(work(unit))))  # type: ignore[arg-type]
            if len(waiting) >= at_once:
                yield await _first(waiting)
        while waiting:
            yield await _first(waiting)
    finally:
        await _cancel(task for _, task in waiting)


async def _first(waiting: deque[tuple[U, asyncio.Future[T]]]) -> tuple[U, T]:
    unit, task = waiting[0]
    result = await task
    waiting.popleft()
    return unit, result


async def _cancel(tasks: Iterable[asyncio.Future[T]]) -> None:
    """Cancel what is still under way, and wait for its end."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def to_its_end(work: Awaitable[T], patience: float | None = None) -> T:
    """Await what must not stop half-way; its caller ends after it, however often cancelled."""
    begun = asyncio.ensure_future(work)
    # A cancelled caller never asks for the error, and Python would print it with a traceback.
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        waiting = asyncio.ensure_future(asyncio.wait([begun], timeout=patience))
        while not waiting.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(waiting)
        raise


class PerLoop(Generic[T]):
    """One object for each event loop, for objects that work only in the loop that made them."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def current(self) -> T:
        """Return the running event loop's object."""
        loop = asyncio.get_running_loop()
        if loop not in self._of:
            # An object that holds its loop would keep both alive.
            for ended in [known for known in list(self._of) if known.is_closed()]:
                self._of.pop(ended, None)
            self._of[loop] = self._make()
        return self._of[loop]


class PerProcess(Generic[T]):
    """One object for each process, for objects with threads, which a fork does not copy.

    A forked process would wait for its parent's threads for ever.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of: dict[int, T] = {}

    def current(self) -> T:
        """Return this process's object."""
        process = os.getpid()
        if process not in self._of:
            self._of.setdefault(process, self._make())
        return self._of[process]
