"""Calls of a local model that wait for the compute lane are made together.

Concurrent runs of one process ask for a few prompts each; a batch of all of them takes little more
time than one of them alone.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from ras_flow.errors import RasFlowError
from ras_flow.llms.waiting import call_slot
from ras_flow.support.concurrency import PerProcess

T = TypeVar("T")

_LANE = PerProcess(lambda: ThreadPoolExecutor(1, "ras-flow-compute"))


async def run_in_lane(work: Callable[[], T]) -> T:
    """Run CPU- or GPU-heavy work off the event loop, after the heavy work that came before it."""
    return await asyncio.wrap_future(submit_to_lane(work))


def submit_to_lane(work: Callable[[], T]) -> Future[T]:
    """Start heavy work after the heavy work that came before it, from any thread."""
    return _LANE.current().submit(work)


GATHERING = 0.003
"""Seconds that a call waits for others of the same moment when the lane is free."""

GROUP = 4
"""Batches that are joined at most: more of them make batches of more equal lengths."""


Item = TypeVar("Item")
L = TypeVar("L", bound=Hashable)
R = TypeVar("R")


@dataclass(eq=False)
class Call(Generic[Item, L]):
    """What one caller asks for; calls are joined if their ``limits`` are equal."""

    items: Sequence[Item]
    limits: L
    given_up: bool = False


Outcomes = Mapping[Call[Item, L], R | RasFlowError]
"""What became of calls, or why one cannot be served."""


@dataclass(eq=False)
class _Group(Generic[Item, L, R]):
    calls: list[Call[Item, L]]
    given_up: threading.Event = field(default_factory=threading.Event)
    served: Future[Outcomes[Item, L, R]] | None = None


class JoinedCalls(Generic[Item, L, R]):
    """Serves calls in a lane; those with equal limits that wait there are joined."""

    def __init__(
        self,
        serve: Callable[[Sequence[Call[Item, L]], threading.Event], Outcomes[Item, L, R]],
        most: int,
        submit: Callable[
            [Callable[[], Outcomes[Item, L, R]]], Future[Outcomes[Item, L, R]]
        ] = submit_to_lane,
    ) -> None:
        self._serve = serve
        self._most = most
        self._submit = submit
        self._lock = threading.Lock()
        self._open: dict[L, _Group[Item, L, R]] = {}

    async def make(self, items: Sequence[Item], limits: L) -> R:
        """Make a call. When the awaiting task is cancelled, the others go on without it."""
        call = Call(items, limits)
        with call_slot():
            group, served = self._join(call)
            try:
                outcome = (await asyncio.shield(asyncio.wrap_future(served)))[call]
            except asyncio.CancelledError:
                with self._lock:
                    call.given_up = True
                    if all(call.given_up for call in group.calls):
                        group.given_up.set()
                raise
        if isinstance(outcome, RasFlowError):
            raise outcome
        return outcome

    def _join(self, call: Call[Item, L]) -> tuple[_Group[Item, L, R], Future[Outcomes[Item, L, R]]]:
        limits = call.limits
        with self._lock:
            group = self._open.get(limits)
            full = group and sum(len(c.items) for c in [*group.calls, call]) > self._most
            if group is None or group.served is None or full or group.given_up.is_set():
                group = self._open[limits] = _Group([])
                group.served = self._submit(partial(self._work, group, limits))
            group.calls.append(call)
            return group, group.served

    def _work(self, group: _Group[Item, L, R], limits: L) -> Outcomes[Item, L, R]:
        time.sleep(GATHERING)
        with self._lock:
            if self._open.get(limits) is group:
                del self._open[limits]
        waiting = [call for call in group.calls if not call.given_up]
        return self._serve(waiting, group.given_up) if waiting else {}
