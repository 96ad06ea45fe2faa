"""Calls of a local model that wait for the compute lane are made together.

Concurrent runs of one process ask for a few prompts each; a batch of all of them takes little more
time than one of them alone.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

from ras_flow.components import Generation, Message
from ras_flow.errors import ModelResponseError, RasFlowError
from ras_flow.llms.compute import submit_to_lane
from ras_flow.llms.waiting import a_place

GATHERING = 0.003
"""Seconds that a call waits for others of the same moment when the lane is free."""

GROUP = 4
"""Batches that are joined at most: more of them make batches of more equal lengths."""


class Joinable(Protocol):
    """What one caller asks for.

    Attributes:
        given_up: The caller no longer waits.
    """

    given_up: bool

    @property
    def size(self) -> int:
        """How much is asked for."""
        ...

    @property
    def limits(self) -> Hashable:
        """What calls must have in common to be joined."""
        ...


@dataclass(eq=False)
class Call:
    """One caller's prompts.

    Attributes:
        prompts: One message list a prompt.
        max_new_tokens: Limit for each output.
        stop: Strings at which an output ends.
        given_up: The caller no longer waits.
    """

    prompts: Sequence[Sequence[Message]]
    max_new_tokens: int
    stop: tuple[str, ...]
    given_up: bool = False

    @property
    def size(self) -> int:
        """How many prompts there are."""
        return len(self.prompts)

    @property
    def limits(self) -> Hashable:
        """What the outputs of joined calls have in common."""
        return self.max_new_tokens, self.stop


P = TypeVar("P", bound=Hashable)
C = TypeVar("C", bound=Joinable)
R = TypeVar("R")

Outcome = list[Generation] | ModelResponseError
"""What became of one call: a generation a prompt, or why the call cannot be served."""


@dataclass(eq=False)
class _Group(Generic[C, R]):
    calls: list[C]
    given_up: threading.Event = field(default_factory=threading.Event)
    served: Future[Mapping[C, R | RasFlowError]] | None = None


class JoinedCalls(Generic[C, R]):
    """Serves calls in a lane; those with equal limits that wait there are joined.

    Args:
        serve: Does the work, in the lane's thread: what became of each call, or why it cannot be
            served. The event is set once nobody waits for any of the calls.
        most: Size of all calls that are joined; one that finds no room opens the next group.
        submit: Puts work into the lane; that of heavy computing by default.
    """

    def __init__(
        self,
        serve: Callable[[Sequence[C], threading.Event], Mapping[C, R | RasFlowError]],
        most: int,
        submit: Callable[
            [Callable[[], Mapping[C, R | RasFlowError]]], Future[Mapping[C, R | RasFlowError]]
        ] = submit_to_lane,
    ) -> None:
        self._serve = serve
        self._most = most
        self._submit = submit
        self._lock = threading.Lock()
        self._open: dict[Hashable, _Group[C, R]] = {}

    async def make(self, call: C) -> R:
        """Serve a call.

        Args:
            call: What is asked for. When the awaiting task is cancelled, the others go on without
                it.

        Returns:
            What became of it.

        Raises:
            OverloadedError: Too many calls wait already.
            RasFlowError: This call cannot be served.
        """
        with a_place():
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

    def _join(self, call: C) -> tuple[_Group[C, R], Future[Mapping[C, R | RasFlowError]]]:
        limits = call.limits
        with self._lock:
            group = self._open.get(limits)
            full = group and sum(c.size for c in [*group.calls, call]) > self._most
            if group is None or group.served is None or full or group.given_up.is_set():
                group = self._open[limits] = _Group([])
                group.served = self._submit(partial(self._work, group, limits))
            group.calls.append(call)
            return group, group.served

    def _work(self, group: _Group[C, R], limits: Hashable) -> Mapping[C, R | RasFlowError]:
        time.sleep(GATHERING)
        with self._lock:
            if self._open.get(limits) is group:
                del self._open[limits]
        waiting = [call for call in group.calls if not call.given_up]
        return self._serve(waiting, group.given_up) if waiting else {}


def serve_together(
    calls: Sequence[Call],
    encode: Callable[[Call], list[P]],
    make: Callable[[list[P]], list[Generation]],
) -> dict[Call, Outcome]:
    """Serve calls by one, each different prompt once; what is wrong with a call is its own.

    Args:
        calls: The calls.
        encode: Encodes a call's prompts; may raise a ModelResponseError.
        make: Continues each prompt, whatever the others are.

    Returns:
        What became of each call.
    """
    encoded: dict[Call, list[P]] = {}
    outcomes: dict[Call, Outcome] = {}
    for call in calls:
        try:
            encoded[call] = encode(call)
        except ModelResponseError as error:
            outcomes[call] = error
    different = list(dict.fromkeys(prompt for prompts in encoded.values() for prompt in prompts))
    made = dict(zip(different, make(different), strict=True))
    for call, prompts in encoded.items():
        outcomes[call] = [made[prompt] for prompt in prompts]
    return outcomes
