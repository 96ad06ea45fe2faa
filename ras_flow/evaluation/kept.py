"""Plans and triples are kept: what one system paid for serves the others, and a killed run.

Ablations and sweeps ask the same planner and extractor the same things again and again. What a call
returned is kept with its tokens and seconds. A run that gets it later is charged as if it had asked
itself: costs depend neither on who asked first nor on a kill.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from hashlib import sha256
from time import perf_counter
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

from langgraph.store.base import BaseStore, PutOp
from pydantic import TypeAdapter

from ras_flow.parts.checks import reading_of
from ras_flow.parts.protocols import Extractor, Planner
from ras_flow.parts.records import Extraction, PlanRequest, Reply
from ras_flow.state.kg import spo_of
from ras_flow.state.schema import Passage, Usage
from ras_flow.state.usage import usage_by_role
from ras_flow.support.calls import CallCache, Value, batch

NAMESPACE = ("ras_flow", "evaluation")

ASKING: ContextVar[str | None] = ContextVar("evaluation_run", default=None)
"""The run that asks; None if nobody has to be charged."""

MOST_ENTRIES = 100_000
"""Kept calls of one run that are added up."""

KeptRole = Literal["planner", "extractor"]

_EXTRACTION, _REPLY = TypeAdapter(Extraction), TypeAdapter(Reply)


class KeptCalls:
    """What calls returned, and who used it unpaid, in a store that outlives the process."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store
        self._calls = CallCache(store)
        self._clocks: WeakValueDictionary[tuple[str | None, str], _Clock] = WeakValueDictionary()

    async def get_or_make(
        self,
        role: KeptRole,
        keys: Sequence[str],
        ask: Callable[[list[int]], Awaitable[Sequence[Any]]],
        good: Callable[[Value], bool],
    ) -> list[Value]:
        """Return what is kept, and make the rest; note what the run did not have to pay for."""
        hashed = [sha256(f"{role}\0{key}".encode()).hexdigest()[:32] for key in keys]
        run = ASKING.get()
        clock = self._clocks.setdefault((run, role), _Clock())
        made: set[str] = set()
        making = 0.0

        async def timed(missing: list[int]) -> list[Value]:
            nonlocal making
            began = clock.tick()
            values = [asdict(one) for one in await ask(missing)]
            making = clock.tick() - began
            made.update(hashed[at] for at in missing)
            more = {"seconds": making / len(missing), "run": run}
            return [{**value, **more} for value in values]

        began = clock.tick(1)
        try:
            places = [((*NAMESPACE, role), key) for key in hashed]
            found = await self._calls.get_or_make(places, timed, good)
        finally:
            waited = clock.tick(-1) - began - making
        if run is not None:
            await self._calls.put(
                (
                    ((*NAMESPACE, "saved", run), key),
                    dict(_saved(run, role, value, waited / len(hashed))),
                )
                for key, value in zip(hashed, found, strict=True)
                if key not in made
            )
        return found

    async def saved(self, run: str) -> dict[str, Usage]:
        """Return by role what a run did not have to pay for, since others had."""
        items = await self._store.asearch((*NAMESPACE, "saved", run), limit=MOST_ENTRIES)
        return usage_by_role([cast(Usage, item.value) for item in items])

    async def forget(self, run: str) -> None:
        """Forget what a run did not have to pay for; the calls themselves are kept."""
        namespace = (*NAMESPACE, "saved", run)
        items = await self._store.asearch(namespace, limit=MOST_ENTRIES)
        await batch(self._store, [PutOp(namespace, item.key, None) for item in items])


class KeptExtractor:
    """An extractor that extracts each passage once; failures are tried again."""

    def __init__(self, extractor: Extractor, calls: KeptCalls) -> None:
        self._extractor, self._calls = extractor, calls
        self.identity = extractor.identity
        self.batch_size = extractor.batch_size

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples, or return those that are kept, with their tokens."""
        values = await self._calls.get_or_make(
            "extractor",
            [f"{self.identity}\0{passage['id']}" for passage in passages],
            lambda missing: self._extractor.extract([passages[at] for at in missing]),
            lambda value: value["error"] is None,
        )
        return [_EXTRACTION.validate_python(value) for value in values]


class KeptPlanner:
    """A planner that is asked for each plan once; truncated plans are not kept."""

    def __init__(self, planner: Planner, calls: KeptCalls, *, window: int | None = None) -> None:
        self._planner, self._calls = planner, calls
        self._named = planner.identity if window is None else f"{planner.identity}\0{window}"
        self.identity = planner.identity
        self.takes_soft_tokens = planner.takes_soft_tokens
        self.reading = reading_of(planner)
        self.searches_first = getattr(planner, "searches_first", False)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan for each request, or return the plan that is kept, with its tokens."""
        values = await self._calls.get_or_make(
            "planner",
            [f"{self._named}\0{_key(request)}" for request in requests],
            lambda missing: self._planner.plan([requests[at] for at in missing]),
            lambda value: not value["truncated"],
        )
        return [_REPLY.validate_python(value) for value in values]


class _Clock:
    """Divides the time among a run's calls that are under way at once."""

    def __init__(self) -> None:
        self._calls, self._now, self._share = 0, perf_counter(), 0.0

    def tick(self, change: int = 0) -> float:
        """Return the seconds that a call has so far which was under way all the time."""
        now = perf_counter()
        if self._calls:
            self._share += (now - self._now) / self._calls
        self._now = now
        self._calls += change
        return self._share


def _saved(run: str, role: KeptRole, value: Value, waited: float) -> Usage:
    """Return what a run did not pay for a kept call.

    Seconds that it waited for the call are in its own time, so only the others are added. If it
    made the call itself, and was killed before its step was stored, it has paid for the tokens.
    Each call has one entry, so a step that is done again adds nothing twice.
    """
    paid = value.get("run") == run
    return Usage(
        role=role,
        calls=0 if paid else value.get("calls", 1),
        input_tokens=0 if paid else value["input_tokens"],
        output_tokens=0 if paid else value["output_tokens"],
        seconds=max(value["seconds"] - waited, 0.0),
    )


def _key(request: PlanRequest) -> str:
    """Return all that a plan depends on; the graph's vectors follow from triples and encoder."""
    chain = [
        [
            link.subquery,
            list(map(spo_of, link.triples)),
            [passage["id"] for passage in link.passages],
            link.known,
        ]
        for link in request.chain
    ]
    graph = None if request.graph is None else request.graph.encoder
    parts = [
        request.question,
        chain,
        graph,
        request.instruction,
        request.problem,
        request.may_give_up,
    ]
    return json.dumps(parts, ensure_ascii=True)
