"""Where units of work are done: in this process, or by the workers of a cluster."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Protocol, TypeVar, TypeVarTuple

from ras_flow.errors import ClusterError


class Named(Protocol):
    """A part by its model."""

    @property
    def identity(self) -> str:
        """Names model and settings."""
        ...


P = TypeVar("P", bound=Named)
T = TypeVar("T")
U = TypeVar("U")
Given = TypeVarTuple("Given")


class Engine(Protocol):
    """Does units of work.

    Attributes:
        at_once: Units that keep it busy.
    """

    @property
    def at_once(self) -> int:
        """Units that keep it busy."""
        ...

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        """Do one unit.

        Args:
            work: A function of a module, which a worker imports.
            given: Its arguments, which go to the worker as they are.

        Returns:
            What the function returns; its errors are raised here.
        """
        ...


class Here:
    """This process."""

    at_once = 1

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        """Do one unit."""
        return await work(*given)


HERE = Here()


async def in_order(
    work: Callable[[U], Awaitable[T]], units: Iterable[U], at_once: int
) -> AsyncGenerator[tuple[U, T]]:
    """Do units of work, several at once, and hand over the results in the units' order.

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
        tasks = [task for _, task in waiting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first(waiting: deque[tuple[U, asyncio.Future[T]]]) -> tuple[U, T]:
    unit, task = waiting[0]
    result = await task
    waiting.popleft()
    return unit, result


def same(part: P, identity: str) -> P:
    """Check that a worker's part is the one that the caller has under the same name."""
    if part.identity != identity:
        raise ClusterError(
            f"A worker of the cluster has {part.identity!r} where this process has {identity!r}: "
            "have the same models, packages and settings on every machine."
        )
    return part
