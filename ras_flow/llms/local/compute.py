"""One lane for heavy local computing: two engines that each use every core starve each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ras_flow.support.concurrency import PerProcess

T = TypeVar("T")

_LANE = PerProcess(lambda: ThreadPoolExecutor(1, "ras-flow-compute"))


async def run_in_lane(work: Callable[[], T]) -> T:
    """Run CPU- or GPU-heavy work off the event loop, after the heavy work that came before it."""
    return await asyncio.wrap_future(submit_to_lane(work))


def submit_to_lane(work: Callable[[], T]) -> Future[T]:
    """Start heavy work after the heavy work that came before it, from any thread."""
    return _LANE.current().submit(work)
