"""One lane for heavy local computing: two engines that each use every core starve each other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Lane:
    """A thread that does one piece of work after another; a forked process has its own.

    Args:
        name: What the thread is called.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._open()
        if hasattr(os, "register_at_fork"):  # Windows has none.
            # The thread is not there in the child, which would wait for it for ever.
            os.register_at_fork(after_in_child=self._open)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Start work after the work that came before it, from any thread."""
        return self._executor.submit(work)

    def _open(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)


_LANE = Lane("ras-flow-compute")


async def run_in_lane(work: Callable[[], T]) -> T:
    """Run CPU- or GPU-heavy work off the event loop, after the heavy work that came before it.

    Args:
        work: What to do. It must not wait for other work of this lane.

    Returns:
        What the work returns; its errors are raised here. Work that still waits when the caller
        is cancelled is never started.
    """
    return await asyncio.wrap_future(_LANE.submit(work))


def submit_to_lane(work: Callable[[], T]) -> Future[T]:
    """Start heavy work after the heavy work that came before it, from any thread.

    Args:
        work: What to do, as for :func:`run_in_lane`.

    Returns:
        The work's future.
    """
    return _LANE.submit(work)
