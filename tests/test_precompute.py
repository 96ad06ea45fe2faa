"""Triples of a whole corpus before anyone asks; then a question costs no extraction."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.documents import SourceDocument
from ras_flow.errors import ModelUnavailableError
from ras_flow.formats.triples import parse_triples
from ras_flow.indexes import CorpusIndex
from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.testing import MappingExtractor
from ras_flow.triples.precompute import Filling, precompute
from tests.graph.world import DOCUMENTS, QUESTION, TRIPLES, build, world

EXTRACTION = Path(__file__).parents[1] / "docs" / "extraction.md"


def corpus(size: int) -> list[Passage]:
    texts = [f"Town {i} " + "far away " * (i % 7) for i in range(size)]
    return [make_passage("T", text) for text in texts]


class Counting:
    """Extracts one fact a passage; fails as told."""

    batch_size = 8

    def __init__(self, identity: str = "counting") -> None:
        self.identity = identity
        self.batches: list[list[str]] = []
        self.bad: set[str] = set()
        self.lost_after: int | None = None
        self.at_once = self.most_at_once = 0

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        if len(self.batches) == self.lost_after:
            raise ModelUnavailableError("away")
        self.batches.append([passage["text"] for passage in passages])
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.001)
        self.at_once -= 1
        return [
            Extraction([], error="unreadable")
            if passage["id"] in self.bad
            else Extraction([(passage["text"], "is", "here")], [], None, 10, 3)
            for passage in passages
        ]

    @property
    def asked(self) -> int:
        return sum(map(len, self.batches))


async def test_a_store_is_filled_once_and_told_about() -> None:
    passages, extractor, store = corpus(1_100), Counting(), InMemoryStore()
    seen: list[int] = []
    filling = await precompute(
        passages, extractor, store, workers=3, progress=lambda f: seen.append(f.done)
    )
    assert filling == Filling(1_100, 0, 1_100, 0, "", 1_100, 11_000, 3_300)
    assert extractor.asked == 1_100 and 1 < extractor.most_at_once <= 3
    assert seen == sorted(seen) and seen[-1] == 1_100
    again = await precompute(passages, extractor, store)
    assert (again.known, again.extracted) == (1_100, 0) and extractor.asked == 1_100
    other = Counting("another")
    assert (await precompute(passages[:9], other, store)).extracted == 9


async def test_as_many_calls_are_under_way_as_one_asks_for() -> None:
    extractor = Counting()
    extractor.batch_size = 64
    await precompute(corpus(2_048), extractor, InMemoryStore(), workers=16)
    assert extractor.most_at_once == 16


async def test_batches_have_passages_of_similar_length() -> None:
    extractor = Counting()
    await precompute(corpus(512), extractor, InMemoryStore())
    spread = [max(map(len, batch)) - min(map(len, batch)) for batch in extractor.batches]
    assert sum(spread) / len(spread) < 5, "unsorted, a batch spreads over 54 characters"


async def test_failures_are_counted_and_tried_again() -> None:
    passages, extractor, store = corpus(20), Counting(), InMemoryStore()
    extractor.bad = {passages[3]["id"]}
    filling = await precompute(passages, extractor, store)
    assert (filling.extracted, filling.failed, filling.problem) == (19, 1, "unreadable")
    extractor.bad = set()
    again = await precompute(passages, extractor, store)
    assert (again.known, again.extracted, again.failed) == (19, 1, 0)


async def test_triples_of_a_half_read_passage_are_counted_once() -> None:
    class HalfRead(Counting):
        async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
            made = await super().extract(passages)
            if len(self.batches) == 1:
                return [replace(one, error="cut", left=["the rest"]) for one in made]
            return made

    passages, extractor, store = corpus(1), HalfRead(), InMemoryStore()
    filling = await precompute(passages, extractor, store)
    assert (filling.failed, filling.triples) == (1, 1)
    again = await precompute(passages, extractor, store)
    assert (again.extracted, again.triples) == (1, 1), "the other one was extracted before"


async def test_what_was_done_before_a_failure_is_not_done_again() -> None:
    passages, extractor, store = corpus(100), Counting(), InMemoryStore()
    extractor.lost_after = 5
    with pytest.raises(ModelUnavailableError, match="away"):
        await precompute(passages, extractor, store, workers=1)
    extractor.lost_after = None
    again = await precompute(passages, extractor, store)
    assert (again.known, again.extracted) == (40, 60)


async def test_cancelling_keeps_what_is_done() -> None:
    passages, extractor, store = corpus(400), Counting(), InMemoryStore()
    work = asyncio.create_task(precompute(passages, extractor, store, workers=2))
    while len(extractor.batches) < 10:
        await asyncio.sleep(0.001)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    again = await precompute(passages, extractor, store)
    assert 56 <= again.known < 400 and again.known + again.extracted == 400


async def test_a_warm_question_makes_no_extractor_call() -> None:
    extractor, store = MappingExtractor(TRIPLES), InMemoryStore()
    passages = [make_passage(d["title"], d["text"]) for d in DOCUMENTS]
    await precompute(passages, extractor, store)

    class Never(MappingExtractor):
        async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
            raise AssertionError("the extractor was called")

    graph = build(world(extractor=Never(TRIPLES)), store=store)
    result = await graph.ainvoke({"question": QUESTION}, context=Context(top_k=4))
    assert result["answer"] == "Narvik"
    costs = [use for use in result["usage"].values() if use["role"] == "extractor"]
    assert costs and all(use["calls"] == use["input_tokens"] == 0 for use in costs)


async def test_the_program_of_the_page_reads_a_corpuss_triples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [program] = re.findall(r"```python\n(.*?)```", EXTRACTION.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    documents = [SourceDocument(d["title"], d["title"], d["text"]) for d in DOCUMENTS]
    index = await CorpusIndex.build(tmp_path / "index", documents, encoder=None)
    extractor = MappingExtractor(TRIPLES)
    monkeypatch.setattr("ras_flow.parts.named.extractor_of", lambda context: extractor)
    for _ in range(2):
        found = await names["triples_of"](tmp_path / "index")
        by_title = {one["title"]: found[one["id"]] for one in index.passages}
        assert by_title["Mira Lund"] == parse_triples(TRIPLES["Mira Lund"]).triples
    assert sum(map(len, extractor.calls)) == len(index), "the second time they are known"
