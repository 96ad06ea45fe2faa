"""Results of model calls in LangGraph's store: what was paid for once is not asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result

from ras_flow.support.concurrency import PerLoop, to_its_end

Place = tuple[tuple[str, ...], str]
"""Where a store has a result: the namespace of a model, and a key made of what it was asked."""

Value = dict[str, Any]

_PATIENCE = 5.0
"""Seconds for a store to finish when its caller is cancelled: its server may be suspended."""

_locks: PerLoop[WeakValueDictionary[tuple[int, Place], asyncio.Lock]] = PerLoop(WeakValueDictionary)


class CallCache:
    """Results by place; without a store, nothing is kept."""

    def __init__(self, store: BaseStore | None) -> None:
        self._store = store

    async def get(self, places: Sequence[Place]) -> list[Value | None]:
        """Return what is kept at each place."""
        if self._store is None or not places:
            return [None] * len(places)
        found = await batch(self._store, [GetOp(*place) for place in places])
        return [item.value if isinstance(item, Item) else None for item in found]

    async def put(self, values: Iterable[tuple[Place, Value]]) -> None:
        """Keep results."""
        if self._store is not None:
            operations = [PutOp(*place, value, index=False) for place, value in values]
            await batch(self._store, operations)

    async def get_or_make(
        self,
        places: Sequence[Place],
        make: Callable[[list[int]], Awaitable[Sequence[Value]]],
        good: Callable[[Value], bool],
    ) -> list[Value]:
        """Return what is kept, and make the rest, each place once; only good results are kept.

        ``make`` gets the positions of what is missing. Concurrent callers with the same places
        share one call; if it fails or its result is not good, each makes its own.
        """
        first = {place: at for at, place in reversed(list(enumerate(places)))}
        async with self.alone(places):
            found = dict(zip(places, await self.get(places), strict=True))
            missing = sorted(first[place] for place, value in found.items() if value is None)
            if missing:
                made = [
                    (places[at], value)
                    for at, value in zip(missing, await make(missing), strict=True)
                ]
                await self.put((place, value) for place, value in made if good(value))
                found |= made
        return [found[place] or {} for place in places]

    @asynccontextmanager
    async def alone(self, places: Iterable[Place]) -> AsyncIterator[None]:
        """Be the only one in this event loop at these places of the store."""
        async with AsyncExitStack() as stack:
            # Sorted, so that two callers never wait for each other.
            for place in sorted(set(places)) if self._store is not None else ():
                key = (id(self._store), place)
                lock = _locks.current().setdefault(key, asyncio.Lock())
                await stack.enter_async_context(lock)
            yield


async def batch(store: BaseStore, operations: Iterable[Op]) -> list[Result]:
    """Run operations on a store to their end, even if the caller is cancelled.

    Stopped half-way, LangGraph's SQLite store keeps its transaction open and blocks everyone.
    """
    return await to_its_end(store.abatch(operations), _PATIENCE)
