"""Where units of work are done: in this process, or elsewhere by an engine that does the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, TypeVarTuple

T = TypeVar("T")
Given = TypeVarTuple("Given")


class Engine(Protocol):
    """Does units of work; :mod:`ras_flow.cluster` has one of Ray's workers."""

    @property
    def at_once(self) -> int:
        """Units that keep it busy."""

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        """Do one unit.

        Args:
            work: A module-level function, which a worker can import.
            given: Its arguments, which must survive pickling.

        Returns:
            What the function returns; its errors are raised here.
        """


class InProcess:
    """Does the work in this process, one unit at a time."""

    at_once = 1

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        """Do one unit."""
        return await work(*given)


IN_PROCESS = InProcess()
