"""A passage that several runs extract at the same time is extracted once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import PerLoop


@dataclass(eq=False)
class _Work:
    """A call of the extractor, and how many callers wait for it."""

    task: asyncio.Task[list[Extraction]]
    passages: list[str]
    waiting: int = 0


class SharedExtractor:
    """Shares an extractor among concurrent callers.

    A caller that asks for a passage under way waits for it and is charged nothing. A call goes on
    while anyone waits for it, and is cancelled with its last caller.
    """

    def __init__(self, extractor: Extractor) -> None:
        self.extractor = extractor
        self.identity = extractor.identity
        self.batch_size = extractor.batch_size
        # A task belongs to one event loop.
        self._under_way: PerLoop[dict[str, _Work]] = PerLoop(dict)

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples."""
        under_way = self._under_way.current()
        new = {p["id"]: p for p in passages if _has_ended(under_way.get(p["id"]))}
        if new:
            work = _Work(asyncio.create_task(self._extract(list(new.values()))), list(new))
            under_way.update(dict.fromkeys(new, work))
        works = [under_way[passage["id"]] for passage in passages]
        for work in works:
            work.waiting += 1
        try:
            if works:
                await asyncio.wait({work.task for work in works})
        finally:
            for work in works:
                work.waiting -= 1
                if not work.waiting:
                    _end(work, under_way)
        paid = dict.fromkeys(new, True)
        return [
            _of(work, passage["id"], paid=paid.pop(passage["id"], False))
            for work, passage in zip(works, passages, strict=True)
        ]

    async def _extract(self, passages: list[Passage]) -> list[Extraction]:
        return list(await self.extractor.extract(passages))


def _of(work: _Work, passage: str, *, paid: bool) -> Extraction:
    made = work.task.result()[work.passages.index(passage)]
    return made if paid else replace(made, input_tokens=0, output_tokens=0, calls=0)


def _has_ended(work: _Work | None) -> bool:
    """Tell whether to start anew; later callers do not get an earlier failure."""
    return work is None or work.task.done()


def _end(work: _Work, under_way: dict[str, _Work]) -> None:
    for passage in work.passages:
        if under_way.get(passage) is work:
            del under_way[passage]
    work.task.cancel()
