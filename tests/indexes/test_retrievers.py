from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ras_flow.documents import SourceDocument
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.indexes import BM25Retriever, CorpusIndex
from ras_flow.indexes.bm25 import build_bm25
from ras_flow.indexes.dense import DenseRetriever
from ras_flow.indexes.hybrid import HybridRetriever
from ras_flow.indexes.vectors import Shard, VectorIndex
from ras_flow.parts import ScoredPassage
from ras_flow.settings.context import RetrieverKind
from ras_flow.state.schema import Passage
from tests.indexes.helpers import DOCUMENTS, WordEncoder, titles

KINDS: list[RetrieverKind] = ["bm25", "dense", "hybrid"]


@pytest.fixture
async def index(tmp_path: Path) -> CorpusIndex:
    return await CorpusIndex.build(tmp_path / "index", DOCUMENTS, encoder=WordEncoder())


@pytest.mark.parametrize("kind", KINDS)
async def test_words_of_text_and_title_are_found_whole_and_none_twice_best_first(
    index: CorpusIndex, kind: RetrieverKind
) -> None:
    retriever = index.retriever(kind)
    batch = await retriever.retrieve(["textile mills", "Lovelace", "radioactivity in Paris"], 100)
    firsts = ["Łódź", "Ada Lovelace", "Marie Curie"]
    assert [found[0].passage["title"] for found in batch] == firsts
    assert await titles(retriever, "Lovelace", 2) == [p["title"] for p, _ in batch[1]][:2]
    texts = {document.source: document.text for document in DOCUMENTS}
    for found in batch:
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
        assert len({passage["id"] for passage, _ in found}) == len(found) <= len(DOCUMENTS)
        for passage, _ in found:
            assert "".join(passage["text"].split()) == "".join(texts[passage["source"]].split())


@pytest.mark.parametrize(
    "query, found",
    [
        ("首都", ["東京"]),
        ("Lodz", ["Łódź"]),
        ("KÖNIGREICH", ["Gauß"]),
        ("gauss", ["Gauß"]),
        ("서울의 인구는?", ["서울"]),
        ("xylophone ?!", []),
        ("!!!", []),
    ],
)
async def test_bm25_finds_words_of_any_script(tmp_path: Path, query: str, found: list[str]) -> None:
    more = [
        SourceDocument("seoul", "서울", "서울은 대한민국의 수도이다."),
        SourceDocument("busan", "부산", "부산은 바다에 있는 도시이다."),
        SourceDocument("marks", "", "!!! ???"),
    ]
    index = await CorpusIndex.build(tmp_path, [*DOCUMENTS, *more], encoder=None)
    assert (await titles(index.retriever("bm25"), query))[:1] == found


@pytest.mark.parametrize("kind", KINDS)
async def test_no_queries_no_results_and_bad_queries_are_refused(
    index: CorpusIndex, tmp_path: Path, kind: RetrieverKind
) -> None:
    retriever = index.retriever(kind)
    assert await retriever.retrieve([], 5) == []
    for queries, k in ((["fine", " \n"], 5), (["fine"], 0), ("fine", 5)):
        with pytest.raises(InputError):
            await retriever.retrieve(queries, k)
    empty = await CorpusIndex.build(tmp_path / "empty", [], encoder=WordEncoder())
    assert await empty.retriever(kind).retrieve(["anything", "else"], 5) == [[], []]


async def test_question_words_find_nothing_beside_other_words() -> None:
    pages = {
        "Riddles": "What has hands? Who has none? When, where, which, how?",
        "Markelo": "A village of Overijssel.",
        "The Who": "A band of London.",
    }
    retriever = BM25Retriever.from_documents(
        [{"title": title, "text": text} for title, text in pages.items()]
    )
    assert await titles(retriever, "What, where and when was Markelo?") == ["Markelo"]
    assert await titles(retriever, "Who are The Who?") == ["The Who"]
    assert await titles(retriever, "What?") == ["Riddles"]


async def test_dense_scores_are_cosines_and_equal_scores_keep_corpus_order(tmp_path: Path) -> None:
    documents = [SourceDocument(f"{n}", "", "word " + "," * n) for n in range(5)]
    index = await CorpusIndex.build(tmp_path, documents, encoder=WordEncoder())
    [found] = await index.retriever("dense").retrieve(["word"], 5)
    assert [passage["source"] for passage, _ in found] == list("01234")
    assert [score for _, score in found] == pytest.approx([1.0] * 5, abs=1e-5)
    same = [{"title": f"T{n}", "text": "same words here"} for n in range(50)]
    bm25 = BM25Retriever.from_documents(same)
    assert await titles(bm25, "same words", 7) == [f"T{n}" for n in range(7)]


async def test_in_memory_bm25_needs_no_title_and_splits_long_texts() -> None:
    text = "Filler words come first here. " * 60 + "The needle is at the end."
    one, same, other = (
        BM25Retriever.from_documents([{"text": text}, {"title": title, "text": "Other."}])
        for title in ("B", "B", "C")
    )
    [found] = await one.retrieve(["needle"], 5)
    assert len(found) == 1
    assert len(found[0].passage["text"].split()) <= 125
    assert one.identity == same.identity != other.identity


async def test_hybrid_joins_scores_so_that_a_clear_lead_stays_one(index: CorpusIndex) -> None:
    class Fixed:
        identity = "fixed"

        def __init__(self, **scores: float) -> None:
            self.found = [
                ScoredPassage(index.passages[int(at[1:])], score) for at, score in scores.items()
            ]

        async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
            return [self.found[:k] for _ in queries]

    hybrid = HybridRetriever(Fixed(p0=20.0, p1=6.0, p2=5.0), Fixed(p1=0.5, p3=0.4, p0=0.3, p2=-0.1))
    [found] = await hybrid.retrieve(["q"], 4)
    assert [passage["id"] for passage, _ in found] == [
        index.passages[n]["id"] for n in (0, 1, 3, 2)
    ]
    assert [score for _, score in found] == pytest.approx([0.65, 0.4, 0.2, 0.125])


@pytest.mark.parametrize("shape, value, message", [((1, 3), 1, "shape"), ((1, 2048), 5, "length")])
async def test_vectors_of_a_wrong_encoder_are_refused(
    index: CorpusIndex, shape: tuple[int, int], value: float, message: str
) -> None:
    class Wrong(WordEncoder):
        async def encode(self, texts):  # type: ignore[no-untyped-def]
            return np.full(shape, value, dtype=np.float32)

    vectors = await WordEncoder().encode(["a"] * len(index))
    whole = VectorIndex([Shard(0, vectors)])
    retriever = DenseRetriever(index.passages, whole, Wrong(), identity="x")
    with pytest.raises(ConfigurationError, match=message):
        await retriever.retrieve(["q"], 1)


async def test_searching_does_not_block_the_event_loop() -> None:
    turned = threading.Event()

    class Held(list[Passage]):
        def __getitem__(self, at: Any) -> Any:
            assert turned.wait(20), "the event loop stood still for as long as a search took"
            return super().__getitem__(at)

    passages = Held([Passage(id="a", title="", text="common words")])
    retriever = BM25Retriever(passages, build_bm25(passages), identity="held")
    search = asyncio.create_task(retriever.retrieve(["common words"], 5))
    while not search.done():
        await asyncio.sleep(0.01)
        turned.set()
    assert [[found.passage["id"] for found in one] for one in await search] == [["a"]]
