"""Plans and triples that one system paid for serve the others, and a run that was killed.

Ablations and sweeps ask the same planner and the same extractor the same things again and again.
What a call returned is kept with its tokens and its seconds. What it would have cost whoever gets
it later is entered for that run: costs depend neither on who asked first, nor on a kill.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import asdict, fields
from hashlib import sha256
from time import perf_counter
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

from langgraph.store.base import BaseStore, GetOp, Item, PutOp

from ras_flow.parts.protocols import Extractor, Planner, reading_of
from ras_flow.parts.records import Extraction, PlanRequest, Reply
from ras_flow.state.schema import Passage, Usage
from ras_flow.state.usage import usage_by_role
from ras_flow.triples.cache import batch

NAMESPACE = ("ras_flow", "evaluation")

ASKING: ContextVar[str | None] = ContextVar("evaluation_run", default=None)
"""The run for which is asked; for None nothing is entered."""

MOST_ENTRIES = 100_000
"""Kept calls of one run that are added up."""

KeptRole = Literal["planner", "extractor"]
Kept = dict[str, Any]


class KeptCalls:
    """What calls returned, in a store that outlives the process."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._clocks: WeakValueDictionary[tuple[str | None, str], _Clock] = WeakValueDictionary()

    async def get_or_make(
        self,
        role: KeptRole,
        keys: Sequence[str],
        make: Callable[[list[int]], Awaitable[list[Kept | None]]],
    ) -> list[Kept | None]:
        """Return what is kept, and make the rest; nobody else makes it at the same time."""
        hashed = [sha256(f"{role}\0{key}".encode()).hexdigest()[:32] for key in keys]
        run = ASKING.get()
        clock = self._clocks.setdefault((run, role), _Clock())
        began = clock.tick(1)
        async with AsyncExitStack() as stack:
            stack.callback(clock.tick, -1)
            for key in sorted(set(hashed)):
                await stack.enter_async_context(self._locks.setdefault(key, asyncio.Lock()))
            waited = clock.tick() - began
            namespace = (*NAMESPACE, role)
            items = await batch(self._store, [GetOp(namespace, key) for key in hashed])
            found = [item.value if isinstance(item, Item) else None for item in items]
            entries = [
                _entry(run, role, key, record, waited / len(found))
                for key, record in zip(hashed, found, strict=True)
                if run is not None and record is not None
            ]
            missing = [at for at, record in enumerate(found) if record is None]
            if missing:
                began = clock.tick()
                made = await make(missing)
                seconds = (clock.tick() - began) / len(missing)
                for at, record in zip(missing, made, strict=True):
                    found[at] = record and {**record, "seconds": seconds, "run": run}
                entries += [
                    PutOp(namespace, hashed[at], record, index=False)
                    for at in missing
                    if (record := found[at]) is not None
                ]
            await batch(self._store, entries)
        return found

    async def saved(self, run: str) -> dict[str, Usage]:
        """Return what a run did not have to pay for, since others had, by role."""
        items = await self._store.asearch((*NAMESPACE, "saved", run), limit=MOST_ENTRIES)
        return usage_by_role(cast(Usage, item.value) for item in items)

    async def forget(self, run: str) -> None:
        """Forget what a run did not have to pay for; the calls themselves are kept."""
        namespace = (*NAMESPACE, "saved", run)
        items = await self._store.asearch(namespace, limit=MOST_ENTRIES)
        await batch(self._store, [PutOp(namespace, item.key, None) for item in items])


class KeptExtractor:
    """An extractor each of whose passages is extracted once."""

    def __init__(self, extractor: Extractor, calls: KeptCalls) -> None:
        self._extractor, self._calls = extractor, calls
        self.identity = extractor.identity
        self.batch_size = extractor.batch_size

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples, or return those that are kept, with their tokens."""
        fresh: dict[int, Extraction] = {}

        async def make(missing: list[int]) -> list[Kept | None]:
            made = await self._extractor.extract([passages[at] for at in missing])
            fresh.update(zip(missing, made, strict=True))
            # A failure may pass: it is tried again.
            return [_record(one) if one.error is None else None for one in made]

        keys = [f"{self.identity}\0{passage['id']}" for passage in passages]
        records = await self._calls.get_or_make("extractor", keys, make)
        return [
            fresh[at] if record is None else _extraction(record)
            for at, record in enumerate(records)
        ]


class KeptPlanner:
    """A planner that is asked for each plan once."""

    def __init__(self, planner: Planner, calls: KeptCalls, *, window: int | None = None) -> None:
        self._planner, self._calls = planner, calls
        self._named = planner.identity if window is None else f"{planner.identity}\0{window}"
        self.identity = planner.identity
        self.takes_soft_tokens = planner.takes_soft_tokens
        self.reading = reading_of(planner)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan for each request, or return the plan that is kept, with its tokens."""

        async def make(missing: list[int]) -> list[Kept | None]:
            return [
                asdict(made) for made in await self._planner.plan([requests[at] for at in missing])
            ]

        keys = [f"{self._named}\0{_key(request)}" for request in requests]
        records = await self._calls.get_or_make("planner", keys, make)
        return [Reply(**_fields(Reply, one)) for one in records if one is not None]


class _Clock:
    """Divides the time among a run's calls that are under way at once."""

    def __init__(self) -> None:
        self._calls, self._now, self._share = 0, perf_counter(), 0.0

    def tick(self, change: int = 0) -> float:
        """Return the seconds so far of a call that was always under way."""
        now = perf_counter()
        if self._calls:
            self._share += (now - self._now) / self._calls
        self._now = now
        self._calls += change
        return self._share


def _entry(run: str, role: KeptRole, key: str, record: Kept, waited: float) -> PutOp:
    """Enter what a kept call took; waiting for it is in the run's own time.

    Its tokens are counted where it is used; here they tell what was not paid for, which is nothing
    where the run itself had asked, but was killed before the step was kept. A step that is done
    again after a kill enters the same calls, not more.
    """
    paid = record.get("run") == run
    value = {
        "role": role,
        "calls": 0 if paid else record.get("calls", 1),
        "input_tokens": 0 if paid else record["input_tokens"],
        "output_tokens": 0 if paid else record["output_tokens"],
        "seconds": max(record["seconds"] - waited, 0.0),
    }
    return PutOp((*NAMESPACE, "saved", run), key, value, index=False)


def _key(request: PlanRequest) -> str:
    """Return all that a plan depends on; the graph's vectors follow from triples and encoder."""
    chain = [
        [
            link.subquery,
            [[t["subject"], t["predicate"], t["object"]] for t in link.triples],
            [passage["id"] for passage in link.passages],
        ]
        for link in request.chain
    ]
    graph = None if request.graph is None else request.graph.encoder
    parts = [request.question, chain, graph, request.instruction, request.problem]
    return json.dumps(parts, ensure_ascii=True)


def _record(made: Extraction) -> Kept:
    return {name: value for name, value in asdict(made).items() if name != "error"}


def _extraction(record: Kept) -> Extraction:
    triples = [(s, p, o) for s, p, o in record["triples"]]
    return Extraction(**{**_fields(Extraction, record), "triples": triples})


def _fields(kind: type[Reply | Extraction], record: Kept) -> dict[str, Any]:
    """Return what a kept record says of a reply or extraction; earlier versions kept less."""
    return {item.name: record[item.name] for item in fields(kind) if item.name in record}
