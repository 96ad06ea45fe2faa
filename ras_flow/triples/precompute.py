"""Triples of a whole corpus, made before anyone asks (paper §3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langgraph.store.base import BaseStore

from ras_flow.parts.checks import one_each
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import all_or_none
from ras_flow.triples.cache import TripleCache

_WINDOW = 512
"""Passages that are looked up, and sorted by length, at once: at least, and two calls a worker."""


@dataclass
class Filling:
    """How far the filling of a store is, in passages; what is known was there before.

    Passages that failed, also those read in part, are tried again next time; ``problem`` is why the
    last one did. Triples and tokens are those of this time.
    """

    total: int
    known: int = 0
    extracted: int = 0
    failed: int = 0
    problem: str = ""
    triples: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def done(self) -> int:
        """Passages that were dealt with."""
        return self.known + self.extracted + self.failed


async def precompute(
    passages: Sequence[Passage],
    extractor: Extractor,
    store: BaseStore,
    *,
    workers: int = 4,
    progress: Callable[[Filling], None] | None = None,
) -> Filling:
    """Extract the triples of every passage that a store does not have yet.

    Each batch is in the store as soon as it is made: what was done before a failure, a
    cancellation or a kill is never done again.
    """
    filling = Filling(len(passages))
    cache = TripleCache(store, extractor.identity)
    free = asyncio.Semaphore(workers)
    size = max(_WINDOW, 2 * workers * extractor.batch_size)
    for start in range(0, len(passages), size):
        window = await asyncio.to_thread(lambda at: passages[at : at + size], start)
        known = await cache.get([passage["id"] for passage in window])
        missing = [passage for passage in window if passage["id"] not in known]
        filling.known += len(window) - len(missing)
        missing.sort(key=lambda passage: len(passage["text"]))
        step = extractor.batch_size
        await all_or_none(
            _fill(missing[first : first + step], extractor, cache, free, filling, progress)
            for first in range(0, len(missing), step)
        )
        if progress:
            progress(filling)
    return filling


async def _fill(
    batch: Sequence[Passage],
    extractor: Extractor,
    cache: TripleCache,
    free: asyncio.Semaphore,
    filling: Filling,
    progress: Callable[[Filling], None] | None,
) -> None:
    async def ask(some: Sequence[Passage]) -> Sequence[Extraction]:
        made = await one_each(len(some), Extraction, extractor.extract(some), extractor)
        # What comes back from the cache has those of parts that were read before, too.
        filling.triples += sum(len(extraction.triples) for extraction in made)
        return made

    async with free:
        made = await cache.extract(batch, ask)
    for extraction in made:
        filling.input_tokens += extraction.input_tokens
        filling.output_tokens += extraction.output_tokens
        if extraction.error is None:
            filling.extracted += 1
        else:
            filling.failed += 1
            filling.problem = extraction.error
    if progress:
        progress(filling)
