"""Objects that belong to one event loop or one process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One object for each event loop, for those that work in the loop alone that they began in."""

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
